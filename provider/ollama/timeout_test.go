package ollama_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/ollama"
	"orebot/provider/ollama"
)

// always answers every chat with r.
func always(r sim.Reply) sim.Options {
	return sim.Options{Answer: func(sim.Request) sim.Reply { return r }}
}

func timeouts(first, idle time.Duration) func(*ollama.Config) {
	return func(c *ollama.Config) { c.FirstTokenTimeout, c.IdleTimeout = first, idle }
}

func TestTimeouts(t *testing.T) {
	tests := []struct {
		name    string
		reply   sim.Reply
		took    time.Duration
		kind    provider.Kind // KindUnknown: it succeeds
		partial bool
	}{
		{"a cold model loads for minutes", sim.Reply{Load: 4 * time.Minute, Chunks: []string{"a"}}, 4 * time.Minute, 0, false},
		{"a load takes too long", sim.Reply{Load: 6 * time.Minute, Chunks: []string{"a"}}, 5 * time.Minute, provider.KindTimeout, false},
		{"headers, and nothing after them", sim.Reply{Headers: true, Delay: time.Hour}, 5 * time.Minute, provider.KindTimeout, false},
		{"slow, but never silent", sim.Reply{Chunks: []string{"a", "b", "c"}, Between: 119 * time.Second}, 238 * time.Second, 0, false},
		{"silent in the middle", sim.Reply{Chunks: []string{"a", "b"}, Between: time.Hour}, 2 * time.Minute, provider.KindTimeout, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := bubble(t, always(tt.reply))
				begin := time.Now()
				_, err := ask(t, p, "x", models.Spec{})
				if d := time.Since(begin); d != tt.took {
					t.Errorf("took %v, want %v", d, tt.took)
				}
				if tt.kind == 0 {
					if err != nil {
						t.Error(err)
					}
					return
				}
				wantError(t, err, tt.kind, tt.partial, "")
				synctest.Wait()
				if s.Chats()[0].Left.IsZero() {
					t.Error("the connection stays open: the server works on")
				}
			})
		})
	}
}

func TestASlowConsumerIsNotASilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p := bubble(t, always(sim.Say("a", "b", "c")), timeouts(time.Second, time.Second))
		ch, done := make(chan artifact.Artifact), make(chan error, 1)
		go func() { done <- p.Invoke(t.Context(), state(user("x")), models.Spec{Model: "tiny"}, ch) }()
		for range 4 {
			time.Sleep(time.Minute)
			<-ch
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestCancelIsNoticedAtOnce(t *testing.T) {
	for name, reply := range map[string]sim.Reply{
		"load":   {Load: time.Hour},
		"prompt": {Headers: true, Delay: time.Hour},
		"middle": {Chunks: []string{"a", "b"}, Between: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := bubble(t, always(reply))
				ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
				defer cancel()
				_, err := invoke(ctx, p, state(user("x")), models.Spec{Model: "tiny"})
				synctest.Wait()
				if r := s.Chats()[0]; err != context.DeadlineExceeded || r.Left.Sub(r.At) != 7*time.Second {
					t.Errorf("%v; the server saw it after %v", err, r.Left.Sub(r.At))
				}
			})
		})
	}
}

func TestCancelWhileNobodyListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p := bubble(t, always(sim.Say("a")))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Invoke(ctx, state(user("x")), models.Spec{Model: "tiny"}, make(chan artifact.Artifact)); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestBodyThatStaysOpenAfterDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// A proxy that holds the connection: the answer is complete all the same, a quarter of a second later.
		body := `{"message":{"role":"assistant","content":"a"},"done":false}` + "\n" + `{"message":{"content":""},"done":true}` + "\n"
		_, p := bubble(t, sim.Options{}, func(c *ollama.Config) { c.Transport = hanging{body} })
		begin := time.Now()
		got, err := ask(t, p, "x", models.Spec{})
		if d := time.Since(begin); err != nil || got.text != "a" || d > time.Second {
			t.Errorf("%q after %v, %v", got.text, d, err)
		}
	})
}

func TestLookUpsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := bubble(t, sim.Options{})
		s.Faults().Next("*", fault.Fault{Hang: true}, fault.Fault{Hang: true}, fault.Fault{Hang: true})
		begin := time.Now()
		wantError(t, p.Ping(t.Context()), provider.KindTimeout, false, "no answer within 10s")
		_, err := p.Models(t.Context())
		wantError(t, err, provider.KindTimeout, false, "")
		// A call that wants to know more of its model goes on without.
		if got, err := ask(t, p, "/hello", models.Spec{Think: "on"}); err != nil || got.text == "" {
			t.Error(err)
		}
		if d := time.Since(begin); d != 30*time.Second {
			t.Errorf("took %v", d)
		}
	})
}

func TestWhatIsKnownOfAModelAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := bubble(t, sim.Options{})
		for range 2 {
			for range 2 {
				if _, err := ask(t, p, "/hello", models.Spec{Think: "on"}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(11 * time.Minute)
		}
		shows := 0
		for _, r := range s.Requests() {
			if r.Path == "/api/show" {
				shows++
			}
		}
		if shows != 2 {
			t.Errorf("%d look-ups, want 2", shows)
		}
	})
}

func TestUnreachableInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := bubble(t, sim.Options{}, func(c *ollama.Config) { c.Transport = closedPipe() })
		_, err := ask(t, p, "x", models.Spec{})
		wantError(t, err, provider.KindUnreachable, false, "http://ollama")
		wantError(t, p.Ping(t.Context()), provider.KindUnreachable, false, "")
		if len(s.Requests()) != 0 {
			t.Error("the server was reached")
		}
	})
}
