package session_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/session"
	"orebot/core/session/storetest"
)

// soon makes a message one that waits 300 ms for the rest of its group, as a comment does.
func soon(in *session.Inbound) { in.SettleFor = 300 * time.Millisecond }

// later is a message that is written some time after the one before it.
type later struct {
	after time.Duration
	in    session.Inbound
}

// say hands messages over, each at its time.
func (b *bench) say(row []later) {
	for i := range row {
		time.Sleep(row[i].after)
		row[i].in.At = time.Now()
		b.accept(row[i].in)
	}
}

const (
	carol  = "Forwarded from Carol:\n\n> "
	thinks = 30 * time.Second
)

// A forward that comes while its comment is being answered belongs to it, and so does every other late member of a group: the turn
// begins anew with all of them, once, and the comment is read last.
func TestALateMemberJoinsTheTurnBeingAnswered(t *testing.T) {
	comment := func() session.Inbound { return msg(dm, "slack:U1", "what of these?", grouped("g", soon)) }
	forward := func(s string) session.Inbound { return msg(dm, "slack:U1", "", grouped("g", forwarding(s))) }
	const ms = time.Millisecond
	for _, c := range []struct {
		name  string
		row   []later
		calls int    // of the model
		want  string // the last answer
		ends  int    // answers, in all
	}{
		{"a forward", []later{{0, comment()}, {900 * ms, forward("one")}}, 2, carol + "one|what of these?", 1},
		{"a forward in time", []later{{0, comment()}, {200 * ms, forward("one")}}, 1, carol + "one|what of these?", 1},
		{"forwards, one after the other", []later{{0, comment()}, {900 * ms, forward("one")}, {ms, forward("two")}, {1400 * ms, forward("three")}},
			2, carol + "one|" + carol + "two|" + carol + "three|what of these?", 1},
		{"again, while it is answered again", []later{{0, comment()}, {900 * ms, forward("one")}, {10 * time.Second, forward("two")}},
			3, carol + "one|" + carol + "two|what of these?", 1},
		{"twice the same", func() []later {
			f := forward("one")
			return []later{{0, comment()}, {900 * ms, f}, {ms, f}, {5 * time.Second, f}}
		}(),
			2, carol + "one|what of these?", 1},
		{"another author's between them", []later{{0, comment()}, {400 * ms, msg(dm, "slack:U2", "hm", grouped("x", soon))}, {ms, forward("one")}},
			3, "hm", 2},
		{"another author's of that group", []later{{0, comment()}, {900 * ms, msg(dm, "slack:U2", "", grouped("g", forwarding("one")))}},
			2, carol + "one", 2},
		{"too late", []later{{0, comment()}, {40 * time.Second, forward("one")}}, 2, carol + "one", 2},
		{"the rest of a paste", []later{{0, msg(dm, "slack:U1", "first half, sec", grouped("g", soon))}, {900 * ms, msg(dm, "slack:U1", "ond half", grouped("g", goesOn))}},
			2, "first half, second half", 1},
		{"a question, which isn't of the group", []later{{0, comment()}, {900 * ms, msg(dm, "slack:U1", "so?")}}, 2, "so?", 2},
	} {
		for _, fifo := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, fifo), func(t *testing.T) {
				bubble(t, func(t *testing.T, mem *storetest.Memory) {
					p := echo(thinks)
					b := start(t, mem, p, func(c *session.Config) { c.OneByOne = fifo })
					b.say(c.row)
					time.Sleep(5 * time.Minute)
					synctest.Wait()
					log := b.log(dm)
					if last := log[len(log)-1]; last != "assistant re: "+c.want || len(p.prompts()) != c.calls {
						t.Errorf("%d calls, log %q", len(p.prompts()), log)
					}
					if n := strings.Count(strings.Join(log, "\n"), "assistant "); n != c.ends {
						t.Errorf("%d answers: %q", n, log)
					}
					ids := map[string]bool{}
					for _, l := range c.row {
						ids[l.in.Key] = true
						b.ended(l.in, session.EndAnswered)
					}
					b.totals(session.Totals{Ended: map[session.End]uint64{session.EndAnswered: uint64(len(ids))}})
					b.stopLife()
				})
			})
		}
	}
}

// The wait for late members doesn't delay the answer of what has none, and one that has them begins when its group has settled.
func TestOnlyWhoIsJoinedWaitsForMore(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := echo(10 * time.Second)
		b := start(t, mem, p)
		b.say([]later{{0, msg(dm, "slack:U1", "see", grouped("g", soon))}})
		time.Sleep(301 * time.Millisecond)
		if len(p.prompts()) != 1 {
			t.Fatal("the comment waits for more than its 300 ms")
		}
		b.say([]later{{600 * time.Millisecond, msg(dm, "slack:U1", "", grouped("g", forwarding("one")))}})
		time.Sleep(1499 * time.Millisecond)
		if len(p.prompts()) != 1 {
			t.Error("it is answered again before its group has settled")
		}
		time.Sleep(2 * time.Millisecond)
		if len(p.prompts()) != 2 {
			t.Error("it isn't answered when its group has settled")
		}
		time.Sleep(time.Minute)
		b.stopLife()
	})
}

// What a tool did for the comment alone is left beside the path.
func TestALateMemberInTheMiddleOfTools(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := callsFor("see")
		b := start(t, mem, p, func(c *session.Config) { reacting(c, &tools{}) })
		b.say([]later{{0, msg(dm, "slack:U1", "see", grouped("g", soon))}, {time.Second, msg(dm, "slack:U1", "", grouped("g", forwarding("one")))}})
		time.Sleep(2 * time.Minute)
		equal(t, "log", b.log(dm), []string{"user " + carol + "one|see", "assistant ", "tool ", "tip 1", "assistant 1 turns"})
		b.stopLife()
	})
}

// fetches counts the files that are fetched.
type fetches struct {
	files
	n atomic.Int32
}

func (c *fetches) Fetch(ctx context.Context, a session.Address, att session.Attachment, w io.Writer) (session.Attachment, error) {
	c.n.Add(1)
	return c.files.Fetch(ctx, a, att, w)
}

// The files of a late member are read, those that the turn has already aren't read again, and what can't be read is said beside the
// answer.
func TestALateMembersFiles(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		f := &fetches{files: files{"a.txt": "in a", "b.txt": "in b"}}
		b := start(t, mem, echo(thinks), fetching(nil), side(func(p *session.Platform) { p.Fetcher = f }))
		album := func(text, file string) session.Inbound {
			return msg(dm, "slack:U1", text, grouped("g", soon), attaching(file))
		}
		b.say([]later{{0, album("look", "a.txt")}, {time.Second, album("", "b.txt")}, {0, album("", "c.xlsx")}})
		time.Sleep(2 * time.Minute)
		if n := f.n.Load(); n != 2 {
			t.Errorf("%d files were fetched", n)
		}
		said := "look|File a.txt:\n\n```txt\nin a\n```|File b.txt:\n\n```txt\nin b\n```"
		equal(t, "log", b.log(dm), []string{"user " + said, "assistant re: " + said, "end I can't read .xlsx; text, images and code work."})
		b.totals(session.Totals{Ended: map[session.End]uint64{session.EndAnswered: 3}})
		b.stopLife()
	})
}

// What is edited, taken back or stopped while a turn waits for more of its group is so; the turn still tells its messages apart.
func TestChangesWhileATurnGrows(t *testing.T) {
	for _, c := range []struct {
		name   string
		after  time.Duration // of the forward
		change func(comment, forward session.Inbound) session.Inbound
		want   string // the last answer
	}{
		{"the comment is edited", time.Second, func(c, _ session.Inbound) session.Inbound { return edit(c, "SEE") }, carol + "one|SEE"},
		{"the comment is edited, later", 5 * time.Second, func(c, _ session.Inbound) session.Inbound { return edit(c, "SEE") }, carol + "one|SEE"},
		{"the comment is taken back", time.Second, func(c, _ session.Inbound) session.Inbound { return deletion(c) }, carol + "one"},
		{"the comment is taken back, later", 5 * time.Second, func(c, _ session.Inbound) session.Inbound { return deletion(c) }, carol + "one"},
		{"the forward is taken back", time.Second, func(_, f session.Inbound) session.Inbound { return deletion(f) }, "SECRET"},
		{"the forward is taken back, later", 5 * time.Second, func(_, f session.Inbound) session.Inbound { return deletion(f) }, "SECRET"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, echo(thinks))
				comment := msg(dm, "slack:U1", "SECRET", grouped("g", soon))
				forward := msg(dm, "slack:U1", "", grouped("g", forwarding("one")))
				b.say([]later{{0, comment}, {time.Second, forward}})
				time.Sleep(c.after)
				b.accept(c.change(comment, forward))
				time.Sleep(2 * time.Minute)
				log := b.log(dm)
				if last := log[len(log)-1]; last != "assistant re: "+c.want {
					t.Errorf("log %q", log)
				}
				if strings.Contains(c.name, "comment is taken back") {
					equal(t, "what is left", holds(t, mem, dm, "SECRET"), nil)
				}
				if strings.Contains(c.name, "forward is taken back") {
					equal(t, "what is left", holds(t, mem, dm, "> one"), nil)
				}
				tot, _ := mem.Totals(t.Context())
				if tot.Waiting != 0 || tot.Ended[session.EndAnswered]+tot.Ended[session.EndWithdrawn] != 2 {
					t.Errorf("totals %+v", tot)
				}
				b.stopLife()
			})
		})
	}
}

// Where the comment was answered before its forward came, the forward is a question of its own.
func TestAMemberThatComesAfterTheAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(100*time.Millisecond))
		b.say([]later{{0, msg(dm, "slack:U1", "see", grouped("g", soon))}, {time.Second, msg(dm, "slack:U1", "", grouped("g", forwarding("one")))}})
		time.Sleep(time.Minute)
		equal(t, "log", b.log(dm), []string{"user see", "assistant re: see", "user " + carol + "one", "assistant re: " + carol + "one"})
		b.stopLife()
	})
}

// Whatever commit the process dies at, in two lives, while a member joins the turn being answered: one turn, one answer, each message
// with its end.
func TestDeathAtEveryCommitOfALateMember(t *testing.T) {
	for _, applied := range []bool{false, true} {
		for first := range 9 {
			for second := range 6 {
				t.Run(fmt.Sprintf("%v/%d/%d", applied, first, second), func(t *testing.T) {
					bubble(t, func(t *testing.T, mem *storetest.Memory) {
						p := echo(20 * time.Second)
						in := []session.Inbound{msg(dm, "slack:U1", "see", grouped("g", soon)), msg(dm, "slack:U2", "hm"),
							msg(dm, "slack:U1", "", grouped("g", forwarding("one"))), msg(dm, "slack:U1", "", grouped("g", forwarding("two")))}
						for _, left := range []int{first, second, 1 << 30} {
							at := time.Now()
							for i := range in {
								in[i].At = at.Add(time.Duration(i) * 300 * time.Millisecond)
							}
							c := &crashing{Memory: mem, left: left, applied: applied}
							c.life(t, p, in)
						}
						b := &bench{t: t, store: mem}
						for _, in := range in {
							b.ended(in, session.EndAnswered)
						}
						b.totals(session.Totals{Ended: map[session.End]uint64{session.EndAnswered: 4}})
						var turns []string
						for _, line := range b.log(dm) {
							if strings.HasPrefix(line, "assistant") {
								turns = append(turns, line)
							}
						}
						equal(t, "answers", turns, []string{"assistant re: " + carol + "one|" + carol + "two|see", "assistant re: hm"})
					})
				})
			}
		}
	}
}

// What one person writes during a turn is answered together, though each message waits for its group; messages that haven't settled yet
// are left for the next turn, and with fifo each group is one.
func TestSettledGroupsAreAnsweredTogether(t *testing.T) {
	group := func(name, text string, change ...func(*session.Inbound)) session.Inbound {
		return msg(dm, "slack:U1", text, grouped(name, append(change, soon)...))
	}
	for _, fifo := range []bool{false, true} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			b := start(t, mem, echo(10*time.Second), func(c *session.Config) { c.OneByOne = fifo })
			row := []later{{0, group("a", "one")}, {time.Second, group("b", "two")}, {time.Second, group("c", "three")}, {0, group("c", "", forwarding("f"))},
				{time.Second, msg(dm, "slack:U1", "four")}, {0, msg(dm, "slack:U2", "five")}, {5200 * time.Millisecond, group("d", "six")}}
			b.say(row)
			time.Sleep(2 * time.Minute)
			want := []string{"one", "two|" + carol + "f|three|four", "five", "six"}
			if fifo {
				want = []string{"one", "two", carol + "f|three", "four", "five", "six"}
			}
			var got []string
			for _, line := range b.log(dm) {
				if s, ok := strings.CutPrefix(line, "user "); ok {
					got = append(got, s)
				}
			}
			equal(t, "turns", got, want)
			for _, l := range row {
				b.ended(l.in, session.EndAnswered)
			}
			b.stopLife()
		})
	}
}

// Of several groups in one turn, a late member joins its own.
func TestALateMemberOfOneOfSeveralGroups(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(3*time.Second))
		b.say([]later{{0, msg(dm, "slack:U1", "one", grouped("a", soon))}, {time.Second, msg(dm, "slack:U1", "two", grouped("b", soon))},
			{2200 * time.Millisecond, msg(dm, "slack:U1", "three", grouped("c", soon))}, {500 * time.Millisecond, msg(dm, "slack:U1", "", grouped("b", forwarding("f"), func(in *session.Inbound) { in.Order = "000000" }))}})
		time.Sleep(time.Minute)
		log := b.log(dm)
		equal(t, "log", log[2:], []string{"user " + carol + "f|two", "assistant re: " + carol + "f|two", "user three", "assistant re: three"})
		b.stopLife()
	})
}

// A turn that is resumed after a restart is joined before it is answered, even where what joins it is named long after.
func TestAResumedTurnIsJoinedFirst(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Hour), func(c *session.Config) { c.ShutdownGrace = 0 })
		row := []later{{0, msg(dm, "slack:U1", "see", grouped("g", soon))}, {time.Second, msg(dm, "slack:U1", "", grouped("g", forwarding("one")))}}
		b.say(row)
		time.Sleep(time.Second)
		b.stopLife()
		if e := b.entry(row[1].in); e.State != session.EntryOpen {
			t.Fatalf("state %d", e.State)
		}
		p := echo(time.Second)
		b = start(t, mem, p, func(c *session.Config) { c.Store = hesitant{mem} })
		time.Sleep(time.Minute)
		equal(t, "log", b.log(dm), []string{"user " + carol + "one|see", "assistant re: " + carol + "one|see"})
		b.ended(row[1].in, session.EndAnswered)
		b.stopLife()
	})
}

// A question that becomes more than the store keeps at once ends with a line that says so, all of it, and the conversation goes on.
func TestATurnThatGrowsTooLarge(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(thinks))
		part := func(change ...func(*session.Inbound)) session.Inbound {
			return msg(dm, "slack:U1", strings.Repeat("much ", 40_000), grouped("g", change...))
		}
		row := []later{{0, part(soon)}, {time.Second, part()}, {0, part()}}
		b.say(row)
		time.Sleep(time.Minute)
		for _, l := range row {
			b.ended(l.in, session.EndNoticed)
		}
		next := msg(dm, "slack:U1", "hi")
		b.accept(next)
		time.Sleep(time.Minute)
		log := b.log(dm)
		equal(t, "log", log[1:], []string{"tip 0", log[2], "user hi", "assistant re: hi"})
		if !strings.HasPrefix(log[2], "end That became more than I can keep at once. Please ask for less.") {
			t.Errorf("%q", log[2])
		}
		b.stopLife()
	})
}

// A group that settles while something else is answered doesn't wait once more behind that, whether or not both would fit one turn.
func TestAGroupSettlesDuringAnotherTurn(t *testing.T) {
	for name, settle := range map[string]time.Duration{"later": 2 * time.Second, "before": 500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, echo(5*time.Second))
				slow := func(in *session.Inbound) { in.SettleFor = settle }
				row := []later{{0, msg(dm, "slack:U1", "one")}, {4 * time.Second, msg(dm, "slack:U1", strings.Repeat("two ", 12<<10))},
					{time.Millisecond, msg(dm, "slack:U1", "three", grouped("g", slow))},
					{time.Millisecond, msg(dm, "slack:U1", strings.Repeat("four ", 12<<10), grouped("g", slow))}}
				b.say(row)
				time.Sleep(11 * time.Second)
				synctest.Wait()
				for _, l := range row {
					b.ended(l.in, session.EndAnswered)
				}
				if n := len(b.p.prompts()); n != 3 {
					t.Errorf("%d calls", n)
				}
				b.stopLife()
			})
		})
	}
}
