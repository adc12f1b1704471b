package session_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/session"
	"orebot/core/session/storetest"
)

// What comes in during a turn is looked at meanwhile: named twice by the feed, it is still one turn, and the one in hand isn't taken
// for a new one.
func TestWhatIsNamedAgainDuringATurnIsOneTurn(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Minute))
		one, two := msg(dm, "slack:U1", "one"), msg(dm, "slack:U1", "two")
		b.accept(one)
		time.Sleep(time.Second)
		b.accept(two)
		for range 3 {
			b.m.Wake(one.ID())
			b.m.Wake(two.ID())
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		equal(t, "log", b.log(dm), []string{"user one", "assistant re: one", "user two", "assistant re: two"})
		b.stopLife()
	})
}

// What can't be read during a turn is read after it; the turn goes on.
func TestAnUnreadableEntryDuringATurnWaitsForItsEnd(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(time.Minute)
		bad := true
		one, two := msg(dm, "slack:U1", "one"), msg(dm, "slack:U1", "two")
		o := &odd{Memory: mem, entry: func(id session.EntryID) error {
			if id == two.ID() && bad {
				bad = false
				return errors.New("disk")
			}
			return nil
		}}
		b := start(t, mem, p, on(o))
		b.accept(one)
		time.Sleep(time.Second)
		b.accept(two)
		time.Sleep(time.Hour)
		synctest.Wait()
		if bad || len(p.prompts()) != 2 {
			t.Errorf("bad %v, %d calls of the model, want 2", bad, len(p.prompts()))
		}
		equal(t, "log", b.log(dm), []string{"user one", "assistant re: one", "user two", "assistant re: two"})
		b.stopLife()
	})
}
