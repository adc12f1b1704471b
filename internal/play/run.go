package play

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/session"
)

// Times of a play.
const (
	patience = 15 * time.Minute // how long a line waits for the bot or for the model
	curtain  = time.Hour        // how long the bot must be silent at the end
	beat     = 20 * time.Millisecond
)

// Run runs the play in a file.
func Run(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := read(string(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	synctest.Test(t, func(t *testing.T) {
		if err := perform(t, s); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	})
}

// perform plays a script in the bubble of the caller.
func perform(t *testing.T, s *script) error {
	st, err := newStage(t, s)
	if err != nil {
		return err
	}
	defer st.close()
	if err := st.start(); err != nil {
		return err
	}
	for _, l := range s.lines {
		if err := st.play(l); err != nil {
			return fmt.Errorf("line %d (%s): %w", l.n, l.text, err)
		}
	}
	return nil
}

// close ends everything, whatever state it is in.
func (st *stage) close() {
	if st.life != nil {
		st.life.stop()
	}
	st.ended.Wait()
	st.chat.Wait()
	_ = st.store.Close()
}

// play lets one line happen. Nothing that the bot has said before may be left.
func (st *stage) play(l line) error {
	if l.who == "bot" {
		return st.hear(l)
	}
	if l.timed {
		time.Sleep(time.Until(st.begun.Add(l.at)))
	}
	if l.who == "model" {
		return st.act(l)
	}
	if err := st.silent(); err != nil {
		return err
	}
	return st.act(l)
}

// silent reports what the bot has said that no line speaks of.
func (st *stage) silent() error {
	synctest.Wait()
	if u, ok := st.heap.take(); ok {
		return fmt.Errorf("before it the bot said: %s", u.line(st))
	}
	return nil
}

func (st *stage) act(l line) (err error) {
	switch l.who {
	case "model":
		return st.direct(l)
	case "tool":
		return st.tooling(l)
	case "post":
		err = st.trouble(l)
	case "edit", "delete":
		err = st.change(l)
	case "again":
		err = st.again(l)
	case "kill":
		err = st.dieBy(l)
	case "start":
		err = st.rise()
	case "restart":
		if err = st.quit(); err == nil {
			err = st.start()
		}
	case "wait":
		var d time.Duration
		if d, err = time.ParseDuration(l.rest); err == nil {
			time.Sleep(d)
		}
	case "sum":
		return st.sum(l)
	default:
		err = st.say(l)
	}
	time.Sleep(beat)
	synctest.Wait()
	return err
}

// line is an utterance as a play has it.
func (u uttered) line(st *stage) string {
	where := "@" + u.a.Place()[strings.LastIndex(u.a.Place(), "/")+1:]
	to := ""
	if u.to != "" {
		to = " (to " + st.cast.called(u.to) + ")"
	}
	return fmt.Sprintf("@%s bot%s%s%s %s", u.at.Sub(st.begun).Round(time.Second), where, to, u.mark, strings.ReplaceAll(u.text, "\n", `\n`))
}

// hear waits for what the bot says next, and compares it with the line.
func (st *stage) hear(l line) error {
	u, ok := st.heap.next(patience)
	if !ok {
		return errors.New("the bot says nothing")
	}
	a, _ := st.address(l.place)
	to, named := l.note("to")
	switch {
	case u.a != a || u.mark != l.mark || !matches(strings.TrimSpace(l.rest), strings.TrimSpace(u.text)):
	case named && st.cast.called(u.to) != to:
	case l.timed && u.at.Sub(st.begun).Round(time.Second) != l.at:
	default:
		return nil
	}
	return fmt.Errorf("the bot said: %s", u.line(st))
}

// say lets a person write.
func (st *stage) say(l line) error {
	in, fate, err := st.message(l)
	if err != nil {
		return err
	}
	st.cast.add(l.who, in, fate)
	if fate == "before" {
		st.past.add(in)
		return nil
	}
	return st.deliver(in, fate)
}

// deliver hands a message over; to a process that is down, once it is up again.
func (st *stage) deliver(in session.Inbound, fate string) error {
	l := st.life
	if l == nil {
		st.held = append(st.held, func() error { return st.deliver(in, fate) })
		return nil
	}
	ch := make(chan session.Receipt, 1)
	l.manager.Accept(context.Background(), in, func(r session.Receipt) { ch <- r })
	r := <-ch
	if l.store.isDead() && r.Err != nil { // the platform delivers it again
		st.held = append(st.held, func() error { return st.deliver(in, fate) })
		return nil
	}
	if r.Err != nil {
		return r.Err
	}
	got := ""
	switch {
	case r.Duplicate:
		got = "duplicate"
	case r.Ignored != "":
		got = "ignored"
	case r.Heard:
		got = "heard"
	}
	if got != fate && !(got == "duplicate" && st.lives > 1) {
		return fmt.Errorf("became %q (%s), not %q", got, r.Ignored, fate)
	}
	return nil
}

// change lets a person edit or delete a message.
func (st *stage) change(l line) error {
	old, err := st.cast.find(l.notes[0])
	if err != nil {
		return err
	}
	in, fate := old.in, ""
	order := st.cast.next()
	in.Target, in.TargetKey, in.Key = old.in.Message, old.in.Key, "s"+order
	if l.who == "delete" {
		in.Signal, in.Text, in.Attachments, in.Quotes = session.SignalDelete, "", nil, nil
	} else {
		in.Signal, in.Version = session.SignalEdit, order
		st.word(&in, l.rest)
	}
	for _, n := range l.notes[1:] {
		if err := st.noteOn(&in, &fate, n); err != nil {
			return err
		}
	}
	return st.deliver(in, fate)
}

// again lets the platform deliver a message a second time.
func (st *stage) again(l line) error {
	old, err := st.cast.find(l.notes[0])
	if err != nil {
		return err
	}
	return st.deliver(old.in, "duplicate")
}

// rise begins a life, which is given what it has missed.
func (st *stage) rise() error {
	if st.life != nil && st.life.store.isDead() {
		st.life = nil
	}
	if err := st.start(); err != nil {
		return err
	}
	held := st.held
	st.held = nil
	for _, f := range held {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// dieBy kills the process: now, at or behind a commit, or behind a post.
func (st *stage) dieBy(l line) error {
	if l.rest == "" {
		return st.kill()
	}
	var how, what string
	var n int
	if _, err := fmt.Sscanf(l.rest, "%s %s %d", &how, &what, &n); err != nil || st.life == nil || n < 1 {
		return fmt.Errorf("kill %q isn't understood", l.rest)
	}
	if what == "post" {
		st.posts.Store(int64(n))
		return nil
	}
	st.life.store.dieAt(n, how == "behind")
	return nil
}

// afterPost kills the process behind a post, where the play says so.
func (st *stage) afterPost() {
	if st.posts.Load() > 0 && st.posts.Add(-1) == 0 {
		st.life.store.die()
	}
}

// trouble lets the next post meet something.
func (st *stage) trouble(l line) error {
	a, _ := st.address("")
	rest, seen := strings.CutPrefix(l.rest, "shown ")
	classes := map[string]conduit.Class{"retry": conduit.Retry, "unknown": conduit.Unknown, "too big": conduit.TooBig, "malformed": conduit.Malformed, "gone": conduit.Gone}
	class, ok := classes[rest]
	if !ok {
		return fmt.Errorf("no such trouble")
	}
	tr := conduittest.Refusal(class)
	tr.Shown = seen
	st.chat.Next(a, tr)
	return nil
}

// sum is promise 3: every message that was received has come to one end, and the play knows to which.
func (st *stage) sum(l line) error {
	if err := st.rest(); err != nil {
		return err
	}
	tot, err := st.store.Totals(context.Background())
	if err != nil {
		return err
	}
	if tot.Waiting != 0 {
		return fmt.Errorf("%d messages wait", tot.Waiting)
	}
	got := map[string]int{}
	for end, n := range tot.Ended {
		got[end.String()] = int(n)
	}
	got["heard"] = int(tot.Heard)
	for _, s := range st.cast.sent {
		if s.fate == "ignored" {
			got["ignored"]++
		}
	}
	want, all := map[string]int{}, 0
	for _, w := range split(l.rest) {
		n, what, _ := strings.Cut(w, " ")
		want[what], _ = strconv.Atoi(n)
	}
	for _, n := range got {
		all += n
	}
	if count(got) != count(want) {
		return fmt.Errorf("it is: %s", count(got))
	}
	if said := st.cast.received(); said != all {
		return fmt.Errorf("people have written %d messages, and %d are accounted for", said, all)
	}
	return nil
}

// received counts what people have written to where the bot is.
func (c *cast) received() (n int) {
	for _, s := range c.sent {
		if s.fate != "before" && s.fate != "duplicate" {
			n++
		}
	}
	return n
}

func count(m map[string]int) string {
	var out []string
	for what, n := range m {
		if n != 0 {
			out = append(out, fmt.Sprintf("%d %s", n, what))
		}
	}
	sort.Strings(out)
	return strings.Join(out, ", ")
}

// rest lets time pass at the end of a play: nothing more is said, and nobody asks the model.
func (st *stage) rest() error {
	time.Sleep(curtain)
	if err := st.silent(); err != nil {
		return err
	}
	if c := st.model.first(); c != nil {
		return fmt.Errorf("the model is still asked: %s", c.read())
	}
	if err := st.quit(); err != nil {
		return err
	}
	return st.silent()
}
