package loop

import (
	"slices"
	"sync"
	"sync/atomic"
)

// outputEventEnvelope carries an event to a FanOut. handed, if not nil, gets a
// value once every subscriber that wants the event has it; it must have room.
type outputEventEnvelope struct {
	event  OutputEvent
	handed chan<- struct{}
}

// FanOut broadcasts events from one source to subscribers, each of which gets
// the kinds it asked for, in the order of the source. It is live: who
// subscribes later doesn't learn what was before.
//
// A subscriber that doesn't read may fall 100,000 events behind; then the FanOut
// waits for it, and with it the source and the other subscribers. Nothing is
// dropped before Close. All methods may be called from any goroutine.
type FanOut struct {
	src  <-chan outputEventEnvelope
	stop chan struct{} // asks the goroutines to end
	done chan struct{} // they have

	mu      sync.Mutex
	stopped bool
	subs    atomic.Pointer[[]*subscriber] // replaced under mu, read without
	pumps   sync.WaitGroup
}

// NewFanOut returns a FanOut that reads src until src or the FanOut is closed.
// It owns one goroutine, which ends then.
func NewFanOut(src <-chan outputEventEnvelope) *FanOut {
	f := &FanOut{src: src, stop: make(chan struct{}), done: make(chan struct{})}
	f.subs.Store(new([]*subscriber))
	go f.run()
	return f
}

// Subscribe returns a channel of the events of the given kinds, of all kinds
// where none is given. It is closed when the FanOut is; after that, Subscribe
// returns a closed channel.
func (f *FanOut) Subscribe(kinds ...string) <-chan OutputEvent {
	s := newSubscriber(kinds)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		close(s.out)
		return s.out
	}
	subs := append(slices.Clip(*f.subs.Load()), s)
	f.subs.Store(&subs)
	return s.out
}

// Close ends the broadcast and closes the channels of all subscribers. It never
// waits for a subscriber: of one that lags, only what is already in its channel
// can still be read. It returns when no goroutine of the FanOut is left, always
// with nil, however often it is called.
func (f *FanOut) Close() error {
	f.halt()
	<-f.done
	return nil
}

// halt turns new subscribers away and asks the goroutines to end.
func (f *FanOut) halt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.stopped {
		f.stopped = true
		close(f.stop)
	}
}

func (f *FanOut) run() {
	defer f.teardown()
	for {
		select {
		case env, ok := <-f.src:
			if !ok {
				return
			}
			f.dispatch(env.event)
			if env.handed != nil {
				env.handed <- struct{}{}
			}
		case <-f.stop:
			return
		}
	}
}

func (f *FanOut) dispatch(ev OutputEvent) {
	kind := ev.Kind()
	for _, s := range *f.subs.Load() {
		if s.wants(kind) {
			s.deliver(ev, f.stop, &f.pumps)
		}
	}
}

// wanted reports whether any subscriber wants the kind.
func (f *FanOut) wanted(kind string) bool {
	for _, s := range *f.subs.Load() {
		if s.wants(kind) {
			return true
		}
	}
	return false
}

func (f *FanOut) teardown() {
	f.halt()
	f.pumps.Wait()
	for _, s := range *f.subs.Load() {
		close(s.out)
	}
	f.subs.Store(new([]*subscriber))
	close(f.done)
}
