package mcp

import "syscall"

// apartAttr makes a command the leader of a group, and lets it die with the daemon.
func apartAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
