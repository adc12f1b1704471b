package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/access"
	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// edit is the event that a message now says something else.
func edit(in session.Inbound, textOf string, change ...func(*session.Inbound)) session.Inbound {
	order++
	out := in
	out.Signal, out.Target, out.TargetKey = session.SignalEdit, in.Message, in.Key
	out.Version = fmt.Sprintf("%06d", order)
	out.Key, out.Text = in.Key+"/edit/"+out.Version, textOf
	for _, f := range change {
		f(&out)
	}
	return out
}

// deletion is the event that a message is gone.
func deletion(in session.Inbound) session.Inbound {
	return session.Inbound{Key: in.Key + "/delete", Address: in.Address, Place: in.Place, Author: in.Author, Order: in.Order, At: time.Now(),
		Signal: session.SignalDelete, Target: in.Message, TargetKey: in.Key}
}

// shown prints the prompt of a call, a line for each turn.
func (p *scripted) shown(n int) []string {
	var out []string
	for _, t := range p.prompts()[n] {
		out = append(out, string(t.Role)+" "+said(t))
	}
	return out
}

// A line that names what couldn't be read goes with its message, too, where no turn was made of that or its question was too old to be
// answered; from the conversation after it as well.
func TestADeletionReachesTheLineThatItsMessageEndedWith(t *testing.T) {
	for _, c := range []struct {
		text string
		age  time.Duration
		log  []string
	}{
		{"", 0, []string{"end The message that this was about was deleted."}},
		{"look", 7 * time.Hour, []string{"user ", "tip 0", "end The message that this was about was deleted.",
			"end You asked 7 h ago while I was away; `/retry` asks it now."}},
	} {
		for _, renewed := range []bool{false, true} {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, says("sure"), commanded(mem), fetching(files{"SECRET.txt": "GONE"}))
				in := msg(dm, "slack:U1", c.text, attaching("SECRET.txt"), func(in *session.Inbound) { in.At = in.At.Add(-c.age) })
				b.accept(in)
				time.Sleep(time.Minute)
				thread := at(t, mem, dm).Binding.Thread
				if log := strings.Join(b.log(dm), "\n"); !strings.Contains(log, "SECRET.txt") {
					t.Fatalf("log %s", log)
				}
				if renewed {
					b.tell("two", "/new")
				}
				b.accept(deletion(in))
				synctest.Wait()
				var got []string
				for _, l := range b.logOf(thread)[:len(c.log)] {
					got = append(got, strings.TrimSuffix(l, " (ref "+refIn(l)+")"))
				}
				equal(t, c.text, got, c.log)
				if left := holds(t, mem, dm, "SECRET"); len(left) > 0 {
					t.Errorf("what is left: %q", left)
				}
				b.stopLife()
			})
		}
	}
}

// refIn is the reference that a line ends in.
func refIn(line string) string {
	_, ref, _ := strings.Cut(line, " (ref ")
	return strings.TrimSuffix(ref, ")")
}

// holds reports everything in the store, as it is stored, in which a text stands.
func holds(t *testing.T, mem *storetest.Memory, a session.Address, needle string) []string {
	t.Helper()
	var out []string
	st, _ := mem.Address(context.Background(), a)
	log, err := mem.Log(context.Background(), st.Binding.Thread, 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range log {
		var s string
		switch {
		case r.Turn != nil && r.Turn.Role == ledger.RoleUser: // an answer stays as it is
			s = said(*r.Turn)
		case r.Amendment != nil:
			s = string(r.Amendment.Artifacts)
		case r.End != nil:
			s = r.End.Text
		}
		if strings.Contains(s, needle) {
			out = append(out, fmt.Sprintf("record %d", r.Seq))
		}
	}
	entries, err := mem.EntriesAt(context.Background(), a, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(fmt.Sprintf("%+v", e.Entry), needle) {
			out = append(out, "entry "+e.ID.Key)
		}
	}
	return out
}

func (b *bench) totals(want session.Totals) {
	b.t.Helper()
	got, err := b.store.Totals(context.Background())
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Errorf("totals %+v, %v; want %+v", got, err, want)
	}
}

// Report 41, and what the interface says of the edit of a waiting question.
func TestAnEditOfAWaitingMessageReplacesIt(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(time.Minute)
		b := start(t, mem, p)
		first, second := msg(dm, "slack:U1", "first"), msg(dm, "slack:U2", "secnd")
		b.accept(first)
		time.Sleep(time.Second)
		b.accept(second)
		old := edit(second, "stale")
		b.accept(edit(second, "second"))
		b.accept(old) // delivered late, again
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		equal(t, "log", b.log(dm), []string{"user first", "assistant re: first", "user second", "assistant re: second"})
		b.totals(session.Totals{Ended: map[session.End]uint64{session.EndAnswered: 2}, Signals: 2})
		b.stopLife()
	})
}

func TestAnEditRestartsTheTurnBeingAnswered(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration // of the question
	}{{"at once", 0}, {"while the model thinks", 30 * time.Second}} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := echo(time.Minute)
				b := start(t, mem, p)
				in := msg(dm, "slack:U1", "whta?")
				b.accept(in)
				time.Sleep(c.after)
				b.accept(edit(in, "what?"))
				b.accept(edit(in, "what?")) // an edit that changes nothing restarts nothing
				time.Sleep(61 * time.Second)
				synctest.Wait()
				b.ended(in, session.EndAnswered)
				log := b.log(dm)
				if last := log[len(log)-1]; last != "assistant re: what?" || strings.Contains(strings.Join(log, "\n"), "re: whta?") {
					t.Errorf("log %q", log)
				}
				if e := b.entry(in); e.Starts != 0 || e.Inbound.Text != "what?" {
					t.Errorf("entry %+v", e.Entry)
				}
				next := msg(dm, "slack:U1", "more")
				b.accept(next)
				time.Sleep(2 * time.Minute)
				equal(t, "prompt", p.shown(len(p.prompts())-1), []string{"user what?", "assistant re: what?", "user more"})
				b.stopLife()
			})
		})
	}
}

// callsFor is a model that calls a tool where the last message is the question, and else takes a minute to count the turns.
func callsFor(question string) *scripted {
	return &scripted{answer: func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
		if last := turns[len(turns)-1]; last.Role == ledger.RoleUser && said(last) == question {
			return []artifact.Artifact{artifact.ToolCall{ID: "c1", Name: "clock", Arguments: "{}"}}, nil
		}
		select {
		case <-time.After(time.Minute):
			return text(fmt.Sprint(len(turns), " turns")), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

// What a tool was asked for the old text is left beside the active path.
func TestAnEditInTheMiddleOfToolsBeginsAnew(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := callsFor("old")
		b := start(t, mem, p, func(c *session.Config) { reacting(c, &tools{}) })
		in := msg(dm, "slack:U1", "old")
		b.accept(in)
		time.Sleep(time.Second)
		b.accept(edit(in, "new"))
		time.Sleep(2 * time.Minute)
		equal(t, "log", b.log(dm), []string{"user old", "assistant ", "tool ", "a", "tip 1", "assistant 1 turns"})
		b.stopLife()
	})
}

// presenter records what was noted.
type presenter struct{ noted []string }

func (p *presenter) Show(context.Context, session.Address, session.Sign, *session.Presence) (*session.Presence, error) {
	return nil, nil
}
func (p *presenter) Clear(context.Context, session.Address, session.Presence) error { return nil }
func (p *presenter) Noted(_ context.Context, a session.Address, message string) error {
	p.noted = append(p.noted, string(a)+" "+message)
	return nil
}

func TestAnEditOfAnAnsweredMessageAmendsTheLedger(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p, shown := echo(0), &presenter{}
				presenting := func(c *session.Config) {
					side := c.Platforms["slack"]
					side.Presenter = shown
					c.Platforms["slack"] = side
				}
				b := start(t, mem, p, presenting)
				in := msg(dm, "slack:U1", "teh question")
				b.accept(in)
				synctest.Wait()
				b.accept(edit(in, "teh question")) // equal: nothing
				b.accept(edit(in, "the question"))
				synctest.Wait()
				equal(t, "log", b.log(dm), []string{"user teh question", "assistant re: teh question", "a"})
				equal(t, "noted", shown.noted, []string{"slack:T1/D1 " + in.Message})
				if restart {
					b.stopLife()
					b = start(t, mem, p, presenting)
				}
				b.accept(msg(dm, "slack:U1", "next"))
				synctest.Wait()
				equal(t, "prompt", p.shown(1), []string{"user the question", "assistant re: teh question", "user next"})
				b.ended(in, session.EndAnswered)
				b.stopLife()
			})
		})
	}
}

// Of several messages in one turn, an edit or a deletion touches its own.
func TestChangesTouchOnlyTheirPartOfATurn(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(time.Second)
		b := start(t, mem, p)
		b.accept(msg(dm, "slack:U1", "first"))
		time.Sleep(time.Millisecond)
		one, two, three := msg(dm, "slack:U1", "one", quoting("said")), msg(dm, "slack:U1", "two"), msg(dm, "slack:U1", "three")
		for _, in := range []session.Inbound{one, two, three} {
			b.accept(in)
		}
		time.Sleep(time.Minute)
		b.accept(deletion(two))
		b.accept(edit(one, "ONE"))
		synctest.Wait()
		b.accept(edit(three, "THREE"))
		b.accept(msg(dm, "slack:U1", "next"))
		time.Sleep(time.Minute)
		quote := "In reply to Bob:\n\n> said|"
		equal(t, "prompt", p.shown(2), []string{"user first", "assistant re: first", "user " + quote + "ONE|THREE",
			"assistant re: " + quote + "one|two|three", "user next"})
		b.stopLife()
	})
}

func quoting(textOf string) func(*session.Inbound) {
	return func(in *session.Inbound) {
		in.Quotes = []session.Quote{{Kind: session.QuoteReply, Author: "Bob", Text: textOf}}
	}
}

// Report 49: a mention that is added by an edit is one question, whenever the original comes.
func TestAnEditThatCallsTheBotIsAMessage(t *testing.T) {
	ambient := func(in *session.Inbound) { in.Call, in.Place = session.CallAmbient, "slack:C1" }
	mention := func(in *session.Inbound) { in.Call = session.CallMention }
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprint("late original ", late), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, echo(0))
				in := msg("slack:T1/C1/1", "slack:U1", "hi", ambient)
				if !late {
					if r := b.accept(in); r.Ignored == "" {
						t.Fatalf("receipt %+v", r)
					}
				}
				b.accept(edit(in, "hi, bot", mention))
				synctest.Wait()
				if late {
					if r := b.accept(in); !r.Heard && !r.Duplicate {
						t.Errorf("the late original: %+v", r)
					}
				}
				b.accept(edit(in, "hi, bot", mention))
				synctest.Wait()
				equal(t, "log", b.log(in.Address), []string{"user hi, bot", "assistant re: hi, bot"})
				b.ended(in, session.EndAnswered)
				b.stopLife()
			})
		})
	}
}

func TestEditsThatConcernNobodyAreNothing(t *testing.T) {
	ambient := func(in *session.Inbound) { in.Call, in.Place = session.CallAmbient, "slack:C1" }
	for _, c := range []struct {
		name string
		in   session.Inbound
	}{
		{"ambient, in a place without a conversation", edit(msg("slack:T1/C1/1", "slack:U1", "x", ambient), "y")},
		{"of somebody refused", edit(msg(dm, "slack:U9", "x", func(in *session.Inbound) { in.Author.Guest = true }), "y")},
		{"of an old message", edit(msg(dm, "slack:U1", "x"), "y")},
		{"without a target", edit(msg(dm, "slack:U1", "x"), "y", func(in *session.Inbound) { in.TargetKey = "" })},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := echo(0)
				b := start(t, mem, p)
				c.in.At = time.Now()
				if c.name == "of an old message" {
					c.in.At = c.in.At.Add(-7 * time.Hour)
				}
				b.accept(c.in)
				synctest.Wait()
				if len(p.prompts()) != 0 || len(b.events()) != 0 {
					t.Errorf("%d prompts, events %q", len(p.prompts()), b.events())
				}
				b.stopLife()
			})
		})
	}
}

func TestADeletionWithdrawsWhatWaits(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Minute))
		first, second := msg(dm, "slack:U1", "first"), msg(dm, "slack:U1", "SECRET")
		b.accept(first)
		time.Sleep(time.Second)
		b.accept(second)
		b.accept(deletion(second))
		b.accept(deletion(second))
		b.accept(edit(second, "SECRET again"))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		equal(t, "log", b.log(dm), []string{"user first", "assistant re: first"})
		b.ended(second, session.EndWithdrawn)
		equal(t, "what is left", holds(t, mem, dm, "SECRET"), nil)
		b.totals(session.Totals{Ended: map[session.End]uint64{session.EndAnswered: 1, session.EndWithdrawn: 1}, Signals: 2})
		b.stopLife()
	})
}

func TestADeletionCancelsWhatRuns(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(time.Minute)
		b := start(t, mem, p)
		first, second := msg(dm, "slack:U1", "kept"), msg(dm, "slack:U1", "SECRET")
		b.accept(first)
		time.Sleep(2 * time.Minute)
		b.accept(second)
		time.Sleep(time.Second)
		b.accept(deletion(second))
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		b.ended(second, session.EndWithdrawn)
		equal(t, "what is left", holds(t, mem, dm, "SECRET"), nil)
		b.accept(msg(dm, "slack:U1", "next"))
		time.Sleep(2 * time.Minute)
		equal(t, "prompt", p.shown(2), []string{"user kept", "assistant re: kept", "user next"})
		b.stopLife()
	})
}

func TestADeletionOfAnAnsweredMessageOverwritesIt(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) { return text("sure"), nil }}
				b := start(t, mem, p)
				in := msg(dm, "slack:U1", "SECRET 1")
				b.accept(in)
				synctest.Wait()
				b.accept(edit(in, "SECRET 2"))
				synctest.Wait()
				b.accept(edit(in, "SECRET 3"))
				synctest.Wait()
				if restart {
					b.stopLife()
					b = start(t, mem, p)
				}
				b.accept(deletion(in))
				synctest.Wait()
				equal(t, "what is left", holds(t, mem, dm, "SECRET"), nil)
				b.ended(in, session.EndAnswered)
				b.accept(msg(dm, "slack:U1", "next"))
				synctest.Wait()
				equal(t, "prompt", p.shown(1), []string{"assistant sure", "user next"})
				b.stopLife()
			})
		})
	}
}

// What the chat was told of a message goes with it: what an undo took back, here and at linked places, and the name of its file; its files are
// looked for at once, not a day later.
func TestADeletionReachesWhatQuotesIt(t *testing.T) {
	for _, expired := range []bool{false, true} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			erased, st := 0, &forgetful{mem, map[session.EntryID]bool{}}
			b := start(t, mem, says("sure"), commanded(mem), fetching(files{"SECRET.xlsx": "", "SECRET.png": png}), func(c *session.Config) {
				c.Store, c.Erased = st, func() { erased++ }
			})
			plain, in := msg(dm, "slack:U1", "plain"), msg(dm, "slack:U1", "my SECRET word", attaching("SECRET.xlsx", "SECRET.png"))
			for _, m := range []session.Inbound{plain, in, msg(dm, "slack:U1", "/undo")} {
				b.accept(m)
				time.Sleep(time.Second)
				synctest.Wait()
			}
			log := strings.Join(b.log(dm), "\n")
			if !strings.Contains(log, "Taken back: “my SECRET word”") || !strings.Contains(log, "I can't read .xlsx") {
				t.Fatalf("log %s", log)
			}
			if expired {
				st.gone[in.ID()] = true
			}
			b.accept(deletion(plain))
			synctest.Wait()
			if erased != 0 {
				t.Error("files were looked for where none can be")
			}
			b.accept(deletion(in))
			synctest.Wait()
			if left := holds(t, mem, dm, "SECRET"); !expired && len(left) > 0 || len(left) > 1 { // the expired entry
				t.Errorf("what is left: %q", left)
			}
			if log := strings.Join(b.log(dm), "\n"); !strings.Contains(log, "end The message that this was about was deleted.") {
				t.Errorf("log %s", log)
			}
			if erased == 0 {
				t.Error("its picture waits for the daily sweep")
			}
			b.stopLife()
		})
	}
}

// A message that an edit has robbed of its files may have left some: they are looked for when it is deleted.
func TestADeletionAfterAnEditLooksForFiles(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		erased := 0
		b := start(t, mem, echo(0), func(c *session.Config) { c.Erased = func() { erased++ } })
		in := b.tell("one")[0]
		b.accept(edit(in, "two"))
		synctest.Wait()
		b.accept(deletion(in))
		synctest.Wait()
		if erased != 1 {
			t.Errorf("files were looked for %d times", erased)
		}
		b.stopLife()
	})
}

func TestADeletionBeforeItsMessage(t *testing.T) {
	for _, a := range []session.Address{dm, "slack:T1/C1/1"} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			p := echo(0)
			b := start(t, mem, p)
			in := msg(a, "slack:U1", "SECRET", func(in *session.Inbound) {
				if a != dm {
					in.Call, in.Place = session.CallMention, "slack:C1"
				}
			})
			b.accept(deletion(in))
			synctest.Wait()
			if r := b.accept(in); !r.Duplicate {
				t.Errorf("receipt %+v, want a duplicate", r)
			}
			synctest.Wait()
			if len(p.prompts()) != 0 {
				t.Error("the deleted message was answered")
			}
			b.totals(session.Totals{Ended: map[session.End]uint64{}, Signals: 2})
			b.stopLife()
		})
	}
}

// forgetful has forgotten some entries, as a store does after their time.
type forgetful struct {
	*storetest.Memory
	gone map[session.EntryID]bool
}

func (f *forgetful) Entry(ctx context.Context, id session.EntryID) (session.StoredEntry, bool, error) {
	if f.gone[id] {
		return session.StoredEntry{}, false, nil
	}
	return f.Memory.Entry(ctx, id)
}

func TestChangesAfterTheEntryHasExpired(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(0)
		st := &forgetful{mem, map[session.EntryID]bool{}}
		b := start(t, mem, p, func(c *session.Config) { c.Store = st })
		old, gone := msg(dm, "slack:U1", "old"), msg(dm, "slack:U1", "SECRET")
		for _, in := range []session.Inbound{old, gone} {
			b.accept(in)
			synctest.Wait()
			st.gone[in.ID()] = true
		}
		b.accept(edit(old, "new"))
		b.accept(deletion(gone))
		synctest.Wait()
		b.accept(msg(dm, "slack:U1", "next"))
		synctest.Wait()
		equal(t, "prompt", p.shown(2), []string{"user new", "assistant re: old", "assistant re: SECRET", "user next"})
		b.stopLife()
	})
}

// A message for somebody who isn't let in keeps its refusal, whatever becomes of its text.
func TestADeletionOfARefusedMessage(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), func(c *session.Config) {
			c.Platforms["slack"] = session.Platform{Policy: access.Policy{Mode: access.Members, AnyPlace: true}}
		})
		in := msg(dm, "slack:U1", "SECRET", func(in *session.Inbound) { in.Author.Guest = true })
		b.accept(in)
		synctest.Wait()
		b.accept(deletion(in))
		synctest.Wait()
		b.ended(in, session.EndRefused)
		equal(t, "what is left", holds(t, mem, dm, "SECRET"), nil)
		b.stopLife()
	})
}

// Whatever commit the process dies at, in two lives, an edit and a deletion have their effect once, and nothing is answered twice.
func TestDeathAtEveryCommitOfASignal(t *testing.T) {
	const most = 14
	for _, applied := range []bool{false, true} {
		for first := range most {
			for second := 0; second < most; second += 4 {
				t.Run(fmt.Sprintf("%v/%d/%d", applied, first, second), func(t *testing.T) {
					bubble(t, func(t *testing.T, mem *storetest.Memory) { dieTwiceChanging(t, mem, applied, first, second) })
				})
			}
		}
	}
}

func dieTwiceChanging(t *testing.T, mem *storetest.Memory, applied bool, first, second int) {
	p := echo(500 * time.Millisecond)
	a, b, c := msg(dm, "slack:U1", "a"), msg(dm, "slack:U2", "b"), msg(dm, "slack:U1", "SECRET")
	late := msg("slack:T1/D2", "slack:U3", "d")
	in := []session.Inbound{a, edit(a, "A"), b, c, deletion(c), edit(b, "B"), edit(late, "D"), late}
	for _, left := range []int{first, second, 1 << 30} {
		s := &crashing{Memory: mem, left: left, applied: applied}
		s.life(t, p, in)
	}
	w := &bench{t: t, store: mem}
	for _, in := range []session.Inbound{a, b, late} {
		w.ended(in, session.EndAnswered)
	}
	if e := w.entry(c); e.State == session.EntryApplied { // its deletion came first
		t.Log("claimed")
	}
	equal(t, "what is left", holds(t, mem, dm, "SECRET"), nil)
	final := start(t, mem, p)
	final.accept(msg(dm, "slack:U1", "end"))
	final.accept(msg("slack:T1/D2", "slack:U3", "end"))
	time.Sleep(10 * time.Second)
	for _, prompt := range p.prompts()[len(p.prompts())-2:] {
		for _, turn := range prompt {
			if turn.Role == ledger.RoleUser && !strings.Contains(" A B D end ", " "+said(turn)+" ") {
				t.Errorf("the prompt still says %q", said(turn))
			}
		}
	}
	final.stopLife()
}

// What was taken back or edited in an earlier life is gone from the first prompt of the next, which learns of the question first.
func TestWhatWasTakenBackBeforeARestartIsInNoPrompt(t *testing.T) {
	t.Run("submitted", func(t *testing.T) { bubble(t, takeBackBeforeARestart(true)) })
	t.Run("open", func(t *testing.T) { bubble(t, takeBackBeforeARestart(false)) })
}

func takeBackBeforeARestart(submitted bool) func(*testing.T, *storetest.Memory) {
	return func(t *testing.T, mem *storetest.Memory) {
		p := echo(time.Minute)
		b := start(t, mem, p, func(c *session.Config) { c.ShutdownGrace = 0 })
		one, two, three := msg(dm, "slack:U1", "secret"), msg(dm, "slack:U1", "tow"), msg(dm, "slack:U1", "three")
		for _, in := range []session.Inbound{one, two, three} {
			b.accept(in)
			time.Sleep(61 * time.Second)
		}
		again := msg(dm, "slack:U1", "four")
		if submitted {
			b.accept(again)
			time.Sleep(time.Second)
		}
		gone, changed := deletion(one), edit(two, "two")
		gone.Key, changed.Key = "zz"+gone.Key, "zz"+changed.Key // behind the question, in the order of the feed
		if submitted {
			b.accept(gone)
			b.accept(changed)
		}
		b.stopLife()
		if !submitted { // all that came in the last moment
			open := func(in session.Inbound, state session.EntryState) session.EntryWrite {
				return session.EntryWrite{Entry: session.Entry{ID: in.ID(), Inbound: in, State: state}}
			}
			if _, err := session.CommitWait(t.Context(), mem, session.Batch{ID: session.NewBatchID(), Entries: []session.EntryWrite{
				open(again, session.EntryOpen), open(gone, session.EntrySignal), open(changed, session.EntrySignal)}}); err != nil {
				t.Fatal(err)
			}
		}
		n := len(p.prompts())
		b = start(t, hesitant{mem}, p)
		time.Sleep(5 * time.Minute)
		equal(t, "prompt", p.shown(n), []string{"assistant re: secret", "user two", "assistant re: tow", "user three", "assistant re: three", "user four"})
		b.ended(again, session.EndAnswered)
		b.stopLife()
	}
}
