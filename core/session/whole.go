package session

import (
	"context"
	"slices"
)

// whole makes a job that is resumed one of all messages of its turn. The feed names them one by one: a job made of the first ones
// would answer the turn, and what is named then would have it answered again.
func (s *Stream) whole(j *job) error {
	t, ok := s.live.led.Turn(j.turn)
	if j.turn == 0 || !ok {
		return nil
	}
	for _, name := range t.Entries {
		id, err := ParseEntryID(name)
		if err != nil || slices.ContainsFunc(j.entries, func(e StoredEntry) bool { return e.ID == id }) {
			continue
		}
		e, ok, err := s.m.cfg.Store.Entry(context.Background(), id)
		if err != nil {
			return err
		}
		if ok && e.State == EntrySubmitted && e.Thread == s.thread && e.Turn == j.turn {
			j.entries = append(j.entries, e)
			s.waiting = slices.DeleteFunc(s.waiting, func(w StoredEntry) bool { return w.ID == id })
		}
	}
	inOrder(j.entries)
	return nil
}
