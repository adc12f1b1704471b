package telegram

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orebot/core/session"
	sim "orebot/internal/sim/telegram"
)

// poisoned reads what is set aside, oldest first.
func (b *bench) poisoned() (out []Poisoned) {
	b.t.Helper()
	list, err := b.store.SmallList(b.t.Context(), SpacePoison, "", 1000)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, v := range list {
		var p Poisoned
		if err := json.Unmarshal(v.Value, &p); err != nil {
			b.t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// Poison is kept for an operator, before it is confirmed, and once.
// Facts B.5, E.12; report 6.
func TestPoisonIsKept(t *testing.T) {
	inBubble(t, sim.Options{FirstUpdateID: 5}, func(t *testing.T, b *bench) {
		b.Push(`{"message":{"message_id":"str","text":"private words"}}`)
		b.store.FailNext(session.ErrPaused)
		l := b.start()
		time.Sleep(500 * time.Millisecond)
		if b.Confirmed() != 0 || len(b.poisoned()) != 0 {
			t.Errorf("confirmed %d before it was kept", b.Confirmed())
		}
		time.Sleep(5 * time.Second)
		got := b.poisoned()
		if b.Confirmed() != 5 || len(got) != 1 || got[0].Update != 5 || !strings.Contains(got[0].Raw, "private words") || got[0].Error == "" || got[0].At.IsZero() {
			t.Errorf("confirmed %d, kept %+v", b.Confirmed(), got)
		}
		b.ResetIDs(5)
		b.Push(`{"message":{"message_id":"str","text":"private words"}}`) // as after a crash before it was confirmed
		l.rest(5 * time.Second)
		if got := b.poisoned(); len(got) != 1 {
			t.Errorf("kept %+v", got)
		}
	})
}

// What is kept is bounded, in number and in size: the newest are.
// Facts B.5.
func TestPoisonIsBounded(t *testing.T) {
	inBubble(t, sim.Options{FirstUpdateID: 1}, func(t *testing.T, b *bench) {
		for i := range maxPoison + 30 {
			size := 1
			if i == 30 { // the oldest that is kept
				size = maxPoisonBytes
			}
			b.Push(fmt.Sprintf(`{"message":{"message_id":"%d%s"}}`, i, strings.Repeat("é", size)))
		}
		b.start().rest(20 * time.Second)
		got := b.poisoned()
		if len(got) != maxPoison || got[len(got)-1].Update != maxPoison+30 || b.Pending() != 0 {
			t.Errorf("%d kept, %d wait", len(got), b.Pending())
		}
		if r := got[0].Raw; len(r) > maxPoisonBytes+3 || !utf8.ValidString(r) {
			t.Errorf("%d bytes of one", len(r))
		}
	})
}

// The messages of an album have one group, whatever their order; in a group, all of them call the bot as the one
// with the caption does.
// Facts E.6; report 39.
func TestAlbumsReachTheSessionAsOne(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		r := &recorder{}
		group := b.AddSupergroup("G", false)
		var ids []int
		for i, caption := range []string{"", "@OreBot what are these?", ""} {
			ids = append(ids, b.Say(b.ada, group, caption, sim.Photo(sim.File{Data: []byte{byte(i)}}), sim.Album("A"), sim.Held()))
		}
		b.Deliver(group, ids[2], ids[1], ids[0])
		b.start(r.onto).rest(3 * time.Second)
		got := r.inbounds()
		for _, in := range got {
			if in.Group != "album/A" || in.Call != session.CallMention || len(in.Attachments) != 1 || in.SettleFor < restWait {
				t.Errorf("%+v", in)
			}
		}
		if len(got) != 3 {
			t.Errorf("%d messages", len(got))
		}
	})
}

// A press of one of the bot's own buttons is a command, dated now and behind all that was said in the chat.
// Facts A8.10, E.13.
func TestPressesAreCommands(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		r := &recorder{}
		l := b.start(r.onto)
		newest := b.Say(b.ada, b.chat, "hello")
		b.Callback(b.ada, b.chat, newest-1, "c:retry")
		b.Callback(b.ada, b.chat, newest, "c:stop")
		l.rest(3 * time.Second)
		got := r.inbounds()
		if len(got) != 3 || len(b.Calls("answerCallbackQuery")) != 2 {
			t.Fatalf("%+v", got)
		}
		for i, action := range []string{"retry", "stop"} {
			in := got[i+1]
			if in.Signal != session.SignalButton || in.Action != action || in.Order <= got[0].Order || in.At.IsZero() || time.Since(in.At) > time.Minute {
				t.Errorf("%+v", in)
			}
		}
	})
}

// A press under a message that is gone, where that may have stood in a topic, is no command to the chat outside of the topics: who pressed
// is told so. Where a chat has no topics, its place is known.
// Facts A8.10, E.13.
func TestAPressUnderALostMessage(t *testing.T) {
	for _, topics := range []bool{false, true} {
		inBubble(t, sim.Options{Topics: topics}, func(t *testing.T, b *bench) {
			r := &recorder{}
			l := b.start(r.onto)
			forum, group := b.AddSupergroup("F", true), b.AddSupergroup("G", false)
			for _, chat := range []int64{forum, group, b.chat} {
				gone := b.Say(b.ada, chat, "gone")
				b.Delete(chat, gone)
				b.Callback(b.ada, chat, gone, "c:retry")
			}
			l.rest(3 * time.Second)
			var pressed, told []string
			for _, in := range r.inbounds() {
				if in.Action != "" {
					pressed = append(pressed, string(in.Address))
				}
			}
			for _, line := range b.Transcript() {
				if line.Action == "answer" && line.Text == textLost {
					told = append(told, idOf(line.Chat))
				}
			}
			slices.Sort(told) // they are answered beside each other
			want, lost := []string{idOf(group), idOf(b.chat)}, []string{idOf(forum)}
			if topics {
				want, lost = want[:1], append(lost, idOf(b.chat))
			}
			if !slices.Equal(pressed, want) || !slices.Equal(told, lost) {
				t.Errorf("topics %v: pressed at %q, told at %q", topics, pressed, told)
			}
		})
	}
}

// A reaction and an edit without new words are no messages.
// Facts A8.12, E.14; reports 41, 49.
func TestWhatChangesNothing(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		id := b.Say(b.ada, b.chat, "hello")
		time.Sleep(2 * time.Second)
		b.React(b.ada, b.chat, id, "👍")
		b.Edit(b.chat, id, "hello")
		l.rest(5 * time.Second)
		b.want(b.chat, "re: hello")
		if n := len(b.model.prompts()); n != 1 || b.Pending() != 0 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}
