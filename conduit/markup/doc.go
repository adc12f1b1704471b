// Package markup turns a model's CommonMark into a flat Document of blocks and
// styled runs, and cuts that Document into parts that fit a platform's limit.
//
// The law of this package is the delivery cursor: a place in an answer is a
// byte offset in the answer's Markdown source. Every Run knows which bytes of
// the source it stands for, a cut lies at the start of a run or inside literal
// text, and Document.Next depends on nothing but the document, the offset and
// the limit. So the parts computed one after another from offset 0 are the same
// as those computed by a process that starts again from any Next it stored.
//
// What a model writes differs from what people write: leading <think> blocks are
// dropped, mathematics is kept as it was typed, emphasis works beside Chinese,
// Japanese and Korean letters, single tildes are not strike-through, raw HTML is
// text, and link definitions that nothing uses stay visible. Time and memory are
// linear in the source: nesting, delimiters and links are bounded (limits.go).
//
// The package knows no platform. How a part looks and how long it is there is
// the business of the renderers in the conduits.
package markup
