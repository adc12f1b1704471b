package telegram

import (
	"bytes"
	"testing"
	"time"

	"orebot/core/session"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/telegram"
)

// Methods that nobody paces keep to the pause that they are told, too: they aren't called before it is over, and succeed behind it.
// Facts A6.17; report 13.
func TestOtherMethodsHonourRetryAfter(t *testing.T) {
	for method, use := range map[string]func(b *bench) error{
		"getFile": func(b *bench) error {
			att := b.sent(sim.Document(sim.File{Name: "a.txt", MIME: "text/plain", Data: []byte("x")}))
			_, err := b.fetch(att, &bytes.Buffer{})
			if err == nil || !err.Retry || err.After != 20*time.Second {
				b.t.Errorf("told to wait, it says %+v", err)
				return nil
			}
			time.Sleep(err.After) // as a session does
			if _, err := b.fetch(att, &bytes.Buffer{}); err != nil {
				return err
			}
			return nil
		},
		"getChatAdministrators": func(b *bench) error {
			at := place{chat: b.AddSupergroup("G", false)}.address()
			_, _ = b.api.Person(b.t.Context(), at, session.Author{ID: "1"}) // is told to wait
			_, err := b.api.Person(b.t.Context(), at, session.Author{ID: "1"})
			return err
		},
		"answerCallbackQuery": func(b *bench) error {
			l := b.start()
			b.Callback(b.ada, b.chat, 9, "other")
			l.rest(time.Minute)
			return nil
		},
		"setMyCommands": func(b *bench) error {
			l := b.start(func(c *Config) {
				c.Menu = func(private bool) []Command {
					if private {
						return []Command{{"help", "Help"}}
					}
					return nil
				}
			})
			l.rest(time.Minute)
			return nil
		},
	} {
		t.Run(method, func(t *testing.T) {
			inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
				b.Faults.Next(method, sim.TooMany(20*time.Second))
				if err := use(b); err != nil {
					t.Fatal(err)
				}
				calls := b.Calls(method)
				if len(calls) != 2 || calls[1].At-calls[0].At < 20*time.Second || calls[1].Error != "" {
					t.Errorf("%+v", calls)
				}
			})
		})
	}
}

// A press is answered though Telegram has troubles, and so is each of as many as a batch holds.
// Facts A8.10.
func TestPressesAreAnsweredThroughTroubles(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		b.Faults.Next("answerCallbackQuery", badGateway, fault.Fault{Reset: true})
		for range maxPresses {
			b.Callback(b.ada, b.chat, 9, "other")
		}
		l.rest(time.Minute)
		answered := map[string]bool{}
		for _, c := range b.Calls("answerCallbackQuery") {
			answered[c.Params["callback_query_id"]] = true
		}
		if n := len(b.Calls("answerCallbackQuery")); len(answered) != maxPresses || n != maxPresses+2 {
			t.Errorf("%d presses answered by %d calls", len(answered), n)
		}
	})
}
