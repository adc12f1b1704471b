package ollama_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/loop"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/ollama"
	"orebot/internal/sim/pipe"
	"orebot/provider/ollama"
)

// fleet are several servers, and a provider that asks them. Each can be cut off.
type fleet struct {
	*ollama.Provider
	*wires
	sims map[string]*sim.Server
}

// wires are the ways to the servers of a fleet.
type wires struct {
	mu   sync.Mutex
	down map[string]bool
	pipe map[string]http.RoundTripper
}

// RoundTrip dials the server that a URL names.
func (f *wires) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	down := f.down[r.URL.Host]
	f.mu.Unlock()
	if down {
		return closedPipe().RoundTrip(r)
	}
	return f.pipe[r.URL.Host].RoundTrip(r)
}

func (f *wires) cut(name string, down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down[name] = down
}

// sail starts a server for each name, with the options that opt gives it, in a bubble.
func sail(t *testing.T, names []string, opt func(name string) sim.Options, change ...func(*ollama.Config)) *fleet {
	t.Helper()
	f := &fleet{sims: map[string]*sim.Server{}, wires: &wires{down: map[string]bool{}, pipe: map[string]http.RoundTripper{}}}
	var hosts []string
	for _, name := range names {
		s, l := sim.New(opt(name)), pipe.Listen()
		s.Serve(l)
		tr := l.Transport()
		f.sims[name], f.pipe[name] = s, tr
		hosts = append(hosts, "http://"+name)
		t.Cleanup(func() {
			tr.CloseIdleConnections()
			s.Close()
		})
	}
	f.Provider = provide(t, append([]func(*ollama.Config){func(c *ollama.Config) { c.Hosts, c.Transport = hosts, f.wires }}, change...)...)
	return f
}

func plainly(string) sim.Options {
	return sim.Options{Answer: func(sim.Request) sim.Reply { return sim.Say("ok") }}
}

// where asks in a thread and returns the host that answered.
func (f *fleet) where(t *testing.T, thread string) string {
	t.Helper()
	before := map[string]int{}
	for name, s := range f.sims {
		before[name] = len(s.Chats())
	}
	got, err := invoke(loop.WithThreadID(t.Context(), thread), f, state(user("hi")), models.Spec{Model: "tiny"})
	if err != nil || got.text != "ok" {
		t.Fatalf("%s: %q, %v", thread, got.text, err)
	}
	at := ""
	for name, s := range f.sims {
		if len(s.Chats()) > before[name] && s.Chats()[before[name]].Status == 200 {
			at += name
		}
	}
	return at
}

// A thread stays where its cache is; the threads of a host that is down move, the others don't, and later they are back.
func TestThreadsStayWhereTheirCacheIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sail(t, []string{"a", "b", "c"}, plainly)
		home, load := map[string]string{}, map[string]int{}
		for round := range 3 {
			for i := range 30 {
				thread := fmt.Sprint("thread", i)
				at := f.where(t, thread)
				if round > 0 && home[thread] != at {
					t.Errorf("%s moved from %s to %s", thread, home[thread], at)
				}
				home[thread] = at
				load[at]++
			}
		}
		for _, name := range []string{"a", "b", "c"} {
			if load[name] < 12 { // of 90
				t.Errorf("%s has %d calls of %v", name, load[name], load)
			}
		}
		f.cut("b", true)
		for thread, was := range home {
			if at := f.where(t, thread); at != was && was != "b" || at == "b" {
				t.Errorf("%s of %s is at %s while b is down", thread, was, at)
			}
		}
		f.cut("b", false)
		time.Sleep(2 * time.Minute)
		for thread, was := range home {
			if at := f.where(t, thread); at != was {
				t.Errorf("%s of %s is at %s when b is back", thread, was, at)
			}
		}
	})
}

// What goes on at another host within the call, and what doesn't: a refusal would be one there too, and an answer that has begun is
// never begun again here.
func TestFailoverBeforeTheFirstToken(t *testing.T) {
	raw := func(status int, body string) sim.Reply { return sim.Reply{Raw: &sim.Raw{Status: status, Body: body}} }
	tests := []struct {
		name  string
		reply sim.Reply
		kind  provider.Kind // KindUnknown: another host answers
	}{
		{"busy", raw(503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`), 0},
		{"a proxy's page", raw(502, "<html>"), 0},
		{"crash", sim.Reply{End: sim.Fail}, 0},
		{"cut before anything", sim.Reply{End: sim.Cut}, 0},
		{"empty body", raw(200, ""), 0},
		{"denied", raw(401, `{"error":"unauthorized"}`), 0},
		{"missing", raw(404, `{"error":"model 'tiny' not found"}`), 0},
		{"loads for ever", sim.Reply{Load: time.Hour}, 0},
		{"cut in the middle", sim.Reply{Chunks: []string{"a", "b"}, End: sim.Cut, After: 1}, provider.KindIncomplete},
		{"silent in the middle", sim.Reply{Chunks: []string{"a", "b"}, Between: time.Hour}, provider.KindTimeout},
		{"too long", raw(400, `{"error":"the input length exceeds the context length"}`), provider.KindTooLong},
		{"refused", raw(400, `{"error":"no"}`), provider.KindRefused},
		{"empty", sim.Reply{}, provider.KindEmpty},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := sail(t, []string{"a", "b"}, func(name string) sim.Options {
					if name == "a" { // what belongs to no thread goes to the first host
						return always(tt.reply)
					}
					return plainly(name)
				})
				got, err := ask(t, f, "x", models.Spec{})
				if tt.kind != 0 {
					wantError(t, err, tt.kind, got.text != "", "")
					if n := len(f.sims["b"].Requests()); n != 0 {
						t.Errorf("b got %d requests", n)
					}
					return
				}
				if err != nil || got.text != "ok" {
					t.Errorf("%q, %v", got.text, err)
				}
			})
		})
	}
}

// A host that fails gets no calls for a while, which grows from a second to a minute, and then a ping before it gets one again.
func TestAFailedHostIsSetAsideAndProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sail(t, []string{"a", "b"}, plainly)
		f.sims["a"].Faults().Next("*", slices.Repeat([]fault.Fault{{Status: 502, Body: "<html>"}}, 9)...)
		begin := time.Now()
		f.where(t, "")
		time.Sleep(250 * time.Millisecond) // never at the instant of a probe
		for time.Since(begin) < 5*time.Minute {
			if at := f.where(t, ""); at != "b" && time.Since(begin) < 3*time.Minute {
				t.Errorf("%s answers after %s", at, time.Since(begin))
			}
			time.Sleep(time.Second)
		}
		var script []string
		for _, r := range f.sims["a"].Requests()[:11] {
			script = append(script, fmt.Sprint(r.At.Sub(begin).Truncate(time.Second), " ", r.Path))
		}
		want := "0s /api/show, 0s /api/chat, 1s /api/version, 3s /api/version, 7s /api/version, 15s /api/version, 31s /api/version, " +
			"1m3s /api/version, 2m3s /api/version, 3m3s /api/version, 3m3s /api/show"
		if got := strings.Join(script, ", "); got != want {
			t.Errorf("a was asked\n%s, want\n%s", got, want)
		}
	})
}

// A host that hangs costs one call two seconds now and then, not each its five minutes.
func TestAHangingHostHoldsUpLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sail(t, []string{"a", "b"}, plainly, timeouts(10*time.Second, time.Second))
		f.sims["a"].Faults().Next("*", slices.Repeat([]fault.Fault{{Hang: true}}, 20)...)
		var slowest []time.Duration
		for range 60 {
			begin := time.Now()
			f.where(t, "")
			if d := time.Since(begin); d > 0 {
				slowest = append(slowest, d)
			}
			time.Sleep(time.Second)
		}
		if slowest[0] != 20*time.Second || len(slowest) > 7 || slices.Max(slowest[1:]) != 2*time.Second {
			t.Errorf("calls took %v", slowest)
		}
	})
}

func TestAllHostsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sail(t, []string{"a", "b", "c"}, plainly)
		f.cut("a", true)
		f.sims["b"].Faults().Next("/api/chat", fault.Fault{Status: 503, Retry: 20e9, Body: `{"error":"busy"}`})
		f.cut("c", true)
		_, err := ask(t, f, "x", models.Spec{})
		wantError(t, err, provider.KindBusy, false, "closed network")
		if e, _ := errors.AsType[*provider.Error](err); e == nil || e.After != 20*time.Second {
			t.Errorf("%v, want what the busy host asked for", err)
		}
		if got, err := ask(t, f, "x", models.Spec{}); err != nil || got.text != "ok" {
			t.Errorf("hosts set aside are asked where no other is left: %q, %v", got.text, err)
		}
	})
}

// A model that one host lacks is asked for where it is, at once the second time; one that nobody has comes with the names of what is there.
func TestModelsDifferByHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sail(t, []string{"a", "b"}, func(name string) sim.Options {
			o := plainly(name)
			o.Models = []sim.Model{{Name: "llama3.2:3b", Context: 100}, {Name: "only-" + name, Context: 100}}
			return o
		})
		for range 2 {
			if _, err := ask(t, f, "x", models.Spec{Model: "only-b"}); err != nil {
				t.Error(err)
			}
		}
		if a, b := len(f.sims["a"].Chats()), len(f.sims["b"].Chats()); a != 1 || b != 2 {
			t.Errorf("a was asked %d times, b %d times", a, b)
		}
		_, err := ask(t, f, "x", models.Spec{Model: "lama3.2"})
		wantError(t, err, provider.KindModelMissing, false, "not found")
		if e, _ := errors.AsType[*provider.Error](err); e == nil || strings.Join(e.Installed, " ") != "llama3.2:3b only-a only-b" {
			t.Errorf("%+v", e)
		}
		all, err := f.Models(t.Context())
		if err != nil || len(all) != 3 || all[2].Name != "only-b:latest" {
			t.Errorf("%+v, %v", all, err)
		}
		f.cut("a", true)
		if all, err = f.Models(t.Context()); err != nil || len(all) != 2 {
			t.Errorf("with a down: %+v, %v", all, err)
		}
		_, err = ask(t, f, "x", models.Spec{Model: "only-a"})
		wantError(t, err, provider.KindUnreachable, false, "") // it may be back
	})
}

// At most max_concurrent calls are at one host; a thread whose host is full goes to one that isn't; who gives up frees nobody's place.
func TestCallsPerHostAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := map[string]int{}, map[string]int{}
		f := sail(t, []string{"a", "b"}, func(name string) sim.Options {
			return sim.Options{Parallel: 99, Answer: func(sim.Request) sim.Reply { return sim.Reply{Chunks: []string{"o", "k"}, Between: 10 * time.Second} }}
		}, func(c *ollama.Config) { c.MaxConcurrent = 2 })
		if n := f.Slots(); n != 4 {
			t.Errorf("%d slots", n)
		}
		count := func() {
			mu.Lock()
			defer mu.Unlock()
			for name, s := range f.sims {
				now[name] = 0
				for _, r := range s.Chats() {
					if r.Ended.IsZero() {
						now[name]++
					}
				}
				most[name] = max(most[name], now[name])
			}
		}
		var wg sync.WaitGroup
		failed := 0
		for i := range 9 {
			ctx, cancel := context.WithCancel(t.Context())
			if i == 5 { // it waits, and gives up
				ctx, cancel = context.WithTimeout(t.Context(), time.Second)
			}
			wg.Go(func() {
				defer cancel()
				if _, err := invoke(ctx, f, state(user("x")), models.Spec{Model: "tiny"}); err != nil {
					mu.Lock()
					failed++
					mu.Unlock()
				}
			})
			time.Sleep(time.Millisecond)
			count()
		}
		for range 50 {
			time.Sleep(time.Second)
			count()
		}
		wg.Wait()
		if most["a"] != 2 || most["b"] != 2 || failed != 1 {
			t.Errorf("at most %v at once, %d failed", most, failed)
		}
		f.cut("a", true)
		if got, err := ask(t, f, "x", models.Spec{}); err != nil || got.text != "ok" {
			t.Errorf("%q, %v", got.text, err)
		}
		if n := f.Slots(); n != 2 {
			t.Errorf("%d slots with one host of two", n)
		}
	})
}

// A host whose memory the model doesn't fit is passed over for one that can load it, at once the second time.
func TestAHostThatCannotLoadIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sail(t, []string{"a", "b"}, func(name string) sim.Options {
			return sim.Options{Answer: func(sim.Request) sim.Reply {
				if name == "a" {
					return sim.Reply{End: sim.Fail, Error: "model requires more system memory (28.6 GiB) than is available (23.0 GiB)"}
				}
				return sim.Say("ok")
			}}
		})
		for range 3 {
			if got, err := ask(t, f, "x", models.Spec{}); err != nil || got.text != "ok" {
				t.Errorf("%q, %v", got.text, err)
			}
		}
		if a, b := len(f.sims["a"].Chats()), len(f.sims["b"].Chats()); a != 1 || b != 3 {
			t.Errorf("a was asked %d times, b %d times", a, b)
		}
	})
}

// A prompt that isn't true any more by the time at which its host has failed isn't sent to another one.
func TestAnOutdatedPromptDoesntMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sail(t, []string{"a", "b"}, func(string) sim.Options {
			return sim.Options{Answer: func(sim.Request) sim.Reply {
				return sim.Reply{Raw: &sim.Raw{Status: http.StatusServiceUnavailable, Body: `{"error":"server busy"}`}}
			}}
		})
		changed, asked := errors.New("changed"), 0
		ctx := provider.WithCheck(t.Context(), func() error {
			if asked++; asked > 1 {
				return changed
			}
			return nil
		})
		if _, err := invoke(ctx, f, state(user("hi")), models.Spec{Model: "tiny"}); err != changed {
			t.Errorf("the error is %v", err)
		}
		if n := len(f.sims["a"].Chats()) + len(f.sims["b"].Chats()); n != 1 {
			t.Errorf("%d hosts were sent the prompt", n)
		}
	})
}
