package conduit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/session"
)

// dice is randomness that several goroutines may throw.
type dice struct {
	mu      sync.Mutex
	r       *rand.Rand
	refused map[session.Address]int // how often a post there was too big since one went through
}

func newDice(seed uint64) *dice {
	return &dice{r: rand.New(rand.NewPCG(seed, 7)), refused: map[session.Address]int{}}
}

func (d *dice) n(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(n)
}

func (d *dice) float() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.Float64()
}

// trouble befalls every third post, in all ways in which nothing is lost for good.
func (d *dice) trouble(a session.Address) conduittest.Trouble {
	t := conduittest.Trouble{Hang: time.Duration(d.n(2000)) * time.Millisecond}
	switch d.n(20) {
	case 0, 1:
		t.Err = &conduit.Error{Class: conduit.Retry, Err: errors.New("busy")}
	case 2:
		t.Err = &conduit.Error{Class: conduit.RetryAfter, After: time.Duration(d.n(5)) * time.Second}
	case 3:
		if d.again(a) { // as often as it can be made smaller: beyond that the part is lost, and a note says so
			t.Err = &conduit.Error{Class: conduit.TooBig}
		}
	case 4, 5:
		t.Err, t.Shown = errors.New("cut"), true
	case 6:
		t.Err = errors.New("reset")
	}
	if t.Err == nil {
		d.posted(a)
	}
	return t
}

// again counts refusals of the part at an address, up to the number of times that it can be made smaller.
func (d *dice) again(a session.Address) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused[a]++
	return d.refused[a] <= conduit.MaxShrink
}

func (d *dice) posted(a session.Address) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.refused, a)
}

func (d *dice) findTrouble(session.Address) error {
	if d.n(3) == 0 {
		return errors.New("busy")
	}
	return nil
}

// TestSoak runs an hour of bubble time with random faults, kills and stops, and ends in exact order.
func TestSoak(t *testing.T) {
	for seed := range uint64(2) {
		for _, finds := range []bool{true, false} {
			t.Run(fmt.Sprintf("finds=%v,seed=%d", finds, seed), func(t *testing.T) {
				bubble(t, func(t *testing.T) { soak(t, finds, newDice(seed)) })
			})
		}
	}
}

func soak(t *testing.T, finds bool, d *dice) {
	b := newBench(t, finds)
	b.p.Chance, b.p.FindChance = d.trouble, d.findTrouble
	threads := soakThreads(b)
	var sources []map[session.Address][]string
	for range threads {
		sources = append(sources, map[session.Address][]string{})
	}
	for end, n := time.Now().Add(time.Hour), 0; time.Now().Before(end); n++ {
		l, f := b.mortalLife(fmt.Sprint("life ", n), 50+d.n(200))
		for until := time.Now().Add(5 * time.Minute); time.Now().Before(until) && !f.isBlown(); {
			time.Sleep(time.Duration(d.n(8000)) * time.Millisecond)
			i := d.n(len(threads))
			sources[i] = speak(b, threads[i], sources[i], d)
			for a := range sources[i] {
				l.c.Nudge(a)
			}
		}
		b.must(l.stop())
	}
	b.p.Chance, b.p.FindChance, b.p.Before, b.p.After = nil, nil, nil, nil
	b.cfg.Store = b.store
	b.start("the last").rest(time.Hour)
	for i := range threads {
		for a, want := range sources[i] {
			unannounced := strings.Count(b.log.String(), "note may not have arrived") + strings.Count(b.log.String(), "note refused")
			checkShown(t, finds, b.p.At(a), want, unannounced)
		}
	}
}

func soakThreads(b *bench) (ws []*conduittest.Writer) {
	for i, places := range [][]session.Address{{placeA}, {placeB, placeC}, {"mem:d", "mem:e", "mem:f"}} {
		w := conduittest.NewWriter(b.store, byte(10+i))
		b.must(w.Bind(places...))
		ws = append(ws, w)
	}
	return ws
}

// mortalLife starts a life that dies at the n-th boundary.
func (b *bench) mortalLife(name string, n int) (*life, *fuse) {
	f := &fuse{left: n, die: func() {}}
	alive := func(session.Address) error {
		if !f.pass() {
			return errDied
		}
		return nil
	}
	b.p.Before, b.p.After = alive, alive
	b.cfg.Store = mortal{b.store, f}
	l := b.start(name)
	f.mu.Lock()
	f.die = l.cancel
	f.mu.Unlock()
	return l, f
}

// speak writes one record and notes what each address of the thread is to show.
func speak(b *bench, w *conduittest.Writer, want map[session.Address][]string, d *dice) map[session.Address][]string {
	text := fmt.Sprintf("<%d %s>", w.Last()+1, strings.Repeat("x", d.n(40)))
	to := w.Places()
	if d.n(4) == 0 {
		to = to[:1]
		b.must(w.Notice(to[0], text))
	} else {
		b.must(w.Answer(text))
	}
	for _, a := range w.Places() {
		want[a] = append(want[a], nil...)
	}
	for _, a := range to {
		want[a] = append(want[a], text)
	}
	return want
}
