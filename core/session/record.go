package session

import (
	"encoding/json"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
)

// LogKind tells the records of a thread's log apart. Its values are on disk.
type LogKind byte

// The kinds of log record. KindOwner is reserved for an engine with several holders.
const (
	KindTurn      LogKind = 't'
	KindEnd       LogKind = 'e'
	KindTip       LogKind = 'p'
	KindSetting   LogKind = 's'
	KindFinal     LogKind = 'f'
	KindAmendment LogKind = 'a'
	KindRetold    LogKind = 'r'
	KindOwner     LogKind = 'o'
)

// LogRecord is one record of a thread's log. The field that Kind names is set; a record of a kind this version doesn't know
// keeps its body in Raw and survives being copied.
type LogRecord struct {
	Seq       ledger.Seq
	Kind      LogKind
	Turn      *ledger.Turn
	End       *EndRecord
	Tip       *TipMove
	Setting   *Setting
	Final     *Final
	Amendment *Amendment
	Retold    *Retold
	Raw       json.RawMessage
}

// EndRecord is a notice that ends messages. It is no turn and never part of a prompt; cursors deliver it like one.
type EndRecord struct {
	Entries  []EntryID     `json:"entries,omitempty"`
	To       Address       `json:"to"`
	Severity loop.Severity `json:"sev"`
	Text     string        `json:"text"`
	Ref      string        `json:"ref,omitempty"`     // correlation id, also in the log
	Reply    string        `json:"reply,omitempty"`   // the platform's id of the message it answers
	Offers   []string      `json:"offers,omitempty"`  // names of commands that help now, for a platform's buttons
	Private  bool          `json:"private,omitempty"` // for the asker alone, where the platform can do that without losing it
	File     string        `json:"file,omitempty"`    // Text is the content of a file of this name
	About    ledger.Seq    `json:"about,omitempty"`   // the question of which Text says something that its author may delete, or the record's own number where its Entries are in no turn; 0: none
	Of       EntryID       `json:"of,omitzero"`       // the message of To that it is about, where it ends none; zero: it tells of others
	Always   bool          `json:"always,omitempty"`  // for whoever reads there: it tells of their access alone
	Time     time.Time     `json:"time"`
}

// TipMove makes another turn the end of the active path.
type TipMove struct {
	To    ledger.Seq `json:"to"`
	Aside ledger.Seq `json:"aside,omitempty"` // the question that was set aside with it, which `retry` asks again
}

// Setting changes what holds for the thread from here on; an empty Value means the default again.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
}

// Final promotes a draft: that turn is delivered and ends its entries.
type Final struct {
	Turn ledger.Seq `json:"turn"`
}

// Amendment replaces what a turn says, after an edit or a deletion of the message it came from. Nil artifacts leave nothing. One of
// turn 0 changes nothing any more: a later deletion has overwritten it.
type Amendment struct {
	Turn      ledger.Seq      `json:"turn"`
	Artifacts json.RawMessage `json:"artifacts,omitempty"` // a JSON array, each by the artifact codec
	Parts     []ledger.Part   `json:"parts,omitempty"`
	Entry     EntryID         `json:"entry"`
}

// Retold says that the record of a turn has been rewritten, since a message that it came from was taken back or got company: what other
// places were shown of it is to follow. It changes nothing itself. An Amendment says the same of its turn.
type Retold struct {
	Turn ledger.Seq `json:"turn"`
}

// Thread is what is known of a thread without its log.
type Thread struct {
	Last      ledger.Seq        `json:"last"`               // the newest record
	Tip       ledger.Seq        `json:"tip,omitempty"`      // the newest turn of the active path
	Window    ledger.Seq        `json:"window,omitempty"`   // the first record to load when it goes live
	Addresses []Address         `json:"addrs,omitempty"`    // bound now
	Starter   string            `json:"starter,omitempty"`  // who wrote first
	Shared    bool              `json:"shared,omitempty"`   // a second person has written
	Recalled  bool              `json:"recalled,omitempty"` // the platform was asked for what stands above its first question
	Settings  map[string]string `json:"set,omitempty"`      // what the Settings on the log come to
	Tokens    Tokens            `json:"tokens,omitzero"`    // what its answers have cost
	Base      ledger.Seq        `json:"base,omitempty"`     // the summary that stands for what lies before Window; 0: none does
	Fit       Fit               `json:"fit,omitzero"`       // how its prompts fit the model's window
	Opened    time.Time         `json:"opened"`
	Used      time.Time         `json:"used"`
}

// Binding says which thread an address belongs to, and which part of its log it may see.
type Binding struct {
	Thread  ledger.ThreadID   `json:"thread"`
	From    ledger.Seq        `json:"from,omitempty"`
	Until   ledger.Seq        `json:"until,omitempty"`   // 0: no end
	Joining bool              `json:"joining,omitempty"` // the thread is another place's, whose worker hasn't taken the address in yet
	With    []Address         `json:"with,omitempty"`    // what else was bound to the thread in the same write
	Own     *Own              `json:"own,omitempty"`     // set while it is linked to another place's conversation
	MovedTo Address           `json:"moved,omitempty"`
	Gone    bool              `json:"gone,omitempty"`   // the platform refuses it for good
	Leg     uint32            `json:"leg,omitempty"`    // how many threads the address was bound to before this one
	Before  []Leg             `json:"before,omitempty"` // the last of those, oldest first: all of which something may still be due
	Back    []ledger.ThreadID `json:"back,omitempty"`   // the conversations that `undo` returns to, the last one first to come
	Left    []ledger.ThreadID `json:"left,omitempty"`   // those that nothing returns to any more, for `forget`
}

// Leg is the part of a thread's log that an address is or was served: from From up to Until, where that isn't 0.
type Leg struct {
	Thread ledger.ThreadID `json:"thread"`
	From   ledger.Seq      `json:"from,omitempty"`
	Until  ledger.Seq      `json:"until,omitempty"`
	Guest  bool            `json:"guest,omitempty"` // the thread was another place's, to which the address was linked
}

// Own is what an address had before it was linked to another place's conversation, and has again when the link ends.
type Own struct {
	Thread ledger.ThreadID   `json:"thread,omitzero"` // zero: nothing is left of it
	From   ledger.Seq        `json:"from,omitempty"`
	Back   []ledger.ThreadID `json:"back,omitempty"`
	Left   []ledger.ThreadID `json:"left,omitempty"`
	Open   bool              `json:"open,omitempty"` // one of the linked places isn't a private chat
}

// Cursor is how far an address has been served.
type Cursor struct {
	Seq     ledger.Seq `json:"seq"`               // the record that is being delivered or comes next
	Leg     uint32     `json:"leg,omitempty"`     // which of the address's threads Seq counts in: the one that was bound as its Leg-th
	Offset  int        `json:"offset,omitempty"`  // bytes of its Markdown source that have been delivered
	Layout  uint16     `json:"layout,omitempty"`  // the renderer's version that Offset was reached with
	Form    uint8      `json:"form,omitempty"`    // how the part at Offset is made; the courier's own
	Posted  []string   `json:"posted,omitempty"`  // platform ids of the parts of record Seq posted so far
	Attempt *Attempt   `json:"attempt,omitempty"` // the intent to post the part at Offset
	Unknown uint8      `json:"unknown,omitempty"` // unknown outcomes of the part at Offset, over all lives
}

// Attempt is the intent to post a part: durable before the post, so that after a crash it is known that the part may be there.
type Attempt struct {
	N     uint8     `json:"n"` // 1 is the first
	Since time.Time `json:"since"`
	Life  string    `json:"life"` // the process life that had the intent
}

// Presence is a surface (status, reaction) that must be cleaned up when the turn is over.
type Presence struct {
	Kind    string `json:"kind"`
	Message string `json:"msg"`
}

// MessageRef is what the index knows of a platform message: the turn or end record it shows, and the byte where it starts.
type MessageRef struct {
	Thread ledger.ThreadID `json:"thread"`
	Seq    ledger.Seq      `json:"seq"`
	Offset int             `json:"offset,omitempty"`
}

// Shown is a platform message that shows a record, and the byte where it starts.
type Shown struct {
	Message string
	Offset  int
}

// Decode returns the replacement.
func (a Amendment) Decode() ([]artifact.Artifact, error) {
	if len(a.Artifacts) == 0 {
		return nil, nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(a.Artifacts, &raw); err != nil {
		return nil, err
	}
	out := make([]artifact.Artifact, len(raw))
	for i, r := range raw {
		art, err := artifact.Unmarshal(r)
		if err != nil {
			return nil, err
		}
		out[i] = art
	}
	return out, nil
}
