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
	"orebot/core/transform/attribution"
	"orebot/core/transform/budget"
	"orebot/core/transform/systemprompt"
)

// perToken is how many bytes the scripted model counts as a token.
const perToken = 3

// tokensIn is what a server would count in a prompt.
func tokensIn(turns []ledger.Turn) int {
	n := 0
	for _, t := range turns {
		n += 5 + len(flat(t))/perToken
	}
	return n
}

// flat is a turn as the model reads it.
func flat(t ledger.Turn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<%s>", t.Role)
	for _, a := range t.Artifacts {
		switch a := a.(type) {
		case artifact.Text:
			b.WriteString(a.Content + "\n\n")
		case artifact.ToolCall:
			b.WriteString("call " + a.Name + a.Arguments)
		case artifact.ToolResult:
			b.WriteString("result " + a.Content)
		case artifact.Image:
			b.WriteString("picture " + a.URL)
		}
	}
	return b.String()
}

func whole(turns []ledger.Turn) string {
	var b strings.Builder
	for _, t := range turns {
		b.WriteString(flat(t))
	}
	return b.String()
}

// wantsSummary reports whether a prompt asks for a summary.
func wantsSummary(turns []ledger.Turn) bool {
	return strings.HasPrefix(said(turns[len(turns)-1]), "Summarise our conversation")
}

// talker answers like a server that counts tokens and refuses what is beyond its window. Its summaries name the questions that stand
// in their prompt, and what the summary before them named.
type talker struct {
	scripted
	window  int
	slow    time.Duration // of a summary
	summary func(turns []ledger.Turn) ([]artifact.Artifact, error)

	mu    sync.Mutex
	asks  [][]ledger.Turn // prompts of answers
	sums  [][]ledger.Turn // prompts of summaries
	ended int             // summaries that were cancelled
}

func newTalker(window int) *talker {
	p := &talker{window: window}
	p.answer = p.say
	return p
}

func (p *talker) say(ctx context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
	n := tokensIn(turns)
	if n > p.window {
		return nil, &provider.Error{Kind: provider.KindTooLong, Model: "m"}
	}
	usage := artifact.Usage{PromptTokens: n, CompletionTokens: 50, TotalTokens: n + 50}
	if !wantsSummary(turns) {
		p.mu.Lock()
		p.asks = append(p.asks, turns)
		p.mu.Unlock()
		return []artifact.Artifact{artifact.Text{Content: "re: " + strings.Repeat("word ", 30)}, usage}, nil
	}
	p.mu.Lock()
	p.sums = append(p.sums, turns)
	p.mu.Unlock()
	if err := pass(ctx, p.slow); err != nil {
		p.mu.Lock()
		p.ended++
		p.mu.Unlock()
		return nil, err
	}
	if p.summary != nil {
		return p.summary(turns)
	}
	return []artifact.Artifact{artifact.Text{Content: "They asked " + strings.Join(names(turns), " ")}, usage}, nil
}

func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// names returns the numbers of the questions in a prompt, those that its summary names included.
func names(turns []ledger.Turn) (out []string) {
	for _, t := range turns {
		for _, w := range strings.Fields(whole([]ledger.Turn{t})) {
			if q := strings.TrimPrefix(w, "<user>"); strings.HasPrefix(q, "q#") && !slices.Contains(out, q) {
				out = append(out, q)
			}
		}
	}
	return out
}

func (p *talker) counts() (asks, sums int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asks), len(p.sums)
}

const fitWindow = 2000

// fitting makes a life one whose prompts are kept within a window and summarised.
func fitting(c *session.Config) {
	c.Spec.NumCtx, c.CompactAt = fitWindow, 0.75
	c.Transform = []loop.Transform{attribution.Speakers{}, systemprompt.Fixed("Be brief."), budget.Budget{}}
}

// question is the i-th of a conversation.
func question(i int) string { return fmt.Sprintf("q#%d ", i) + strings.Repeat("lorem ", 40) }

// ask hands a question over and waits until it is answered, and then for d.
func (b *bench) ask(in session.Inbound, d time.Duration) {
	b.t.Helper()
	b.accept(in)
	synctest.Wait()
	b.ended(in, session.EndAnswered)
	time.Sleep(d)
	synctest.Wait()
}

// summaries returns the summaries on the log, oldest first.
func (b *bench) summaries(a session.Address) (out []ledger.Turn) {
	b.t.Helper()
	st, err := b.store.Address(context.Background(), a)
	if err != nil {
		b.t.Fatal(err)
	}
	recs, err := b.store.Log(context.Background(), st.Binding.Thread, 1, 100000)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, r := range recs {
		if r.Turn != nil && r.Turn.Covers != 0 {
			out = append(out, *r.Turn)
		}
	}
	return out
}

// notes are the lines that the chat was told, of the thread that an address is bound to.
func (b *bench) notes(a session.Address) (out []string) {
	for _, l := range b.log(a) {
		if text, ok := strings.CutPrefix(l, "end "); ok {
			out = append(out, text)
		}
	}
	return out
}

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

// The command summarises at once what is older than the newest exchanges, though it fits: the summary and the reply are one Batch, and
// what can't be summarised is said.
func TestTheCompactCommand(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting, commanded(mem))
		command := func(want string) {
			t.Helper()
			in := msg(dm, "slack:U1", "/compact")
			b.accept(in)
			synctest.Wait()
			b.ended(in, session.EndNoticed)
			if notes := b.notes(dm); !strings.HasPrefix(notes[len(notes)-1], want) {
				t.Errorf("reply %q, want %q", notes[len(notes)-1], want)
			}
		}
		command("There is nothing older")
		b.ask(msg(dm, "slack:U1", question(0)), 0)
		command("There is nothing older")
		for i := 1; i < 5; i++ {
			b.ask(msg(dm, "slack:U1", question(i)), 0)
		}
		p.summary = func([]ledger.Turn) ([]artifact.Artifact, error) { return nil, errors.New("boom") }
		command("The model gave me no summary.")
		p.summary = nil
		before := mem.Commits()
		command("Older messages stand in a summary now.")
		if n := mem.Commits() - before; n != 2 {
			t.Errorf("%d commits, want the message's and the summary's", n)
		}
		b.ask(msg(dm, "slack:U1", question(5)), 0)
		last := p.asks[len(p.asks)-1]
		if got := len(names(last)); got != 6 || len(last) > 7 {
			t.Errorf("the prompt has %d turns and knows of %d questions", len(last), got)
		}
		undo, retry := msg(dm, "slack:U1", "/undo"), msg(dm, "slack:U1", "/retry")
		for _, in := range []session.Inbound{undo, retry} {
			b.accept(in)
			synctest.Wait()
		}
		b.ended(retry, session.EndAnswered)
		if got := names(p.asks[len(p.asks)-1]); len(got) != 5 || len(p.asks[len(p.asks)-1]) > 7 {
			t.Errorf("asked again, the prompt knows of %v in %d turns", got, len(p.asks[len(p.asks)-1]))
		}
		b.stopLife()
	})
}

// A deleted message leaves the summaries too: what they were made of it is emptied, on the disk as well.
func TestADeletionReachesSummaries(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting)
		secret := msg(dm, "slack:U1", question(0))
		b.ask(secret, 0)
		for i := 1; i < 40; i++ {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
		}
		if n := len(b.summaries(dm)); n < 2 {
			t.Fatalf("%d summaries", n)
		}
		gone := msg(dm, "slack:U1", "", func(in *session.Inbound) {
			in.Signal, in.Target, in.TargetKey = session.SignalDelete, secret.Message, secret.Key
		})
		b.accept(gone)
		time.Sleep(time.Minute)
		synctest.Wait()
		for i := 40; i < 60; i++ {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
			if slices.Contains(names(p.asks[len(p.asks)-1]), "q#0") {
				t.Errorf("prompt %d knows what was deleted", i)
			}
		}
		for _, s := range b.summaries(dm) {
			if strings.Contains(whole([]ledger.Turn{s}), "q#0 ") {
				t.Error("a summary on the log still says it")
			}
		}
		b.stopLife()
	})
}

// An edited message reaches the model behind a summary too: what was made of the old text is made anew.
func TestAnEditReachesSummaries(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(fitWindow)
		b := start(t, mem, &p.scripted, fitting)
		old := msg(dm, "slack:U1", question(0))
		b.ask(old, 0)
		for i := 1; i < 30; i++ {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
		}
		if len(b.summaries(dm)) == 0 {
			t.Fatal("no summary")
		}
		b.accept(msg(dm, "slack:U1", question(99), func(in *session.Inbound) {
			in.Signal, in.Target, in.TargetKey, in.Version = session.SignalEdit, old.Message, old.Key, "2"
		}))
		time.Sleep(time.Minute)
		synctest.Wait()
		for i := 30; i < 33; i++ {
			b.ask(msg(dm, "slack:U1", question(i)), time.Minute)
			got := names(p.asks[len(p.asks)-1])
			if slices.Contains(got, "q#0") || i > 30 && (len(got) != i+1 || !slices.Contains(got, "q#99")) {
				t.Errorf("prompt %d knows of %v", i, got)
			}
		}
		b.stopLife()
	})
}
