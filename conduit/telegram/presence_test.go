package telegram

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/session"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/telegram"
)

// beats shows a sign every Beat for a while, as a Stream does, and returns what must be cleaned up.
func beats(t *testing.T, p *Presence, a session.Address, s session.Sign, d time.Duration) *session.Presence {
	t.Helper()
	var shown *session.Presence
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(Beat) {
		next, err := p.Show(t.Context(), a, s, shown)
		if err != nil {
			t.Fatal(err)
		}
		shown = next
	}
	return shown
}

// The sign is shown every 4 s, in its topic, and ends within 5 s of the last one by itself. General has no thread id.
// Facts A2.3, A8.1, B.12; report 28.
func TestTypingFadesByItself(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		p := NewPresence(b.api)
		forum := b.AddSupergroup("Forum", true)
		topic := b.AddTopic(forum, "Go", b.Bot())
		for _, c := range []struct {
			at    place
			topic string
		}{{place{b.chat, 0}, ""}, {place{forum, int64(topic)}, fmt.Sprint(topic)}, {place{forum, 0}, ""}, {place{forum, general}, ""}} {
			n := len(b.Calls("sendChatAction"))
			if shown := beats(t, p, c.at.address(), session.Sign{Activity: session.ActivityThinking}, 20*time.Second); shown != nil {
				t.Errorf("%v leaves %+v", c.at, shown)
			}
			time.Sleep(time.Minute)
			calls := b.Calls("sendChatAction")[n:]
			if len(calls) != 5 || calls[0].Params["action"] != "typing" || calls[0].Params["message_thread_id"] != c.topic {
				t.Errorf("%v: %+v", c.at, calls)
			}
		}
	})
}

// A slow answer is announced once, in silence, and the announcement is gone when it is cleared, after a crash too.
func TestASlowAnswerIsAnnouncedOnce(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		group := b.AddGroup("G")
		asked := b.Say(b.ada, group, "@OreBot hello")
		at := place{chat: group}.address()
		shown := beats(t, NewPresence(b.api), at, session.Sign{Activity: session.ActivitySlow, Message: decimal(int64(asked))}, 20*time.Second)
		if shown == nil || shown.Kind != kindSlow {
			t.Fatalf("%+v", shown)
		}
		var sends []sim.Line
		for _, l := range b.Transcript() {
			if l.Action == "send" {
				sends = append(sends, l)
			}
		}
		if len(sends) != 1 || !sends[0].Silent || sends[0].Text != "Still working." || sends[0].ReplyTo != asked || decimal(int64(sends[0].Message)) != shown.Message {
			t.Errorf("%+v", sends)
		}
		again := NewPresence(b.api) // of the next life
		if kept, err := again.Show(t.Context(), at, session.Sign{Activity: session.ActivityTool}, shown); err != nil || kept != shown {
			t.Errorf("another sign forgets it: %+v %v", kept, err)
		}
		for range 2 { // the second time it is gone already
			if err := again.Clear(t.Context(), at, *shown); err != nil {
				t.Error(err)
			}
		}
		if got := b.Chat(group); !got[len(got)-1].Deleted {
			t.Error("it stands")
		}
	})
}

// Facts B.12.
func TestClearing(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		p, at := NewPresence(b.api), place{chat: b.chat}.address()
		for _, s := range []session.Presence{{}, {Kind: "status", Message: "5"}, {Kind: kindSlow, Message: "x"}} {
			if err := p.Clear(t.Context(), at, s); err != nil || len(b.Calls("")) > 0 {
				t.Errorf("%+v: %v", s, err)
			}
		}
		slow := session.Presence{Kind: kindSlow, Message: "999"}
		for _, c := range []struct {
			fault fault.Fault
			again bool
		}{
			{sim.Refusal(400, "Bad Request: message to delete not found"), false},
			{sim.Refusal(400, "Bad Request: message can't be deleted for everyone"), false},
			{sim.Refusal(403, "Forbidden: bot was blocked by the user"), false},
			{badGateway, true}, {fault.Fault{Reset: true}, true}, {sim.TooMany(3 * time.Second), true},
		} {
			b.Faults.Next("deleteMessage", c.fault)
			if err := p.Clear(t.Context(), at, slow); (err != nil) != c.again {
				t.Errorf("%+v: %v", c.fault, err)
			}
		}
		start := time.Now() // it was told to wait
		if err := p.Clear(t.Context(), at, slow); err != nil || time.Since(start) < 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// What a sign was told holds for the chat's answers too, and the other way round.
// Facts A6.17; reports 13, 14.
func TestAChatThatWaitsWaitsWithAllMethods(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		p, at := NewPresence(b.api), place{chat: b.chat}.address()
		l := b.start()
		b.Faults.Next("sendChatAction", sim.TooMany(26*time.Second))
		if _, err := p.Show(t.Context(), at, session.Sign{}, nil); err == nil {
			t.Error("a refused sign is shown")
		}
		b.Say(b.ada, b.chat, "hello")
		for range 5 {
			time.Sleep(Beat)
			if _, err := p.Show(t.Context(), at, session.Sign{Activity: session.ActivitySlow}, nil); err != nil {
				t.Error(err)
			}
		}
		l.rest(10 * time.Second)
		sends, signs := b.Calls("sendMessage"), b.Calls("sendChatAction")
		if len(sends) != 1 || sends[0].At < signs[0].At+26*time.Second || len(signs) != 1 {
			t.Errorf("sends %v, signs %v", sends, signs)
		}
		b.want(b.chat, "re: hello")
	})
}

// A sign gives way to posts that wait for their turn, in whatever chat, and never takes more calls than posts leave.
// Facts A7.2.
func TestSignsGiveWay(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		p, at := NewPresence(b.api), place{chat: b.chat}.address()
		show := func() int {
			if _, err := p.Show(t.Context(), at, session.Sign{}, nil); err != nil {
				t.Error(err)
			}
			return len(b.Calls("sendChatAction"))
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range 20 {
			go func() { _ = b.api.paces.Wait(ctx, "telegram:-7") }()
		}
		time.Sleep(time.Second)
		if n := show(); n != 0 {
			t.Errorf("%d signs while posts wait", n)
		}
		cancel()
		time.Sleep(10 * time.Second)
		most := 0
		for range 100 {
			most = show()
		}
		if most != signBurst {
			t.Errorf("%d signs at once", most)
		}
	})
}

// An edit that was taken down is marked; who refuses that is left alone, and no error comes of it.
// Facts A6.14, A8.2.
func TestNoted(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		p, group := NewPresence(b.api), b.AddGroup("G")
		other := b.AddGroup("H")
		note := func(chat int64, message string) {
			t.Helper()
			if err := p.Noted(t.Context(), place{chat: chat}.address(), message); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
		}
		count := func(want int) {
			t.Helper()
			if n := len(b.Calls("setMessageReaction")); n != want {
				t.Errorf("%d reactions, want %d", n, want)
			}
		}
		asked := decimal(int64(b.Say(b.ada, group, "hello")))
		note(group, asked)
		if got := b.Chat(group)[0].Reaction; got != notedEmoji {
			t.Errorf("reaction %q", got)
		}
		note(group, "9999") // not found: nothing is learned of that
		note(group, "x")
		note(group, asked)
		count(3)
		b.Faults.Next("setMessageReaction", badGateway, sim.Refusal(400, "Bad Request: REACTION_INVALID"))
		note(group, asked)
		note(group, asked)
		note(group, asked)
		count(5)
		b.Faults.Next("setMessageReaction", sim.Refusal(404, "Not Found: method not found"))
		note(other, asked)
		note(other, asked)
		count(6)
		for i := range 2 * maxUnreactive {
			p.learn(decimal(int64(i)), &callError{code: 400})
		}
		if n := len(p.unreactive); n > maxUnreactive {
			t.Errorf("%d chats are remembered", n)
		}
	})
}

func TestSignsAtNoPlaceOfTelegram(t *testing.T) {
	p := NewPresence(Dial(Account{APIURL: "http://127.0.0.1:1"}))
	if _, err := p.Show(t.Context(), "slack:T1/C1", session.Sign{}, nil); err == nil {
		t.Error("shown")
	}
	if _, err := p.Show(t.Context(), "telegram:7", session.Sign{}, nil); err == nil || asCall(err).class() != conduit.Retry {
		t.Errorf("%v", err)
	}
	if err := errors.Join(p.Clear(t.Context(), "slack:T1/C1", session.Presence{}), p.Noted(t.Context(), "slack:T1/C1", "1")); err != nil {
		t.Error(err)
	}
}

// Who waits in line is told the place once, and that a model is being loaded, with a button that stops it; what isn't so any more goes.
func TestWaitingIsToldAndTakenBack(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		p, at := NewPresence(b.api), place{chat: b.chat}.address()
		var shown *session.Presence
		step := func(a session.Activity, detail, want string) {
			t.Helper()
			for range 2 {
				var err error
				if shown, err = p.Show(t.Context(), at, session.Sign{Activity: a, Detail: detail}, shown); err != nil {
					t.Fatal(err)
				}
				time.Sleep(Beat)
			}
			var stands []string
			for _, m := range b.Chat(b.chat) {
				if m.From.ID == b.Bot().ID && !m.Deleted {
					stands = append(stands, m.Text)
				}
			}
			if got := strings.Join(stands, " | "); got != want {
				t.Errorf("%s shows %q, want %q", a, got, want)
			}
		}
		step(session.ActivityQueued, "2", "Two ahead of you. /stop withdraws.")
		step(session.ActivityQueued, "1", "Two ahead of you. /stop withdraws.")
		step(session.ActivityLoading, "m", "Loading m, can take minutes.")
		step(session.ActivityThinking, "", "")
		step(session.ActivitySlow, "", "Still working.")
		step(session.ActivityLoading, "m", "Still working.")
		if shown == nil || p.Clear(t.Context(), at, *shown) != nil {
			t.Errorf("%+v", shown)
		}
		step(session.ActivityThinking, "", "")
		for _, l := range b.Transcript() {
			if l.Action == "send" && (!l.Silent || !strings.Contains(string(l.Keyboard), "c:stop")) {
				t.Errorf("%v: silent %v, %s", l, l.Silent, l.Keyboard)
			}
		}
	})
}
