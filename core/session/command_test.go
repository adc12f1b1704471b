package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
	"orebot/core/slash"
)

type installed []slash.Model

func (l installed) Models(context.Context) ([]slash.Model, error) { return l, nil }

// commanded lets people give commands.
func commanded(st session.Store) func(*session.Config) {
	return func(c *session.Config) {
		c.Commander = slash.New(slash.Config{Models: installed{{Name: "m"}, {Name: "big:7b"}}, Log: st})
	}
}

// halfway answers with a part, and then with nothing until the call ends; what begins with "quick" it answers at once.
func halfway() *scripted {
	return &scripted{answer: func(ctx context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
		if q := said(turns[len(turns)-1]); strings.HasPrefix(q, "quick") {
			return text("re: " + q), nil
		}
		<-ctx.Done()
		return text("half an ans"), ctx.Err()
	}}
}

// tell hands messages over, a second apart, and waits.
func (b *bench) tell(texts ...string) (in []session.Inbound) {
	for _, s := range texts {
		m := msg(dm, "slack:U1", s)
		b.accept(m)
		in = append(in, m)
		time.Sleep(time.Second)
		synctest.Wait()
	}
	return in
}

// Reports 64 to 66: stop acts within 100 ms of its arrival while the model server hangs, and while the turn waits for its place.
func TestStopActsAtOnce(t *testing.T) {
	for _, waits := range []bool{false, true} {
		t.Run(fmt.Sprint(waits), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := halfway()
				b := start(t, mem, p, commanded(mem), func(c *session.Config) { c.MaxConcurrent = 1 })
				if waits {
					b.accept(msg("slack:T1/D9", "slack:U9", "others are ahead"))
					time.Sleep(time.Second)
				}
				in := b.tell("essay", "more", "and more")
				other := msg(dm, "slack:U2", "quick one")
				b.accept(other)
				time.Sleep(time.Second)
				stop := msg(dm, "slack:U1", "/stop")
				b.accept(stop)
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
				b.ended(stop, session.EndNoticed)
				for _, m := range in {
					b.ended(m, session.EndWithdrawn)
				}
				log := b.log(dm)
				if want := "end Stopped, 2 waiting withdrawn. `/retry` asks again."; log[len(log)-1] != want && !strings.Contains(strings.Join(log, "\n"), want) {
					t.Errorf("log %q", log)
				}
				for _, turn := range b.turns(dm) { // one that isn't a draft would be delivered
					if strings.Contains(said(turn), "half") && turn.Final() {
						t.Errorf("the partial counts as an answer: %+v", turn)
					}
				}
				if n := len(p.prompts()); waits && n != 1 || !waits && n != 2 {
					t.Errorf("the model was asked %d times", n)
				}
				if !waits {
					b.ended(other, session.EndAnswered)
					if q := p.prompts()[1]; len(q) != 2 || strings.Contains(said(q[0])+said(q[1]), "half") {
						t.Errorf("the partial is in the next prompt: %+v", q)
					}
				}
				b.stopLife()
			})
		})
	}
}

// turns returns the turns on the log of the thread that an address is bound to.
func (b *bench) turns(a session.Address) (out []ledger.Turn) {
	b.t.Helper()
	recs, err := b.store.Log(b.t.Context(), at(b.t, b.store, a).Binding.Thread, 1, 10000)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, r := range recs {
		if r.Turn != nil {
			out = append(out, *r.Turn)
		}
	}
	return out
}

// Somebody else's stop leaves the answer alone, unless they began the conversation.
func TestStopIsForTheAsker(t *testing.T) {
	const channel = session.Address("slack:T1/C1/1")
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		place := func(in *session.Inbound) { in.Call, in.Place = session.CallMention, "slack:C1" }
		b := start(t, mem, halfway(), commanded(mem))
		b.accept(msg(channel, "slack:U1", "quick", place))
		time.Sleep(time.Second)
		in := msg(channel, "slack:U2", "essay", place)
		b.accept(in)
		time.Sleep(time.Second)
		b.accept(msg(channel, "slack:U3", "!stop", place))
		time.Sleep(time.Second)
		synctest.Wait()
		if e := b.entry(in); e.State != session.EntrySubmitted {
			t.Errorf("a stranger's stop: state %d", e.State)
		}
		b.accept(msg(channel, "slack:U1", "!stop", place))
		time.Sleep(time.Second)
		synctest.Wait()
		b.ended(in, session.EndWithdrawn)
		b.stopLife()
	})
}

// A stop that was written down before the process ended is applied before the turn is resumed.
func TestAStopFromBeforeARestart(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := halfway()
		c := &crashing{Memory: mem, left: 1 << 30}
		cfg := config(c, p)
		commanded(mem)(&cfg)
		m := session.New(cfg)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- m.Run(ctx) }()
		in, stop := msg(dm, "slack:U1", "essay"), msg(dm, "slack:U1", "/stop")
		m.Accept(ctx, in, func(session.Receipt) {})
		time.Sleep(time.Second)
		c.mu.Lock()
		c.left = -10
		c.mu.Unlock()
		cancel()
		<-done
		quiet := session.New(config(mem, p)) // nobody works: only the entry is made
		quiet.Accept(context.Background(), stop, func(session.Receipt) {})
		time.Sleep(time.Second)
		b := start(t, mem, p, commanded(mem))
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		b.ended(in, session.EndWithdrawn)
		b.ended(stop, session.EndNoticed)
		if n := len(p.prompts()); n != 1 {
			t.Errorf("the model was asked %d times, want once", n)
		}
		b.stopLife()
	})
}

func TestRetryAnswersAgain(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		n := 0
		p := &scripted{answer: func(_ context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			n++
			return text(fmt.Sprintf("%d: %s", n, said(turns[len(turns)-1]))), nil
		}}
		b := start(t, mem, p, commanded(mem))
		in := b.tell("hi", "/retry", "next")
		b.ended(in[1], session.EndAnswered)
		equal(t, "log", b.log(dm), []string{"user hi", "assistant 1: hi", "tip 1", "assistant 2: hi", "user next", "assistant 3: next"})
		if q := p.prompts()[2]; len(q) != 3 || said(q[1]) != "2: hi" {
			t.Errorf("the next prompt is %+v", q)
		}
		b.stopLife()
	})
}

// A question that was set aside is the one that retry means, until another one is asked.
func TestRetryAsksWhatWasSetAside(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := harming(provider.KindRefused, 2, "one")
		b := start(t, mem, p, commanded(mem))
		in := b.tell("one", "/retry", "/retry")
		b.ended(in[0], session.EndNoticed)
		b.ended(in[1], session.EndNoticed)
		b.ended(in[2], session.EndAnswered)
		log := b.log(dm)
		if log[len(log)-1] != "assistant re: one" {
			t.Errorf("log %q", log)
		}
		b.stopLife()
	})
}

func TestUndoTakesBack(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(0)
		b := start(t, mem, p, commanded(mem))
		b.tell("one", "two", "/undo", "three", "/undo", "/undo", "/undo", "four")
		calls := p.prompts()
		if q := calls[2]; len(q) != 3 || said(q[0]) != "one" || said(q[2]) != "three" {
			t.Errorf("after the first undo the model sees %+v", q)
		}
		if q := calls[3]; len(q) != 1 || said(q[0]) != "four" {
			t.Errorf("after all were taken back the model sees %+v", q)
		}
		if !strings.Contains(strings.Join(b.log(dm), "\n"), "end There is nothing to take back.") {
			t.Errorf("log %q", b.log(dm))
		}
		b.stopLife()
	})
}

// new begins another thread, and undo in an empty one returns to the ledger before.
func TestNewAndTheWayBack(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(0)
		b := start(t, mem, p, commanded(mem))
		in := b.tell("one", "/new", "two")
		old, now := at(t, mem, dm).Binding.Back[0], at(t, mem, dm).Binding.Thread
		if old == now || now != session.ThreadOf(in[1].ID()) {
			t.Errorf("the threads are %s and %s", old, now)
		}
		equal(t, "log", b.log(dm), []string{"user two", "assistant re: two"})
		b.m.Forget()
		b.tell("/undo", "/undo", "three")
		if st := at(t, mem, dm); st.Binding.Thread != old || len(st.Binding.Back) != 0 {
			t.Errorf("binding %+v, want the thread before", st.Binding)
		}
		calls := p.prompts()
		if q := calls[len(calls)-1]; len(q) != 3 || said(q[0]) != "one" {
			t.Errorf("the model sees %+v", q)
		}
		b.stopLife()
	})
}

// What stands behind a new is a question like any other: its answer doesn't go where that of a slash command may.
func TestWhatStandsBehindNewIsNoCommand(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), commanded(mem))
		b.tell("one")
		in := msg(dm, "slack:U1", "/new two", func(in *session.Inbound) { in.Call, in.ReplyURL = session.CallCommand, "https://hooks.slack.com/x" })
		b.accept(in)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		if got := b.entry(in).Inbound; got.ReplyURL != "" || got.Text != "two" || got.Call != session.CallDirect {
			t.Errorf("the question is %+v", got)
		}
		b.stopLife()
	})
}

// What waits behind a new belongs to the fresh conversation.
func TestWhatWaitsBehindNewGoesThere(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(10 * time.Second)
		b := start(t, mem, p, commanded(mem))
		in := b.tell("one", "/new", "two", "three")
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, m := range []session.Inbound{in[0], in[2], in[3]} {
			b.ended(m, session.EndAnswered)
		}
		equal(t, "log", b.log(dm), []string{"user two|three", "assistant re: two|three"})
		b.stopLife()
	})
}

// A setting is on the log, survives a restart, and holds for the next turn.
func TestSettingsSurviveARestart(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &specs{}
		b := start(t, mem, echo(0), commanded(mem), func(c *session.Config) { c.Provider = p })
		b.tell("one", "/model BIG:7b", "/think low", "/system Talk like a pirate.", "/model nosuch")
		b.stopLife()
		b = start(t, mem, echo(0), commanded(mem), func(c *session.Config) { c.Provider = p })
		b.tell("two", "/system reset", "three")
		b.stopLife()
		want := []string{"m  ", "big:7b low Talk like a pirate.", "big:7b low "}
		equal(t, "specs", p.seen, want)
	})
}

// specs notes what the provider is asked with.
type specs struct{ seen []string }

func (p *specs) Invoke(ctx context.Context, _ ledger.State, sp models.Spec, ch chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	system, _ := session.SystemFrom(ctx)
	p.seen = append(p.seen, sp.Model+" "+sp.Think+" "+system)
	ch <- artifact.Text{Content: "ok"}
	return nil
}

// Commands that run beside a turn are answered while it hangs, the rest in their place.
func TestCommandsBesideATurn(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Hour), commanded(mem))
		in := b.tell("slow", "/undo", "/help", "/status", "/models", "/usage", "/whoami", "/export", "/start", "/hlep")
		b.m.Wake(in[2].ID())
		synctest.Wait()
		for _, m := range in[2:] {
			b.ended(m, session.EndNoticed)
		}
		for _, m := range in[:2] {
			if e := b.entry(m); !e.State.Waits() {
				t.Errorf("%q doesn't wait", m.Text)
			}
		}
		if ev := strings.Join(b.events(), "\n"); !strings.Contains(ev, "one in progress, 0") && !strings.Contains(ev, "one in progress") {
			t.Errorf("status says nothing of the turn: %s", ev)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		b.ended(in[0], session.EndAnswered)
		b.ended(in[1], session.EndNoticed)
		b.stopLife()
	})
}

// A muted conversation is followed only when called, across a restart.
func TestMute(t *testing.T) {
	const channel = session.Address("slack:T1/C1/1")
	ambient := func(in *session.Inbound) { in.Call, in.Place = session.CallAmbient, "slack:C1" }
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), commanded(mem))
		b.accept(msg(channel, "slack:U1", "hi", ambient, func(in *session.Inbound) { in.Call = session.CallMention }))
		time.Sleep(time.Second)
		say := func(text string) session.Receipt {
			r := b.accept(msg(channel, "slack:U1", text, ambient))
			time.Sleep(time.Second)
			return r
		}
		if r := say("follow-up"); r.Heard {
			t.Error("a follow-up is only heard")
		}
		say("!mute")
		if r := say("talk"); !r.Heard {
			t.Error("a muted bot is called by talk")
		}
		b.stopLife()
		b = start(t, mem, echo(0), commanded(mem))
		if r := say("talk"); !r.Heard {
			t.Error("the mute is forgotten")
		}
		say("!follow")
		if r := say("talk"); r.Heard {
			t.Error("the bot doesn't follow again")
		}
		b.stopLife()
	})
}

// Usage counts what answers cost, for the thread and the person, once.
func TestUsage(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) {
			return append(text("ok"), artifact.Usage{PromptTokens: 100, CompletionTokens: 10, TotalTokens: 110}), nil
		}}
		b := start(t, mem, p, commanded(mem))
		b.tell("one", "two")
		b.m.Forget()
		time.Sleep(24 * time.Hour)
		b.tell("three", "/usage")
		want := "- This conversation: 330 tokens in 3 answers\n- You, today: 110 tokens in 1 answer\n- You, the last 30 days: 330 tokens in 3 answers"
		ev := b.events()
		if got := ev[len(ev)-1]; !strings.HasSuffix(got, want) {
			t.Errorf("usage says %q, want %q", got, want)
		}
		b.stopLife()
	})
}
