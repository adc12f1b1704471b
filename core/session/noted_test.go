package session_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/session"
	"orebot/core/session/storetest"
)

// noting counts how many calls are under way at once.
type noting struct {
	mu        sync.Mutex
	now, most int
	noted     []string
}

func (n *noting) busy() {
	n.mu.Lock()
	n.now++
	n.most = max(n.most, n.now)
	n.mu.Unlock()
	time.Sleep(2 * time.Second)
	n.mu.Lock()
	n.now--
	n.mu.Unlock()
}

func (n *noting) Show(context.Context, session.Address, session.Sign, *session.Presence) (*session.Presence, error) {
	n.busy()
	return nil, nil
}

func (n *noting) Clear(context.Context, session.Address, session.Presence) error { return nil }

func (n *noting) Noted(_ context.Context, _ session.Address, message string) error {
	n.busy()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.noted = append(n.noted, message)
	return nil
}

// An edit of an answered message that comes while another one is answered is applied behind that one, and not only when the next message
// wakes the thread. The calls of a Presenter for one address come one at a time, also where answered messages are edited while another is answered.
func TestEditsAreNotedOneAtATime(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		n := &noting{}
		b := start(t, mem, echo(3*time.Second), func(c *session.Config) {
			p := c.Platforms["slack"]
			p.Presenter = n
			c.Platforms["slack"] = p
		})
		one, two := msg(dm, "slack:U1", "one"), msg(dm, "slack:U1", "two")
		b.accept(one)
		time.Sleep(10 * time.Second)
		b.accept(two)
		time.Sleep(10 * time.Second)
		b.accept(msg(dm, "slack:U1", "three"))
		time.Sleep(time.Second)
		b.accept(edit(one, "one!"))
		b.accept(edit(two, "two!"))
		time.Sleep(time.Minute)
		synctest.Wait()
		n.mu.Lock()
		equal(t, "noted", n.noted, []string{one.Message, two.Message})
		if n.most != 1 {
			t.Errorf("%d calls at once", n.most)
		}
		n.mu.Unlock()
		b.stopLife()
	})
}
