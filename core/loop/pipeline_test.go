package loop

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
)

func call(index int, id, name, args string) artifact.ToolCallDelta {
	return artifact.ToolCallDelta{Index: index, ID: id, Name: name, Arguments: args}
}

// ping is a fragment that can't be merged; sum one that merges by adding.
type (
	ping  struct{}
	sum   struct{ n int }
	total struct{ n int }
)

func (ping) Kind() string          { return "ping" }
func (ping) IsDelta()              {}
func (sum) Kind() string           { return "sum_delta" }
func (sum) IsDelta()               {}
func (sum) AccumulatorKey() string { return "sum" }
func (total) Kind() string         { return "sum" }

func (s sum) MergeInto(acc artifact.Artifact) artifact.Artifact {
	t, _ := acc.(total)
	return total{t.n + s.n}
}

// loud is a foreign fragment that goes into the block of the text.
type loud struct{ s string }

func (loud) Kind() string           { return "loud" }
func (loud) IsDelta()               {}
func (loud) AccumulatorKey() string { return "text" }
func (l loud) MergeInto(acc artifact.Artifact) artifact.Artifact {
	t, _ := acc.(artifact.Text)
	return artifact.Text{Content: t.Content + strings.ToUpper(l.s)}
}

func TestAccumulation(t *testing.T) {
	reason := func(s string) artifact.ReasoningDelta { return artifact.ReasoningDelta{Content: s} }
	tests := []struct {
		name string
		in   []artifact.Artifact
		want []artifact.Artifact
		seen string
	}{
		{"nothing", nil, nil, ""},
		{"complete only", []artifact.Artifact{text("a"), text("b")}, []artifact.Artifact{text("a"), text("b")}, "text text"},
		{"adjacent", []artifact.Artifact{delta("a"), delta("b")}, []artifact.Artifact{text("ab")}, "text_delta text_delta text"},
		{
			"not adjacent", []artifact.Artifact{reason("1"), delta("a"), reason("2"), delta("b")},
			[]artifact.Artifact{artifact.Reasoning{Content: "12"}, text("ab")},
			"reasoning_delta text_delta reasoning_delta text_delta reasoning text",
		},
		{
			"a complete artifact ends the blocks", []artifact.Artifact{delta("a"), artifact.Usage{}, delta("b")},
			[]artifact.Artifact{text("a"), artifact.Usage{}, text("b")},
			"text_delta text usage text_delta text",
		},
		{
			"parallel calls", []artifact.Artifact{call(1, "x", "b", "{"), call(0, "y", "a", "["), call(1, "", "b", "}"), call(0, "z", "", "]")},
			[]artifact.Artifact{artifact.ToolCall{ID: "x", Name: "bb", Arguments: "{}"}, artifact.ToolCall{ID: "z", Name: "a", Arguments: "[]"}},
			"tool_call_delta tool_call_delta tool_call_delta tool_call_delta tool_call tool_call",
		},
		{
			"fragments that can't be merged are no boundary", []artifact.Artifact{delta("a"), ping{}, delta("b")},
			[]artifact.Artifact{text("ab")}, "text_delta ping text_delta text",
		},
		{"foreign fragments", []artifact.Artifact{sum{1}, delta("a"), sum{2}}, []artifact.Artifact{total{3}, text("a")}, "sum_delta text_delta sum_delta sum text"},
		{
			"foreign fragments of the same block", []artifact.Artifact{delta("a"), delta("b"), loud{"c"}, delta("d")},
			[]artifact.Artifact{text("abCd")}, "text_delta text_delta loud text_delta text",
		},
		{"nil is nothing", []artifact.Artifact{nil, delta("a"), nil}, []artifact.Artifact{text("a")}, "text_delta text"},
		{
			"pointers are their values", []artifact.Artifact{&artifact.TextDelta{Content: "a"}, (*artifact.TextDelta)(nil), &artifact.Usage{}, (*artifact.Text)(nil)},
			[]artifact.Artifact{text("a"), artifact.Usage{}}, "text_delta text usage",
		},
		{
			"a character cut in two", []artifact.Artifact{delta("\xc3"), delta("\xa9\xff"), text("\xff")},
			[]artifact.Artifact{text("é\ufffd"), text("\ufffd")}, "text_delta text_delta text text",
		},
		{"an empty fragment is a block", []artifact.Artifact{delta("")}, []artifact.Artifact{text("")}, "text_delta text"},
	}
	for _, tt := range tests {
		for _, fail := range []error{nil, errDisk} {
			t.Run(fmt.Sprint(tt.name, " ", fail), func(t *testing.T) {
				var seen []string
				note := func(a artifact.Artifact) { seen = append(seen, a.Kind()) }
				st, got, err := new(Pipeline).Turn(t.Context(), nil, models.Spec{}, &speaker{lines: tt.in, err: fail}, note)
				if st != nil || err != fail {
					t.Errorf("state %v, error %v", st, err)
				}
				if !reflect.DeepEqual(got, tt.want) {
					t.Errorf("got %#v, want %#v", got, tt.want)
				}
				if s := strings.Join(seen, " "); s != tt.seen {
					t.Errorf("saw %s", s)
				}
			})
		}
	}
}

func TestPipelineWithoutCallback(t *testing.T) {
	_, got, err := new(Pipeline).Turn(t.Context(), nil, models.Spec{}, says(delta("a")), nil)
	if err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

// Whatever an unruly provider does with the channel, the turn ends.
func TestUnrulyProviders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, p := range map[string]unruly{
			"sends after it has returned": func(ctx context.Context, ch chan<- artifact.Artifact) error {
				go func() {
					for {
						select {
						case ch <- delta("late"):
						case <-ctx.Done():
							return
						}
					}
				}()
				return nil
			},
			"fills the channel and returns": func(_ context.Context, ch chan<- artifact.Artifact) error {
				for range cap(ch) {
					ch <- delta("x")
				}
				return nil
			},
			"closes the channel": func(_ context.Context, ch chan<- artifact.Artifact) error {
				ch <- delta("x")
				close(ch)
				return nil
			},
		} {
			if _, _, err := new(Pipeline).Turn(t.Context(), nil, models.Spec{}, p, nil); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

type unruly func(ctx context.Context, ch chan<- artifact.Artifact) error

func (u unruly) Invoke(ctx context.Context, _ ledger.State, _ models.Spec, ch chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	return u(ctx, ch)
}

func prefix(s string) Transform {
	return transform(func(_ context.Context, st ledger.State) (ledger.State, error) {
		return ledger.Prepend(st, ledger.Turn{Role: ledger.RoleSystem, Artifacts: []artifact.Artifact{text(s)}}), nil
	})
}

func TestTransformsCompose(t *testing.T) {
	st := ledger.NewBuffer()
	s := New(WithState(st), WithTransforms(prefix("1"), prefix("2")), WithTransforms(prefix("3")))
	if _, err := s.Submit(t.Context(), nil, ledger.RoleUser, text("q")); err != nil {
		t.Fatal(err)
	}
	p := says(text("a"))
	if _, err := s.Turn(t.Context(), nil, models.Spec{}, p); err != nil {
		t.Fatal(err)
	}
	if p.saw != "system:3 system:2 system:1 user:q" {
		t.Errorf("the provider saw %s", p.saw)
	}
	if show(st) != "user:q assistant:a" {
		t.Errorf("the state is %s", show(st))
	}
}

// However hard they try, a transform and a provider don't reach the buffer.
func TestTransformsCannotTouchTheBuffer(t *testing.T) {
	st := seeded(t, "q")
	evil := func(st ledger.State) {
		turns := st.Turns()
		turns[0].Artifacts[0] = text("evil")
		turns[0].Role = ledger.RoleSystem
		_ = append(turns[0].Artifacts, text("evil"))
		if _, err := st.Append(context.Background(), said(ledger.RoleUser, "evil").Turn); err != nil {
			t.Error(err)
		}
	}
	tr := transform(func(_ context.Context, st ledger.State) (ledger.State, error) { evil(st); return st, nil })
	for _, opts := range [][]Option{nil, {WithTransforms(tr)}} {
		s := New(append(opts, WithOnEmit(func(context.Context, OutputEvent) {}))...)
		p := &peeker{look: evil}
		if _, err := s.Turn(t.Context(), st, models.Spec{}, p); err != nil {
			t.Fatal(err)
		}
	}
	if show(st) != "user:q assistant: assistant:" {
		t.Errorf("the state is %s", show(st))
	}
}

type peeker struct{ look func(ledger.State) }

func (p *peeker) Invoke(_ context.Context, st ledger.State, _ models.Spec, _ chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	p.look(st)
	return nil
}

func TestFailedTransformEndsTheTurn(t *testing.T) {
	boom := errors.New("boom")
	for name, bad := range map[string]Transform{
		"error":    transform(func(context.Context, ledger.State) (ledger.State, error) { return nil, boom }),
		"no state": transform(func(context.Context, ledger.State) (ledger.State, error) { return nil, nil }),
	} {
		t.Run(name, func(t *testing.T) {
			d, later, p := &diary{}, 0, says(text("a"))
			after := transform(func(_ context.Context, st ledger.State) (ledger.State, error) { later++; return st, nil })
			st := seeded(t, "q")
			s := New(WithState(st), WithOnEmit(d.on), WithTransforms(prefix("1"), bad, after))
			_, err := s.Turn(t.Context(), nil, models.Spec{}, p)
			if err == nil || name == "error" && !errors.Is(err, boom) {
				t.Errorf("got %v", err)
			}
			if _, ok := errors.AsType[*InterruptedError](err); ok {
				t.Error("the provider is blamed")
			}
			if p.calls != 0 || later != 0 || d.String() != "submitted, error" || show(st) != "user:q" {
				t.Errorf("%d calls, %d later, told %s, state %s", p.calls, later, d, show(st))
			}
		})
	}
}

// RunHandlers works with any Emitter, not only a Step's own.
func TestRunHandlersWithAForeignEmitter(t *testing.T) {
	h := handle(func(ctx context.Context, a artifact.Artifact, e Emitter) error {
		e.Emit(ctx, ArtifactEvent{Artifact: a})
		return nil
	})
	var got []string
	p := &Pipeline{handlers: []Handler{h}}
	err := p.RunHandlers(t.Context(), []artifact.Artifact{text("a"), artifact.Usage{}}, emitFunc(func(ev OutputEvent) {
		got = append(got, ev.Kind())
	}))
	if err != nil || fmt.Sprint(got) != "[text usage]" {
		t.Errorf("got %v, %v", got, err)
	}
}

type emitFunc func(OutputEvent)

func (f emitFunc) Emit(_ context.Context, ev OutputEvent) { f(ev) }

// TestHandlersMayReadTheState: a handler finds the turn that it works for, and what handlers before it have added, on the bound state.
func TestHandlersMayReadTheState(t *testing.T) {
	var got []string
	h := handle(func(ctx context.Context, a artifact.Artifact, e Emitter) error {
		st, ok := StateFrom(ctx)
		if !ok {
			got = append(got, "none")
			return nil
		}
		var roles []string
		for _, turn := range st.Turns() {
			roles = append(roles, string(turn.Role))
		}
		got = append(got, strings.Join(roles, " "))
		e.Emit(ctx, TurnCompleteEvent{Turn: ledger.Turn{Role: ledger.RoleTool}})
		return nil
	})
	st := ledger.NewBuffer()
	if _, err := New(WithState(st), WithHandlers(h)).Submit(t.Context(), st, ledger.RoleAssistant, text("a"), text("b")); err != nil {
		t.Fatal(err)
	}
	if _, err := New(WithHandlers(h)).Submit(t.Context(), ledger.NewBuffer(), ledger.RoleAssistant, text("a")); err != nil {
		t.Fatal(err)
	}
	if want := "assistant|assistant tool|none"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
