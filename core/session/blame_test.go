package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// harming fails, so many times, whatever prompt holds one of the words; everything else is answered.
func harming(kind provider.Kind, times int, words ...string) *scripted {
	var mu sync.Mutex
	return &scripted{answer: func(_ context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
		mu.Lock()
		defer mu.Unlock()
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(whole(turns), w) }) && times > 0 {
			times--
			return text("half an ans"), &provider.Error{Kind: kind, Model: "m", Partial: true, Err: errors.New("unexpected EOF")}
		}
		return text("re: " + said(turns[len(turns)-1])), nil
	}}
}

// holds counts the prompts that hold a word.
func (p *scripted) holds(word string) (n int) {
	for _, turns := range p.prompts() {
		if strings.Contains(whole(turns), word) {
			n++
		}
	}
	return n
}

// A question at which the model's server breaks down each time, or which it refuses, is set aside once the model has shown that it
// answers others; what is written next is answered without it, and retry asks it again.
func TestAHarmfulQuestionIsSetAside(t *testing.T) {
	for kind, want := range map[provider.Kind]struct {
		text  string
		asked int
	}{
		provider.KindIncomplete: {"The model stopped without an answer; I tried twice. `/retry` asks again. I've set your message aside, so that the next one works.", 2},
		provider.KindRefused:    {"The model server refused this request. I've set it aside; please ask in another way.", 1},
	} {
		t.Run(kind.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := harming(kind, want.asked, "poison")
				b := start(t, mem, p, commanded(mem))
				in := b.tell("fine", "poison", "next", "/undo", "/retry")
				b.ended(in[0], session.EndAnswered)
				b.ended(in[1], session.EndNoticed)
				b.ended(in[2], session.EndAnswered)
				log := b.log(dm)
				equal(t, "log", log[:6], []string{"user fine", "assistant re: fine", "user poison", "tip 2", log[4], "user next"})
				if !strings.HasPrefix(log[4], "end "+want.text) {
					t.Errorf("the line is %q, want %q", log[4], want.text)
				}
				for _, turns := range p.prompts() {
					if q := whole(turns); strings.Contains(q, "half") || strings.Contains(q, "next") && strings.Contains(q, "poison") {
						t.Errorf("a prompt holds %q", q)
					}
				}
				if n := p.holds("poison"); n != want.asked {
					t.Errorf("asked %d times, want %d", n, want.asked)
				}
				b.stopLife()
			})
		})
	}
}

func TestRetryAsksAHarmfulQuestionAgain(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, harming(provider.KindIncomplete, 4, "poison"), commanded(mem))
		in := b.tell("poison", "/retry", "/retry")
		b.ended(in[1], session.EndNoticed)
		b.ended(in[2], session.EndAnswered)
		if log := b.log(dm); log[len(log)-1] != "assistant re: poison" {
			t.Errorf("log %q", log)
		}
		b.stopLife()
	})
}

// Trouble of the server's is no fault of the question's, whichever way it shows: the question stays, and the next answer knows of it.
func TestTroubleOfTheServersSetsNothingAside(t *testing.T) {
	for name, tt := range map[string]struct {
		kinds []provider.Kind // of the calls in turn; the last one stays for a while
		want  string
	}{
		"it breaks off for everybody":          {[]provider.Kind{provider.KindIncomplete}, "I tried twice."},
		"it breaks off, is killed, stays away": {[]provider.Kind{provider.KindIncomplete, provider.KindIncomplete, provider.KindUnreachable}, "hasn't answered for 2 min. Your message is kept"},
		"it breaks off once, then stays away":  {[]provider.Kind{provider.KindIncomplete, provider.KindUnreachable}, "hasn't answered for 2 min. Your message is kept"},
		"it breaks off, then is busy":          {[]provider.Kind{provider.KindIncomplete, provider.KindIncomplete, provider.KindBusy}, "too busy"},
		"it breaks off, then hangs":            {[]provider.Kind{provider.KindIncomplete, provider.KindIncomplete, provider.KindTimeout}, "went silent"},
		"it breaks off, then can't load":       {[]provider.Kind{provider.KindIncomplete, provider.KindIncomplete, provider.KindNoLoad}, "I tried twice."},
		"it refuses everybody":                 {[]provider.Kind{provider.KindRefused}, "refuses whatever I ask. Your message is kept"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := echo(0)
				well := p.answer
				p.answer = func(_ context.Context, n int, _ []ledger.Turn) ([]artifact.Artifact, error) {
					return nil, &provider.Error{Kind: tt.kinds[min(n, len(tt.kinds))-1], Model: "m", Err: errors.New("no")}
				}
				b := start(t, mem, p, commanded(mem))
				in := msg(dm, "slack:U1", "one")
				b.accept(in)
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				b.ended(in, session.EndNoticed)
				p.answer = well
				next := msg(dm, "slack:U1", "two")
				b.accept(next)
				synctest.Wait()
				b.ended(next, session.EndAnswered)
				log := b.log(dm)
				if len(log) != 4 || !strings.Contains(log[1], tt.want) || strings.Contains(log[1], "aside") {
					t.Errorf("log %q, want a line with %q", log, tt.want)
				}
				if all := p.prompts(); whole(all[len(all)-1]) != whole([]ledger.Turn{userTurn("one"), userTurn("two")}) {
					t.Errorf("the next prompt is %q", whole(all[len(all)-1]))
				}
				b.stopLife()
			})
		})
	}
}

func userTurn(s string) ledger.Turn { return ledger.Turn{Role: ledger.RoleUser, Artifacts: text(s)} }

// A server that was down before it broke off once was restarted: the question is asked once more, and answered.
func TestARestartInMidAnswerIsOneFailure(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		kinds := []provider.Kind{provider.KindUnreachable, provider.KindUnreachable, provider.KindIncomplete}
		p := echo(0)
		well := p.answer
		p.answer = func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			if n <= len(kinds) {
				return nil, &provider.Error{Kind: kinds[n-1], Model: "m", Err: errors.New("no")}
			}
			return well(ctx, n, turns)
		}
		b := start(t, mem, p)
		in := msg(dm, "slack:U1", "hi")
		b.accept(in)
		time.Sleep(time.Minute)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		equal(t, "log", b.log(dm), []string{"user hi", "assistant re: hi"})
		b.stopLife()
	})
}

// costsOneMessage asks what can't be answered, which ends in a notice, and something else a minute later, which is answered.
func (b *bench) costsOneMessage(question string) {
	b.t.Helper()
	in, next := msg(dm, "slack:U1", question), msg(dm, "slack:U1", "next")
	b.accept(in)
	time.Sleep(time.Minute)
	b.accept(next)
	time.Sleep(time.Minute)
	synctest.Wait()
	b.ended(in, session.EndNoticed)
	b.ended(next, session.EndAnswered)
}

// A question that brings the whole server down is found out once that is back.
func TestAQuestionThatKillsTheServerIsSetAside(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		var back time.Time
		p := echo(0)
		well := p.answer
		p.answer = func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			kind := provider.KindUnreachable
			if time.Now().After(back) {
				if kind = provider.KindIncomplete; !strings.Contains(whole(turns), "poison") {
					return well(ctx, n, turns)
				}
				back = time.Now().Add(3 * time.Second)
			}
			return nil, &provider.Error{Kind: kind, Model: "m", Err: errors.New("no")}
		}
		b := start(t, mem, p)
		b.costsOneMessage("poison")
		if log := b.log(dm); len(log) != 5 || log[1] != "tip 0" || !strings.Contains(log[2], "aside") {
			t.Errorf("log %q", log)
		}
		b.stopLife()
	})
}

// shared is one runner for all threads: a prompt that holds "poison" ends every call that is under way.
type sharedRunner struct {
	mu    sync.Mutex
	crash chan struct{}
}

func (r *sharedRunner) answer(ctx context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
	broken := &provider.Error{Kind: provider.KindIncomplete, Model: "m", Partial: true, Err: errors.New("unexpected EOF")}
	r.mu.Lock()
	crash := r.crash
	r.mu.Unlock()
	question := said(turns[len(turns)-1])
	length := 10 * time.Second
	if strings.Contains(whole(turns), "poison") || question == session.Harmless {
		length = 100 * time.Millisecond
	}
	select {
	case <-crash:
		return nil, broken
	case <-time.After(length):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if strings.Contains(whole(turns), "poison") {
		r.mu.Lock()
		if crash == r.crash {
			close(r.crash)
			r.crash = make(chan struct{})
		}
		r.mu.Unlock()
		return nil, broken
	}
	return text("re: " + question), nil
}

// Two threads with the same question that crashes the runner, and others whose answers it cuts off each time: only the two are set
// aside, the others are answered, and what the two write next is as well.
func TestOnlyTheHarmfulAreSetAside(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, &scripted{answer: (&sharedRunner{crash: make(chan struct{})}).answer}, func(c *session.Config) { c.MaxConcurrent = 10 })
		place := func(i int) session.Address { return session.Address(fmt.Sprintf("slack:T1/D%d", i)) }
		var in []session.Inbound
		for i := range 6 {
			in = append(in, msg(place(i), fmt.Sprintf("slack:U%d", i), map[bool]string{true: "poison", false: "long"}[i%3 == 1]))
			b.accept(in[i])
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		for i := range in {
			if i%3 == 1 {
				b.ended(in[i], session.EndNoticed)
				next := msg(place(i), fmt.Sprintf("slack:U%d", i), "next")
				b.accept(next)
				time.Sleep(time.Minute)
				synctest.Wait()
				b.ended(next, session.EndAnswered)
				continue
			}
			b.ended(in[i], session.EndAnswered)
			equal(t, "log", b.log(place(i)), []string{"user long", "assistant re: long"})
		}
		b.stopLife()
	})
}

// A death at any moment of it, orderly or not, changes nothing: one line, the question aside, the next one answered.
func TestDeathWhileAQuestionIsTried(t *testing.T) {
	for at := 50 * time.Millisecond; at < 1500*time.Millisecond; at += 50 * time.Millisecond {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			slow := func() *scripted {
				p := harming(provider.KindIncomplete, 1000, "poison")
				inner := p.answer
				p.answer = func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
					select {
					case <-time.After(200 * time.Millisecond):
					case <-ctx.Done():
						return nil, ctx.Err()
					}
					return inner(ctx, n, turns)
				}
				return p
			}
			in, next := msg(dm, "slack:U1", "poison"), msg(dm, "slack:U1", "next")
			session.New(config(mem, slow())).Accept(t.Context(), in, func(session.Receipt) {})
			synctest.Wait()
			kill(t, mem, slow(), at)
			b := start(t, mem, slow())
			time.Sleep(time.Minute)
			b.accept(next)
			time.Sleep(time.Minute)
			synctest.Wait()
			b.ended(in, session.EndNoticed)
			b.ended(next, session.EndAnswered)
			log := b.log(dm)
			if len(log) != 5 || log[1] != "tip 0" || log[4] != "assistant re: next" {
				t.Errorf("killed after %s: log %q", at, log)
			}
			b.stopLife()
		})
	}
}

// A stop reaches a question while it is tried, and while it waits for another's trial.
func TestAStopReachesWhoIsTried(t *testing.T) {
	for at := 100 * time.Millisecond; at < 2*time.Second; at += 100 * time.Millisecond {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			p := harming(provider.KindIncomplete, 1000, "poison")
			inner := p.answer
			p.answer = func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
				d := 200 * time.Millisecond
				if n > 2 {
					d = time.Hour
				}
				select {
				case <-time.After(d):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				return inner(ctx, n, turns)
			}
			b := start(t, mem, p, commanded(mem))
			other := session.Address("slack:T1/D2")
			b.accept(msg(dm, "slack:U1", "poison"))
			b.accept(msg(other, "slack:U2", "poison"))
			time.Sleep(at)
			stop := []session.Inbound{msg(dm, "slack:U1", "/stop"), msg(other, "slack:U2", "/stop")}
			for _, in := range stop {
				b.accept(in)
			}
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			for _, in := range stop {
				b.ended(in, session.EndNoticed)
			}
			b.stopLife()
		})
	}
}

// The result of a tool, or a picture, that the server can't stand leaves the prompts with its question.
func TestWhatComesWithAHarmfulQuestionLeavesToo(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{answer: func(_ context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			last := turns[len(turns)-1]
			switch {
			case slices.ContainsFunc(turns, func(t ledger.Turn) bool { return t.Role == ledger.RoleTool }):
				return nil, &provider.Error{Kind: provider.KindIncomplete, Model: "m", Err: errors.New("unexpected EOF")}
			case strings.Contains(said(last), "tool"):
				return []artifact.Artifact{artifact.ToolCall{ID: fmt.Sprint("c", n), Name: "n", Arguments: "{}"}}, nil
			}
			return text("re: " + said(last)), nil
		}}
		b := start(t, mem, p, func(c *session.Config) { reacting(c, result("bad")) })
		b.costsOneMessage("a tool")
		if n := len(p.prompts()); n != 5 { // the call, its result twice, the control, the next question
			t.Errorf("%d calls, want 5", n)
		}
		b.stopLife()
	})
}

var _ loop.Handler = result("")
