package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/session"
	"orebot/core/session/storetest"
)

// foreseeing is a Presenter that says beforehand what it shows, and that fails to show it.
type foreseeing struct {
	*stage
	mem  *storetest.Memory
	held []string // the kinds that the store held when Foresee had returned
}

func (f *foreseeing) Show(ctx context.Context, a session.Address, sign session.Sign, shown *session.Presence) (*session.Presence, error) {
	if err := session.Foresee(ctx, session.Presence{Kind: "mark", Message: sign.Message}); err != nil {
		return nil, err
	}
	st, _ := f.mem.Address(ctx, a)
	f.held = append(f.held, st.Presence.Kind)
	return nil, errors.New("refused")
}

// What a sign leaves is durable before it is shown, and forgotten where it was refused.
func TestSignsAreDurableBeforeTheyAreShown(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		f := &foreseeing{stage: newStage(t), mem: mem}
		b := start(t, mem, echo(2*time.Second), staged(f.stage, 0), func(c *session.Config) {
			p := c.Platforms["slack"]
			p.Presenter = f
			c.Platforms["slack"] = p
		})
		b.accept(msg(dm, "slack:U1", "hi"))
		time.Sleep(time.Minute)
		synctest.Wait()
		equal(t, "held", f.held, []string{"mark"})
		if a := at(t, mem, dm); a.PresenceRev != (session.Revision{}) || len(f.seen()) != 0 {
			t.Errorf("the presence %+v stays, seen %q", a.Presence, f.seen())
		}
		b.stopLife()
	})
}
