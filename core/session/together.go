package session

import "slices"

// Limits of what is answered together: far below those of a Batch.
const (
	maxTogether      = 64
	maxTogetherBytes = 64 << 10
)

// goTogether reports whether messages may be answered in one turn with those before them: plain ones of one author.
func (s *Stream) goTogether(before, more []StoredEntry) bool {
	size := 0
	for _, e := range slices.Concat(before, more) {
		size += bulk(e.Inbound)
		if !s.plain(e) || e.Inbound.Author.ID != before[0].Inbound.Author.ID || s.m.isDropped(before[0], e) {
			return false
		}
	}
	return size <= maxTogetherBytes && len(before)+len(more) <= maxTogether
}

// plain messages may be answered together; what is refused or empty is dealt with alone.
func (s *Stream) plain(e StoredEntry) bool {
	return e.Refusal == "" && e.Over == "" && !empty(e.Inbound) && e.Inbound.Call != CallCommand && !s.isCommand(e)
}

// heardBetween reports whether something was heard between messages and those before them: what stands before a message in its thread is
// context for its answer, and keeps its place.
func (s *Stream) heardBetween(before, more []StoredEntry) bool {
	first := before[0].Inbound
	if first.Place == "" {
		return false
	}
	heard, err := s.m.heard(first.Address)
	if err != nil {
		return true // what gathers the context meets the same error, and has it dealt with
	}
	return slices.ContainsFunc(heard, func(h StoredEntry) bool {
		own := func(e StoredEntry) bool { return sameGroup(e, h) && h.Inbound.Group != "" }
		behind := func(e StoredEntry) bool { return h.Inbound.Order < e.Inbound.Order }
		return !h.Loose && h.Inbound.Order > first.Order && slices.ContainsFunc(more, behind) && !slices.ContainsFunc(slices.Concat(before, more), own)
	})
}
