package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/telegram"
)

// forwarded lets somebody comment, and forward something once the model is being asked about the comment. It returns where the model was
// let go for that; machines that test are busy, and what is forwarded more than 1.5 s behind its comment is a question of its own, so
// that one of many tries has to be quick enough.
func (w *world) forwarded(name string) (chat int64) {
	w.t.Helper()
	for try := range 20 {
		u := w.telegram.AddUser(name, fmt.Sprint(name, try))
		chat, other := w.telegram.PrivateChat(u), w.telegram.AddUser("Cy", fmt.Sprint("cy", name, try))
		before := len(w.ollama.Chats())
		w.telegram.Say(u, chat, "sum this up")
		eventually(w.t, "the model is asked", func() bool { return len(w.ollama.Chats()) > before })
		w.telegram.Say(u, chat, "first words", telegram.Forwarded(other, time.Now()))
		w.telegram.Say(u, chat, "second words", telegram.Forwarded(other, time.Now()))
		ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Second)
		err := w.ollama.WaitFor(ctx, func(rs []ollama.Request) bool {
			chats := 0
			for _, r := range rs {
				if r.Path != "/api/chat" {
					continue
				}
				if chats++; chats == before+1 && !r.Left.IsZero() {
					return true
				}
			}
			return false
		})
		cancel()
		if err == nil {
			return chat
		}
		w.telegram.Say(u, chat, "/stop")
		eventually(w.t, "nothing waits", w.idle)
	}
	w.t.Fatalf("no forward joins its comment; log:\n%s", w.lastLog())
	return 0
}

// A forward that comes while its comment is being answered joins it, whatever telegram.gather is: the running answer is let go, and one
// with both comes, the comment last, though the process is killed in between.
// Facts A2.9.
func TestAForwardJoinsItsCommentInMidAnswer(t *testing.T) {
	w := newWorld(t, options{answer: func(r ollama.Request) ollama.Reply {
		if !strings.Contains(r.Last(), "words") {
			return ollama.Reply{Chunks: []string{"partial "}, Endless: true, Between: 50 * time.Millisecond}
		}
		return ollama.Say("seen.")
	}})
	for _, c := range []struct {
		name, gather string
		kill         bool
	}{{"waits", "300ms", false}, {"doesn't wait", "0", false}, {"killed", "300ms", true}} {
		t.Run(c.name, func(t *testing.T) {
			w.t, w.gather = t, c.gather
			d := w.start().ready()
			chat := w.forwarded("ana" + c.gather)
			if c.kill {
				d.kill()
				d = w.start().ready()
			}
			w.telegramSees("the answer", sent(chat, 0, "seen."))
			var got []string
			for _, r := range w.ollama.Chats() {
				if last := r.Last(); strings.Contains(last, "words") {
					got = append(got, last)
				}
			}
			last := got[len(got)-1]
			one, two, comment := strings.Index(last, "first words"), strings.Index(last, "second words"), strings.Index(last, "sum this up")
			if one < 0 || two < one || comment < two {
				t.Errorf("the model was asked %q", got)
			}
			if shown := w.shown(chat); len(shown) != 1 || strings.Contains(w.log(), "panic") {
				t.Errorf("shown: %q", shown)
			}
			d.stop()
		})
	}
}
