package loop

import (
	"context"
	"errors"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
)

func TestCancelledTurns(t *testing.T) {
	store := errors.New("store is gone")
	for name, tt := range map[string]struct {
		cause error
		told  string
	}{
		"given up":       {nil, "submitted, streaming, text_delta, text"},
		"store's error":  {store, "submitted, streaming, text_delta, text, error"},
		"out of time":    {context.DeadlineExceeded, "submitted, streaming, text_delta, text, error"},
		"given up twice": {context.Canceled, "submitted, streaming, text_delta, text"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &diary{}
			s := New(WithState(ledger.NewBuffer()), WithOnEmit(d.on))
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			_, err := s.Turn(ctx, nil, models.Spec{}, hangsUp{func() { cancel(tt.cause) }})
			if !errors.Is(err, context.Canceled) || tt.cause != nil && !errors.Is(err, tt.cause) {
				t.Errorf("got %v", err)
			}
			if ie, ok := errors.AsType[*InterruptedError](err); !ok || len(ie.Artifacts) != 1 {
				t.Errorf("nothing was kept: %v", err)
			}
			if d.String() != tt.told {
				t.Errorf("told %s", d)
			}
			for _, e := range d.errors() {
				if !errors.Is(e, tt.cause) {
					t.Errorf("the event says %v", e)
				}
			}
		})
	}
}

// hangsUp is a Provider that is cancelled after its first fragment.
type hangsUp struct{ cancel func() }

func (h hangsUp) Invoke(ctx context.Context, _ ledger.State, _ models.Spec, ch chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	ch <- delta("a")
	h.cancel()
	<-ctx.Done()
	return ctx.Err()
}

func TestCancelledBeforeItBegins(t *testing.T) {
	st, d := ledger.NewBuffer(), &diary{}
	s := New(WithState(st), WithOnEmit(d.on))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := says(text("a"))
	if _, err := s.Turn(ctx, nil, models.Spec{}, p); !errors.Is(err, context.Canceled) {
		t.Errorf("turn: %v", err)
	}
	if _, err := s.Submit(ctx, nil, ledger.RoleUser, text("q")); !errors.Is(err, context.Canceled) {
		t.Errorf("submit: %v", err)
	}
	if p.calls != 0 || len(st.Turns()) != 0 || len(d.events) != 0 {
		t.Errorf("%d calls, %d turns, told %s", p.calls, len(st.Turns()), d)
	}
}

// A complete answer is kept even if nobody waits for it any more.
func TestCancelledAtTheEnd(t *testing.T) {
	st := strict{ledger.NewBuffer()}
	ctx, cancel := context.WithCancel(t.Context())
	s := New(WithState(st), WithOnEmit(func(_ context.Context, ev OutputEvent) {
		if ev.Kind() == artifact.KindText {
			cancel()
		}
	}))
	if _, err := s.Turn(ctx, nil, models.Spec{}, says(text("a"))); err != nil || show(st) != "assistant:a" {
		t.Errorf("got %v, state %s", err, show(st))
	}
}
