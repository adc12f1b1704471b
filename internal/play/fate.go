package play

import (
	"errors"
	"fmt"
	"strings"

	"orebot/conduit"
	"orebot/conduit/conduittest"
)

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

// kill ends a life at once: nothing more is written, said or read.
func (st *stage) kill() error {
	if st.life == nil {
		return errors.New("the process is down already")
	}
	st.life.store.die()
	st.life = nil
	return nil
}

// quit ends a life in order.
func (st *stage) quit() error {
	if st.life == nil {
		return errors.New("the process is down already")
	}
	st.life.stop()
	<-st.life.over
	st.life = nil
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
	a, _ := st.address(l.place)
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
