package session

import (
	"encoding/json"
	"slices"

	"orebot/core/ledger"
)

// spaceForgotten holds a grave for each conversation that is being deleted, by the thread that goes on in its place.
const spaceForgotten = "forgotten"

// grave says what is to be deleted. It is durable before anything is, and goes last: a deletion that a crash has cut off goes on at
// the next start.
type grave struct {
	Threads   []ledger.ThreadID `json:"threads"`
	Addresses []Address         `json:"addrs"`
	Command   Inbound           `json:"cmd"`            // without its content: what was written before it goes
	Only      bool              `json:"only,omitempty"` // no more than what the threads' own messages said
}

// gravePage is how many graves are read at once.
const gravePage = 100

// take notes the conversations that an address has had. What was another place's isn't among them, nor what it returns to after a link.
func (g *grave) take(b Binding) {
	ids := slices.Concat(b.Back, b.Left)
	for _, leg := range b.Before {
		if !leg.Guest && (b.Own == nil || leg.Thread != b.Own.Thread) {
			ids = append(ids, leg.Thread)
		}
	}
	for _, id := range ids {
		if !slices.Contains(g.Threads, id) {
			g.Threads = append(g.Threads, id)
		}
	}
}

// gravesAt returns the graves that the eraser hasn't come to the end of and that have something of an address. There is hardly ever one.
func (m *Manager) gravesAt(a Address) (out []grave, err error) {
	for after := ""; ; {
		page, err := m.cfg.Store.SmallList(m.turns, spaceForgotten, after, gravePage)
		if err != nil || len(page) == 0 {
			return out, err
		}
		for _, v := range page {
			var g grave
			if json.Unmarshal(v.Value, &g) == nil && slices.Contains(g.Addresses, a) { // the eraser tells of one that can't be read
				out = append(out, g)
			}
			after = v.Key
		}
	}
}

// holds reports whether an entry belongs to what is deleted. What still waits doesn't: it is for the thread that follows. Nor does what
// belongs to another conversation, such as one that a linked place had before.
func (g grave) holds(e Entry) bool {
	switch {
	case e.State.Waits():
		return false
	case e.Thread != ledger.ThreadID{}:
		return slices.Contains(g.Threads, e.Thread)
	case g.Only:
		return false
	case e.ID.Address == g.Command.Address:
		return !before(g.Command, e.Inbound)
	default:
		return !e.Inbound.At.After(g.Command.At)
	}
}

func (e Entry) hollowed() bool { return e.Deleted && e.Inbound.Text == "" && e.State != EntryHeard }

// hollow returns the entry without anything that somebody wrote.
func (e Entry) hollow() Entry {
	if e.State == EntryHeard {
		e.State = EntryUsed
	}
	e.Deleted, e.Asides, e.Notice, e.Over = true, nil, "", ""
	in := &e.Inbound
	in.Text, in.Attachments, in.Quotes, in.Mentions, in.ReplyURL, in.Author.Name, in.Author.Handle = "", nil, nil, nil, "", "", ""
	return e
}
