package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
)

// speaker is a Provider that says its lines and then returns err.
type speaker struct {
	lines []artifact.Artifact
	err   error
	spec  models.Spec
	inv   provider.Invocation
	saw   string
	calls int
}

func says(lines ...artifact.Artifact) *speaker { return &speaker{lines: lines} }

func (s *speaker) Invoke(ctx context.Context, st ledger.State, spec models.Spec, ch chan<- artifact.Artifact, opts ...provider.InvokeOption) error {
	s.calls++
	s.spec, s.inv, s.saw = spec, provider.Apply(opts...), show(st)
	for _, a := range s.lines {
		select {
		case ch <- a:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.err
}

// show prints a state as role:text words.
func show(st ledger.State) string {
	var words []string
	for _, t := range st.Turns() {
		words = append(words, string(t.Role)+":"+t.Text())
	}
	return strings.Join(words, " ")
}

// tell prints an event in a few characters.
func tell(ev OutputEvent) string {
	switch e := ev.(type) {
	case ArtifactEvent:
		return e.Kind()
	case TurnCompleteEvent:
		return fmt.Sprintf("turn %s#%d", e.Turn.Role, e.Turn.ID.Seq)
	case LifecycleEvent:
		return e.Phase
	case ErrorEvent:
		return "error"
	case NoticeEvent:
		return "notice " + e.Notice.Content
	}
	return fmt.Sprintf("%T", ev)
}

// diary is an OnEmit callback that writes down what it gets.
type diary struct {
	mu     sync.Mutex
	events []OutputEvent
}

func (d *diary) on(_ context.Context, ev OutputEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, ev)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var words []string
	for _, ev := range d.events {
		words = append(words, tell(ev))
	}
	return strings.Join(words, ", ")
}

// errors returns the errors of the ErrorEvents.
func (d *diary) errors() (errs []error) {
	for _, ev := range d.events {
		if e, ok := ev.(ErrorEvent); ok {
			errs = append(errs, e.Err)
		}
	}
	return errs
}

// turns returns the announced turns.
func (d *diary) turns() (turns []ledger.Turn) {
	for _, ev := range d.events {
		if e, ok := ev.(TurnCompleteEvent); ok {
			turns = append(turns, e.Turn)
		}
	}
	return turns
}

// broken is a State that refuses turns of one role.
type broken struct {
	*ledger.Buffer
	role ledger.Role
}

var errDisk = errors.New("disk")

func (b broken) Append(ctx context.Context, t ledger.Turn) (ledger.Turn, error) {
	if t.Role == b.role {
		return ledger.Turn{}, errDisk
	}
	return b.Buffer.Append(ctx, t)
}

// handle is a Handler made of a function.
type handle func(ctx context.Context, a artifact.Artifact, e Emitter) error

func (h handle) Handle(ctx context.Context, a artifact.Artifact, e Emitter) error {
	return h(ctx, a, e)
}

// transform is a Transform made of a function.
type transform func(ctx context.Context, st ledger.State) (ledger.State, error)

func (f transform) Transform(ctx context.Context, st ledger.State) (ledger.State, error) {
	return f(ctx, st)
}

func text(s string) artifact.Text       { return artifact.Text{Content: s} }
func delta(s string) artifact.TextDelta { return artifact.TextDelta{Content: s} }

func seeded(t *testing.T, texts ...string) *ledger.Buffer {
	t.Helper()
	b := ledger.NewBuffer()
	for _, s := range texts {
		turn := ledger.Turn{Role: ledger.RoleUser, Artifacts: []artifact.Artifact{text(s)}}
		if _, err := b.Append(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// read takes n events from a channel that must have them soon.
func read(t *testing.T, ch <-chan OutputEvent, n int) (events []OutputEvent) {
	t.Helper()
	for range n {
		select {
		case ev, ok := <-ch:
			if !ok {
				t.Fatalf("closed after %d events", len(events))
			}
			events = append(events, ev)
		case <-time.After(time.Minute):
			t.Fatalf("no event after %d", len(events))
		}
	}
	return events
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
