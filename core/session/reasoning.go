package session

import (
	"slices"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// showsReasoning reports whether answers are shown here with the model's reasoning.
func (s *Stream) showsReasoning() bool {
	switch s.setting(SettingReasoning) {
	case "show":
		return true
	case "hide":
		return false
	}
	return s.m.cfg.ShowReasoning
}

// withoutReasoning adds to the rewrites of a question what followed from it, without the reasoning: a model begins with repeating what
// it was asked, and nothing of what its author took back is to be left there.
func (s *Stream) withoutReasoning(rewrites []LogRecord, question ledger.Seq) ([]LogRecord, error) {
	from := map[ledger.Seq]bool{question: true}
	for seq := question + 1; seq <= s.live.state.Last; {
		recs, err := s.m.cfg.Store.Log(s.m.turns, s.thread, seq, logPage)
		if err != nil || len(recs) == 0 {
			return rewrites, err
		}
		for _, r := range recs {
			seq = r.Seq + 1
			if r.Kind != KindTurn || r.Turn == nil || r.Turn.Role == ledger.RoleUser || !from[r.Turn.Parent] {
				continue
			}
			from[r.Seq] = true
			if arts := dropReasoning(r.Turn.Artifacts); len(arts) < len(r.Turn.Artifacts) {
				r.Turn.Artifacts = arts
				rewrites = append(rewrites, r)
			}
		}
	}
	return rewrites, nil
}

func dropReasoning(arts []artifact.Artifact) []artifact.Artifact {
	return slices.DeleteFunc(slices.Clone(arts), func(a artifact.Artifact) bool { return a.Kind() == artifact.KindReasoning })
}
