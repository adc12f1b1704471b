package session_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit/conduittest"
	"orebot/core/access"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
	"orebot/core/slash"
)

const (
	tg    = session.Address("telegram:8")
	group = session.Address("telegram:-100")
)

// linking lets people link conversations between Slack and Telegram.
func linking(st session.Store, enabled string) func(*session.Config) {
	way := func(code string) string { return "write " + code }
	return func(c *session.Config) {
		c.Commander = slash.New(slash.Config{Models: installed{{Name: "m"}, {Name: "big:7b"}}, Log: st,
			Link: slash.Link{Enabled: enabled, Ways: map[string]func(string) string{"slack": way, "telegram": way}}})
		c.Platforms["telegram"] = session.Platform{Policy: access.Policy{Mode: access.Open, AnyPlace: true}, Prefix: "/"}
		c.Platforms["slack"] = session.Platform{Policy: access.Policy{Mode: access.Members, AnyPlace: true}, Follow: true, Prefix: "!"}
	}
}

// speak hands a message over and waits until the Manager is at rest.
func (b *bench) speak(a session.Address, text string, change ...func(*session.Inbound)) session.Inbound {
	b.t.Helper()
	who, name := "slack:U1", "Ann"
	if a.Conduit() == "telegram" {
		who, name = "telegram:8", "Annie"
	}
	in := msg(a, who, text, append([]func(*session.Inbound){func(in *session.Inbound) { in.Author.Name = name }}, change...)...)
	b.accept(in)
	time.Sleep(time.Second)
	synctest.Wait()
	return in
}

// shown returns what an address is shown from a record on, as its courier would read it: by its legs.
func (b *bench) shown(a session.Address) (out []string) {
	b.t.Helper()
	st := at(b.t, b.store, a)
	legs := append(slices.Clone(st.Binding.Before), session.Leg{Thread: st.Binding.Thread, From: st.Binding.From})
	for _, leg := range legs {
		recs, err := b.store.Log(b.t.Context(), leg.Thread, max(leg.From, 1), 1000)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, r := range recs {
			if leg.Until != 0 && r.Seq > leg.Until {
				break
			}
			switch {
			case r.Turn != nil && r.Turn.Role == ledger.RoleUser && r.Turn.Provenance != string(a):
				out = append(out, r.Turn.Speaker+": "+said(*r.Turn))
			case r.Turn != nil && r.Turn.Final():
				out = append(out, said(*r.Turn))
			case r.End != nil && r.End.To == a:
				out = append(out, "- "+r.End.Text)
			}
		}
	}
	return out
}

var codeIn = regexp.MustCompile(`[A-Z0-9]{4}-[A-Z0-9]{4}`)

// code makes a link code at an address.
func (b *bench) code(a session.Address, change ...func(*session.Inbound)) string {
	b.t.Helper()
	b.speak(a, "!link", change...)
	all := b.shown(a)
	code := codeIn.FindString(all[len(all)-1])
	if code == "" {
		b.t.Fatalf("no code in %q", all[len(all)-1])
	}
	return code
}

func (b *bench) last(a session.Address) string {
	all := b.shown(a)
	return all[len(all)-1]
}

const joined = "- Linked with the conversation on Slack. What is said at one place is shown at the other from now on. " +
	"`/link history 5` shows what was said before, `/unlink` ends it."

// A Telegram chat joins a Slack DM: from then on each shows what is said at the other, the model reads one conversation, and nothing
// of before is shown unasked. Then the link ends, and each has its own again.
func TestTwoPlacesShareAConversation(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "dm"))
		b.speak(tg, "mine")
		b.speak(dm, "before")
		code := b.code(dm)
		b.ended(b.speak(tg, "/link "+strings.ToLower(code)), session.EndNoticed)
		b.speak(tg, "from telegram")
		b.speak(dm, "from slack")
		b.speak(tg, "/status")
		b.speak(tg, "/link history 2")
		if q := b.p.prompts()[len(b.p.prompts())-1]; len(q) != 5 || said(q[2]) != "from telegram" || q[4].Speaker != "Ann" {
			t.Errorf("the last prompt is %+v", q)
		}
		equal(t, "Telegram", b.shown(tg)[:5], []string{"re: mine", joined, "re: from telegram", "Ann: from slack", "re: from slack"})
		for _, want := range []string{"Linked with: Slack (`slack:T1/D1`)", "**Ann**"} {
			if !strings.Contains(strings.Join(b.shown(tg), "\n"), want) {
				t.Errorf("%q isn't in %q", want, b.shown(tg))
			}
		}
		slack := b.shown(dm)
		equal(t, "Slack", append(slack[:1:1], slack[2:]...), []string{"re: before",
			"- Linked: Annie has joined this conversation from Telegram. `!unlink` ends it.", "Annie: from telegram", "re: from telegram", "re: from slack"})
		b.speak(dm, "!unlink")
		b.speak(tg, "mine again")
		b.speak(dm, "and mine")
		equal(t, "Telegram's end", b.shown(tg)[len(b.shown(tg))-2:], []string{"- On Slack: The link between these places has ended.", "re: mine again"})
		equal(t, "Telegram's log", b.log(tg), []string{"user mine", "assistant re: mine", "user mine again", "assistant re: mine again"})
		equal(t, "Slack's end", b.shown(dm)[len(b.shown(dm))-2:], []string{"- The link has ended: this chat is by itself again.", "re: and mine"})
		b.speak(tg, "/link "+code)
		if got := b.last(tg); !strings.Contains(got, "isn't valid") {
			t.Errorf("a code that was used once says %q", got)
		}
		b.stopLife()
	})
}

// Whatever commit the process dies at, the link is whole: one code, one end for each message, and each turn in one ledger, in order.
func TestDeathAtEveryCommitOfALink(t *testing.T) {
	atEveryDeath(t, 28, func(t *testing.T, mem *storetest.Memory, applied bool, left int) {
		b := start(t, mem, echo(0), linking(mem, "dm"))
		b.speak(tg, "mine")
		b.speak(dm, "before")
		code := b.code(dm)
		b.stopLife()
		in := []session.Inbound{msg(tg, "telegram:8", "/link "+code), msg(tg, "telegram:8", "one"), msg(dm, "slack:U1", "two"),
			msg(tg, "telegram:8", "/unlink"), msg(tg, "telegram:8", "mine again"), msg(dm, "slack:U1", "three")}
		for _, n := range []int{left, 1 << 30} {
			c := &crashing{Memory: mem, left: n, applied: applied}
			c.run(t, echo(500*time.Millisecond), in, linking(mem, "dm"))
		}
		b = &bench{t: t, store: mem}
		for i, m := range in {
			b.ended(m, map[bool]session.End{true: session.EndNoticed, false: session.EndAnswered}[i == 0 || i == 3])
		}
		equal(t, "Telegram's log", b.log(tg), []string{"user mine", "assistant re: mine", "user mine again", "assistant re: mine again"})
		log := strings.Join(b.log(dm), "\n")
		for _, want := range []string{"user one\nassistant re: one", "user two\nassistant re: two", "user three\nassistant re: three"} {
			if strings.Count(log, want) != 1 {
				t.Errorf("%q is there %d times in\n%s", want, strings.Count(log, want), log)
			}
		}
		if strings.Count(log, "Linked with the") != 1 || strings.Count(log, "end The link has ended") != 1 || strings.Contains(log, "mine") {
			t.Errorf("log\n%s", log)
		}
	})
}

// Two people use one code at once, and each twice: one of them joins, and the other is told.
func TestACodeIsGoodOnce(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "dm"))
		b.speak(dm, "hi")
		code := b.code(dm)
		one, two := msg(tg, "telegram:8", "/link "+code), msg("telegram:9", "telegram:9", "/link "+code)
		for _, in := range []session.Inbound{one, two, one, two} {
			b.m.Accept(t.Context(), in, func(session.Receipt) {})
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		b.ended(one, session.EndNoticed)
		b.ended(two, session.EndNoticed)
		home, n := at(t, mem, dm).Binding.Thread, 0
		for _, a := range []session.Address{tg, "telegram:9"} {
			if st := at(t, mem, a); st.Binding.Thread == home {
				n++
			} else if !strings.Contains(b.last(a), "isn't valid") {
				t.Errorf("%s is told %q", a, b.last(a))
			}
		}
		if n != 1 {
			t.Errorf("%d chats have joined", n)
		}
		b.stopLife()
	})
}

// Codes that lead nowhere, and who may make and use one.
func TestLinksThatAreNot(t *testing.T) {
	place := func(in *session.Inbound) { in.Place, in.Call = "telegram:-100", session.CallCommand }
	admin := func(in *session.Inbound) { in.Author.Admin = true }
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "dm"))
		b.speak(dm, "hi")
		code := b.code(dm)
		check := func(a session.Address, text, want string, change ...func(*session.Inbound)) {
			t.Helper()
			b.speak(a, text, change...)
			if got := b.last(a); !strings.Contains(got, want) {
				t.Errorf("%s %q: %q, want %q", a, text, got, want)
			}
		}
		check(dm, "!link "+code, "for another platform")
		check("slack:T1/D2", "!link "+code, "for another platform")
		check(tg, "/link hello", "no link code")
		check(tg, "/link 7777-7777", "isn't valid")
		check(tg, "/unlink", "isn't linked")
		check(tg, "/link history 3", "isn't linked")
		check(group, "/link", "Only an admin", place)
		check(group, "/link", "Only private chats", place, admin)
		check(group, "/link "+code, "Only private chats", place, admin)
		time.Sleep(11 * time.Minute)
		check(tg, "/link "+code, "isn't valid")
		code = b.code(dm)
		b.speak(dm, "!new")
		check(tg, "/link "+code, "isn't valid any more") // the conversation that it was made in goes on nowhere
		code = b.code(dm)
		check(tg, "/link "+code, "Linked with")
		check(tg, "/link "+code, "linked already")
		check(dm, "!link "+code, "linked already")
		for range 30 {
			b.speak("telegram:9", "/link 7777-7777")
		}
		check("telegram:9", "/link 7777-7777", "Too many codes were tried")
		b.stopLife()
	})
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "off"))
		b.speak(dm, "!link")
		if got := b.last(dm); !strings.Contains(got, "turned it off") {
			t.Errorf("%q", got)
		}
		b.stopLife()
	})
}

// What one place does to the conversation holds at both: a fresh one, the way back, a stop, a deletion.
func TestWhatIsDoneAtOnePlaceHoldsAtBoth(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(5*time.Second), linking(mem, "dm"))
		wait := func(a session.Address, text string) session.Inbound {
			in := b.speak(a, text)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			return in
		}
		wait(tg, "mine")
		wait(dm, "before")
		wait(tg, "/link "+b.code(dm))
		wait(tg, "one")
		home := at(t, mem, dm).Binding.Thread
		wait(tg, "/new")
		same := func(what, tail string) {
			t.Helper()
			if a, o := at(t, mem, dm).Binding.Thread, at(t, mem, tg).Binding.Thread; a != o {
				t.Errorf("%s: the two places are apart", what)
			}
			if got := b.last(dm); got != tail {
				t.Errorf("%s: Slack is shown %q", what, got)
			}
		}
		same("new", "- On Telegram: A fresh conversation begins, here too.")
		wait(dm, "two")
		same("a question in the fresh one", "re: two")
		if got := b.last(tg); got != "re: two" || b.shown(tg)[len(b.shown(tg))-2] != "Ann: two" {
			t.Errorf("Telegram is shown %q", b.shown(tg))
		}
		wait(tg, "/undo")
		same("undo", "- On Telegram: Taken back: “two”")
		wait(tg, "/undo")
		same("undo of new", "- On Telegram: The conversation before this one goes on, here too.")
		if at(t, mem, dm).Binding.Thread != home {
			t.Error("undo doesn't return to the conversation before")
		}
		wait(tg, "three")
		same("a question in the old one", "re: three")
		in := b.speak(dm, "essay")
		b.speak(tg, "/stop")
		b.ended(in, session.EndWithdrawn)
		same("stop", "- Stopped, on Telegram.")
		wait(tg, "/model big:7b")
		same("model", "- On Telegram: From the next message on, `big:7b` answers here.")
		wait(tg, "/forget")
		wait(tg, "/forget yes")
		same("forget", "- On Telegram: This conversation was deleted for good. A fresh one begins, here too.")
		if _, _, ok, _ := mem.Thread(t.Context(), home); ok {
			t.Error("it isn't deleted")
		}
		wait(dm, "four")
		if got := b.shown(tg); got[len(got)-2] != "Ann: four" || got[len(got)-1] != "re: four" {
			t.Errorf("after a deletion Telegram is shown %q", got)
		}
		wait(tg, "/unlink")
		wait(tg, "mine again")
		equal(t, "Telegram's own", b.log(tg), []string{"user mine", "assistant re: mine", "user mine again", "assistant re: mine again"})
		b.stopLife()
	})
}

// After a link, `undo` and `forget` at the place that had joined reach nothing of the other's.
func TestALinkLeavesNoWayBackIntoIt(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "dm"))
		b.speak(dm, "before")
		b.speak(tg, "/link "+b.code(dm))
		b.speak(tg, "one")
		b.speak(dm, "!new")
		b.speak(dm, "two")
		b.speak(tg, "/unlink")
		threads := append(slices.Clone(at(t, mem, dm).Binding.Back), at(t, mem, dm).Binding.Thread)
		b.speak(tg, "/undo")
		if got := b.last(tg); got != "- There is nothing to take back." {
			t.Errorf("undo after a link says %q", got)
		}
		b.speak(tg, "mine")
		b.speak(tg, "/forget")
		b.speak(tg, "/forget yes")
		time.Sleep(time.Minute)
		for _, id := range threads {
			if _, _, ok, _ := mem.Thread(t.Context(), id); !ok {
				t.Error("the deletion at one place reached what is another's")
			}
		}
		if len(threads) != 2 {
			t.Errorf("%d threads", len(threads))
		}
		b.speak(dm, "three")
		if got := b.last(dm); got != "re: three" {
			t.Errorf("%q", got)
		}
		b.stopLife()
	})
}

// A private chat that has joined a group's conversation owns nothing of it; whoever administers the group may what admins may.
func TestALinkedChatsRights(t *testing.T) {
	place := func(in *session.Inbound) { in.Place, in.Call = "telegram:-100", session.CallCommand }
	admin := func(in *session.Inbound) { place(in); in.Author.Admin = true; in.Author.ID = "telegram:5" }
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "threads"))
		b.speak(group, "hello", func(in *session.Inbound) { place(in); in.Author.ID = "telegram:5" })
		b.speak(group, "/link", admin)
		code := codeIn.FindString(b.last(group))
		b.speak(dm, "!link "+code)
		b.speak(dm, "!forget")
		if got := b.last(dm); !strings.HasPrefix(got, "- Only an admin") {
			t.Errorf("forget says %q", got)
		}
		b.speak(dm, "!new")
		if got := b.last(dm); !strings.HasPrefix(got, "- Only who began") {
			t.Errorf("new says %q", got)
		}
		b.speak(dm, "!link")
		if got := b.last(dm); !strings.HasPrefix(got, "- Only an admin") {
			t.Errorf("link says %q", got)
		}
		b.speak(group, "/new", admin)
		b.speak(dm, "!forget")
		if got := b.last(dm); !strings.HasPrefix(got, "- Only an admin") {
			t.Errorf("forget in the fresh one says %q", got)
		}
		b.speak(group, "/unlink", place) // anyone there
		b.speak(dm, "!forget")
		if got := b.last(dm); !strings.Contains(got, "deletes the conversation for good") {
			t.Errorf("forget after the link says %q", got)
		}
		b.stopLife()
	})
}

// Linked conversations that nobody uses are deleted like others, and stay linked.
func TestLinkedConversationsRetire(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "dm"), func(c *session.Config) { c.Retention = 48 * time.Hour })
		b.speak(tg, "mine")
		own := at(t, mem, tg).Binding.Thread
		b.speak(dm, "before")
		b.speak(tg, "/link "+b.code(dm))
		b.delivered(dm)
		b.delivered(tg)
		home := at(t, mem, dm).Binding.Thread
		time.Sleep(100 * time.Hour)
		for _, id := range []ledger.ThreadID{own, home} {
			if _, _, ok, _ := mem.Thread(t.Context(), id); ok {
				t.Error("an idle conversation is still there")
			}
		}
		b.speak(tg, "one")
		if got := b.shown(dm); len(got) < 2 || got[len(got)-2] != "Annie: one" {
			t.Errorf("Slack is shown %q", got)
		}
		b.speak(tg, "/unlink")
		b.speak(tg, "mine again")
		equal(t, "Telegram's own", b.log(tg), []string{"user mine again", "assistant re: mine again"})
		b.stopLife()
	})
}

// crossing is a store at which a place comes back to its own conversation while the worker of that takes up the message of another place that
// is to join it.
type crossing struct {
	*storetest.Memory
	own   ledger.ThreadID
	link  session.EntryID
	reads atomic.Int64
}

func (c *crossing) Entry(ctx context.Context, id session.EntryID) (session.StoredEntry, bool, error) {
	if id == c.link && c.reads.Add(1) == 2 {
		time.Sleep(10 * time.Second)
	}
	return c.Memory.Entry(ctx, id)
}

func (c *crossing) Commit(ctx context.Context, b session.Batch, done func(session.Result, error)) {
	back := func(w session.BindingWrite) bool { return w.Address == dm && w.Binding.Thread == c.own }
	if !slices.ContainsFunc(b.Bindings, back) {
		c.Memory.Commit(ctx, b, done)
		return
	}
	go func() {
		time.Sleep(5 * time.Second)
		c.Memory.Commit(ctx, b, done)
	}()
}

// A place that has tried to join another conversation, in vain, misses nothing of its own, which another place has joined meanwhile.
func TestAPlaceThatComesBackMissesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		c := &crossing{Memory: mem}
		b := start(t, c, echo(0), linking(mem, "dm"))
		b.speak(tg, "mine")
		b.speak(dm, "before")
		slacks, telegrams := b.code(dm), b.code(tg)
		b.speak(tg, "/new")
		_, stop := delivering(t, mem, mem, "life", &conduittest.Platform{})
		time.Sleep(time.Second)
		stop()
		in := msg(tg, "telegram:8", "/link "+slacks)
		c.own, c.link = at(t, mem, dm).Binding.Thread, in.ID()
		b.accept(msg(dm, "slack:U1", "!link "+telegrams))
		time.Sleep(time.Second)
		b.accept(in)
		time.Sleep(time.Minute)
		synctest.Wait()
		st := at(t, mem, dm)
		recs, err := mem.Log(t.Context(), st.Binding.Thread, st.Cursor.Seq, 10)
		if err != nil || st.Binding.Thread != c.own || at(t, mem, tg).Binding.Thread != c.own || len(recs) == 0 || recs[0].End == nil ||
			!strings.HasPrefix(recs[0].End.Text, "Linked: ") || st.Due == 0 {
			t.Errorf("what Slack is shown next is %+v (%v), of %+v", recs, err, st)
		}
		b.stopLife()
	})
}
