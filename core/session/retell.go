package session

import (
	"slices"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// with returns a turn in which one message says what e says now; nothing, where e is nil. ok is false where the turn doesn't come
// from that message, or where its share can't be told.
func (s *Stream) with(t ledger.Turn, id EntryID, e *Entry) (ledger.Turn, bool, error) {
	if len(t.Entries) == 0 { // the platform has told of the message, as one that stood above a question
		t.Entries = []string{id.String()}
	}
	parts, ok := partsOf(t)
	i := slices.Index(t.Entries, id.String())
	if !ok || i < 0 {
		return t, false, nil
	}
	first, last := i, i
	for parts[first].Joined {
		first--
	}
	for last+1 < len(parts) && parts[last+1].Joined {
		last++
	}
	arts, now, err := s.retold(t, parts, first, last, id, e)
	if err != nil || arts == nil && e != nil {
		return t, false, err
	}
	from := ahead(parts, first)
	to := ahead(parts, last+1)
	t.Artifacts = slices.Concat(t.Artifacts[:from:from], arts, t.Artifacts[to:])
	t.Parts = slices.Concat(parts[:first:first], now, parts[last+1:])
	return t, true, nil
}

// ahead counts the artifacts in front of a part.
func ahead(parts []ledger.Part, i int) int {
	n := 0
	for _, p := range parts[:i] {
		n += p.Len()
	}
	return n
}

// retold renders the messages from first to last of a turn anew, one of them with new content. Those that stand in one text with it
// are read from their entries; where one is gone, a deletion takes the whole text, and an edit can't be done (nil).
func (s *Stream) retold(t ledger.Turn, parts []ledger.Part, first, last int, id EntryID, e *Entry) ([]artifact.Artifact, []ledger.Part, error) {
	entries, files := make([]StoredEntry, last-first+1), map[EntryID][]artifact.Artifact{}
	for k := range entries {
		own, err := ParseEntryID(t.Entries[first+k])
		if err != nil {
			return nil, make([]ledger.Part, len(entries)), nil
		}
		entries[k].ID = own
		end := ahead(parts, first+k+1)
		files[own] = t.Artifacts[end-parts[first+k].Files : end]
		if own == id {
			if e != nil {
				entries[k].Entry = *e
			}
			if e == nil || len(e.Inbound.Attachments) == 0 {
				files[own] = nil
			}
			continue
		}
		o, ok, err := s.m.cfg.Store.Entry(s.m.turns, own)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			return nil, make([]ledger.Part, len(entries)), nil
		}
		entries[k] = o
	}
	arts, now := prompt(entries, files)
	if arts == nil {
		arts = []artifact.Artifact{}
	}
	return arts, now, nil
}
