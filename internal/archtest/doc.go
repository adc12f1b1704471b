// Package archtest holds the table of who may import whom, and a test that walks the tree and fails on any other arrow.
// docs/architecture.md explains the table; whoever changes one changes the other.
package archtest
