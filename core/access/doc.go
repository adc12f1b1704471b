// Package access decides who may talk to the bot, and where. It does no input or output: the same person at the same place gets the
// same Verdict from the same Policy and Book. Ids and places carry the conduit's name in front, as everywhere in the core:
// "slack:U1", "telegram:-100123".
package access
