package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
)

// everyone is the weight of a turn that must be alone; any other has the weight 1.
const everyone = 1 << 20

// placeAfter is how long somebody waits before their place in line is told.
const placeAfter = 3 * time.Second

// gate lets a bounded number of calls through to the provider. The rest wait: first come those whose person has the fewest calls under
// way, then those who have waited longest, so that one busy person doesn't starve the others.
type gate struct {
	next provider.Provider

	mu      sync.Mutex
	free    int
	running map[string]int // calls under way, by person
	line    []*waiter      // in the order of arrival
}

// waiter is a call that waits.
type waiter struct {
	who   string
	admit chan struct{} // closed once it may go on
}

func newGate(p provider.Provider, n int) *gate {
	return &gate{next: p, free: n, running: map[string]int{}}
}

// Invoke waits for its turn, then calls. A call that waits ends with ctx.
func (g *gate) Invoke(ctx context.Context, st ledger.State, spec models.Spec, ch chan<- artifact.Artifact, opts ...provider.InvokeOption) error {
	who := callerFrom(ctx)
	if err := g.enter(ctx, who); err != nil {
		return err
	}
	defer g.leave(who)
	return g.next.Invoke(ctx, st, spec, ch, opts...)
}

// enter returns when the call may go on, or with ctx's error.
func (g *gate) enter(ctx context.Context, who string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	w := &waiter{who: who, admit: make(chan struct{})}
	g.line = append(g.line, w)
	g.serve()
	g.mu.Unlock()
	patience := time.NewTimer(placeAfter)
	defer patience.Stop()
	for told := false; ; {
		select {
		case <-w.admit:
			if told {
				tellPlace(ctx, -1)
			}
			return nil
		case <-patience.C:
			told = true
			tellPlace(ctx, g.ahead(w))
		case <-ctx.Done():
			return g.giveUp(ctx, w)
		}
	}
}

// giveUp takes a call out of the line. One that was let in meanwhile gives its place back.
func (g *gate) giveUp(ctx context.Context, w *waiter) error {
	g.mu.Lock()
	i := slices.Index(g.line, w)
	if i >= 0 {
		g.line = slices.Delete(g.line, i, i+1)
	}
	g.mu.Unlock()
	if i < 0 {
		g.leave(w.who)
	}
	return ctx.Err()
}

func (g *gate) leave(who string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free++
	if g.running[who]--; g.running[who] == 0 {
		delete(g.running, who)
	}
	g.serve()
}

// serve lets in whoever comes next. The caller holds the lock.
func (g *gate) serve() {
	for g.free > 0 && len(g.line) > 0 {
		i := first(g.line, g.running)
		w := g.line[i]
		g.line = slices.Delete(g.line, i, i+1)
		g.free--
		g.running[w.who]++
		close(w.admit)
	}
}

// first returns the index of the waiter that comes next.
func first(line []*waiter, running map[string]int) int {
	best := 0
	for i, w := range line {
		if running[w.who] < running[line[best].who] {
			best = i
		}
	}
	return best
}

// ahead counts the calls that come before w, were nobody else to come or to end meanwhile.
func (g *gate) ahead(w *waiter) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	line, running := slices.Clone(g.line), map[string]int{}
	for who, n := range g.running {
		running[who] = n
	}
	for n := 0; len(line) > 0; n++ {
		i := first(line, running)
		if line[i] == w {
			return n
		}
		running[line[i].who]++
		line = slices.Delete(line, i, i+1)
	}
	return 0
}

type (
	callerKey struct{}
	placeKey  struct{}
)

// withCaller says for whom the calls under ctx are.
func withCaller(ctx context.Context, who string) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

func callerFrom(ctx context.Context) string {
	who, _ := ctx.Value(callerKey{}).(string)
	return who
}

// withPlace lets f be told how many are ahead of a call under ctx that has waited for a while; -1 once it goes on.
func withPlace(ctx context.Context, f func(ahead int)) context.Context {
	return context.WithValue(ctx, placeKey{}, f)
}

func tellPlace(ctx context.Context, ahead int) {
	if f, ok := ctx.Value(placeKey{}).(func(int)); ok {
		f(ahead)
	}
}
