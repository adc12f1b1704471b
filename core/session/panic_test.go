package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/access"
	"orebot/core/artifact"
	"orebot/core/loop"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// afterwards fails, or panics, once the answer is on the log.
type afterwards struct{ panics bool }

func (h afterwards) Handle(_ context.Context, a artifact.Artifact, _ loop.Emitter) error {
	if a, ok := a.(artifact.Text); ok && strings.HasPrefix(a.Content, "re:") {
		if h.panics {
			panic("boom")
		}
		return errors.New("too late")
	}
	return nil
}

func TestAFailureBehindTheAnswerChangesNoEnd(t *testing.T) {
	for _, panics := range []bool{false, true} {
		t.Run(fmt.Sprint(panics), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, echo(0), func(c *session.Config) { c.Handlers = []loop.Handler{afterwards{panics}} })
				in := msg(dm, "slack:U1", "hi")
				b.accept(in)
				time.Sleep(time.Hour)
				synctest.Wait()
				b.ended(in, session.EndAnswered)
				equal(t, "log", b.log(dm), []string{"user hi", "assistant re: hi"})
				b.stopLife()
			})
		})
	}
}

// A listener or a look-up that panics costs its message at most.
func TestAPanicOutsideATurnIsNotTheProcessesEnd(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), func(c *session.Config) {
			c.Platforms["slack"] = session.Platform{Policy: access.Policy{Mode: access.Members}, People: panics{}}
		})
		in := msg(dm, "slack:U1", "hi", func(in *session.Inbound) { in.Author.Known = false })
		b.accept(in)
		other := msg("slack:T1/D2", "slack:U2", "hi")
		b.accept(other)
		time.Sleep(time.Hour)
		synctest.Wait()
		b.ended(in, session.EndUndeliverable)
		b.ended(other, session.EndAnswered)
		b.stopLife()
	})
}

type panics struct{}

func (panics) Person(context.Context, session.Address, session.Author) (session.Author, error) {
	panic("boom")
}

// A bot that only the look-up knows as one gets no word: it might answer.
func TestABotThatIsFoundOutGetsSilence(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), func(c *session.Config) {
			c.Platforms["slack"] = session.Platform{Policy: access.Policy{Mode: access.Members}, People: bots{}}
		})
		in := msg(dm, "slack:U1", "hi", func(in *session.Inbound) { in.Author.Known = false })
		b.accept(in)
		synctest.Wait()
		b.ended(in, session.EndRefused)
		if ev := b.events(); len(ev) != 0 {
			t.Errorf("a bot was told %q", ev)
		}
		b.stopLife()
	})
}

type bots struct{}

func (bots) Person(_ context.Context, _ session.Address, who session.Author) (session.Author, error) {
	who.Bot, who.Known = true, true
	return who, nil
}
