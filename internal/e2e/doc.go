// Package e2e tests the daemon as operators and users meet it: the built binary as a process of its own, between strict
// simulators on loopback ports.
package e2e
