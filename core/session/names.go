package session

// named puts names into a job's messages, before they are submitted. A message keeps the names that it was submitted with.
func (s *Stream) named(j *job) {
	for i := range j.entries {
		if j.entries[i].State != EntryOpen {
			continue
		}
		in := &j.entries[i].Inbound
		if namer := s.m.cfg.Platforms[j.addr.Conduit()].Namer; namer != nil {
			*in = namer.Names(s.m.turns, *in)
		}
	}
}
