package session

import "orebot/core/ledger"

// EntryState is how far a message has come.
type EntryState uint8

// The states of an entry. The feed lists those that wait; the others wait for their expiry. Messages are open, submitted, ended or,
// as context only, heard and used; signals are in one of the last two states and are counted apart.
const (
	EntryOpen      EntryState = iota // durable, to be worked on
	EntrySubmitted                   // its user turn is on the log
	EntryEnded                       // see End
	EntryHeard                       // context only; it has no end, and no turn has shown it yet
	EntrySignal                      // a signal that is to be applied
	EntryApplied                     // a signal that needs no more work, or a key that a signal has claimed
	EntryUsed                        // heard, and shown to the model or passed over
)

// Waits reports whether there is still work to do for the entry.
func (s EntryState) Waits() bool { return s == EntryOpen || s == EntrySubmitted || s == EntrySignal }

// IsSignal reports whether the entry is a signal, which has no end of its own and is no part of what was received.
func (s EntryState) IsSignal() bool { return s == EntrySignal || s == EntryApplied }

// IsHeard reports whether the entry is a message that was heard as context only, which has no end either.
func (s EntryState) IsHeard() bool { return s == EntryHeard || s == EntryUsed }

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
	Size     int             `json:"size,omitempty"`     // with Oversize: how many bytes its text had
	Over     string          `json:"over,omitempty"`     // set by Accept: it is beyond a limit, and this is the line that says so
	Quiet    bool            `json:"quiet,omitempty"`    // with Over: its author has been told already
	Notice   string          `json:"notice,omitempty"`   // not a person's message: the line that its address is told, with which it ends
	Refusal  string          `json:"refusal,omitempty"`  // set by Accept: why its author is refused, a sentence for the chat
	Edited   string          `json:"edited,omitempty"`   // Inbound.Version of the newest edit that was applied
	Deleted  bool            `json:"deleted,omitempty"`  // its author took it back: its content isn't here any more
	Loose    bool            `json:"loose,omitempty"`    // heard where there was no conversation, for the sake of its group alone
	Asides   []string        `json:"asides,omitempty"`   // lines to be shown beside its answer
	Behind   string          `json:"behind,omitempty"`   // the command that it began with, which has been done and isn't in its text any more
	Join     *Join           `json:"join,omitempty"`     // a link whose code is used: the thread that is to take its address in
}
