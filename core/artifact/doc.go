// Package artifact holds what a language model produces and is shown: text,
// reasoning, tool calls and their results, images, token counts.
//
// An Artifact is anything that can name its kind. The interface has no hidden
// method, so another package can bring a kind of its own; a Registry then
// teaches the JSON codec to read it back.
//
// Complete artifacts are part of a conversation and are stored. Deltas are
// fragments of a stream: they reach whoever watches a turn grow and are never
// stored. A delta that is also Accumulable knows how to become complete.
//
// # JSON
//
// Every artifact is one JSON object with its kind under "kind". Marshal and
// Unmarshal are the codec. A kind that this program doesn't know becomes an
// Unknown and is written back byte for byte, so that an older program can carry
// what a newer one stored. The JSON form is on disk: members may be added, never
// renamed. A member that this program doesn't know is read over: the types here
// are values that can be compared, and have no room for it. It is not lost by
// that, since a turn that is on a log is never written again; but a newer program
// that wants something carried through an older one's hands gives it a kind.
//
// JSON can't hold bytes that aren't UTF-8. Each such byte is written as U+FFFD.
// Clean does the same to a value in memory; whoever stores an artifact calls it
// first, so that what is remembered and what is read back are the same string.
package artifact
