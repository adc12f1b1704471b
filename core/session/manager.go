package session

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/semaphore"

	"orebot/core/access"
	"orebot/core/cognitive"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/models"
	"orebot/core/observe"
	"orebot/core/provider"
	"orebot/core/transform/budget"
)

// Platform is what the Manager must know of one conduit.
type Platform struct {
	Policy access.Policy
	People People // nil: its events tell everything
	Namer  Namer  // nil: its messages name people by their names
	Follow bool   // answer without being called where one person and the bot are the only writers

	Readers   Readers       // nil: whoever reads at an address may be shown what was said elsewhere
	Prefix    string        // how people write a command there: "/" or "!"; empty: "/"
	Presenter Presenter     // nil: nothing is shown while an answer is made
	Beat      time.Duration // how often a sign is shown again; 0: it doesn't fade
	Fetcher   Fetcher       // nil: attachments aren't read
	Historian Historian     // nil: what was said before is unknown
}

// Config wires a Manager. Store, Provider and Spec.Model are required; the zero value of the rest is a plain choice.
type Config struct {
	Store     Store
	Provider  provider.Provider
	Spec      models.Spec
	Pattern   cognitive.Pattern // nil: SingleShot
	Transform []loop.Transform
	Handlers  []loop.Handler
	Invoke    []provider.InvokeOption // for each call of the model, such as the tools that it may use
	Commander Commander               // nil: every message is for the model
	Admins    []string                // who may do everything everywhere, such as "slack:U1"
	Tracer    trace.Tracer
	Platforms map[string]Platform // by conduit name; a message of any other is ignored

	SlowNotice    time.Duration // after how long people are told once that an answer takes long; 0: never
	MaxConcurrent int           // turns in flight with a model that doesn't say how many it takes; 0: 4
	RetryFor      time.Duration // how long a failing model server is tried again; 0: never
	MaxAge        time.Duration // an older question gets a line, not an answer; 0: any age is answered
	ShutdownGrace time.Duration // how long turns in flight may finish after Run's ctx has ended
	IdleEvict     time.Duration // 0: 10 minutes
	Erased        func()        // called when a conversation, or a message that may have had files, has been deleted for good; it must not block. nil: nobody wants to know
	Retention     time.Duration // how long a conversation may be idle before it is deleted for good; 0: any time
	KeepEntries   time.Duration // how long an ended entry guards against its duplicates; at least 24 hours
	OneByOne      bool          // one answer for each message, not one for the consecutive ones of an author
	Limits        Limits        // of one person
	WindowBytes   int           // of turns kept live for each thread; 0: 256 KiB
	ShowReasoning bool          // answers are shown with the model's reasoning, unless a conversation is set otherwise
	CompactAt     float64       // share of the context window from which on older turns are summarised; 0: never
	// ContextOf tells how many tokens a model can read, 0 where that isn't known; nil: as many as the Spec's NumCtx says.
	ContextOf func(ctx context.Context, model string) int

	MaxAttachmentBytes int64 // of one file; 0: 20 MiB
	Blobs              Blobs // keeps pictures; nil: they can't be read
	// Vision tells whether a model can see, and which other ones can; nil: every model is thought to.
	Vision func(ctx context.Context, model string) (sees bool, others []string, err error)

	Life     string // names this life of the process
	Logger   *slog.Logger
	Counters observe.Counters
}

func (c *Config) setDefaults() {
	if c.Pattern == nil {
		c.Pattern = cognitive.SingleShot{}
	}
	if c.MaxConcurrent <= 0 {
		c.MaxConcurrent = 4
	}
	if c.IdleEvict <= 0 {
		c.IdleEvict = 10 * time.Minute
	}
	c.KeepEntries = max(c.KeepEntries, 24*time.Hour)
	if c.MaxAttachmentBytes <= 0 {
		c.MaxAttachmentBytes = 20 << 20
	}
	if c.WindowBytes <= 0 {
		c.WindowBytes = 256 << 10
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Counters == nil {
		c.Counters = observe.Nop{}
	}
}

var (
	errShutdown = errors.New("session: shutting down")
)

// Manager owns the Streams. Its methods are safe for concurrent use.
type Manager struct {
	cfg      Config
	model    *gate
	meter    *budget.Meter
	spare    context.Context // of what is done while nobody waits; ends as soon as the Manager stops
	endSpare context.CancelFunc
	alone    *semaphore.Weighted
	trials   *semaphore.Weighted // of questions at which the model's server broke off
	bots     botRows
	turns    context.Context // of every turn; ends when the grace is over
	endTurns context.CancelCauseFunc

	knocks  access.Knocks
	desk    sync.Mutex // held while a stranger gets a code, so that they are counted
	overrun overrun
	limits  limiter
	graves  chan struct{} // has one in it once a conversation is to be deleted

	listeners atomic.Pointer[[]*listener]
	workers   sync.WaitGroup
	signs     *signs

	mu       sync.Mutex
	streams  map[ledger.ThreadID]*Stream
	routes   map[Address]ledger.ThreadID // of addresses whose Stream is live
	places   map[Address]*place
	turnsOf  map[*job]inHand  // that are with the model
	dropped  map[EntryID]bool // by the operator, and still waiting
	busy     int              // workers
	ready    []*Stream        // that wait for a worker, longest first
	stopping bool
}

type listener struct {
	kinds []string
	f     func(Address, loop.OutputEvent)
}

// New returns a Manager; it does nothing until Run.
func New(cfg Config) *Manager {
	cfg.setDefaults()
	turns, end := context.WithCancelCause(context.Background())
	spare, endSpare := context.WithCancel(turns)
	m := &Manager{
		meter:    budget.NewMeter(),
		spare:    spare,
		endSpare: endSpare,
		cfg:      cfg,
		model:    newGate(cfg.Provider, cfg.MaxConcurrent),
		alone:    semaphore.NewWeighted(everyone),
		trials:   semaphore.NewWeighted(1),
		turns:    turns,
		endTurns: end,
		streams:  map[ledger.ThreadID]*Stream{},
		routes:   map[Address]ledger.ThreadID{},
		places:   map[Address]*place{},
		turnsOf:  map[*job]inHand{},
		dropped:  map[EntryID]bool{},
		graves:   make(chan struct{}, 1),
	}
	m.signs = newSigns(m)
	return m
}

// Run wakes the Streams of entries that wait, until ctx ends. Turns in flight then have the grace to finish; what isn't finished
// is left as it is and resumed by the next Run on the same store. An error is that of the feed, without which nothing would be
// answered any more. A Manager runs once.
func (m *Manager) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var own sync.WaitGroup
	own.Go(func() { m.evictIdle(ctx) })
	own.Go(func() { m.signs.sweep(ctx) })
	own.Go(func() { m.eraseForgotten(ctx) })
	own.Go(func() { m.retire(ctx) })
	err := m.cfg.Store.Watch(ctx, m.wake)
	cancel() // the feed may have failed of its own accord
	m.drain()
	own.Wait()
	return err
}

// drain lets the workers finish, for no longer than the grace.
func (m *Manager) drain() {
	m.mu.Lock()
	m.stopping = true
	m.mu.Unlock()
	m.endSpare()
	t := time.AfterFunc(m.cfg.ShutdownGrace, func() { m.endTurns(errShutdown) })
	m.workers.Wait()
	t.Stop()
	m.signs.drain()
	m.endTurns(errShutdown)
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, s := range m.streams {
		s.close()
		delete(m.streams, id)
	}
}

// Listen calls f for every event of the kinds (none: all) with each address that it concerns: a turn with those bound to its
// thread, a notice with the one it is for. f runs on the worker that emits and must not block. stop ends it; a call under way
// may still finish.
func (m *Manager) Listen(kinds []string, f func(Address, loop.OutputEvent)) (stop func()) {
	l := &listener{slices.Clone(kinds), f}
	m.setListeners(func(ls []*listener) []*listener { return append(ls, l) })
	return func() {
		m.setListeners(func(ls []*listener) []*listener {
			return slices.DeleteFunc(ls, func(o *listener) bool { return o == l })
		})
	}
}

func (m *Manager) setListeners(change func([]*listener) []*listener) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ls []*listener
	if old := m.listeners.Load(); old != nil {
		ls = slices.Clone(*old)
	}
	ls = change(ls)
	m.listeners.Store(&ls)
}

func (l *listener) wants(kind string) bool {
	return len(l.kinds) == 0 || slices.Contains(l.kinds, kind)
}

// wanted reports whether anybody listens to a kind of event.
func (m *Manager) wanted(kind string) bool {
	ls := m.listeners.Load()
	return ls != nil && slices.ContainsFunc(*ls, func(l *listener) bool { return l.wants(kind) })
}

func (m *Manager) tell(a Address, ev loop.OutputEvent) {
	for _, l := range *m.listeners.Load() {
		if l.wants(ev.Kind()) {
			l.f(a, ev)
		}
	}
}

// Live returns how many Streams are live.
func (m *Manager) Live() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.streams)
}

// evictIdle closes Streams that have had nothing to do for a while, and forgets what is known of their addresses.
func (m *Manager) evictIdle(ctx context.Context) {
	tick := time.NewTicker(max(m.cfg.IdleEvict/4, time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			m.evictBefore(now.Add(-m.cfg.IdleEvict))
			m.limits.forget(now)
		}
	}
}

func (m *Manager) evictBefore(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, s := range m.streams {
		if s.running || len(s.waiting) > 0 || s.idle.After(t) {
			continue
		}
		s.close()
		delete(m.streams, id)
	}
	for a, thread := range m.routes {
		if m.streams[thread] == nil {
			delete(m.routes, a)
		}
	}
	for a, p := range m.places {
		if p.used.Before(t) {
			delete(m.places, a)
		}
	}
}
