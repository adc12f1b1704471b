package loop

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
)

func TestTurnTellsInOrder(t *testing.T) {
	st, d := seeded(t, "q"), &diary{}
	s := New(WithState(st), WithOnEmit(d.on))
	defer s.Close()
	ch := s.Subscribe()
	p := says(artifact.ReasoningDelta{Content: "h"}, delta("a"), artifact.ReasoningDelta{Content: "m"}, delta("b"), artifact.Usage{TotalTokens: 3})
	got, err := s.Turn(t.Context(), st, models.Spec{}, p)
	if err != nil {
		t.Fatal(err)
	}
	want := "submitted, streaming, reasoning_delta, text_delta, reasoning_delta, text_delta, reasoning, text, usage, turn assistant#2"
	if d.String() != want {
		t.Errorf("callbacks got %s", d)
	}
	seen := &diary{events: read(t, ch, 10)}
	if seen.String() != want {
		t.Errorf("the subscriber got %s", seen)
	}
	if show(got) != "user:q assistant:ab" || p.saw != "user:q" {
		t.Errorf("the state is %s, the provider saw %s", show(got), p.saw)
	}
	wantArts := []artifact.Artifact{artifact.Reasoning{Content: "hm"}, text("ab"), artifact.Usage{TotalTokens: 3}}
	if arts := st.Turns()[1].Artifacts; !reflect.DeepEqual(arts, wantArts) {
		t.Errorf("stored %#v", arts)
	}
}

func TestWhereTurnsAreAppended(t *testing.T) {
	for name, tt := range map[string]struct {
		bound, given  *ledger.Buffer
		saw           string
		boundTo, left string
	}{
		"bound":           {seeded(t, "b"), nil, "user:b", "user:b user:q assistant:a", ""},
		"bound and given": {seeded(t, "b"), seeded(t, "g"), "user:g", "user:b user:q assistant:a", "user:g"},
		"given":           {nil, seeded(t, "g"), "user:g user:q", "", "user:g user:q assistant:a"},
		"neither":         {nil, nil, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := &diary{}
			opts := []Option{WithOnEmit(d.on)}
			var given, final ledger.State
			if tt.bound != nil {
				opts, final = append(opts, WithState(tt.bound)), tt.bound
			}
			if tt.given != nil {
				given = tt.given
			}
			if final == nil {
				final = given
			}
			s := New(opts...)
			st, err := s.Submit(t.Context(), given, ledger.RoleUser, text("q"))
			if err != nil || st != final {
				t.Errorf("submit: %v, %v", st, err)
			}
			p := says(text("a"))
			st, err = s.Turn(t.Context(), given, models.Spec{}, p)
			if err != nil || st != final {
				t.Errorf("turn: %v, %v", st, err)
			}
			if tt.bound != nil && show(tt.bound) != tt.boundTo || tt.given != nil && show(tt.given) != tt.left {
				t.Errorf("bound %v, given %v", tt.bound, tt.given)
			}
			if tt.saw != p.saw && name != "bound" {
				t.Errorf("the provider saw %q", p.saw)
			}
			if len(d.turns()) != 2 {
				t.Errorf("told %s", d)
			}
			for _, turn := range d.turns() {
				if turn.Stamped() != (final != nil) {
					t.Errorf("turn %v", turn.ID)
				}
			}
		})
	}
}

func TestSpecAndOptions(t *testing.T) {
	tool := func(name, text string) provider.InvokeOption {
		return provider.WithTools(provider.Tool{Name: name, Description: text})
	}
	s := New(
		WithDefaultSpec(models.Spec{Model: "default", NumCtx: 8192, Options: map[string]any{"a": 1, "b": 1}}),
		WithInvokeOptions(tool("x", "step"), tool("y", "step")), WithInvokeOptions(tool("z", "step")),
	)
	p := says(text("a"))
	spec := models.Spec{Model: "mine", Options: map[string]any{"b": 2}}
	if _, err := s.Turn(t.Context(), nil, spec, p, tool("y", "call")); err != nil {
		t.Fatal(err)
	}
	want := models.Spec{Model: "mine", NumCtx: 8192, Options: map[string]any{"a": 1, "b": 2}}
	if !reflect.DeepEqual(p.spec, want) {
		t.Errorf("spec %+v", p.spec)
	}
	tools := []provider.Tool{{Name: "x", Description: "step"}, {Name: "y", Description: "call"}, {Name: "z", Description: "step"}}
	if !reflect.DeepEqual(p.inv.Tools, tools) {
		t.Errorf("tools %v", p.inv.Tools)
	}
	if _, err := s.Turn(t.Context(), nil, models.Spec{}, p); err != nil || p.spec.Model != "default" {
		t.Errorf("spec %+v, %v", p.spec, err)
	}
}

func TestProviderFailureKeepsWhatCame(t *testing.T) {
	st, d := seeded(t, "q"), &diary{}
	s := New(WithState(st), WithOnEmit(d.on))
	cause := &provider.Error{Kind: provider.KindIncomplete, Partial: true}
	p := &speaker{lines: []artifact.Artifact{artifact.Reasoning{Content: "r"}, delta("par"), delta("t\xff")}, err: cause}
	got, err := s.Turn(t.Context(), st, models.Spec{}, p)
	ie, ok := errors.AsType[*InterruptedError](err)
	if !ok || provider.KindOf(err) != provider.KindIncomplete || !errors.Is(err, error(cause)) {
		t.Fatalf("got %v", err)
	}
	if want := []artifact.Artifact{artifact.Reasoning{Content: "r"}, text("part\ufffd")}; !reflect.DeepEqual(ie.Artifacts, want) {
		t.Errorf("kept %#v", ie.Artifacts)
	}
	if want := "submitted, streaming, reasoning, text_delta, text_delta, text, error"; d.String() != want {
		t.Errorf("told %s", d)
	}
	if !errors.Is(d.errors()[0], error(cause)) || show(st) != "user:q" || got != ledger.State(st) {
		t.Errorf("%v, state %s", d.errors(), show(st))
	}
}

func TestFailedAppendEndsTheTurn(t *testing.T) {
	d := &diary{}
	handled := 0
	h := handle(func(context.Context, artifact.Artifact, Emitter) error { handled++; return nil })
	s := New(WithState(broken{ledger.NewBuffer(), ledger.RoleAssistant}), WithOnEmit(d.on), WithHandlers(h))
	ctx, cancel := context.WithCancel(t.Context())
	p := says(text("a"))
	_, err := s.Turn(ctx, nil, models.Spec{}, p)
	if ae, ok := errors.AsType[*AppendError](err); !ok || ae.Role != ledger.RoleAssistant || !errors.Is(err, errDisk) {
		t.Errorf("turn: %v", err)
	}
	if d.String() != "submitted, streaming, text, error" || handled != 0 {
		t.Errorf("told %s, %d handled", d, handled)
	}
	d.events = nil
	s.bus.onEmit = append(s.bus.onEmit, func(_ context.Context, ev OutputEvent) {
		if ev.Kind() == artifact.KindText {
			cancel()
		}
	})
	if _, err := s.Turn(ctx, nil, models.Spec{}, p); !errors.Is(err, errDisk) || len(d.errors()) != 1 {
		t.Errorf("a store's failure in a cancelled turn: %v, told %s", err, d)
	}
	d.events = nil
	if _, err := s.Submit(t.Context(), nil, ledger.RoleAssistant, text("q")); !errors.Is(err, errDisk) || d.String() != "error" {
		t.Errorf("submit: %v, told %s", err, d)
	}
}

func TestTurnWithoutProvider(t *testing.T) {
	d := &diary{}
	if _, err := New(WithOnEmit(d.on)).Turn(t.Context(), nil, models.Spec{}, nil); err == nil || d.String() != "error" {
		t.Errorf("got %v, told %s", err, d)
	}
}

func TestHandlersRunAfterTheTurnIsTold(t *testing.T) {
	st, d := seeded(t, "q"), &diary{}
	var log []string
	note := func(name string) Handler {
		return handle(func(ctx context.Context, a artifact.Artifact, e Emitter) error {
			log = append(log, name+" "+a.Kind())
			if c, ok := a.(artifact.ToolCall); ok && name == "a" {
				e.Emit(ctx, TurnCompleteEvent{Turn: ledger.Turn{Role: ledger.RoleTool, Artifacts: []artifact.Artifact{artifact.ToolResult{ToolCallID: c.ID}}}})
			}
			return nil
		})
	}
	s := New(WithState(st), WithOnEmit(d.on), WithHandlers(note("a"), note("b")))
	p := says(delta("x"), artifact.ToolCall{ID: "1"})
	if _, err := s.Turn(t.Context(), nil, models.Spec{}, p); err != nil {
		t.Fatal(err)
	}
	if want := "submitted, streaming, text_delta, text, tool_call, turn assistant#2, turn tool#3"; d.String() != want {
		t.Errorf("told %s", d)
	}
	if got := fmt.Sprint(log); got != "[a text b text a tool_call b tool_call]" {
		t.Errorf("handled %s", got)
	}
	log = nil
	if _, err := s.Submit(t.Context(), nil, ledger.RoleUser, text("more")); err != nil || fmt.Sprint(log) != "[a text b text]" {
		t.Errorf("submit: %v, handled %v", err, log)
	}
}

func TestHandlerFailures(t *testing.T) {
	boom := errors.New("boom")
	emits := func(ctx context.Context, e Emitter) { e.Emit(ctx, said(ledger.RoleTool, "r")) }
	for name, tt := range map[string]struct {
		handle func(ctx context.Context, e Emitter) error
		want   []error
		told   string
	}{
		"error": {func(context.Context, Emitter) error { return boom }, []error{boom}, "turn user#1, error"},
		"failed emit": {func(ctx context.Context, e Emitter) error {
			emits(ctx, e)
			e.Emit(ctx, lifecycle("on"))
			return nil
		}, []error{errDisk}, "turn user#1, on, error"},
		"both": {func(ctx context.Context, e Emitter) error { emits(ctx, e); return boom }, []error{boom, errDisk}, "turn user#1, error"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &diary{}
			calls := 0
			h := handle(func(ctx context.Context, _ artifact.Artifact, e Emitter) error { calls++; return tt.handle(ctx, e) })
			s := New(WithState(broken{ledger.NewBuffer(), ledger.RoleTool}), WithOnEmit(d.on), WithHandlers(h))
			_, err := s.Submit(t.Context(), nil, ledger.RoleUser, text("a"), text("b"))
			for _, want := range tt.want {
				if !errors.Is(err, want) || !errors.Is(d.errors()[0], want) {
					t.Errorf("got %v, told %v", err, d.errors())
				}
			}
			if d.String() != tt.told || calls != 1 {
				t.Errorf("told %s, %d calls", d, calls)
			}
		})
	}
}

// A failure of one turn is not the next one's.
func TestLatchIsPerTurn(t *testing.T) {
	fail := true
	h := handle(func(ctx context.Context, _ artifact.Artifact, e Emitter) error {
		if fail {
			e.Emit(ctx, said(ledger.RoleTool, "r"))
		}
		return nil
	})
	s := New(WithState(broken{ledger.NewBuffer(), ledger.RoleTool}), WithHandlers(h))
	if _, err := s.Submit(t.Context(), nil, ledger.RoleUser, text("a")); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
	fail = false
	if _, err := s.Submit(t.Context(), nil, ledger.RoleUser, text("b")); err != nil {
		t.Errorf("got %v", err)
	}
}

// Nothing of a Turn is left when it has returned, whatever happened.
func TestTurnLeavesNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 3 {
			s := New(WithState(ledger.NewBuffer()))
			_ = s.Subscribe("turn_complete")
			_, _ = s.Turn(t.Context(), nil, models.Spec{}, says(delta("a")))
			ctx, cancel := context.WithCancel(t.Context())
			_, _ = s.Turn(ctx, nil, models.Spec{}, hangsUp{cancel})
			s.Close()
		}
	})
}
