package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

func TestAMessageIsAnsweredInOneBatch(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Second))
		in := msg(dm, "slack:U1", "hi")
		b.accept(in)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		equal(t, "log", b.log(dm), []string{"user hi", "assistant re: hi"})
		equal(t, "events", b.events(), []string{"slack:T1/D1 user hi", "slack:T1/D1 assistant re: hi"})
		st, _ := mem.Address(context.Background(), dm)
		if st.Due != 2 || st.Cursor.Seq != 2 || st.Cursor.Attempt == nil || st.Cursor.Attempt.Life != "life" {
			t.Errorf("due %d, cursor %+v: want record 2 due and intended", st.Due, st.Cursor)
		}
		if ref, ok, _ := mem.Message(context.Background(), dm, in.Message); !ok || ref.Seq != 1 {
			t.Errorf("the question's message is indexed as %+v, %v", ref, ok)
		}
		b.stopLife()
	})
}

// Report 43.
func TestADuplicateIsOneTurn(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Second))
		in := msg(dm, "slack:U1", "hi")
		b.accept(in)
		for range 3 {
			if r := b.accept(in); !r.Duplicate {
				t.Errorf("receipt %+v, want a duplicate", r)
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		equal(t, "log", b.log(dm), []string{"user hi", "assistant re: hi"})
		b.stopLife()
	})
}

func TestWhatComesDuringATurnWaitsInOrder(t *testing.T) {
	for _, c := range []struct {
		name     string
		oneByOne bool
		want     []string
	}{
		{"collect", false, []string{"user a", "assistant re: a", "user b|c", "assistant re: b|c", "user d", "assistant re: d", "user e", "assistant re: e"}},
		{"fifo", true, []string{"user a", "assistant re: a", "user b", "assistant re: b", "user c", "assistant re: c", "user d", "assistant re: d", "user e", "assistant re: e"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, echo(time.Minute), func(c2 *session.Config) { c2.OneByOne = c.oneByOne })
				all := []session.Inbound{msg(dm, "slack:U1", "a"), msg(dm, "slack:U1", "b"), msg(dm, "slack:U1", "c"),
					msg(dm, "slack:U2", "d"), msg(dm, "slack:U1", "e")}
				b.accept(all[0])
				time.Sleep(time.Second)
				for _, i := range []int{2, 4, 1, 3} { // as a platform's retries may deliver them
					b.accept(all[i])
				}
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				equal(t, "log", b.log(dm), c.want)
				for _, in := range all {
					b.ended(in, session.EndAnswered)
				}
				b.stopLife()
			})
		})
	}
}

func TestASlowThreadDelaysNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{answer: func(ctx context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			if said(turns[len(turns)-1]) == "hang" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return text("ok"), nil
		}}
		b := start(t, mem, p)
		b.accept(msg("slack:T1/D2", "slack:U2", "hang"))
		in := msg(dm, "slack:U1", "hi")
		b.accept(in)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		b.stopLife()
	})
}

// Report 62.
func TestThreadsNeverMix(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Second))
		for i := range 50 {
			for j := range 4 {
				a := session.Address(fmt.Sprintf("slack:T1/D%d", j))
				b.accept(msg(a, fmt.Sprintf("slack:U%d", j), fmt.Sprintf("m%d-%d", j, i)))
			}
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		for j := range 4 {
			for _, line := range b.log(session.Address(fmt.Sprintf("slack:T1/D%d", j))) {
				for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '|' }) {
					if strings.HasPrefix(word, "m") && !strings.HasPrefix(word, fmt.Sprintf("m%d-", j)) {
						t.Errorf("thread %d holds %q", j, line)
					}
				}
			}
		}
		b.stopLife()
	})
}

func failing(kind provider.Kind, times int) *scripted {
	return &scripted{answer: func(_ context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
		if n <= times {
			return nil, &provider.Error{Kind: kind, Model: "m", Err: errors.New("no")}
		}
		return text("re: " + said(turns[len(turns)-1])), nil
	}}
}

func TestAModelThatComesBackAnswers(t *testing.T) {
	for _, c := range []struct {
		kind  provider.Kind
		times int
	}{{provider.KindUnreachable, 8}, {provider.KindBusy, 8}, {provider.KindEmpty, 1}, {provider.KindIncomplete, 1}} {
		t.Run(c.kind.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, failing(c.kind, c.times))
				in := msg(dm, "slack:U1", "hi")
				b.accept(in)
				time.Sleep(90 * time.Second)
				synctest.Wait()
				b.ended(in, session.EndAnswered)
				equal(t, "log", b.log(dm), []string{"user hi", "assistant re: hi"})
				b.stopLife()
			})
		})
	}
}

func TestAModelThatStaysAwayEndsInANotice(t *testing.T) {
	for _, c := range []struct {
		kind provider.Kind
		want string
		tip  bool // the question leaves the active path
	}{
		{provider.KindUnreachable, "hasn't answered for 2 min", false},
		{provider.KindBusy, "too busy", false},
		{provider.KindModelMissing, "`m` isn't installed", false},
		{provider.KindTimeout, "went silent", false},
		{provider.KindEmpty, "I tried twice", false},
		{provider.KindIncomplete, "I tried twice", false},
		{provider.KindRepeats, "repeated itself", false},
		{provider.KindTooLong, "send less", true},
		{provider.KindRefused, "refuses whatever I ask. Your message is kept", false}, // what is refused alone: see TestAHarmfulQuestionIsSetAside
		{provider.KindTooBig, "takes no request of that many bytes; I've set your message aside. Send fewer or smaller files, or go on in a fresh conversation", true},
		{provider.KindNoLoad, "can't load `m`; the operator has to look at it. Your message is kept", false},
		{provider.KindDenied, "check its key", false},
		{provider.KindUnknown, "Something went wrong", true},
	} {
		t.Run(c.kind.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := failing(c.kind, 1000)
				b := start(t, mem, p)
				in := msg(dm, "slack:U1", "hi")
				b.accept(in)
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				b.ended(in, session.EndNoticed)
				log := b.log(dm)
				last := log[len(log)-1]
				if !strings.HasPrefix(last, "end ") || !strings.Contains(last, c.want) || !strings.Contains(last, "(ref ") {
					t.Errorf("log ends in %q, want a notice with %q and a ref", last, c.want)
				}
				if tip := len(log) == 3 && log[1] == "tip 0"; tip != c.tip {
					t.Errorf("log %q: question set aside: %v, want %v", log, tip, c.tip)
				}
				p.answer = echo(0).answer // the next message works
				next := msg(dm, "slack:U1", "again")
				b.accept(next)
				synctest.Wait()
				b.ended(next, session.EndAnswered)
				b.stopLife()
			})
		})
	}
}

func TestAPanicIsOneTurnsFailure(t *testing.T) {
	boom := &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) { panic("boom") }}
	for name, change := range map[string]func(*session.Config){
		"in the provider": func(c *session.Config) { c.Provider = boom },
		"in the pattern":  func(c *session.Config) { c.Pattern = panicking{} },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, echo(0), change)
				in := msg(dm, "slack:U1", "hi")
				b.accept(in)
				time.Sleep(time.Minute)
				synctest.Wait()
				b.ended(in, session.EndNoticed)
				if e := b.entry(in); e.Failures != 3 {
					t.Errorf("%d failures counted, want 3", e.Failures)
				}
				b.stopLife()
			})
		})
	}
}

type panicking struct{}

func (panicking) Run(context.Context, loop.TurnExecutor, ledger.State, models.Spec, provider.Provider, ...provider.InvokeOption) (ledger.State, error) {
	panic("boom")
}

func TestAnOldQuestionGetsALine(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0))
		in := msg(dm, "slack:U1", "hi", func(in *session.Inbound) { in.At = time.Now().Add(-19 * time.Hour) })
		b.accept(in)
		synctest.Wait()
		b.ended(in, session.EndNoticed)
		if ev := b.events(); len(ev) != 1 || !strings.Contains(ev[0], "You asked 19 h ago") {
			t.Errorf("events %q", ev)
		}
		b.stopLife()
	})
}

func TestAnEmptyMentionNeverReachesTheModel(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(0)
		b := start(t, mem, p)
		in := msg(dm, "slack:U1", " \n")
		b.accept(in)
		synctest.Wait()
		b.ended(in, session.EndNoticed)
		if len(p.prompts()) != 0 {
			t.Error("an empty prompt went to the model")
		}
		b.stopLife()
	})
}

// Report 83.
func TestHistorySurvivesEvictionAndRestart(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(0)
		b := start(t, mem, p)
		b.accept(msg(dm, "slack:U1", "one"))
		time.Sleep(time.Hour)
		if n := b.m.Live(); n != 0 {
			t.Errorf("%d threads live after an idle hour", n)
		}
		b.accept(msg(dm, "slack:U1", "two"))
		synctest.Wait()
		b.stopLife()
		b = start(t, mem, p)
		b.accept(msg(dm, "slack:U1", "three"))
		synctest.Wait()
		last := p.prompts()[2]
		var got []string
		for _, turn := range last {
			got = append(got, string(turn.Role)+" "+said(turn))
		}
		equal(t, "prompt", got, []string{"user one", "assistant re: one", "user two", "assistant re: two", "user three"})
		b.stopLife()
	})
}

func TestTheLiveWindowIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(0)
		b := start(t, mem, p, func(c *session.Config) { c.WindowBytes = 20000 })
		for i := range 300 {
			b.accept(msg(dm, "slack:U1", fmt.Sprint(i)))
			synctest.Wait()
		}
		longest := 0
		for i, prompt := range p.prompts() {
			longest = max(longest, len(prompt))
			if prompt[0].Role != ledger.RoleUser || said(prompt[len(prompt)-1]) != fmt.Sprint(i) {
				t.Fatalf("prompt %d begins with %s and ends in %q", i, prompt[0].Role, said(prompt[len(prompt)-1]))
			}
		}
		if longest > 110 {
			t.Errorf("a prompt of %d turns, with a window of about 100", longest)
		}
		b.stopLife()
		b = start(t, mem, p)
		b.accept(msg(dm, "slack:U1", "last"))
		synctest.Wait()
		if n := len(p.prompts()[300]); n > 110 {
			t.Errorf("after a restart %d turns are loaded", n)
		}
		b.stopLife()
	})
}
