//go:build race

package slack

// raced: the race detector multiplies memory.
const raced = true
