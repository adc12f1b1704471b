// Package ledger is the conversation: turns, the state a model is shown, and
// the tree of one thread.
//
// A Turn is one contribution, of a person, the model, a tool or the system. A
// Thread is append-only: turns are numbered by a growing sequence and each names
// its parent, so that going back starts a branch and removes nothing. The
// active path leads from the tip to the root, or to the last turn that a
// summary stands for.
//
// A State is a list of turns that can grow. The persistent one stamps what is
// appended; Prepend and NewView derive throw-away ones from it that a model can
// be shown instead.
//
// The text forms of ThreadID and TurnID and the JSON form of Turn are on disk.
package ledger
