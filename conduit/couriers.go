package conduit

import (
	"context"
	"errors"
	"sync"
	"time"

	"orebot/core/session"
)

// ErrLeaseLost says that this process may no longer post.
var ErrLeaseLost = errors.New("conduit: the lease is lost")

// Couriers delivers to the addresses of one conduit.
type Couriers struct {
	cfg     Config
	posting *Pauses       // of posts
	asking  *Pauses       // of look-ups, which have limits of their own
	freed   chan struct{} // has one in it once a courier ended or waits

	mu      sync.Mutex
	table   map[session.Address]*job
	working int                         // couriers that neither ended nor wait
	spawn   func(session.Address, *job) // nil: Run isn't there to own goroutines
	ended   bool
	failure error // why Run ends of its own accord
	halt    context.CancelFunc
	started time.Time
	wg      sync.WaitGroup
}

// job is what is kept of an address while it has work.
type job struct {
	running bool
	again   bool // nudged while running
	mem     memory
}

// New returns couriers that do nothing yet. An error names what cfg lacks.
func New(cfg Config) (*Couriers, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &Couriers{
		cfg: cfg, posting: cfg.Pauses, asking: NewPauses(cfg.Now), freed: make(chan struct{}, 1),
		table: map[session.Address]*job{},
	}, nil
}

// Run serves every address that is due, and every one nudged, until ctx ends; then it returns nil once its goroutines have stopped,
// which they do between parts. It returns an *Error of class Dead when the platform refuses the credentials, and ErrLeaseLost.
// Nothing is lost by either. It is called once.
func (c *Couriers) Run(ctx context.Context) error {
	soft, halt := context.WithCancel(ctx)
	defer halt()
	hard, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	c.open(soft, hard, halt)
	c.wg.Go(func() { c.sweep(soft) })
	select {
	case <-soft.Done():
	case <-c.cfg.Lease.Lost():
		c.fail(ErrLeaseLost)
	}
	grace := time.AfterFunc(c.cfg.Grace, cut)
	defer grace.Stop()
	c.close()
	c.wg.Wait()
	return c.failure
}

// open lets nudges start couriers, those of before Run included.
func (c *Couriers) open(soft, hard context.Context, halt context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started, c.halt = c.cfg.Now(), halt
	c.spawn = func(a session.Address, j *job) {
		j.running = true
		c.work(1)
		c.wg.Go(func() { c.courier(a, j, hard).run(soft) })
	}
	for a, j := range c.table {
		c.spawn(a, j)
	}
}

func (c *Couriers) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spawn, c.ended = nil, true
}

// fail ends Run with err; the first one counts.
func (c *Couriers) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure == nil {
		c.failure = err
	}
	c.halt()
}

// Nudge says that there may be something to deliver to a. It never blocks. Addresses of other conduits are ignored.
func (c *Couriers) Nudge(a session.Address) {
	if a.Conduit() != c.cfg.Name {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	j := c.table[a]
	switch {
	case c.ended:
	case j == nil:
		j = &job{}
		c.table[a] = j
		c.start(a, j)
	case j.running:
		j.again = true
	default:
		c.start(a, j)
	}
}

func (c *Couriers) start(a session.Address, j *job) {
	if c.spawn != nil {
		c.spawn(a, j)
	}
}

// leave ends an idle courier, unless it was nudged meanwhile.
func (c *Couriers) leave(a session.Address, j *job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j.again {
		j.again = false
		return false
	}
	delete(c.table, a)
	c.work(-1)
	return true
}

// abandon ends a courier whose work isn't done. What it tried stays known, so that the next one doesn't take it for fresh.
func (c *Couriers) abandon(j *job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	j.running, j.again = false, false
	c.work(-1)
}
