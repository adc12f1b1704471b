package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/observe"
	"orebot/core/tool"
)

// bench is a Step with a Runner, and what was seen of it.
type bench struct {
	st   *ledger.Buffer
	step *loop.Step
	mu   sync.Mutex
	ran  []string
	acts []string
}

func newBench(t *testing.T, r tool.Runner, tools ...tool.Tool) *bench {
	t.Helper()
	b := &bench{st: ledger.NewBuffer()}
	reg := tool.NewRegistry(0, "test")
	if err := reg.Set("test", tools); err != nil {
		t.Fatal(err)
	}
	r.Registry = reg
	b.step = loop.New(loop.WithState(b.st), loop.WithHandlers(&r), loop.WithOnEmit(func(_ context.Context, ev loop.OutputEvent) {
		if a, ok := ev.(loop.ActivityEvent); ok {
			b.acts = append(b.acts, fmt.Sprintf("%s %v", a.Description, a.Active))
		}
	}))
	b.say(t, ledger.RoleUser, artifact.Text{Content: "q"})
	return b
}

func (b *bench) say(t *testing.T, role ledger.Role, arts ...artifact.Artifact) {
	t.Helper()
	if _, err := b.step.Submit(t.Context(), b.st, role, arts...); err != nil {
		t.Fatal(err)
	}
}

// results prints what stands behind the last turn of the assistant.
func (b *bench) results() (out []string) {
	for _, turn := range b.st.Turns() {
		if turn.Role == ledger.RoleAssistant {
			out = nil
		}
		for _, a := range turn.Artifacts {
			if r, ok := a.(artifact.ToolResult); ok && turn.Role == ledger.RoleTool {
				out = append(out, fmt.Sprintf("%s %v %s", r.ToolCallID, r.IsError, r.Content))
			}
		}
	}
	return out
}

// ask is a tool that waits as long as it is told, and says so.
func (b *bench) note(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ran = append(b.ran, s)
}

func waiter() tool.Tool {
	return tool.Tool{
		Name:       "wait",
		Parameters: json.RawMessage(`{"type":"object","properties":{"s":{"type":"integer","minimum":0}},"required":["s"],"additionalProperties":false}`),
		Call: func(ctx context.Context, args json.RawMessage) (string, error) {
			var in struct{ S int }
			if err := json.Unmarshal(args, &in); err != nil {
				return "", err
			}
			select {
			case <-time.After(time.Duration(in.S) * time.Second):
				return fmt.Sprintf("waited %d", in.S), nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		},
	}
}

func text(name string, f func() (string, error)) tool.Tool {
	return tool.Tool{Name: name, Call: func(context.Context, json.RawMessage) (string, error) { return f() }}
}

func call(id, name, args string) artifact.ToolCall {
	return artifact.ToolCall{ID: id, Name: name, Arguments: args}
}

// TestCallsRunSideBySideAndResultsKeepTheirOrder: three calls of which the first is the slowest take as long as that one, and stand in
// the order of the calls.
func TestCallsRunSideBySideAndResultsKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, tool.Runner{}, waiter())
		begin := time.Now()
		b.say(t, ledger.RoleAssistant, artifact.Text{Content: "let me see"}, call("a", "wait", `{"s":3}`), call("b", "wait", `{"s":1}`), call("c", "wait", `{"s":2}`))
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		if got := b.results(); !slices.Equal(got, []string{"a false waited 3", "b false waited 1", "c false waited 2"}) {
			t.Errorf("got %q", got)
		}
		if got := strings.Join(b.acts, ", "); got != "Using wait true, Using wait true, Using wait true, Using wait false, Using wait false, Using wait false" {
			t.Errorf("activities: %s", got)
		}
		_ = b.step.Close()
	})
}

// TestWhatGoesWrongIsAResult: nothing that a model or a tool does ends the turn, or keeps the model from knowing what is wrong.
func TestWhatGoesWrongIsAResult(t *testing.T) {
	tools := []tool.Tool{
		waiter(),
		text("panics", func() (string, error) { panic("boom SECRET") }),
		text("quits", func() (string, error) { return "", &tool.Failure{Text: "no such page"} }),
		text("breaks", func() (string, error) { return "", errors.New("dial 10.0.0.1: SECRET") }),
		text("latin", func() (string, error) { return "caf\xe9", nil }),
		text("silent", func() (string, error) { return " \n", nil }),
	}
	for name, tt := range map[string]struct {
		call artifact.ToolCall
		want string
	}{
		"unknown":          {call("1", "wiat", `{"s":1}`), `1 true there is no tool "wiat"; there are: breaks, latin, panics, quits, silent, wait`},
		"missing":          {call("1", "wait", `{}`), "1 true the arguments don't fit the tool: *required*"},
		"no arguments":     {call("1", "wait", ``), "1 true the arguments don't fit the tool: *required*"},
		"wrong type":       {call("1", "wait", `{"s":"three"}`), "1 true the arguments don't fit the tool: *integer*"},
		"unknown argument": {call("1", "wait", `{"s":0,"x":1}`), "1 true the arguments don't fit the tool: *x*"},
		"cut":              {call("1", "wait", `{"s":`), "1 true the arguments are no JSON: *"},
		"a list":           {call("1", "wait", `[1]`), "1 true the arguments are no JSON object"},
		"panic":            {call("1", "panics", ``), "1 true panics broke and gave no result"},
		"failure":          {call("1", "quits", `null`), "1 true no such page"},
		"error":            {call("1", "breaks", `{}`), "1 true breaks broke and gave no result"},
		"no UTF-8":         {call("1", "latin", `{}`), "1 false caf\uFFFD"},
		"nothing":          {call("1", "silent", `{}`), "1 false (no output)"},
		"no id":            {call("", "wait", `{"s":0}`), " false waited 0"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tool.Runner{}, tools...)
			b.say(t, ledger.RoleAssistant, tt.call)
			got := b.results()
			if len(got) != 1 || !like(got[0], tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// like compares, with * for anything.
func like(got, want string) bool {
	for i, part := range strings.Split(want, "*") {
		at := strings.Index(got, part)
		if at < 0 || i == 0 && at != 0 {
			return false
		}
		got = got[at+len(part):]
	}
	return got == "" || strings.HasSuffix(want, "*")
}

// TestATimeLimitHoldsWhateverTheToolDoes: one tool heeds its context, the other never returns.
func TestATimeLimitHoldsWhateverTheToolDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		b := newBench(t, tool.Runner{Timeout: 10 * time.Second}, waiter(), text("deaf", func() (string, error) { <-free; return "late", nil }))
		begin := time.Now()
		b.say(t, ledger.RoleAssistant, call("a", "wait", `{"s":60}`), call("b", "deaf", ``), call("c", "wait", `{"s":1}`))
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("took %v", took)
		}
		if got := b.results(); !slices.Equal(got, []string{"a true wait didn't answer within 10s", "b true deaf didn't answer within 10s", "c false waited 1"}) {
			t.Errorf("got %q", got)
		}
		close(free)
	})
}

// TestAStopEndsTheCalls: the turn ends at once, also where a tool is deaf; what was done before stands, what wasn't has no result, and
// every activity that began has ended.
func TestAStopEndsTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		var log strings.Builder
		b := newBench(t, tool.Runner{Logger: slog.New(slog.NewTextHandler(&log, nil))}, waiter(), text("deaf", func() (string, error) { <-free; return "late", nil }))
		why := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(2*time.Second, func() { cancel(why) })
		begin := time.Now()
		_, err := b.step.Submit(ctx, b.st, ledger.RoleAssistant, call("a", "wait", `{"s":1}`), call("b", "deaf", ``), call("c", "wait", `{"s":1}`))
		if !errors.Is(err, why) || time.Since(begin) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if got := b.results(); !slices.Equal(got, []string{"a false waited 1"}) {
			t.Errorf("got %q", got)
		}
		on, off := 0, 0
		for _, a := range b.acts {
			if strings.HasSuffix(a, "true") {
				on++
			} else {
				off++
			}
		}
		if on != 3 || off != 3 {
			t.Errorf("activities: %q", b.acts)
		}
		synctest.Wait()
		if log.Len() > 0 { // no tool is to blame
			t.Errorf("logged: %s", log.String())
		}
		close(free)
	})
}

// TestNeverAnEndlessLoop: calls beyond the limit of rounds aren't run, the same call is run three times for one question, and of one
// turn's calls so many.
func TestNeverAnEndlessLoop(t *testing.T) {
	var b *bench
	log := tool.Tool{Name: "log", Call: func(_ context.Context, args json.RawMessage) (string, error) {
		b.note(string(args))
		return "ok", nil
	}}
	b = newBench(t, tool.Runner{Rounds: 5}, log)
	for i := range 4 {
		b.say(t, ledger.RoleAssistant, call(fmt.Sprint(i), "log", []string{`{"a":1,"b":2}`, `{ "b":2, "a":1 }`}[i%2]))
	}
	if got := b.results(); len(b.ran) != 3 || len(got) != 1 || !like(got[0], "3 true not run: you have made this very call 3 times*") {
		t.Errorf("ran %q, got %q", b.ran, got)
	}
	b.say(t, ledger.RoleAssistant, call("4", "log", `{}`))
	b.say(t, ledger.RoleAssistant, call("5", "log", `{"n":5}`))
	if got := b.results(); len(b.ran) != 4 || len(got) != 1 || !like(got[0], "5 true not run: you have used tools 5 times*") {
		t.Errorf("ran %q, got %q", b.ran, got)
	}
	b.say(t, ledger.RoleUser, artifact.Text{Content: "another question"})
	var many []artifact.Artifact
	for i := range 20 {
		many = append(many, call("same id", "log", fmt.Sprintf(`{"n":%d}`, i)))
	}
	b.ran = nil
	b.say(t, ledger.RoleAssistant, many...)
	if got := b.results(); len(b.ran) != 16 || len(got) != 20 || !like(got[19], "*not run: at most 16*") {
		t.Errorf("ran %d, got %q", len(b.ran), got)
	}
}

// TestResultsShareTheOutput: the results of one round are bounded together, each with its head and its tail.
func TestResultsShareTheOutput(t *testing.T) {
	b := newBench(t, tool.Runner{Output: 3000}, text("long", func() (string, error) {
		return "HEAD" + strings.Repeat("ä", 50_000) + "TAIL", nil
	}))
	b.say(t, ledger.RoleAssistant, call("a", "long", ""), call("b", "long", ""))
	got := b.results()
	if len(got) != 2 {
		t.Fatalf("got %d results", len(got))
	}
	for _, r := range got {
		if len(r) > 1600 || !strings.Contains(r, "HEADä") || !strings.HasSuffix(r, "äTAIL") || !strings.Contains(r, "of 100008 bytes left out") {
			t.Errorf("%d bytes: %.80s", len(r), r)
		}
	}
}

// TestARunnerNeedsNoState: the handler of a Step without a bound state runs each call by itself.
func TestARunnerNeedsNoState(t *testing.T) {
	reg := tool.NewRegistry(0, "g")
	if err := reg.Set("g", []tool.Tool{waiter()}); err != nil {
		t.Fatal(err)
	}
	var got []string
	step := loop.New(loop.WithHandlers(&tool.Runner{Registry: reg}), loop.WithOnEmit(func(_ context.Context, ev loop.OutputEvent) {
		if e, ok := ev.(loop.TurnCompleteEvent); ok && e.Turn.Role == ledger.RoleTool {
			got = append(got, e.Turn.Artifacts[0].(artifact.ToolResult).ToolCallID)
		}
	}))
	if _, err := step.Submit(t.Context(), nil, ledger.RoleAssistant, call("a", "wait", `{"s":0}`), call("b", "wait", `{"s":0}`)); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, " ") != "a b" {
		t.Errorf("got %q", got)
	}
}

// tally counts calls by their labels.
type tally struct {
	observe.Nop
	mu    sync.Mutex
	calls map[string]int
}

func (c *tally) Add(name observe.Counter, _ float64, labels ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[strings.Join(labels, " ")]++
}

// TestCallsAreCounted by what became of them. A stopped call is no failure of its tool; a name that a model made up is no label.
func TestCallsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &tally{calls: map[string]int{}}
		b := newBench(t, tool.Runner{Timeout: 10 * time.Second, Counters: c}, waiter(),
			text("panics", func() (string, error) { panic("boom") }),
			text("quits", func() (string, error) { return "", &tool.Failure{Text: "no such page"} }),
		)
		b.say(t, ledger.RoleAssistant, call("a", "wait", `{"s":1}`), call("b", "wait", `{"s":60}`), call("c", "wait", `{}`),
			call("d", "panics", `{}`), call("e", "quits", `{}`), call("f", "made up", `{}`))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, _ = b.step.Submit(ctx, b.st, ledger.RoleAssistant, call("g", "wait", `{"s":5}`))
		synctest.Wait()
		want := map[string]int{"test ok": 1, "test timeout": 1, "test skipped": 1, "test broke": 1, "test failed": 1, "none skipped": 1, "test stopped": 1}
		if !maps.Equal(c.calls, want) {
			t.Errorf("got %v, want %v", c.calls, want)
		}
	})
}
