package session_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// Each message has its phases, "done" last, and every event of them says whose message it was and in which thread.
func TestPhasesOfAMessage(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0))
		var mu sync.Mutex
		var phases []string
		threads := map[string]bool{}
		b.m.Listen([]string{"lifecycle", "error"}, func(a session.Address, ev loop.OutputEvent) {
			mu.Lock()
			defer mu.Unlock()
			from, _ := loop.ProvenanceFrom(ev.Context())
			id, _ := loop.ThreadIDFrom(ev.Context())
			if _, err := ledger.ParseThreadID(id); err != nil {
				t.Errorf("thread %q", id)
			}
			threads[id] = true
			phase := ev.Kind()
			if e, ok := ev.(loop.LifecycleEvent); ok {
				phase = e.Phase
			}
			phases = append(phases, fmt.Sprintf("%s %s from %s", a, phase, from))
		})
		var want []string
		for _, text := range []string{"one", "two"} {
			b.accept(msg(dm, "slack:U1", text))
			time.Sleep(time.Second)
			synctest.Wait()
			for _, phase := range []string{"submitted", "streaming", "done"} {
				want = append(want, fmt.Sprintf("%s %s from %s", dm, phase, dm))
			}
		}
		mu.Lock()
		equal(t, "phases", phases, want)
		mu.Unlock()
		if len(threads) != 1 {
			t.Errorf("threads %v", threads)
		}
		b.stopLife()
	})
}
