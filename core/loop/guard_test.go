package loop

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
)

// A panic costs its turn, is told like an error, and the Step works on.
func TestPanicsEndTheTurnAndNothingElse(t *testing.T) {
	blow := func(armed *bool, v any) {
		if *armed {
			panic(v)
		}
	}
	for name, tt := range map[string]struct {
		step  func(armed *bool) []Option
		lines int // of the provider, before it panics too
		told  string
		state string
	}{
		"provider": {nil, 2, "submitted, streaming, text_delta, text_delta, text, error", "user:q"},
		"transform": {func(armed *bool) []Option {
			return []Option{WithTransforms(transform(func(_ context.Context, st ledger.State) (ledger.State, error) {
				blow(armed, errDisk)
				return st, nil
			}))}
		}, 0, "submitted, error", "user:q"},
		"handler": {func(armed *bool) []Option {
			return []Option{WithHandlers(handle(func(context.Context, artifact.Artifact, Emitter) error {
				blow(armed, errDisk)
				return nil
			}))}
		}, 0, "submitted, streaming, text, turn assistant#2, error", "user:q assistant:a"},
	} {
		t.Run(name, func(t *testing.T) {
			st, d, armed := seeded(t, "q"), &diary{}, true
			opts := []Option{WithState(st), WithOnEmit(d.on)}
			if tt.step != nil {
				opts = append(opts, tt.step(&armed)...)
			}
			s := New(opts...)
			p := unruly(func(_ context.Context, ch chan<- artifact.Artifact) error {
				for range tt.lines {
					ch <- delta("a")
				}
				if tt.lines > 0 {
					blow(&armed, errDisk)
				}
				ch <- text("a")
				return nil
			})
			_, err := s.Turn(t.Context(), nil, models.Spec{}, p)
			pe, ok := errors.AsType[*PanicError](err)
			if !ok || !errors.Is(err, errDisk) || !strings.Contains(string(pe.Stack), "guard_test.go") {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(err.Error(), "goroutine") {
				t.Errorf("the text holds the stack: %v", err)
			}
			if ie, ok := errors.AsType[*InterruptedError](err); ok != (name == "provider") || ok && len(ie.Artifacts) != 1 {
				t.Errorf("kept %+v", ie)
			}
			if d.String() != tt.told || show(st) != tt.state || !errors.Is(d.errors()[0], errDisk) {
				t.Errorf("told %s, state %s", d, show(st))
			}
			armed = false
			if _, err := s.Turn(t.Context(), nil, models.Spec{}, says(text("b"))); err != nil {
				t.Errorf("the next turn: %v", err)
			}
		})
	}
}

func TestPanicErrorOfNoError(t *testing.T) {
	err := guard(func() error { panic("boom") })
	if err == nil || err.Error() != "panic: boom" || errors.Unwrap(err) != nil {
		t.Errorf("got %v", err)
	}
	if err := guard(func() error { return errDisk }); err != errDisk {
		t.Errorf("got %v", err)
	}
}

// A provider that ends its goroutine, as t.FailNow does, doesn't hang the turn.
func TestAProviderThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := unruly(func(_ context.Context, ch chan<- artifact.Artifact) error {
			ch <- delta("a")
			runtime.Goexit()
			return nil
		})
		_, arts, err := new(Pipeline).Turn(t.Context(), nil, models.Spec{}, p, nil)
		if !errors.Is(err, errExited) || len(arts) != 1 {
			t.Errorf("got %v, %v", arts, err)
		}
	})
}

// Who registered the callback gets its panic; the provider's goroutine ends.
func TestAPanickingCallbackIsTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		p := unruly(func(ctx context.Context, ch chan<- artifact.Artifact) error {
			defer func() { ended = true }()
			ch <- text("a")
			<-ctx.Done()
			return ctx.Err()
		})
		s := New(WithOnEmit(func(_ context.Context, ev OutputEvent) {
			if ev.Kind() == artifact.KindText {
				panic("callback")
			}
		}))
		defer s.Close()
		func() {
			defer func() {
				if r := recover(); r != "callback" {
					t.Errorf("recovered %v", r)
				}
			}()
			_, _ = s.Turn(t.Context(), nil, models.Spec{}, p)
		}()
		synctest.Wait()
		if !ended {
			t.Error("the provider still runs")
		}
	})
}

// A handler that still emits when its turn is over loses nothing unseen: the failure is an ErrorEvent, as of any Emit.
func TestLateEmitOfAHandler(t *testing.T) {
	d := &diary{}
	var late Emitter
	h := handle(func(_ context.Context, _ artifact.Artifact, e Emitter) error {
		late = e
		return nil
	})
	s := New(WithState(broken{ledger.NewBuffer(), ledger.RoleTool}), WithOnEmit(d.on), WithHandlers(h))
	if _, err := s.Submit(t.Context(), nil, ledger.RoleUser, text("q")); err != nil {
		t.Fatal(err)
	}
	late.Emit(t.Context(), said(ledger.RoleTool, "r"))
	if d.String() != "turn user#1, error" || !errors.Is(d.errors()[0], errDisk) {
		t.Errorf("told %s: %v", d, d.errors())
	}
}
