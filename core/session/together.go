package session

import "slices"

// Limits of what is answered together: far below those of a Batch.
const (
	maxTogether      = 64
	maxTogetherBytes = 64 << 10
)

// together counts how many of an address's waiting messages make one turn: consecutive plain ones of one author.
func (s *Stream) together(here []StoredEntry) int {
	n, size := 1, bulk(here[0].Inbound)
	for !s.m.cfg.OneByOne && n < min(len(here), maxTogether) && s.plain(here[0]) && s.plain(here[n]) && !s.m.isDropped(here[0], here[n]) &&
		here[n].Inbound.Author.ID == here[0].Inbound.Author.ID && here[n].Inbound.Group == "" {
		if size += bulk(here[n].Inbound); size > maxTogetherBytes {
			break
		}
		n++
	}
	return n
}

// plain messages may be answered together; what is refused or empty is dealt with alone.
func (s *Stream) plain(e StoredEntry) bool {
	return e.Refusal == "" && e.Over == "" && !empty(e.Inbound) && e.Inbound.Call != CallCommand && !s.isCommand(e)
}

// unbroken counts the messages that have nothing heard between them and the first: what stands before a message in its thread is context
// for its answer, and keeps its place.
func (s *Stream) unbroken(take []StoredEntry) int {
	first := take[0].Inbound
	if len(take) == 1 || first.Place == "" {
		return len(take)
	}
	heard, err := s.m.cfg.Store.Heard(s.m.turns, first.Address, maxHeard)
	if err != nil {
		return 1 // what gathers the context meets the same error, and has it dealt with
	}
	for i := 1; i < len(take); i++ {
		if slices.ContainsFunc(heard, func(e StoredEntry) bool {
			return e.Inbound.Order > first.Order && e.Inbound.Order < take[i].Inbound.Order
		}) {
			return i
		}
	}
	return len(take)
}
