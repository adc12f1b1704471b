package session_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/access"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// house is a bench with doors: one platform where strangers get codes, and one user in the configuration.
type house struct {
	*bench
	doors *session.Doors
}

func housed(t *testing.T, mem *storetest.Memory, p *scripted) *house {
	t.Helper()
	book := access.NewBook()
	policy := access.Policy{Mode: access.Pairing, Users: []string{"telegram:1"}, Places: []string{"telegram:-1"}, Book: book}
	d := &session.Doors{Store: mem, Book: book, Policies: map[string]access.Policy{"telegram": policy}}
	if err := d.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := start(t, mem, p, func(c *session.Config) {
		c.Platforms = map[string]session.Platform{"telegram": {Policy: policy}}
	})
	d.Dismiss = b.m.Dismiss
	return &house{b, d}
}

// writes lets somebody write in their private chat.
func (h *house) writes(id int, text string) session.Inbound {
	h.t.Helper()
	in := msg(session.Address(fmt.Sprintf("telegram:%d", id)), fmt.Sprintf("telegram:%d", id), text)
	in.Author.Name, in.Author.Handle = fmt.Sprintf("Person %d", id), fmt.Sprintf("p%d", id)
	h.accept(in)
	synctest.Wait()
	return in
}

// code returns the code in the last line that somebody was told.
func (h *house) code() string {
	h.t.Helper()
	events := h.events()
	if len(events) == 0 {
		h.t.Fatal("nobody was told anything")
	}
	m := regexp.MustCompile("I don't know you yet\\. Ask the operator to run `orebot access approve ([A-Z0-9]{4})` \\(valid 1 h\\)\\.$").
		FindStringSubmatch(events[len(events)-1])
	if m == nil {
		h.t.Fatalf("no code in %q", events[len(events)-1])
	}
	return m[1]
}

func (h *house) approve(code string) {
	h.t.Helper()
	if _, err := h.doors.Approve(h.t.Context(), code); err != nil {
		h.t.Fatal(err)
	}
	synctest.Wait()
}

func wantDoorError(t *testing.T, err error, text string) {
	t.Helper()
	var de *session.DoorError
	if !errors.As(err, &de) || !strings.Contains(de.Text, text) {
		t.Errorf("error %v, want one for the operator with %q", err, text)
	}
}

func TestAStrangerIsLetInByCode(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		h := housed(t, mem, echo(0))
		first := h.writes(7, "hello")
		code := h.code()
		for range 5 {
			h.ended(h.writes(7, "hello?"), session.EndRefused)
		}
		h.ended(first, session.EndRefused)
		if n := len(h.events()); n != 1 {
			t.Errorf("%d lines while the code is valid, want 1", n)
		}
		if e := h.entry(first); e.Inbound.Text != "" {
			t.Errorf("the text of a stranger is kept: %q", e.Inbound.Text)
		}
		if len(h.p.prompts()) != 0 {
			t.Error("a stranger cost a model call")
		}
		h.approve(strings.ToLower(" " + code))
		in := h.writes(7, "now?")
		h.ended(in, session.EndAnswered)
		equal(t, "what they saw", h.events()[1:], []string{
			"telegram:7 notice You are in. Please write your question again.", "telegram:7 user now?", "telegram:7 assistant re: now?"})
		_, err := h.doors.Approve(t.Context(), code)
		wantDoorError(t, err, "nobody waits with the code "+code)
		h.stopLife()

		h = housed(t, mem, echo(0)) // it holds in the next life
		h.ended(h.writes(7, "still?"), session.EndAnswered)
		h.ended(h.writes(8, "me too?"), session.EndRefused)
		h.stopLife()
	})
}

// On a daemon that is stopped, or killed behind the write, the next life tells them; once, whatever was tried twice.
func TestAnApprovalWhileNobodyRunsIsToldByTheNextLife(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		h := housed(t, mem, echo(0))
		h.writes(7, "hello")
		code := h.code()
		h.stopLife()
		mem.FailNextApplied(session.ErrUnknown)
		if _, err := h.doors.Approve(t.Context(), code); err != nil {
			t.Fatal(err)
		}
		h = housed(t, mem, echo(0))
		synctest.Wait()
		equal(t, "events", h.events(), []string{"telegram:7 notice You are in. Please write your question again."})
		h.ended(h.writes(7, "now?"), session.EndAnswered)
		totals, err := mem.Totals(t.Context())
		if err != nil || totals.Waiting != 0 || totals.Ended[session.EndNoticed] != 1 || totals.Ended[session.EndRefused] != 1 {
			t.Errorf("totals %+v, %v", totals, err)
		}
		h.stopLife()
	})
}

func TestACodeExpires(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		h := housed(t, mem, echo(0))
		h.writes(7, "hello")
		old := h.code()
		time.Sleep(61 * time.Minute)
		_, err := h.doors.Approve(t.Context(), old)
		wantDoorError(t, err, "orebot access allow telegram:7")
		if _, waits, err := h.doors.Guests(t.Context()); err != nil || len(waits) != 1 || waits[0].Name != "Person 7" || waits[0].Handle != "p7" {
			t.Errorf("waiting: %+v, %v", waits, err)
		}
		h.writes(7, "hello again")
		if fresh := h.code(); fresh == old {
			t.Error("an expired code was given again")
		} else {
			h.approve(fresh)
		}
		h.ended(h.writes(7, "now?"), session.EndAnswered)
		h.stopLife()
	})
}

func TestAllowAndRevoke(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		h := housed(t, mem, echo(0))
		if _, err := h.doors.Allow(t.Context(), "telegram:7"); err != nil {
			t.Fatal(err)
		}
		h.ended(h.writes(7, "hi"), session.EndAnswered)
		for range 2 { // what is done may be asked for again
			if _, err := h.doors.Revoke(t.Context(), "telegram:7"); err != nil {
				t.Fatal(err)
			}
		}
		h.ended(h.writes(7, "hi?"), session.EndRefused)
		if last := h.events()[len(h.events())-1]; !strings.Contains(last, "not enabled for you any more") {
			t.Errorf("told: %s", last)
		}
		for id, want := range map[string]string{
			"telegram:1": "stands in the configuration", "telegram:-1": "stands in the configuration", "7": "names nobody", "": "names nobody",
			"slack:U1": "names nobody", "telegram:": "names nobody", "telegram:7/1": "names nobody", "telegram:7 8": "names nobody",
			"telegram:@ana": "names nobody",
		} {
			_, err := h.doors.Revoke(t.Context(), id)
			wantDoorError(t, err, want)
		}
		_, err := h.doors.Allow(t.Context(), "@ana")
		wantDoorError(t, err, "telegram:8246")
		h.writes(8, "hi") // allowed by id while they wait with a code
		if _, err := h.doors.Allow(t.Context(), "telegram:8"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if last := h.events()[len(h.events())-1]; !strings.Contains(last, "telegram:8 notice You are in.") {
			t.Errorf("told: %s", last)
		}
		h.stopLife()
	})
}

// Who is turned away while they wait isn't let in by the code that they got, and of two who have the same one neither is.
func TestACodeLetsInWhoItNames(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		h := housed(t, mem, echo(0))
		h.writes(7, "hello")
		code := h.code()
		if _, err := h.doors.Revoke(t.Context(), "telegram:7"); err != nil {
			t.Fatal(err)
		}
		_, err := h.doors.Approve(t.Context(), code)
		wantDoorError(t, err, "nobody waits with the code "+code)
		h.ended(h.writes(7, "hello?"), session.EndRefused)

		h.writes(8, "hello")
		code = h.code()
		who, _, _, err := mem.Small(t.Context(), "strangers", "telegram:8")
		if err != nil {
			t.Fatal(err)
		}
		who = []byte(strings.ReplaceAll(string(who), "telegram:8", "telegram:9"))
		if _, err := session.CommitWait(t.Context(), mem, session.Batch{ID: session.NewBatchID(),
			Small: []session.SmallWrite{{Space: "strangers", Key: "telegram:9", Value: who}}}); err != nil {
			t.Fatal(err)
		}
		_, err = h.doors.Approve(t.Context(), code)
		wantDoorError(t, err, "2 people have the code "+code)
		h.ended(h.writes(8, "hello?"), session.EndRefused)
		h.stopLife()
	})
}

func TestAGroupIsClosedOnceAndOpened(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		h := housed(t, mem, echo(0))
		say := func(author string) session.Inbound {
			in := msg("telegram:-5", author, "bot?", func(in *session.Inbound) { in.Call, in.Place = session.CallMention, "telegram:-5" })
			h.accept(in)
			synctest.Wait()
			return in
		}
		for _, who := range []string{"telegram:1", "telegram:7", "telegram:1"} {
			h.ended(say(who), session.EndRefused)
			time.Sleep(25 * time.Hour)
		}
		equal(t, "told", h.events(), []string{"telegram:-5 notice Not enabled here. Operator: `orebot access allow telegram:-5`."})
		if _, err := h.doors.Allow(t.Context(), "telegram:-5"); err != nil {
			t.Fatal(err)
		}
		h.ended(say("telegram:1"), session.EndAnswered)
		h.ended(say("telegram:7"), session.EndRefused) // the place is open, the person a stranger
		if _, err := h.doors.Revoke(t.Context(), "telegram:-5"); err != nil {
			t.Fatal(err)
		}
		h.ended(say("telegram:1"), session.EndRefused)
		h.stopLife()
	})
}

func TestRevokeEndsWhatRunsAndWhatWaits(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		h := housed(t, mem, echo(time.Hour))
		for _, id := range []string{"telegram:7", "telegram:8"} {
			if _, err := h.doors.Allow(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		running, waiting, other := h.writes(7, "one"), h.writes(7, "two"), h.writes(8, "three")
		if _, err := h.doors.Revoke(t.Context(), "telegram:7"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.ended(running, session.EndRefused)
		h.ended(waiting, session.EndRefused)
		equal(t, "told", h.events(), []string{"telegram:7 user one", "telegram:8 user three",
			"telegram:7 notice The operator has taken my permission back; I stop here."})
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		h.ended(other, session.EndAnswered)
		if _, err := h.doors.Allow(t.Context(), "telegram:7"); err != nil {
			t.Fatal(err)
		}
		again := h.writes(7, "four")
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		h.ended(again, session.EndAnswered)
		prompts := h.p.prompts()
		if got := said(prompts[len(prompts)-1][0]); got != "four" {
			t.Errorf("the withdrawn question is in the next prompt: %q", got)
		}
		h.stopLife()
	})
}

// A turn that was under way when the process was killed isn't taken up again for somebody whose access was taken back meanwhile.
func TestRevokeHoldsForATurnOfAnEarlierLife(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		h := housed(t, mem, echo(time.Hour))
		if _, err := h.doors.Allow(t.Context(), "telegram:7"); err != nil {
			t.Fatal(err)
		}
		in := h.writes(7, "one")
		h.stopLife()
		if e := h.entry(in); e.State != session.EntrySubmitted {
			t.Fatalf("state %d", e.State)
		}
		h.doors.Dismiss = nil
		if _, err := h.doors.Revoke(t.Context(), "telegram:7"); err != nil {
			t.Fatal(err)
		}
		h = housed(t, mem, echo(0))
		synctest.Wait()
		h.ended(in, session.EndRefused)
		if len(h.p.prompts()) != 0 {
			t.Error("the model was asked")
		}
		h.stopLife()
	})
}

// A flood of strangers fills neither the store nor anybody's screen.
// Report 81.
func TestAFloodOfStrangersIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		h := housed(t, mem, echo(0))
		before := mem.Commits()
		for id := 1000; id < 6000; id++ {
			h.accept(msg(session.Address(fmt.Sprintf("telegram:%d", id)), fmt.Sprintf("telegram:%d", id), "buy this"))
		}
		synctest.Wait()
		for range 500 {
			h.accept(msg("telegram:1000", "telegram:1000", "buy this"))
		}
		synctest.Wait()
		_, waits, err := h.doors.Guests(t.Context())
		if err != nil || len(waits) != 100 {
			t.Errorf("%d wait, %v", len(waits), err)
		}
		if n := len(h.events()); n != len(waits) {
			t.Errorf("%d lines for %d codes", n, len(waits))
		}
		if n := mem.Commits() - before; n > 2*2000+200 {
			t.Errorf("%d commits for 5500 messages", n)
		}
		if _, err := h.doors.Allow(t.Context(), "telegram:5999"); err != nil { // somebody known is served all the same
			t.Fatal(err)
		}
		h.ended(h.writes(5999, "hi"), session.EndAnswered)
		time.Sleep(25 * time.Hour)
		if err := h.doors.Tidy(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if list, err := mem.SmallList(t.Context(), "strangers", "", 10); err != nil || len(list) != 0 {
			t.Errorf("after a day %d are kept, %v", len(list), err)
		}
		h.writes(7, "hello")
		h.code()
		h.stopLife()
	})
}

func TestTwoOperatorsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		h := housed(t, mem, echo(0))
		h.writes(7, "hello")
		code := h.code()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { _, _ = h.doors.Approve(context.Background(), code) })
			wg.Go(func() {
				if _, err := h.doors.Allow(context.Background(), "telegram:7"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		if n := len(h.events()); n != 2 {
			t.Errorf("told: %q", h.events())
		}
		h.ended(h.writes(7, "now?"), session.EndAnswered)
		h.stopLife()
	})
}

func TestARecordOfAccessThatCannotBeReadLetsNobodyIn(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := session.Batch{ID: session.NewBatchID(), Small: []session.SmallWrite{
			{Space: "access", Key: "telegram:7", Value: []byte("not JSON")}, {Space: "access", Key: "telegram:8", Value: []byte(`{"id":"telegram:9"}`)}}}
		if _, err := session.CommitWait(t.Context(), mem, b); err != nil {
			t.Fatal(err)
		}
		h := housed(t, mem, echo(0))
		for _, id := range []int{7, 8, 9} {
			h.ended(h.writes(id, "hi"), session.EndRefused)
		}
		h.stopLife()
	})
}
