// Package words is how figures stand in the sentences that people read, and how far what they type is from what they may have meant.
// Everything in it is a pure function: the chat's texts are made in core/session, core/slash and conduit, which share it, so that a
// number or a waiting time reads alike wherever it is said.
package words
