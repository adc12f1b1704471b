package telegram

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/access"
	"orebot/core/session"
	"orebot/core/session/storetest"
	sim "orebot/internal/sim/telegram"
)

// Who blocks the bot gets not one attempt more, and what is being done for them stops; who lets it in again is
// served again.
// Facts A6.13, E.8; report 38.
func TestABlockedChatGetsNothing(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		r := &recorder{pass: true}
		l := b.start(r.onto)
		b.model.answers(func(s string) string { time.Sleep(10 * time.Second); return "re: " + s })
		b.Say(b.ada, b.chat, "hello")
		time.Sleep(time.Second)
		b.Block(b.ada)
		time.Sleep(time.Minute)
		if n := len(b.Calls("sendMessage")); n != 0 {
			t.Errorf("%d calls", n)
		}
		got := r.inbounds()
		if in := got[len(got)-1]; in.Signal != session.SignalButton || in.Action != "stop" || in.Author.ID != idOf(b.ada.ID) {
			t.Errorf("no stop: %+v", in)
		}
		b.model.answers(nil)
		b.Unblock(b.ada)
		b.Say(b.ada, b.chat, "again")
		l.rest(time.Minute)
		if got := b.texts(b.chat); len(got) == 0 || !strings.HasSuffix(got[len(got)-1], "again") {
			t.Errorf("%q\n%s", got, b.log.String())
		}
	})
}

// Who lets the bot in again at once, and writes before it is done with stopping, is answered: the stop is about what they had asked before,
// also where the chat has moved.
// Facts A6.13, E.8; report 38.
func TestWhoComesBackAtOnceIsAnswered(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.commands = true
		r := &recorder{pass: true}
		l := b.start(r.onto)
		group := b.AddGroup("G")
		b.Say(b.ada, group, "@OreBot hi")
		time.Sleep(time.Minute)
		super := b.Migrate(group)
		b.model.answers(func(s string) string { time.Sleep(10 * time.Second); return "re: " + s })
		b.Say(b.ada, b.chat, "first")
		b.Say(b.ada, super, "@OreBot first")
		time.Sleep(5 * time.Second)
		b.Faults.Next("getUpdates", badGateway) // what follows "waits" comes in one batch
		b.Say(b.ada, b.chat, "waits")
		b.Say(b.ada, super, "@OreBot waits")
		time.Sleep(100 * time.Millisecond)
		b.Block(b.ada)
		b.Unblock(b.ada)
		b.Kick(super, b.ada)
		b.Return(super, b.ada)
		b.Say(b.ada, b.chat, "second")
		b.Say(b.ada, super, "@OreBot second")
		l.rest(time.Minute)
		for _, chat := range []int64{b.chat, super} {
			got := strings.Join(b.texts(chat), "|")
			if !strings.HasSuffix(got, "re: second") || strings.Contains(got, "re: first") || strings.Contains(got, "re: waits") {
				t.Errorf("%q", got)
			}
		}
		last, stops := map[session.Address]string{}, 0
		for _, in := range r.inbounds() {
			if in.Order <= last[in.Address] {
				t.Errorf("%s %q sorts at %s, behind %s", in.Action, in.Text, in.Order, last[in.Address])
			}
			last[in.Address] = in.Order
			stops += strings.Count(in.Action, "stop")
		}
		if stops != 2 {
			t.Errorf("%d stops", stops)
		}
	})
}

// A group that throws the bot out has a stop for each of its topics, and for no other place's.
// Facts E.8.
func TestAKickStopsEachTopic(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		r := &recorder{pass: true}
		l := b.start(r.onto)
		forum, other := b.AddSupergroup("F", true), b.AddSupergroup("G", false)
		topic := b.AddTopic(forum, "Go")
		b.Say(b.ada, forum, "@OreBot a")
		b.Say(b.ada, forum, "@OreBot b", sim.Topic(topic))
		b.Say(b.ada, other, "@OreBot c")
		time.Sleep(time.Minute)
		sent := len(b.Calls("sendMessage"))
		b.Kick(forum, b.ada)
		l.rest(time.Minute)
		var stopped []string
		for _, in := range r.inbounds() {
			if in.Action == "stop" {
				stopped = append(stopped, string(in.Address)+" in "+in.Place)
			}
		}
		f := idOf(forum)
		if want := fmt.Sprintf("%s in %s|%s/%d in %s", f, f, f, topic, f); strings.Join(stopped, "|") != want {
			t.Errorf("%q, want %q", stopped, want)
		}
		if n := len(b.Calls("sendMessage")); n != sent {
			t.Errorf("%d calls after the kick", n-sent)
		}
		if b.logged(`msg="bot was shut out"`) != 1 {
			t.Error(b.log.String())
		}
	})
}

// A group that becomes a supergroup keeps its conversation, its place in the lists and its order; nothing said
// before is replied to by its old id.
// Facts A2.14, E.7; report 35.
func TestAMoveKeepsTheConversation(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		r := &recorder{pass: true}
		l := b.start(r.onto)
		group := b.AddGroup("G")
		b.Say(b.ada, group, "@OreBot one")
		time.Sleep(5 * time.Second)
		super := b.Migrate(group)
		time.Sleep(2 * time.Second) // dates are whole seconds
		asked := b.Say(b.ada, super, "@OreBot two")
		time.Sleep(5 * time.Second)
		if err := l.stop(); err != nil {
			t.Error(err)
		}
		l = b.start(r.onto) // which knows it from the store
		b.Say(b.ada, super, "@OreBot three")
		l.rest(5 * time.Second)
		var orders []string
		for _, in := range r.inbounds() {
			if in.Address != (place{chat: group}).address() || in.Place != idOf(group) {
				t.Errorf("%s in %s", in.Address, in.Place)
			}
			orders = append(orders, in.Order)
		}
		if len(orders) != 3 || orders[0] >= orders[1] || orders[1] >= orders[2] {
			t.Errorf("orders %q", orders)
		}
		b.want(super, "re: two", "re: three")
		for _, c := range b.Calls("sendMessage") {
			if c.Params["text"] == "re: two" && !strings.Contains(c.Params["reply_parameters"], decimal(int64(asked))) {
				t.Errorf("no reply to %d: %+v", asked, c)
			}
		}
	})
}

// An answer on its way when the group moves arrives in the new one, once, without a reply to a message that isn't there.
// Facts A6.6, E.7.
func TestAnAnswerFollowsAMove(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		group := b.AddGroup("G")
		super := int64(0)
		b.model.answers(func(s string) string {
			if super == 0 {
				super = b.Migrate(group)
			}
			return "re: " + s
		})
		l := b.start()
		b.Say(b.ada, group, "@OreBot one")
		l.rest(10 * time.Second)
		b.want(super, "re: one")
		for _, c := range b.Calls("sendMessage") {
			if c.Params["chat_id"] == decimal(super) && c.Params["reply_parameters"] != "" {
				t.Errorf("%+v", c)
			}
		}
	})
}

// moveBench is a moves over a store of its own.
func moveBench(t *testing.T) (*moves, *storetest.Memory) {
	store := storetest.NewMemory()
	t.Cleanup(func() { _ = store.Close() })
	return newMoves(store), store
}

// A move is durable, the same one again changes nothing, and none makes a circle; two in a row lead to the last and to the first.
// Facts E.7.
func TestMoves(t *testing.T) {
	m, store := moveBench(t)
	at := time.Unix(1700000000, 0).UTC()
	for _, step := range [][2]int64{{-5, -1005}, {-5, -1005}, {-1005, -5}, {-7, -7}, {-1005, -1006}} {
		if err := m.note(t.Context(), step[0], step[1], at); err != nil {
			t.Fatal(err)
		}
	}
	again := newMoves(store)
	if err := again.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*moves{m, again} {
		if now, since := m.now(-5); now != -1006 || !since.Equal(at) {
			t.Errorf("-5 is now %d since %v", now, since)
		}
		if first := m.first(-1006); first != -5 {
			t.Errorf("-1006 was first %d", first)
		}
		if now, since := m.now(-7); now != -7 || !since.IsZero() {
			t.Errorf("-7 is now %d since %v", now, since)
		}
	}
}

// A group that has moved counts under its new name where that is listed, else under its first.
// Facts E.7.
func TestPlacesOfMovedGroups(t *testing.T) {
	m, _ := moveBench(t)
	if err := m.note(t.Context(), -5, -1005, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	for listed, want := range map[string]string{"": "telegram:-5", "telegram:-1005": "telegram:-1005", "telegram:-5": "telegram:-5"} {
		in := session.Inbound{Address: "telegram:-1005", Place: "telegram:-1005", Order: orderOf(2)}
		m.settle(&in, place{chat: -1005}, func(p string) bool { return p == listed })
		if in.Place != want || in.Address != "telegram:-5" || in.Order <= orderOf(1<<31) {
			t.Errorf("listed %q: %+v", listed, in)
		}
	}
}

// A move that can't be stored isn't confirmed.
// Facts A2.14.
func TestAMoveIsDurableFirst(t *testing.T) {
	m, store := moveBench(t)
	store.FailNext(session.ErrPaused)
	if err := m.note(t.Context(), -5, -1005, time.Unix(1, 0)); !errors.Is(err, session.ErrPaused) {
		t.Errorf("%v", err)
	}
	if first := m.first(-1005); first != -1005 {
		t.Errorf("noted as %d all the same", first)
	}
}

// A chat that has shut the bot out is gone, without a call.
// Facts E.8.
func TestBarredChatsAreGone(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		bar := newBarred()
		bar.set(b.chat, true)
		r := rover{NewPoster(b.api), newMoves(b.store), bar}
		_, err := r.Post(context.Background(), place{chat: b.chat}.address(), conduit.Item{}, conduit.Part{})
		var e *conduit.Error
		if !errors.As(err, &e) || e.Class != conduit.Gone || len(b.Calls("sendMessage")) != 0 {
			t.Errorf("%v", err)
		}
	})
}

// A bot that is added to a group that isn't enabled says so once, however often it is thrown out and added again, and costs no model
// call; it says nothing in a group that is enabled, in a channel, or to who unblocks it.
// Facts E.16.
func TestWhoAddsTheBotHearsWhetherItIsEnabled(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.commands = true
		closed, open, channel := b.AddSupergroup("C", false), b.AddSupergroup("O", false), b.AddChannel("News")
		b.policy = access.Policy{Mode: access.Open, Places: []string{idOf(open)}}
		for _, chat := range []int64{closed, open, channel} {
			b.Kick(chat, b.ada)
		}
		b.Block(b.ada)
		l := b.start(func(c *Config) { c.Listed = b.policy.OpenAt })
		for range 2 {
			time.Sleep(10 * time.Second)
			for _, chat := range []int64{closed, open, channel} {
				b.Return(chat, b.ada)
			}
			b.Unblock(b.ada)
			time.Sleep(10 * time.Second)
			b.Kick(closed, b.ada)
		}
		l.rest(10 * time.Second)
		b.want(closed, "⚠️ Not enabled here. Operator: orebot access allow "+idOf(closed)+". (ref …)")
		b.want(open)
		b.want(channel)
		b.want(b.chat)
		if n := len(b.model.prompts()); n != 0 {
			t.Errorf("%d model calls", n)
		}
	})
}

// Whose a private chat is, its id says; a group's readers are those of a place that is known by its first id and by its present one.
func TestReaders(t *testing.T) {
	m, store := moveBench(t)
	if err := m.note(t.Context(), -5, -1005, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	api := &API{}
	for _, moved := range []bool{false, true} {
		if moved {
			api.moves.Store(newMoves(store)) // as of a new life, which has read nothing yet
		}
		for a, want := range map[session.Address]string{"telegram:8": "telegram:8", "telegram:8/3": "telegram:8", "telegram:-7": "",
			"telegram:-5": "", "telegram:-1005/2": "", "telegram:x": "an error"} {
			who, places, err := api.Readers(t.Context(), a)
			if err != nil {
				who = "an error"
			}
			both := slices.Contains(places, "telegram:-5") && slices.Contains(places, "telegram:-1005")
			if who != want || both != (moved && strings.Contains(string(a), "5")) || (who == "") != (len(places) > 0) {
				t.Errorf("%s: %q, %q, %v", a, who, places, err)
			}
		}
	}
}
