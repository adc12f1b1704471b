package conduit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/observe"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

const (
	placeA = session.Address("mem:a")
	placeB = session.Address("mem:b")
	placeC = session.Address("mem:c")
)

// bench is one store, one platform and one thread that lives of the process come and go on.
type bench struct {
	t     testing.TB
	store *storetest.Memory
	p     *conduittest.Platform
	w     *conduittest.Writer
	figs  figures
	log   bytes.Buffer
	cfg   conduit.Config
}

func newBench(t testing.TB, finds bool) *bench {
	b := &bench{t: t, store: storetest.NewMemory(), p: &conduittest.Platform{}}
	b.w = conduittest.NewWriter(b.store, 1)
	b.cfg = conduit.Config{
		Name: "mem", Store: b.store, Lease: b.store, Renderer: conduittest.Text{Limit: 10}, Poster: b.p,
		Counters: &b.figs, Logger: slog.New(slog.NewTextHandler(&b.log, nil)),
		Rand: newDice(1).float,
	}
	if finds {
		b.cfg.Poster = b.p.Finding()
	}
	return b
}

// newLinked is newBench with two places of one conversation, at the second of which a question was asked.
func newLinked(t testing.TB, finds bool, question string) *bench {
	b := newBench(t, finds)
	b.must(b.w.Bind(placeA, placeB))
	b.must(b.w.User(placeB, "mem:b", question))
	return b
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// life is one run of couriers.
type life struct {
	b      *bench
	c      *conduit.Couriers
	cancel context.CancelFunc
	done   chan error
}

// start begins a life.
func (b *bench) start(name string) *life {
	b.t.Helper()
	cfg := b.cfg
	cfg.Life = name
	c, err := conduit.New(cfg)
	b.must(err)
	ctx, cancel := context.WithCancel(b.t.Context())
	l := &life{b: b, c: c, cancel: cancel, done: make(chan error, 1)}
	go func() { l.done <- c.Run(ctx) }()
	return l
}

// stop ends the life in order and returns Run's error.
func (l *life) stop() error {
	l.cancel()
	return <-l.done
}

// rest lets the bubble run for d and ends the life without an error.
func (l *life) rest(d time.Duration) {
	l.b.t.Helper()
	time.Sleep(d)
	l.b.must(l.stop())
}

// wantTexts compares what a person sees at a with want.
func (b *bench) wantTexts(a session.Address, want ...string) {
	b.t.Helper()
	got := b.p.Texts(a)
	if len(got) != len(want) {
		b.t.Fatalf("%s shows %q, want %q", a, got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			b.t.Fatalf("%s shows %q, want %q", a, got, want)
		}
	}
}

// wantServed fails unless nothing is left to do at a.
func (b *bench) wantServed(a session.Address) {
	b.t.Helper()
	st := b.address(a)
	if st.Due != 0 || st.Cursor.Attempt != nil || st.Cursor.Seq != b.w.Last()+1 || st.Cursor.Offset != 0 {
		b.t.Fatalf("%s isn't served: due %d, cursor %+v, last %d", a, st.Due, st.Cursor, b.w.Last())
	}
}

func (b *bench) address(a session.Address) session.AddressState {
	b.t.Helper()
	st, err := b.store.Address(b.t.Context(), a)
	b.must(err)
	return st
}

// figures is a Counters that adds up.
type figures struct {
	mu sync.Mutex
	m  map[string]float64
}

func (f *figures) add(name string, v float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.m == nil {
		f.m = map[string]float64{}
	}
	f.m[name] += v
}

func (f *figures) get(name string) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.m[name]
}

func (f *figures) Add(c observe.Counter, d float64, _ ...string) { f.add(string(c), d) }
func (f *figures) Set(observe.Gauge, float64, ...string)         {}
func (f *figures) Observe(h observe.Histogram, s float64, _ ...string) {
	f.add(string(h), s)
	f.add(string(h)+" count", 1)
}

// bubble runs f in a synctest bubble.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// refuse is an answer of the given class.
func refuse(class conduit.Class) conduittest.Trouble { return conduittest.Refusal(class) }

// failing answers with an error of which nobody knows whether the part was posted.
func failing(shown bool, late time.Duration) conduittest.Trouble {
	return conduittest.Trouble{Err: errors.New("platform: time-out"), Shown: shown, Late: late}
}

const repeat = conduittest.RepeatLabel
