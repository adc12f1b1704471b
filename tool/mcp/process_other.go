//go:build !linux

package mcp

import "syscall"

// apartAttr makes a command the leader of a group. When the daemon is killed, the end of its input tells it.
func apartAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
