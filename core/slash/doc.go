// Package slash is the commands that people write in a chat: what is a command and what is text, who may give which, and what is
// said. What a command does to a conversation is the session's; see session.Commander.
package slash
