package play

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
	if u.why != "" {
		to += " (thinks " + u.thoughts() + ")"
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
	why, _ := l.note("thinks")
	switch {
	case u.a != a || u.mark != l.mark || !matches(strings.TrimSpace(l.rest), strings.TrimSpace(u.text)):
	case named && st.cast.called(u.to) != to, why != u.thoughts():
	case l.timed && u.at.Sub(st.begun).Round(time.Second) != l.at:
	default:
		return nil
	}
	return fmt.Errorf("the bot said: %s", u.line(st))
}
