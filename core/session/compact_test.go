package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// Of a long conversation older turns are summarised, the summaries of summaries too; nothing of it is ever gone from the prompts
// without standing in a summary, no prompt is beyond the window, and the chat is told once (reports 69, 85).
func TestOlderTurnsAreSummarised(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting)
		const n = 60
		for i := range n {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
			last := p.asks[len(p.asks)-1]
			if got := len(names(last)); got != i+1 {
				t.Fatalf("prompt %d knows of %d questions: %v", i, got, names(last))
			}
			if last[0].Role != ledger.RoleSystem || !strings.HasPrefix(said(last[0]), "Be brief.") {
				t.Fatalf("prompt %d begins with %q", i, flat(last[0]))
			}
		}
		asks, sums := p.counts()
		if asks != n || sums < 4 || sums > n/3 {
			t.Errorf("%d answers and %d summaries of %d questions", asks, sums, n)
		}
		equal(t, "notes", b.notes(dm), []string{"Older messages no longer fit; I keep a summary."})
		for _, s := range b.summaries(dm) {
			if s.Role != ledger.RoleSystem || s.Covers == 0 || !strings.HasPrefix(said(s), "Summary of the earlier part") {
				t.Errorf("a summary %+v", s)
			}
		}
		b.stopLife()
	})
}

// Who writes while a summary is made doesn't wait for it: it is given up. Only a question that doesn't fit waits, and then nothing is
// gone from its prompt without standing in a summary.
func TestNobodyWaitsForASummaryUnlessItWouldNotFit(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		p.slow = 10 * time.Second
		b := start(t, mem, &p.scripted, fitting)
		waited := 0
		for i := range 40 {
			in := msg(dm, "slack:U1", question(i))
			b.accept(in)
			synctest.Wait()
			if b.entry(in).State != session.EntryEnded {
				waited++
				time.Sleep(p.slow)
				synctest.Wait()
			}
			b.ended(in, session.EndAnswered)
			if got := names(p.asks[len(p.asks)-1]); len(got) != i+1 {
				t.Errorf("prompt %d knows of %v", i, got)
			}
			time.Sleep(5 * time.Second) // a summary takes longer
			synctest.Wait()
		}
		_, sums := p.counts()
		if n := len(b.summaries(dm)); n != waited || n < 2 || waited > 8 || sums <= n {
			t.Errorf("%d summaries of %d that were begun; %d questions waited", n, sums, waited)
		}
		equal(t, "notes", b.notes(dm), []string{"Older messages no longer fit; I keep a summary."})
		b.stopLife()
	})
}

// Where no summary can be had, whoever waits for it gets an answer all the same, and the chat is told; a stop ends the wait at once.
func TestWhoWaitsForASummaryIsAnsweredOrStopped(t *testing.T) {
	for name, slow := range map[string]time.Duration{"fails": 0, "hangs": time.Hour} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := newTalker(fitWindow)
				p.slow = slow
				p.summary = func([]ledger.Turn) ([]artifact.Artifact, error) { return nil, errors.New("boom") }
				b := start(t, mem, &p.scripted, fitting, commanded(mem))
				for i := range 20 {
					in := msg(dm, "slack:U1", question(i))
					b.accept(in)
					time.Sleep(61 * time.Second)
					synctest.Wait()
					b.ended(in, session.EndAnswered)
				}
				equal(t, "notes", b.notes(dm), []string{"Older messages no longer fit."})
				if slow == 0 {
					b.stopLife()
					return
				}
				for i := 20; i < 60; i++ {
					in, stop := msg(dm, "slack:U1", question(i)), msg(dm, "slack:U1", "/stop")
					b.accept(in)
					synctest.Wait()
					if b.entry(in).State == session.EntryEnded {
						continue
					}
					b.accept(stop)
					synctest.Wait()
					b.ended(in, session.EndWithdrawn)
					b.ended(stop, session.EndNoticed)
					b.stopLife()
					return
				}
				t.Error("nobody waited")
				b.stopLife()
			})
		})
	}
}

// A summary that was cut off, or says nothing, or fails is thrown away, and not tried again with each answer.
func TestABadSummaryIsThrownAway(t *testing.T) {
	bad := map[string]func([]ledger.Turn) ([]artifact.Artifact, error){
		"cut": func([]ledger.Turn) ([]artifact.Artifact, error) {
			return append(text("They asked a lot and"), provider.Finish{Reason: "length"}), nil
		},
		"empty": func([]ledger.Turn) ([]artifact.Artifact, error) { return text("```\n```"), nil },
		"fails": func([]ledger.Turn) ([]artifact.Artifact, error) { return nil, errors.New("boom") },
		"refuses": func([]ledger.Turn) ([]artifact.Artifact, error) {
			return text("I’m sorry, I can't help with that."), nil
		},
		"repeats": func([]ledger.Turn) ([]artifact.Artifact, error) {
			return nil, &provider.Error{Kind: provider.KindRepeats}
		},
		"crashes": func([]ledger.Turn) ([]artifact.Artifact, error) {
			return text("They as"), &provider.Error{Kind: provider.KindIncomplete, Partial: true}
		},
		"isn't loaded": func([]ledger.Turn) ([]artifact.Artifact, error) {
			return nil, &provider.Error{Kind: provider.KindNoLoad}
		},
		"too long": func([]ledger.Turn) ([]artifact.Artifact, error) {
			return nil, &provider.Error{Kind: provider.KindTooLong}
		},
		"calls": func([]ledger.Turn) ([]artifact.Artifact, error) {
			return []artifact.Artifact{artifact.ToolCall{ID: "c", Name: "clock", Arguments: "{}"}}, nil
		},
		"panic": func([]ledger.Turn) ([]artifact.Artifact, error) { panic("boom") },
	}
	for name, summary := range bad {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := newTalker(fitWindow)
				p.summary = summary
				b := start(t, mem, &p.scripted, fitting)
				for i := range 30 {
					b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
				}
				if _, sums := p.counts(); sums == 0 || sums > 12 || len(b.summaries(dm)) > 0 {
					t.Errorf("%d tries, %d summaries on the log", sums, len(b.summaries(dm)))
				}
				p.summary = nil
				for i := 30; i < 45; i++ {
					b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
				}
				if len(b.summaries(dm)) == 0 {
					t.Error("no summary afterwards")
				}
				b.stopLife()
			})
		})
	}
}

// A stop of the process doesn't wait for a summary.
func TestAStopEndsASummary(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting)
		for i := range 14 {
			b.ask(msg(dm, "slack:U1", question(i)), 0)
		}
		p.slow = time.Hour
		for i := 14; i < 30; i++ {
			if _, sums := p.counts(); sums > 0 {
				break
			}
			b.ask(msg(dm, "slack:U1", question(i)), 10*time.Second)
		}
		if _, sums := p.counts(); sums == 0 {
			t.Fatal("no summary was begun")
		}
		begin := time.Now()
		b.stopLife()
		if d := time.Since(begin); d > time.Second {
			t.Errorf("the stop took %s", d)
		}
	})
}

// A summary that nobody waits for and that doesn't end is given up after half an hour, and isn't begun again until the conversation has grown: a
// model that never ends holds its place no longer. A restart begins none by itself, however often; only who writes there lets it be tried.
func TestAnEndlessSummaryIsGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		var took []time.Duration
		say := p.answer
		p.answer = func(ctx context.Context, k int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			if !wantsSummary(turns) {
				return say(ctx, k, turns)
			}
			begin := time.Now()
			<-ctx.Done()
			took = append(took, time.Since(begin))
			return nil, ctx.Err()
		}
		b := start(t, mem, &p.scripted, fitting)
		n := 0
		for ; n < 30 && len(took) == 0; n++ {
			b.ask(msg(dm, "slack:U1", question(n)), time.Hour)
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if len(took) != 1 || took[0] != 30*time.Minute || len(b.summaries(dm)) > 0 {
			t.Errorf("after %d questions: tries took %v, %d summaries", n, took, len(b.summaries(dm)))
		}
		for range 5 {
			b.stopLife()
			b = start(t, mem, &p.scripted, fitting)
			time.Sleep(time.Hour)
			synctest.Wait()
		}
		if len(took) != 1 {
			t.Errorf("restarts alone led to tries: %v", took)
		}
		b.ask(msg(dm, "slack:U1", question(n)), time.Hour)
		if len(took) != 2 {
			t.Errorf("a question after the restart led to %v", took)
		}
		b.stopLife()
	})
}

// A question beyond the window gets its size and the limit, is set aside, and the next one is answered.
func TestAQuestionBeyondTheWindow(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting)
		for i := range 3 {
			b.ask(msg(dm, "slack:U1", question(i)), 0)
		}
		for _, words := range []int{1300, 10000} { // about 2,600 tokens, which the server refuses; 20,000, which it isn't even shown
			big := msg(dm, "slack:U1", strings.Repeat("lorem ", words))
			b.accept(big)
			synctest.Wait()
			b.ended(big, session.EndNoticed)
			asks, _ := p.counts()
			b.ask(msg(dm, "slack:U1", question(3)), 0)
			if got, _ := p.counts(); got != asks+1 {
				t.Errorf("%d calls for the question after the big one", got-asks)
			}
			if last := p.asks[len(p.asks)-1]; strings.Contains(whole(last), strings.Repeat("lorem ", 100)) {
				t.Error("the big question is in the next prompt")
			}
		}
		notes := b.notes(dm)
		if len(notes) != 2 || !strings.HasPrefix(notes[0], "About 2,") || !strings.Contains(notes[1], " tokens; `m` takes about 1,") ||
			!strings.HasPrefix(notes[1], "About 2") || len(notes[1]) < 40 {
			t.Errorf("notes %q", notes)
		}
		b.stopLife()
	})
}

// A server whose window is smaller than what it was asked for cuts the prompt without a word: its own count shows it, the chat is told
// once, and the prompts keep to what it reads (report 69).
func TestAServerThatCutsIsFoundOut(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		const real = 1000
		p := newTalker(1 << 20)
		say := p.answer
		p.answer = func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
			arts, err := say(ctx, n, turns)
			if u, ok := arts[len(arts)-1].(artifact.Usage); ok && u.PromptTokens > real {
				u.PromptTokens = real - 40 - n%7
				arts[len(arts)-1] = u
			}
			return arts, err
		}
		b := start(t, mem, &p.scripted, fitting)
		beyond := 0
		for i := range 40 {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
			if tokensIn(p.asks[len(p.asks)-1]) > real {
				beyond++
			}
		}
		if beyond == 0 || beyond > 4 {
			t.Errorf("%d prompts of 40 were beyond what the server reads", beyond)
		}
		equal(t, "notes", b.notes(dm), []string{
			"The model server read only a part of this conversation; I send it less from now on.",
			"Older messages no longer fit; I keep a summary.",
		})
		b.stopLife()
	})
}
