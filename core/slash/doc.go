// Package slash is the commands that people write in a chat: what is a command and what is text, who may give which, and what is
// said. What a command does to a conversation is the session's: Commands is its session.Commander, which cmd/orebot makes.
//
//	Inbound ─Parse─► name, arguments ─session: rights, View─► Do ─► Effect: a Reply, settings, an Act ─session─► one Batch
//
// Each command has one line in specs (names.go): its aliases, what help says of it, where it means something, and whether it runs beside
// an answer. What it says and comes to stands in a file of its topic.
//
//   - Parse, the rights and the words are pure. Only Do may ask others, under its ctx: for the installed models, or the log.
//   - Nothing is changed here. An Effect is committed by the Stream together with the end of its message, or not at all.
//   - An error is for the log; the chat is told a sentence that its author can act on.
package slash
