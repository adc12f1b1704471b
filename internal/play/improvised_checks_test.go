package play

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing/synctest"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/ledger"
	"orebot/core/session"
)

var wordMark, answerMark = regexp.MustCompile(`\bw\d{4,}`), regexp.MustCompile(`\ba\d+\b`)

func words(text string) []string { return wordMark.FindAllString(text, -1) }

// marks are the words that people have said, and those of the model's answers.
func marks(text string) []string { return append(words(text), answerMark.FindAllString(text, -1)...) }

// look waits until nothing moves, and reads the prompts of the calls that have come since the last look.
func (im *improvised) look() {
	synctest.Wait()
	for _, g := range im.graves {
		if im.isForgotten(g.command) {
			g.close(im.acts)
		}
	}
	im.model.mu.Lock()
	calls := slices.Clone(im.model.calls)
	im.model.mu.Unlock()
	for _, c := range calls {
		if im.seen[c] {
			continue
		}
		im.seen[c] = true
		for _, f := range wrongIn(c.turns, im.said, im.acts) {
			im.fault("%s: %s", f, c.read())
		}
	}
}

// close notes that a conversation was forgotten.
func (g *grave) close(act int) {
	for _, s := range g.words {
		if s.gone == 0 {
			s.gone = act
		}
	}
	g.words = nil
}

// wrongIn says what is wrong with a prompt that was made in an act: words of two conversations stand in it (promise 6), one stands in it
// twice (promise 2), or one that was gone before (promise 7). A change of the same act may have come behind the prompt.
func wrongIn(turns []ledger.Turn, said map[string]*saying, act int) (faults []string) {
	count := map[string]int{}
	var at places
	for _, t := range turns {
		if t.Role == ledger.RoleSystem {
			continue
		}
		for _, w := range marks(shown(t)) {
			s := said[w]
			if s == nil {
				if wordMark.MatchString(w) {
					faults = append(faults, "nobody has said "+w)
				}
				continue
			}
			if both := at.and(s.hosts()); len(both) == 0 {
				faults = append(faults, fmt.Sprintf("%s is of %v, in a prompt of %v", w, s.hosts(), at))
			} else {
				at = both
			}
			if s.shown = true; s.gone > 0 && s.gone < act {
				faults = append(faults, fmt.Sprintf("%s is gone since act %d, and shown in act %d", w, s.gone, act))
			}
			if count[w]++; count[w] == 2 {
				faults = append(faults, w+" stands in a prompt twice")
			}
		}
	}
	for w := range count {
		said[w].where.narrow(at)
	}
	return faults
}

// judge looks at what is left once everything has come to its end.
func (im *improvised) judge() {
	totals, err := im.store.Totals(context.Background())
	if err != nil {
		im.fault("%v", err)
	}
	received := 0
	for _, f := range im.fates {
		if f == takenIn {
			received++
		}
	}
	if f := wrongSum(totals, received); f != "" {
		im.fault("%s", f)
	}
	for a, p := range im.shownSigns() {
		im.fault("%s still shows %+v", a, p)
	}
	for _, place := range im.places() {
		a, _ := im.address(place)
		for _, f := range wrongAt(im.shownAt(a)) {
			im.fault("%s: %s", a, f)
		}
	}
	im.judgeDelivery()
	if im.links != nil {
		im.judgeLinks()
	}
}

// judgeDelivery looks for answers that were never shown where they were asked for (promise 1).
func (im *improvised) judgeDelivery() {
	for _, s := range im.cast.sent {
		e, ok, err := im.store.Entry(context.Background(), s.in.ID())
		if err != nil || !ok || e.End != session.EndAnswered || e.Deleted || im.isRefused(s.in.Address) {
			continue
		}
		if _, _, there, _ := im.store.Thread(context.Background(), e.Thread); !there { // it is forgotten
			continue
		}
		turn := ledger.TurnID{Thread: e.Thread, Seq: e.EndSeq}
		if !slices.ContainsFunc(im.shownAt(s.in.Address), func(m conduittest.Message) bool { return m.Turn == turn }) {
			im.fault("%s is answered by %v, and %s was shown nothing of it", s.name, turn, s.in.Address)
		}
	}
}

// wrongSum says what is wrong with promise 3's sum.
func wrongSum(t session.Totals, received int) string {
	n := int(t.Heard)
	for _, c := range t.Ended {
		n += int(c)
	}
	if t.Waiting == 0 && n == received {
		return ""
	}
	return fmt.Sprintf("%d messages were received, %d wait, %d were heard, and the ends are %v", received, t.Waiting, t.Heard, t.Ended)
}

// wrongAt says what is wrong with what an address was shown: parts in another order than the log's (promise 4), or an answer twice
// (promise 2).
func wrongAt(all []conduittest.Message) (faults []string) {
	last := map[ledger.ThreadID]conduittest.Message{}
	seen := map[string]string{}
	for _, m := range all {
		repeat := strings.Contains(m.Text, conduittest.RepeatLabel)
		if l, ok := last[m.Item.Thread]; ok && !follows(m, l) && !(repeat && m.Item.Seq == l.Item.Seq && m.Offset == l.Offset) {
			faults = append(faults, fmt.Sprintf("part %d.%d %q comes behind part %d.%d %q", m.Item.Seq, m.Offset, m.Text, l.Item.Seq, l.Offset, l.Text))
		}
		last[m.Item.Thread] = m
		if m.Item.File != "" || m.Item.Kind != conduit.Answer {
			continue
		}
		for _, a := range answerMark.FindAllString(m.Text, -1) {
			if was, ok := seen[a]; ok && !repeat {
				faults = append(faults, fmt.Sprintf("%s is shown twice: %q, %q", a, was, m.Text))
			}
			seen[a] = m.Text
		}
	}
	return faults
}

// follows reports whether a part may be shown behind another of its thread. A note in the place of a part has an offset below zero.
func follows(m, l conduittest.Message) bool {
	if m.Item.Seq != l.Item.Seq {
		return m.Item.Seq > l.Item.Seq
	}
	return m.Offset > l.Offset || m.Offset < 0
}
