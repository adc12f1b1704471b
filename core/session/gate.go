package session

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/core/transform/budget"
)

// everyone is the weight of a turn that must be alone; any other has the weight 1.
const everyone = 1 << 20

// placeAfter is how long somebody waits before their place in line is told.
const placeAfter = 3 * time.Second

// gate lets a bounded number of calls through to the provider. The rest wait: first come those whose person has the fewest calls under
// way, then people take turns, and a person's own calls come in their order: nobody who asks in many threads starves the others.
type gate struct {
	next provider.Provider
	n    int

	mu      sync.Mutex
	busy    int                        // calls under way
	running map[string]int             // by person
	line    []*waiter                  // in the order of arrival
	round   int                        // that of the call let in last
	rounds  map[string]int             // the last round in which a person has a call; missing: none after the present one
	spares  []*context.CancelCauseFunc // of calls under way that give way
}

// waiter is a call that waits.
type waiter struct {
	who   string
	round int           // in each round every person who waits has one call
	admit chan struct{} // closed once it may go on
}

// slotted is a Provider that knows how many calls it can take at once, which may change. 0: any number.
type slotted interface{ Slots() int }

func newGate(p provider.Provider, n int) *gate {
	return &gate{next: p, n: n, running: map[string]int{}, rounds: map[string]int{}}
}

// limit returns how many calls may be under way: as many as the provider takes, where it says.
func (g *gate) limit() int {
	if s, ok := g.next.(slotted); ok {
		if n := s.Slots(); n > 0 {
			return n
		}
	}
	return g.n
}

// Invoke waits for its turn, then calls. A call that waits ends with ctx; one whose prompt isn't true any more by then isn't made.
func (g *gate) Invoke(ctx context.Context, st ledger.State, spec models.Spec, ch chan<- artifact.Artifact, opts ...provider.InvokeOption) error {
	who := callerFrom(ctx)
	if err := g.enter(ctx, who); err != nil {
		return err
	}
	defer g.leave(who)
	if err := upToDate(ctx); err != nil {
		return err
	}
	ctx = provider.WithCheck(ctx, func() error { return upToDate(ctx) })
	if len(provider.Apply(opts...).Tools) == 0 {
		budget.Bare(ctx)
	}
	return g.next.Invoke(ctx, st, spec, ch, opts...)
}

// enter returns when the call may go on, or with ctx's error.
func (g *gate) enter(ctx context.Context, who string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	w := g.join(who)
	g.serve()
	for _, cancel := range g.spares[:min(len(g.line), len(g.spares))] {
		(*cancel)(errNoSpare)
	}
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

// join puts a call at the end of the line. The caller holds the lock.
func (g *gate) join(who string) *waiter {
	round := g.round
	if last, ok := g.rounds[who]; ok {
		round = max(round, last+1)
	}
	w := &waiter{who: who, round: round, admit: make(chan struct{})}
	g.rounds[who] = round
	g.line = append(g.line, w)
	return w
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
	g.busy--
	if g.running[who]--; g.running[who] == 0 {
		delete(g.running, who)
	}
	g.serve()
}

// serve lets in whoever comes next. The caller holds the lock.
func (g *gate) serve() {
	for limit := g.limit(); g.busy < limit && len(g.line) > 0; {
		i := first(g.line, g.running)
		w := g.line[i]
		g.line = slices.Delete(g.line, i, i+1)
		g.busy++
		g.running[w.who]++
		g.round = max(g.round, w.round)
		close(w.admit)
	}
	maps.DeleteFunc(g.rounds, func(_ string, last int) bool { return last < g.round })
}

// first returns the index of the waiter that comes next.
func first(line []*waiter, running map[string]int) int {
	best := 0
	for i, w := range line {
		b := line[best]
		if d := cmp.Compare(running[w.who], running[b.who]); d < 0 || d == 0 && w.round < b.round {
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
