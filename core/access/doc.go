// Package access decides who may talk to the bot, and where. It is pure: the same person at the same place always gets the
// same Verdict from the same Policy. Ids and places carry the conduit's name in front, as everywhere in the core: "slack:U1",
// "telegram:-100123".
package access
