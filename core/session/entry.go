package session

import "orebot/core/ledger"

// EntryState is how far a message has come.
type EntryState uint8

// The states of an entry. The first two are listed by the feed; heard and ended entries wait for their expiry.
const (
	EntryOpen      EntryState = iota // durable, to be worked on
	EntrySubmitted                   // its user turn is on the log
	EntryEnded                       // see End
	EntryHeard                       // context only; it has no end
)

// Waits reports whether the entry has still to come to its end.
func (s EntryState) Waits() bool { return s == EntryOpen || s == EntrySubmitted }

// End is how a message ended.
type End uint8

// The ends. Their names are metric labels.
const (
	EndNone End = iota
	EndAnswered
	EndNoticed
	EndRefused
	EndWithdrawn
	EndUndeliverable
)

var endNames = [...]string{"waiting", "answered", "noticed", "refused", "withdrawn", "undeliverable"}

// String returns the outcome's metric label.
func (e End) String() string {
	if int(e) < len(endNames) {
		return endNames[e]
	}
	return "unknown"
}

// Entry is one accepted message and where it has come to.
type Entry struct {
	ID       EntryID         `json:"id"`
	Inbound  Inbound         `json:"in"`
	State    EntryState      `json:"state,omitempty"`
	Thread   ledger.ThreadID `json:"thread,omitzero"`    // once submitted or ended by a record
	Turn     ledger.Seq      `json:"turn,omitempty"`     // once submitted: its user turn
	End      End             `json:"end,omitempty"`      // once ended
	EndSeq   ledger.Seq      `json:"end_seq,omitempty"`  // the turn or end record that ended it
	Failures uint8           `json:"fails,omitempty"`    // in-process failures
	Starts   uint8           `json:"starts,omitempty"`   // submits and resumes since the last stored progress
	Oversize bool            `json:"oversize,omitempty"` // its content was more than an entry holds and isn't here
	Refusal  string          `json:"refusal,omitempty"`  // set by Accept: why its author is refused, a sentence for the chat
}
