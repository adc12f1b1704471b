package storetest

import (
	"context"
	"maps"
	"sync"

	"orebot/core/ledger"
	"orebot/core/session"
)

var (
	_ session.Store = (*Memory)(nil)
	_ session.Lease = (*Memory)(nil)
)

// Memory is a session.Store that forgets everything with the process. It applies Batches one by one in a goroutine that runs only
// while there is work, so that a caller who forgets to wait is found out. It keeps records encoded, so that nothing it was given or
// has returned is shared. It is safe for concurrent use and at home in a synctest bubble.
type Memory struct {
	mu      sync.Mutex
	queue   []queued
	idle    chan struct{} // closed when the committer is done; nil while none runs
	closed  bool
	held    bool
	fails   []failure
	commits int

	records  map[string]record // bindings, cursors, presences, entries and small values, by kind and name
	threads  map[ledger.ThreadID]*thread
	due      map[session.Address]ledger.Seq
	messages map[[2]string]session.MessageRef
	watchers map[*watcher]bool
}

// record is one record outside the log.
type record struct {
	rev  session.Revision
	body []byte
}

// thread is a thread's state and its log; record n of the log is log[n-1].
type thread struct {
	rev   session.Revision
	last  ledger.Seq
	state []byte
	log   []logged
}

type logged struct {
	kind session.LogKind
	body []byte
}

type queued struct {
	b    session.Batch
	e    encoded
	err  error
	done func(session.Result, error)
}

// failure is what FailNext and FailNextApplied ask for.
type failure struct {
	err   error
	apply bool
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{
		records:  make(map[string]record),
		threads:  make(map[ledger.ThreadID]*thread),
		due:      make(map[session.Address]ledger.Seq),
		messages: make(map[[2]string]session.MessageRef),
		watchers: make(map[*watcher]bool),
	}
}

// Commit implements session.Committer.
func (m *Memory) Commit(_ context.Context, b session.Batch, done func(session.Result, error)) {
	e, err := encode(&b)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, queued{b, e, err, done})
	m.start()
}

// start runs a committer if there is something to do and none runs. The caller holds the lock.
func (m *Memory) start() {
	if m.idle == nil && len(m.queue) > 0 && (!m.held || m.closed) {
		m.idle = make(chan struct{})
		go m.drain(m.idle)
	}
}

func (m *Memory) drain(idle chan struct{}) {
	defer close(idle)
	for {
		q, ok := m.take()
		if !ok {
			return
		}
		r, err := m.commit(q)
		q.done(r, err)
	}
}

func (m *Memory) take() (queued, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 || m.held && !m.closed {
		m.idle = nil
		return queued{}, false
	}
	q := m.queue[0]
	m.queue = m.queue[1:]
	return q, true
}

// commit applies one Batch, or fails it as was asked for.
func (m *Memory) commit(q queued) (session.Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if q.err != nil {
		return session.Result{}, q.err
	}
	if m.closed {
		return session.Result{}, session.ErrClosed
	}
	var f failure
	if len(m.fails) > 0 {
		f, m.fails = m.fails[0], m.fails[1:]
	}
	if f.err != nil && !f.apply {
		return session.Result{}, f.err
	}
	if err := m.check(&q.b); err != nil {
		return session.Result{}, err
	}
	m.apply(&q.b, q.e)
	m.commits++
	if f.err != nil {
		return session.Result{}, f.err
	}
	r := session.Result{Rev: q.b.ID}
	if n := len(q.b.Log); n > 0 {
		r.Last = q.b.Log[n-1].Seq
	}
	return r, nil
}

// Erase implements session.Eraser.
func (m *Memory) Erase(ctx context.Context, id ledger.ThreadID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return session.ErrClosed
	}
	delete(m.threads, id)
	maps.DeleteFunc(m.messages, func(_ [2]string, ref session.MessageRef) bool { return ref.Thread == id })
	return ctx.Err()
}

// FailNext lets the next Batch that is taken, and is well-formed, fail with err; nothing of it is put. Calls add up: each is good
// for one Batch.
func (m *Memory) FailNext(err error) { m.failNext(failure{err: err}) }

// FailNextApplied lets the next Batch be applied, and its writer be told err all the same: the outcome that session.ErrUnknown
// leaves open. A Batch whose preconditions fail gets its Conflict.
func (m *Memory) FailNextApplied(err error) { m.failNext(failure{err: err, apply: true}) }

func (m *Memory) failNext(f failure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails = append(m.fails, f)
}

// Hold lets Batches wait from now on; the one that is being applied is finished. Reads go on.
func (m *Memory) Hold() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held = true
}

// Release ends Hold.
func (m *Memory) Release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held = false
	m.start()
}

// Commits returns how many Batches were applied.
func (m *Memory) Commits() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.commits
}

// Close fails what waits and everything that comes with session.ErrClosed, ends every Watch, and waits for the committer. Reads go
// on working, so that a test can look at what is left.
func (m *Memory) Close() error {
	m.mu.Lock()
	m.closed = true
	for w := range m.watchers {
		w.signal()
	}
	m.start()
	idle := m.idle
	m.mu.Unlock()
	if idle != nil {
		<-idle
	}
	return nil
}

// Acquire implements session.Lease: a Memory is always held.
func (m *Memory) Acquire(ctx context.Context, _ string) error { return ctx.Err() }

// Valid implements session.Lease.
func (m *Memory) Valid() bool { return true }

// Lost implements session.Lease.
func (m *Memory) Lost() <-chan struct{} { return nil }
