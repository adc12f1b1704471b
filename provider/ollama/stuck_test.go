package ollama_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/models"
	"orebot/core/provider"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/ollama"
	"orebot/provider/ollama"
)

// talkative answers "long" with a line a second for ten minutes, and everything else at once.
func talkative(r sim.Request) sim.Reply {
	if r.Last() == "long" {
		words := make([]string, 600)
		for i := range words {
			words[i] = fmt.Sprint("word ", i*i, " ")
		}
		return sim.Reply{Chunks: words, Between: time.Second, Delay: time.Second}
	}
	return sim.Say("ok")
}

// leaves asks for a long answer and goes in the middle of it.
func leaves(t *testing.T, p *ollama.Provider) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5500*time.Millisecond)
	defer cancel()
	if got, err := invoke(ctx, p, state(user("long")), models.Spec{Model: "tiny"}); err == nil || got.text == "" {
		t.Fatalf("%q, %v: not left in the middle", got.text, err)
	}
	synctest.Wait()
}

// unloads counts the requests to unload a model.
func unloads(s *sim.Server) (n int) {
	for _, r := range s.Chats() {
		if len(r.Chat.Messages) == 0 && r.Chat.KeepAlive != nil && r.Chat.KeepAlive.Duration == 0 {
			n++
		}
	}
	return n
}

// A server that keeps the slot of an answer which was left in the middle makes everybody wait: the model is unloaded once, and all who
// wait are answered then, each once. Where nothing was left, and where the slot came back, nothing is unloaded.
func TestASlotThatIsLostIsFreed(t *testing.T) {
	for name, tt := range map[string]struct {
		leaks, parallel, callers int
		unloads                  int
		took                     time.Duration
	}{
		"the only slot":            {leaks: 1, parallel: 1, callers: 1, unloads: 1, took: 65 * time.Second}, // a minute, and five times the first token's second
		"the only slot, and three": {leaks: 1, parallel: 1, callers: 3, unloads: 1, took: 65 * time.Second},
		"one of two":               {leaks: 1, parallel: 2, callers: 3},
		"both of two":              {leaks: 2, parallel: 2, callers: 2, unloads: 1, took: 65 * time.Second},
		"none":                     {parallel: 1, callers: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := bubble(t, sim.Options{Answer: talkative, Leaks: tt.leaks, Parallel: tt.parallel, Load: time.Minute})
				if _, err := ask(t, p, "hi", models.Spec{}); err != nil { // it took long to load, which isn't usual
					t.Fatal(err)
				}
				for range max(tt.leaks, 1) {
					leaves(t, p)
				}
				begin := time.Now()
				var all sync.WaitGroup
				for range tt.callers {
					all.Go(func() {
						if got, err := ask(t, p, "hi", models.Spec{}); err != nil || got.text != "ok" {
							t.Errorf("%q, %v", got.text, err)
						}
					})
				}
				all.Wait()
				if d := time.Since(begin) - time.Duration(tt.unloads)*time.Minute; d < tt.took || d > tt.took+time.Second {
					t.Errorf("took %s, want %s", d, tt.took)
				}
				if n := unloads(s); n != tt.unloads {
					t.Errorf("unloaded %d times, want %d", n, tt.unloads)
				}
			})
		})
	}
}

// Who is busy isn't stuck: somebody else's answer that takes minutes goes on to its end, one's own is waited for, a model that isn't in
// memory is loading, and where no answer was left nothing is suspected.
func TestABusyServerIsNotStuck(t *testing.T) {
	for name, f := range map[string]func(t *testing.T){
		"with another's answer":             besideAnothersAnswer,
		"with one's own answer":             besideOnesOwnAnswer,
		"with a prompt that is much longer": withALongPrompt,
		"while it loads":                    whileItLoads,
		"and nothing was left":              withNothingLeft,
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
	}
}

func besideAnothersAnswer(t *testing.T) {
	var way http.RoundTripper
	s, p := bubble(t, sim.Options{Answer: talkative, Parallel: 1}, func(c *ollama.Config) { way = c.Transport })
	other := provide(t, func(c *ollama.Config) { c.Hosts, c.Transport = []string{"http://ollama"}, way })
	leaves(t, p)
	var both sync.WaitGroup
	both.Go(func() {
		if got, err := invoke(t.Context(), other, state(user("long")), models.Spec{Model: "tiny"}); err != nil || len(got.text) < 2000 {
			t.Errorf("the other's answer: %d bytes, %v", len(got.text), err)
		}
	})
	time.Sleep(2 * time.Second)
	_, err := ask(t, p, "hi", models.Spec{})
	wantError(t, err, provider.KindTimeout, false, "no first token")
	both.Wait()
	if n := unloads(s); n != 1 {
		t.Errorf("%d requests to unload, want one", n)
	}
	if got, err := ask(t, p, "hi", models.Spec{}); err != nil || got.text != "ok" {
		t.Errorf("afterwards: %q, %v", got.text, err)
	}
}

func besideOnesOwnAnswer(t *testing.T) {
	s, p := bubble(t, sim.Options{Answer: talkative, Parallel: 1})
	leaves(t, p)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	var both sync.WaitGroup
	both.Go(func() { _, _ = invoke(ctx, p, state(user("long")), models.Spec{Model: "tiny"}) })
	time.Sleep(2 * time.Second)
	if _, err := ask(t, p, "hi", models.Spec{}); err != nil {
		t.Error(err)
	}
	both.Wait()
	if n := unloads(s); n != 0 {
		t.Errorf("%d requests to unload", n)
	}
}

func withALongPrompt(t *testing.T) {
	s, p := bubble(t, sim.Options{Answer: func(r sim.Request) sim.Reply {
		reply := talkative(r)
		if len(r.Last()) > 1000 {
			reply.Delay = 3 * time.Minute
		}
		return reply
	}})
	leaves(t, p)
	if got, err := ask(t, p, strings.Repeat("long ", 300), models.Spec{}); err != nil || got.text != "ok" {
		t.Errorf("%q, %v", got.text, err)
	}
	if n := unloads(s); n != 0 {
		t.Errorf("%d requests to unload", n)
	}
}

func whileItLoads(t *testing.T) {
	s, p := bubble(t, sim.Options{Leaks: 1, Answer: func(r sim.Request) sim.Reply {
		reply := talkative(r)
		if r.Last() == "hi" {
			reply.Load = 4 * time.Minute
		}
		return reply
	}})
	leaves(t, p)
	time.Sleep(time.Hour) // keep_alive is over
	if _, err := ask(t, p, "hi", models.Spec{}); err != nil {
		t.Error(err)
	}
	if n := unloads(s); n != 0 {
		t.Errorf("%d requests to unload", n)
	}
}

func withNothingLeft(t *testing.T) {
	s, p := bubble(t, sim.Options{Answer: func(r sim.Request) sim.Reply {
		if r.Last() == "slow" {
			return sim.Reply{Delay: time.Hour}
		}
		return sim.Say("ok")
	}})
	if _, err := ask(t, p, "hi", models.Spec{}); err != nil {
		t.Error(err)
	}
	_, err := ask(t, p, "slow", models.Spec{})
	wantError(t, err, provider.KindTimeout, false, "no first token")
	if n := unloads(s); n != 0 {
		t.Errorf("%d requests to unload", n)
	}
}

// Where a first token may take that long anyway, the model is unloaded when the time for it is over: the next call works. A call that
// ends meanwhile ends at once.
func TestALostSlotIsFreedAfterATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := bubble(t, sim.Options{Answer: talkative, Leaks: 2}, timeouts(30*time.Second, time.Minute))
		leaves(t, p)
		_, err := ask(t, p, "hi", models.Spec{})
		wantError(t, err, provider.KindTimeout, false, "no first token")
		if got, err := ask(t, p, "hi", models.Spec{}); err != nil || got.text != "ok" {
			t.Errorf("the next call: %q, %v", got.text, err)
		}
		leaves(t, p)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begin := time.Now()
		if _, err := invoke(ctx, p, state(user("hi")), models.Spec{Model: "tiny"}); err == nil || time.Since(begin) != 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		if n := unloads(s); n != 1 {
			t.Errorf("unloaded %d times, want once", n)
		}
	})
}

// straggler holds one answer back until its call is given up, and delivers its first line then, as one that was in a buffer comes.
type straggler struct {
	http.RoundTripper
	armed atomic.Bool
}

func (s *straggler) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != "/api/chat" || !s.armed.CompareAndSwap(true, false) {
		return s.RoundTripper.RoundTrip(r)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: &lateLine{ctx: r.Context()}}, nil
}

type lateLine struct {
	ctx  context.Context
	read bool
}

func (l *lateLine) Read(p []byte) (int, error) {
	<-l.ctx.Done()
	if l.read {
		return 0, l.ctx.Err()
	}
	l.read = true
	return copy(p, `{"model":"tiny","message":{"role":"assistant","content":"late "},"done":false}`+"\n"), nil
}

func (l *lateLine) Close() error { return nil }

// A line that comes in the moment in which its call is given up is no part of the answer that the next call makes.
func TestALineBehindAStuckCallIsNotShown(t *testing.T) {
	for range 20 { // which of the two a sender meets first is a matter of luck
		synctest.Test(t, func(t *testing.T) {
			s := &straggler{}
			_, p := bubble(t, sim.Options{Answer: talkative}, func(c *ollama.Config) { s.RoundTripper, c.Transport = c.Transport, s })
			leaves(t, p)
			s.armed.Store(true)
			if got, err := ask(t, p, "hi", models.Spec{}); err != nil || got.text != "ok" {
				t.Errorf("%q, %v", got.text, err)
			}
		})
	}
}

// The log says whether the model was unloaded: an operator who reads that it was looks elsewhere.
func TestTheLogTellsWhetherAModelWasUnloaded(t *testing.T) {
	for fails, want := range map[bool]string{false: "the model is unloaded", true: "the model isn't unloaded"} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			s, p := bubble(t, sim.Options{Answer: talkative, Leaks: 1}, func(c *ollama.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
			leaves(t, p)
			var all sync.WaitGroup
			all.Go(func() { _, _ = ask(t, p, "hi", models.Spec{}) })
			if fails {
				time.Sleep(time.Minute)
				s.Faults().Next("/api/chat", fault.Fault{Status: http.StatusBadGateway, Body: "<html>"})
			}
			all.Wait()
			if got := log.String(); strings.Count(got, "slot of a call") != 1 || !strings.Contains(got, want) || strings.Contains(got, "nil") {
				t.Errorf("fails %v: %s", fails, got)
			}
		})
	}
}
