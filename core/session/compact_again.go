package session

import (
	"fmt"
	"slices"
	"strings"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// withSummaries adds to the rewrites of a turn the summaries that were made of it, emptied: nothing of what its author took back is
// to be left.
func (s *Stream) withSummaries(rewrites []LogRecord, seq ledger.Seq) ([]LogRecord, error) {
	of, err := s.summariesOf(seq)
	for _, r := range of {
		r.Turn.Artifacts = nil
		rewrites = append(rewrites, r)
	}
	return rewrites, err
}

// summariesOf returns the summaries that cover a turn and say something. It reads the log behind the turn: this is rare.
func (s *Stream) summariesOf(seq ledger.Seq) (of []LogRecord, err error) {
	for from := seq + 1; from <= s.live.state.Last; {
		recs, err := s.m.cfg.Store.Log(s.m.turns, s.thread, from, logPage)
		if err != nil || len(recs) == 0 {
			return of, err
		}
		for _, r := range recs {
			if r.Kind == KindTurn && r.Turn != nil && r.Turn.Covers >= seq && len(r.Turn.Artifacts) > 0 {
				of = append(of, r)
			}
			from = r.Seq + 1
		}
	}
	return of, nil
}

// amendedSummaries returns the rewrites by which the new text of an edited turn reaches the model behind a summary too: where the live
// window still has the turn, the summaries of it are emptied and made anew; one further back gets a line that says so.
func (s *Stream) amendedSummaries(a *Amendment) ([]LogRecord, error) {
	arts, err := a.Decode()
	if err != nil {
		return nil, err
	}
	if _, here := s.live.led.Turn(a.Turn); here {
		return s.withSummaries(nil, a.Turn)
	}
	of, err := s.summariesOf(a.Turn)
	if err != nil {
		return nil, err
	}
	for _, r := range of {
		if !corrected(r.Turn, a.Turn, ledger.Turn{Artifacts: arts}.Text()) {
			return s.withSummaries(nil, a.Turn)
		}
	}
	return of, nil
}

// Limits of what is added to a summary, in bytes: a longer message is shown by its beginning, and beyond the sum of all that were edited
// since it was made, a summary is made anew.
const (
	maxCorrection  = 400
	maxCorrections = 2 << 10
)

// corrected adds to a summary what one of its messages says now, in a line of its own that takes the place of an earlier one about the
// same message. It reports false where the summary would grow too much.
func corrected(t *ledger.Turn, seq ledger.Seq, now string) bool {
	i := slices.IndexFunc(t.Artifacts, func(a artifact.Artifact) bool { return a.Kind() == artifact.KindText })
	text, ok := artifact.Text{}, i >= 0
	if ok {
		text, ok = t.Artifacts[i].(artifact.Text)
	}
	if !ok {
		return false
	}
	now = clip(strings.Join(strings.Fields(now), " "), maxCorrection)
	const every = "Changed afterwards, message "
	own := fmt.Sprintf("%s%d: ", every, seq)
	lines, size := []string{}, len(now)
	for _, l := range strings.Split(text.Content, "\n") {
		if strings.HasPrefix(l, own) {
			continue
		}
		if strings.HasPrefix(l, every) {
			size += len(l)
		}
		lines = append(lines, l)
	}
	lines = append(lines, own+"it reads now “"+now+"”")
	t.Artifacts = slices.Clone(t.Artifacts)
	t.Artifacts[i] = artifact.Text{Content: strings.Join(lines, "\n")}
	return size <= maxCorrections
}
