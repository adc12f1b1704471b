package loop

import (
	"sync"
	"testing"
	"testing/synctest"
)

func number(i int) OutputEvent { return NoticeEvent{Notice: Notice{Severity: Severity(i % 200)}} }

// feed is a FanOut with a source to write to.
func feed() (*FanOut, chan outputEventEnvelope) {
	src := make(chan outputEventEnvelope)
	return NewFanOut(src), src
}

// shortLag is the lag that shorten allows, for tests that don't ask how long it
// may be.
const shortLag = 100

func shorten(f *FanOut) {
	for _, s := range *f.subs.Load() {
		s.limit = shortLag - window
	}
}

func lifecycle(p string) OutputEvent { return LifecycleEvent{Phase: p} }

func TestFanOutFiltersByKindInOneOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, src := feed()
		defer f.Close()
		all, some := f.Subscribe(), f.Subscribe("lifecycle", "error")
		notices := f.Subscribe("notice")
		for _, ev := range []OutputEvent{lifecycle("1"), number(2), ErrorEvent{}, lifecycle("4")} {
			src <- outputEventEnvelope{event: ev}
		}
		synctest.Wait()
		for name, tt := range map[string]struct {
			ch   <-chan OutputEvent
			want []string
		}{
			"all":     {all, []string{"1", "notice ", "error", "4"}},
			"some":    {some, []string{"1", "error", "4"}},
			"notices": {notices, []string{"notice "}},
		} {
			if len(tt.ch) != len(tt.want) {
				t.Fatalf("%s: %d events, want %d", name, len(tt.ch), len(tt.want))
			}
			for _, want := range tt.want {
				if got := tell(<-tt.ch); got != want {
					t.Errorf("%s: got %s, want %s", name, got, want)
				}
			}
		}
	})
}

func TestFanOutIsLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, src := feed()
		defer f.Close()
		src <- outputEventEnvelope{event: lifecycle("before")}
		synctest.Wait()
		ch := f.Subscribe()
		src <- outputEventEnvelope{event: lifecycle("after")}
		synctest.Wait()
		if len(ch) != 1 || tell(<-ch) != "after" {
			t.Error("a subscriber got what was before it")
		}
	})
}

// A subscriber that reads nothing may lag by exactly 100,000 events; the next
// one waits until it reads, and nothing is lost or reordered.
func TestFanOutLagThenBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, src := feed()
		defer f.Close()
		slow := f.Subscribe()
		go func() {
			for i := range maxLag + 10 {
				src <- outputEventEnvelope{event: number(i)}
			}
		}()
		synctest.Wait()
		s := (*f.subs.Load())[0]
		s.mu.Lock()
		held, waiting := s.queue.n+len(s.out), s.room != nil
		s.mu.Unlock()
		if held != 100_000 || !waiting {
			t.Fatalf("%d events held, waiting %v", held, waiting)
		}
		for i := range maxLag + 10 {
			if got := (<-slow).(NoticeEvent).Notice.Severity; got != Severity(i%200) {
				t.Fatalf("event %d is %d", i, got)
			}
		}
	})
}

// One subscriber's lag is no other's: the fast one gets everything at once.
func TestFanOutLagIsPrivate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, src := feed()
		defer f.Close()
		_, fast := f.Subscribe(), f.Subscribe()
		for i := range 5000 {
			src <- outputEventEnvelope{event: number(i)}
			<-fast
		}
	})
}

// The memory of a lag goes away with it, and so does its goroutine.
func TestFanOutCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, src := feed()
		defer f.Close()
		ch := f.Subscribe()
		s := (*f.subs.Load())[0]
		for round := range 3 {
			for i := range 1000 {
				src <- outputEventEnvelope{event: number(i)}
			}
			synctest.Wait()
			if !s.pumping {
				t.Fatalf("round %d: no lag", round)
			}
			for i := range 1000 {
				if got := (<-ch).(NoticeEvent).Notice.Severity; got != Severity(i%200) {
					t.Fatalf("round %d: event %d is %d", round, i, got)
				}
			}
			synctest.Wait()
			if s.pumping || s.queue.head != nil {
				t.Fatalf("round %d: something is left of the lag", round)
			}
		}
	})
}

// The bubble ends only when every goroutine has, so each case shows that none
// is left.
func TestFanOutClose(t *testing.T) {
	cases := map[string]func(t *testing.T, f *FanOut, src chan outputEventEnvelope){
		"idle": func(*testing.T, *FanOut, chan outputEventEnvelope) {},
		"with a lag": func(_ *testing.T, _ *FanOut, src chan outputEventEnvelope) {
			for i := range 1000 {
				src <- outputEventEnvelope{event: number(i)}
			}
		},
		"while it waits for a subscriber": func(t *testing.T, f *FanOut, src chan outputEventEnvelope) {
			shorten(f)
			for i := range shortLag + 1 {
				src <- outputEventEnvelope{event: number(i)}
			}
			synctest.Wait()
			if s := (*f.subs.Load())[0]; s.room == nil {
				t.Error("it doesn't wait")
			}
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, src := feed()
				a, b := f.Subscribe(), f.Subscribe("none")
				prepare(t, f, src)
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						if err := f.Close(); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				n := 0
				for range a {
					n++
				}
				if n > window {
					t.Errorf("%d events of the backlog are left", n)
				}
				if _, ok := <-b; ok {
					t.Error("b is open")
				}
				if _, ok := <-f.Subscribe(); ok {
					t.Error("a later subscription is open")
				}
			})
		})
	}
}

func TestFanOutEndsWithItsSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, src := feed()
		ch := f.Subscribe()
		src <- outputEventEnvelope{event: number(1)}
		close(src)
		synctest.Wait()
		if tell(<-ch) != "notice " {
			t.Error("the last event is gone")
		}
		if _, ok := <-ch; ok {
			t.Error("the channel is open")
		}
		if _, ok := <-f.Subscribe(); ok {
			t.Error("a later subscription is open")
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Subscribers come while events flow and the FanOut is closed in the middle.
func TestFanOutConcurrently(t *testing.T) {
	f, src := feed()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				ch := f.Subscribe("notice")
				wg.Go(func() {
					for range ch {
					}
				})
			}
		})
	}
	for i := range 500 {
		src <- outputEventEnvelope{event: number(i)}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
}

// What a backlog holds is what is in it, to a chunk at each end; what was taken out is let go.
func TestQueueHoldsWhatIsInIt(t *testing.T) {
	var q queue
	chunks := func() (n int) {
		for c := q.head; c != nil; c = c.next {
			n++
		}
		return n
	}
	if chunks() != 0 {
		t.Error("an empty queue holds memory")
	}
	for i := range 5000 {
		q.push(number(i))
	}
	for range 5 {
		if n, most := chunks(), q.n/chunkSize+2; n > most {
			t.Errorf("%d chunks for %d events, want at most %d", n, q.n, most)
		}
		for range 990 {
			q.pop()
		}
		for i := range q.from {
			if q.head.events[i] != nil {
				t.Fatal("an event that was taken out is still held")
			}
		}
	}
}

func TestQueue(t *testing.T) {
	var q queue
	next, want := 0, 0
	for round := range 5 {
		for range (round + 1) * 100 {
			q.push(lifecycle(string(rune(next))))
			next++
		}
		for range (round+1)*100 - 30 {
			if q.front().(LifecycleEvent).Phase != string(rune(want)) {
				t.Fatalf("event %d is out of order", want)
			}
			q.pop()
			want++
		}
		if q.n != next-want {
			t.Fatalf("%d events, want %d", q.n, next-want)
		}
	}
	for q.n > 0 {
		q.pop()
	}
	if q.head != q.tail || q.from != 0 || q.to != 0 {
		t.Error("an empty queue holds more than one chunk")
	}
}
