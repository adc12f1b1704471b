package play

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/ledger"
	"orebot/core/session"
)

// places are addresses, sorted.
type places []session.Address

// and returns the places that are in both; nil stands for all places.
func (p places) and(o places) places {
	if p == nil {
		return o
	}
	return slices.DeleteFunc(slices.Clone(p), func(a session.Address) bool { return !slices.Contains(o, a) })
}

func (p places) or(o places) places {
	all := append(slices.Clone(p), o...)
	slices.Sort(all)
	return slices.Compact(all)
}

// whereabouts are the places whose conversations a message may belong to. A place that isn't linked, or that others have joined, has
// conversations of its own; one that has joined another's has that one's. A link, and its end, come at a moment that only the bot knows,
// so a message may belong to either side until a prompt shows it; from then on it belongs there.
type whereabouts struct {
	at    session.Address
	of    places
	fixed bool
}

// narrow takes down where a prompt has shown a message.
func (w *whereabouts) narrow(to places) {
	if w == nil {
		return
	}
	w.fixed = true
	if both := w.of.and(to); len(both) > 0 {
		w.of = both
	}
}

func (s *saying) hosts() places {
	if s.where == nil {
		return places{s.a}
	}
	return s.where.of
}

// links are those between the places of a play, as far as people can know of them.
type links struct {
	now   map[session.Address]places // whose conversations a place may share now
	all   []*whereabouts
	moved int // the act in which a place may have gone to another conversation last
}

func newLinks() *links { return &links{now: map[session.Address]places{}} }

// ever reports whether a place was ever linked.
func (l *links) ever(a session.Address) bool { return l != nil && l.now[a] != nil }

// appear is where something may belong that is written now.
func (l *links) appear(a session.Address) *whereabouts {
	w := &whereabouts{at: a, of: places{a}}
	if l == nil {
		return w
	}
	w.of = w.of.or(l.now[a])
	if l.ever(a) {
		w.of = l.now[a]
	}
	l.all = append(l.all, w)
	return w
}

// may takes down that a place may share the conversations of others from now on.
func (l *links) may(a session.Address, of places) {
	if l.now[a] == nil {
		l.now[a] = places{a}
	}
	l.now[a] = l.now[a].or(of)
	for _, w := range l.all {
		if w.at == a && !w.fixed {
			w.of = w.of.or(of)
		}
	}
}

// heed takes down what a command may change.
func (l *links) heed(command string, act int) {
	if l == nil {
		return
	}
	if slices.Contains([]string{"link", "unlink", "new", "undo", "forget"}, command) {
		l.moved = act
	}
	for a := range l.now {
		if command == "unlink" {
			l.may(a, places{a})
		}
	}
}

// rest finds out which links there are while nothing waits: what was commanded has been done.
func (im *improvised) rest() {
	if im.links == nil || im.down() {
		return
	}
	ctx := context.Background()
	if t, err := im.store.Totals(ctx); err != nil || t.Waiting > 0 {
		return
	}
	owner := map[ledger.ThreadID]session.Address{}
	bound := map[session.Address]session.Binding{}
	for _, place := range im.places() {
		a, _ := im.address(place)
		st, err := im.store.Address(ctx, a)
		if err != nil {
			return
		}
		if bound[a] = st.Binding; st.Binding.Own == nil {
			owner[st.Binding.Thread] = a
		}
	}
	for a := range im.links.now {
		if of, ok := owner[bound[a].Thread]; ok {
			im.links.now[a] = places{of}
		}
	}
}

var codeMark = regexp.MustCompile(`[A-Z0-9]{4}-[A-Z0-9]{4}`)

// link lets a place join the conversation of one on the other platform, or a linked one leave it.
func (im *improvised) link() {
	pairs := [][4]string{{"dm", "ana", "dmtg", "ana"}, {"t1", "ada", "tgroup", "ada"}, {"t2", "ada", "dmtg", "ana"}, {"dm", "ana", "tgroup", "ada"}}
	p := pairs[im.rng.IntN(len(pairs))]
	if im.rng.IntN(2) == 0 {
		p = [4]string{p[2], p[3], p[0], p[1]}
	}
	if im.rng.IntN(4) == 0 {
		im.orders(p[1], p[0], "unlink")
		return
	}
	im.orders(p[1], p[0], "link")
	im.settle()
	if im.rng.IntN(6) == 0 {
		im.talk()
	}
	from, _ := im.address(p[0])
	to, _ := im.address(p[2])
	all := im.shownAt(from)
	if len(all) == 0 {
		return
	}
	if code := codeMark.FindString(all[len(all)-1].Text); code != "" {
		im.orders(p[3], p[2], "link "+code, func() {
			im.links.may(from, places{from})
			im.links.may(to, im.links.now[from].or(places{from}))
		})
	}
}

// answered takes down where the words of an answer belong.
func (im *improvised) answered(c *call, what string) {
	var at places
	for _, w := range words(c.read()) {
		if s := im.said[w]; s != nil {
			at = at.and(s.hosts())
		}
	}
	for _, a := range answerMark.FindAllString(what, -1) {
		if len(at) > 0 {
			im.said[a] = &saying{word: a, a: at[0], where: &whereabouts{at: at[0], of: at, fixed: true}}
		}
	}
}

// shownAt is what a place has been shown, as it was then.
func (im *improvised) shownAt(a session.Address) (out []conduittest.Message) {
	im.mu.Lock()
	defer im.mu.Unlock()
	for _, p := range im.journal[a] {
		out = append(out, p.Message)
	}
	return out
}

func (im *improvised) isRefused(a session.Address) bool {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.refused[a]
}

// judgeLinks looks at what places were shown of each other.
func (im *improvised) judgeLinks() {
	for _, place := range im.places() {
		a, _ := im.address(place)
		im.mu.Lock()
		was := slices.Clone(im.journal[a])
		im.mu.Unlock()
		stays := map[string]bool{} // by message: nothing has moved since it was posted
		for _, p := range was {
			stays[p.ID] = p.act > im.links.moved
		}
		for _, f := range wrongCopies(a, im.chat.At(a), im.said, stays) {
			im.fault("%s: %s", a, f)
		}
		im.judgeDue(a)
		for _, q := range im.places() {
			if b, _ := im.address(q); a != b && !im.isRefused(a) {
				for _, f := range wrongGaps(im.shownAt(a), im.shownAt(b)) {
					im.fault("%s, beside %s: %s", a, b, f)
				}
			}
		}
	}
}

// judgeDue looks for what is still to be shown at a place.
func (im *improvised) judgeDue(a session.Address) {
	ctx := context.Background()
	st, err := im.store.Address(ctx, a)
	t, _, _, err2 := im.store.Thread(ctx, st.Binding.Thread)
	if f := wrongDue(st, t); f != "" || err != nil || err2 != nil {
		im.fault("%s: %s (%v, %v)", a, f, err, err2)
	}
}

// wrongDue says what is still to be shown at a place that has come to its end (promise 1). One that has come to another conversation is due
// until there is a first record.
func wrongDue(st session.AddressState, t session.Thread) string {
	if legs, _ := st.Serving(); st.Due == 0 || len(legs) == 1 && t.Last < st.Cursor.Seq {
		return ""
	}
	return fmt.Sprintf("it is behind: record %d of %d is due, the cursor is %+v", st.Due, t.Last, st.Cursor)
}

// wrongCopies says what is wrong with what a place shows of others' questions: one that was written there (promise 5), one twice
// (promise 2), or, where it can be followed, one that was edited away or deleted (promise 7).
func wrongCopies(a session.Address, now []conduittest.Message, said map[string]*saying, stays map[string]bool) (faults []string) {
	seen := map[string]bool{}
	for _, m := range now {
		if m.Item.Kind != conduit.Attributed {
			continue
		}
		for _, w := range words(m.Text) {
			s := said[w]
			if s == nil {
				faults = append(faults, "nobody has said "+w)
				continue
			}
			if s.a == a {
				faults = append(faults, w+" was written here, and is told here")
			}
			if seen[w] && !strings.Contains(m.Text, conduittest.RepeatLabel) {
				faults = append(faults, w+" is told twice")
			}
			if seen[w] = true; s.gone > 0 && stays[m.ID] {
				faults = append(faults, fmt.Sprintf("%s is gone since act %d, and still shown: %q", w, s.gone, m.Text))
			}
		}
	}
	return faults
}

// wrongGaps says which answers a place wasn't shown that another one was, though it was shown what came before and behind them (promise 1).
// A place that joins begins anew.
func wrongGaps(here, there []conduittest.Message) (faults []string) {
	last := map[ledger.ThreadID]ledger.Seq{}
	for _, m := range here {
		from := last[m.Item.Thread]
		last[m.Item.Thread] = m.Item.Seq
		if from == 0 || m.Item.Kind == conduit.Notice && strings.Contains(m.Text, "Linked with the conversation") {
			continue
		}
		for _, o := range there {
			if o.Item.Kind == conduit.Answer && o.Item.Thread == m.Item.Thread && from < o.Item.Seq && o.Item.Seq < m.Item.Seq {
				faults = append(faults, fmt.Sprintf("between %d and %d, %d wasn't shown: %q", from, m.Item.Seq, o.Item.Seq, o.Text))
			}
		}
	}
	return faults
}
