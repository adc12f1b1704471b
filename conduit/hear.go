package conduit

import (
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/session"
)

// Kinds returns the kinds of event that a conduit listens to.
func Kinds() []string { return []string{"turn_complete", "notice"} }

// Hear is what a conduit does with an event that concerns an address: where it announces something to deliver there, the address is
// nudged. What is delivered is read from the log, never from the event. It never blocks.
func (c *Couriers) Hear(a session.Address, ev loop.OutputEvent) {
	if shows(a, ev) {
		c.Nudge(a)
	}
}

// shows reports whether an event announces a record that an address is to see. A notice without a record is progress, which is not
// delivered.
func shows(a session.Address, ev loop.OutputEvent) bool {
	switch ev := ev.(type) {
	case loop.TurnCompleteEvent:
		t := ev.Turn
		return t.Final() || t.Role == ledger.RoleUser && !t.Draft && t.Provenance != string(a)
	case loop.NoticeEvent:
		_, recorded := session.SeqFrom(ev.Context())
		return recorded
	default:
		return false
	}
}
