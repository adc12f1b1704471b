package play

import (
	"context"
	"fmt"

	"orebot/core/session"
)

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
