package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
)

func said(role ledger.Role, s string) TurnCompleteEvent {
	return TurnCompleteEvent{Turn: ledger.Turn{Role: role, Artifacts: []artifact.Artifact{text(s)}}}
}

// Append, then the callbacks in their order, then the subscribers.
func TestEmitOrderOfEffects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := ledger.NewBuffer()
		var log []string
		var ch <-chan OutputEvent
		note := func(name string) OnEmit {
			return func(_ context.Context, ev OutputEvent) {
				log = append(log, fmt.Sprintf("%s: %s, %d stored, %d delivered", name, tell(ev), len(st.Turns()), len(ch)))
			}
		}
		s := New(WithState(st), WithOnEmit(note("a"), note("b")), WithOnEmit(note("c")))
		defer s.Close()
		ch = s.Subscribe()
		s.Emit(t.Context(), said(ledger.RoleUser, "hi"))
		want := "[a: turn user#1, 1 stored, 0 delivered b: turn user#1, 1 stored, 0 delivered c: turn user#1, 1 stored, 0 delivered]"
		if got := fmt.Sprint(log); got != want {
			t.Errorf("got %s", got)
		}
		if len(ch) != 1 || tell(<-ch) != "turn user#1" {
			t.Error("Emit returned before the event was handed over")
		}
	})
}

func TestOnlyTurnsAreAppended(t *testing.T) {
	st, d := ledger.NewBuffer(), &diary{}
	s := New(WithState(st), WithOnEmit(d.on))
	for _, ev := range events(none) {
		if _, turn := ev.(TurnCompleteEvent); !turn {
			s.Emit(t.Context(), ev)
		}
	}
	if len(st.Turns()) != 0 || len(d.events) != 6 {
		t.Errorf("%d turns, %d events", len(st.Turns()), len(d.events))
	}
}

func TestEmitIgnoresNothing(t *testing.T) {
	d := &diary{}
	s := New(WithOnEmit(d.on))
	s.Emit(t.Context(), nil)
	s.Emit(t.Context(), (*TurnCompleteEvent)(nil))
	s.Emit(t.Context(), (*NoticeEvent)(nil))
	if len(d.events) != 0 {
		t.Errorf("got %s", d)
	}
}

// A turn that is stamped already is on the log already.
func TestStampedTurnsAreNotAppendedAgain(t *testing.T) {
	st, d := ledger.NewBuffer(), &diary{}
	s := New(WithState(st), WithOnEmit(d.on))
	e := said(ledger.RoleTool, "x")
	e.Turn.ID = ledger.TurnID{Seq: 7}
	s.Emit(t.Context(), e)
	s.Emit(t.Context(), &e)
	fresh := said(ledger.RoleTool, "y")
	s.Emit(t.Context(), &fresh)
	if got := d.String(); got != "turn tool#7, turn tool#7, turn tool#1" {
		t.Errorf("got %s", got)
	}
	if show(st) != "tool:y" {
		t.Errorf("stored %s", show(st))
	}
	if fresh.Turn.Stamped() {
		t.Error("Emit wrote to the caller's event")
	}
}

func TestPointersArriveAsValues(t *testing.T) {
	d := &diary{}
	s := New(WithOnEmit(d.on))
	for _, ev := range []OutputEvent{
		&ArtifactEvent{Artifact: text("a")}, &TurnCompleteEvent{}, &LifecycleEvent{Phase: "p"},
		&ErrorEvent{}, &ActivityEvent{}, &PropertiesEvent{}, &NoticeEvent{},
	} {
		s.Emit(t.Context(), ev)
	}
	want := "text, turn #0, p, error, loop.ActivityEvent, loop.PropertiesEvent, notice "
	if got := d.String(); got != want {
		t.Errorf("got %s", got)
	}
}

func TestFailedAppendIsNotAnnounced(t *testing.T) {
	d := &diary{}
	s := New(WithState(broken{ledger.NewBuffer(), ledger.RoleUser}), WithOnEmit(d.on))
	ctx := WithProvenance(t.Context(), "p")
	e := said(ledger.RoleUser, "x")
	e.Ctx = ctx
	s.Emit(t.Context(), e)
	if d.String() != "error" || !errors.Is(d.errors()[0], errDisk) {
		t.Errorf("got %s: %v", d, d.errors())
	}
	if p, _ := ProvenanceFrom(d.events[0].Context()); p != "p" {
		t.Errorf("the error has provenance %q", p)
	}
	if _, ok := errors.AsType[*AppendError](d.errors()[0]); !ok {
		t.Errorf("got %T", d.errors()[0])
	}
}

func TestEmitAfterClose(t *testing.T) {
	st, d := ledger.NewBuffer(), &diary{}
	s := New(WithState(st), WithOnEmit(d.on))
	ch := s.Subscribe()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s.Emit(t.Context(), said(ledger.RoleUser, "late"))
	if show(st) != "user:late" || d.String() != "turn user#1" {
		t.Errorf("stored %q, told %q", show(st), d)
	}
	if ev, ok := <-ch; ok {
		t.Errorf("the subscriber got %s", tell(ev))
	}
	if _, ok := <-s.Subscribe(); ok {
		t.Error("a later subscription is open")
	}
}

func TestCloseWithoutSubscribers(t *testing.T) {
	s := New()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := <-s.Subscribe(); ok {
		t.Error("open after Close")
	}
	s.Emit(t.Context(), lifecycle("x"))
}

// Close frees an Emit that waits for a subscriber who never reads, and those
// that wait behind it.
func TestCloseFreesBlockedEmits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		_ = s.Subscribe()
		shorten(s.bus.cast.Load().fan)
		for i := range shortLag {
			s.Emit(t.Context(), number(i))
		}
		ctx, cancel := context.WithCancel(t.Context())
		returned := 0
		var mu sync.Mutex
		for range 3 {
			go func() {
				s.Emit(ctx, number(0))
				mu.Lock()
				defer mu.Unlock()
				returned++
			}()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if returned != 0 {
			t.Errorf("%d emits returned with the subscriber full", returned)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if returned != 3 {
			t.Errorf("%d emits returned after Close", returned)
		}
	})
}

// What one subscriber doesn't read holds up nobody else's Step.
func TestBackPressureIsTheStepsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, free := New(), New()
		defer free.Close()
		_ = stuck.Subscribe()
		shorten(stuck.bus.cast.Load().fan)
		go func() {
			for i := range shortLag + 5 {
				stuck.Emit(context.Background(), number(i))
			}
		}()
		ch := free.Subscribe()
		free.Emit(t.Context(), lifecycle("x"))
		if tell(<-ch) != "x" {
			t.Error("held up")
		}
		synctest.Wait()
		stuck.Close()
	})
}

func TestEmitConcurrently(t *testing.T) {
	st, d := ledger.NewBuffer(), &diary{}
	s := New(WithState(st), WithOnEmit(d.on))
	var readers, writers sync.WaitGroup
	orders := make([]string, 3)
	for i := range orders {
		ch := s.Subscribe()
		readers.Go(func() {
			for ev := range ch {
				orders[i] += tell(ev) + ","
				if tell(ev) == "end" {
					return
				}
			}
		})
	}
	for range 4 {
		writers.Go(func() {
			for range 50 {
				s.Emit(context.Background(), said(ledger.RoleUser, "x"))
				s.SetEventContext(WithProvenance(context.Background(), "p"))
				s.Emit(context.Background(), lifecycle("y"))
			}
		})
	}
	writers.Wait()
	s.Emit(t.Context(), lifecycle("end"))
	readers.Wait()
	s.Close()
	if len(st.Turns()) != 200 || len(d.events) != 401 {
		t.Errorf("%d turns, %d events", len(st.Turns()), len(d.events))
	}
	if orders[0] != orders[1] || orders[0] != orders[2] {
		t.Error("subscribers saw different orders")
	}
}

func TestZeroEventBus(t *testing.T) {
	var eb EventBus
	ch := eb.Subscribe("lifecycle")
	eb.Emit(t.Context(), lifecycle("x"))
	if got := tell(read(t, ch, 1)[0]); got != "x" {
		t.Errorf("got %s", got)
	}
	if err := eb.Close(); err != nil {
		t.Error(err)
	}
}

// What can't be stored is left out before anybody sees the turn, and the turn
// in memory is the one that would be read back.
func TestTurnsAreStorable(t *testing.T) {
	st, d := ledger.NewBuffer(), &diary{}
	s := New(WithState(st), WithOnEmit(d.on))
	s.Emit(t.Context(), TurnCompleteEvent{Turn: ledger.Turn{Role: ledger.RoleUser, Artifacts: []artifact.Artifact{
		delta("fragment"), &artifact.Text{Content: "a\xffb"}, nil, artifact.ToolCallDelta{}, (*artifact.Image)(nil), &artifact.TextDelta{},
	}}})
	for _, turn := range append(st.Turns(), d.turns()...) {
		if len(turn.Artifacts) != 1 || turn.Text() != "a\ufffdb" {
			t.Errorf("got %#v", turn.Artifacts)
		}
	}
}

// A callback may emit: what it emits comes before what made it do so.
func TestCallbacksMayEmit(t *testing.T) {
	d := &diary{}
	var s *Step
	s = New(WithState(ledger.NewBuffer()), WithOnEmit(d.on, func(ctx context.Context, ev OutputEvent) {
		if e, ok := ev.(TurnCompleteEvent); ok {
			s.Emit(ctx, NoticeEvent{Notice: Notice{Content: e.Turn.Text()}})
		}
	}))
	defer s.Close()
	ch := s.Subscribe()
	s.Emit(t.Context(), said(ledger.RoleUser, "x"))
	seen := &diary{events: read(t, ch, 2)}
	if d.String() != "turn user#1, notice x" || seen.String() != "notice x, turn user#1" {
		t.Errorf("callbacks got %s, the subscriber %s", d, seen)
	}
}

// Everything that may be called from any goroutine, at once, beside the turns of the one that owns the thread, until Close.
func TestEverythingAtOnce(t *testing.T) {
	st := ledger.NewBuffer()
	relay := handle(func(ctx context.Context, _ artifact.Artifact, e Emitter) error {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { e.Emit(ctx, said(ledger.RoleTool, "r")) })
		}
		wg.Wait()
		return nil
	})
	s := New(WithState(st), WithHandlers(relay), WithOnEmit(func(context.Context, OutputEvent) {}))
	var others, readers sync.WaitGroup
	const rounds = 40
	for i := range 3 {
		others.Go(func() {
			for range rounds {
				s.SetEventContext(WithProvenance(context.Background(), "p"))
				s.Emit(context.Background(), number(i))
				s.Emit(context.Background(), said(ledger.RoleUser, "x"))
				ch := s.Subscribe("notice", "turn_complete")
				readers.Go(func() {
					for range ch {
					}
				})
			}
		})
	}
	for range rounds {
		if _, err := s.Submit(t.Context(), nil, ledger.RoleUser, text("q")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Turn(t.Context(), nil, models.Spec{}, says(delta("a"), delta("b"))); err != nil {
			t.Fatal(err)
		}
	}
	others.Wait()
	for range 3 {
		others.Go(func() { s.Emit(context.Background(), said(ledger.RoleUser, "late")) })
		others.Go(func() { _ = s.Close() })
		others.Go(func() { _ = s.Subscribe() })
	}
	others.Wait()
	readers.Wait()
	// Each round: a turn of Submit's and of Turn's with two results each, and three of the others'.
	if n, want := len(st.Turns()), rounds*(2*3+3)+3; n != want {
		t.Errorf("%d turns, want %d", n, want)
	}
}
