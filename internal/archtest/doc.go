// Package archtest holds the table of who may import whom, and a test that walks the tree and fails on any other arrow.
// docs/architecture.md explains the table; whoever changes one changes the other. More tests keep what is written down in line with
// the code: the seed's checklist, the platforms' facts, and the maps of files in the comments of large packages.
package archtest
