package session_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/session"
	"orebot/core/session/storetest"
)

// Many people in one place at once, each message delivered twice: one turn for each, no race, one thread.
func TestACrowdInOnePlace(t *testing.T) {
	const place = session.Address("slack:T1/C1/1.0")
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(time.Second))
		var all []session.Inbound
		for i := range 60 {
			call := session.CallMention
			if i%3 == 2 {
				call = session.CallAmbient
			}
			all = append(all, msg(place, fmt.Sprintf("slack:U%d", i%7), fmt.Sprintf("<%d>", i), func(in *session.Inbound) { in.Call = call }))
		}
		b.accept(all[0])
		b.accept(all[1])
		var wg sync.WaitGroup
		for range 2 {
			for _, in := range all {
				wg.Go(func() { b.m.Accept(t.Context(), in, func(session.Receipt) {}) })
			}
		}
		wg.Wait()
		time.Sleep(time.Hour)
		synctest.Wait()
		asked := strings.Join(b.log(place), " ")
		for i, in := range all {
			want := map[bool]session.EntryState{true: session.EntryHeard, false: session.EntryEnded}[in.Call == session.CallAmbient]
			if e := b.entry(in); e.State != want {
				t.Errorf("message %d has the state %d, want %d", i, e.State, want)
			}
			if n := strings.Count(asked, fmt.Sprintf("<%d>", i)); n != map[bool]int{true: 0, false: 2}[in.Call == session.CallAmbient] {
				t.Errorf("message %d stands %d times in the log", i, n)
			}
		}
		b.stopLife()
	})
}

// Messages that come just when their thread goes cold find it all the same.
func TestEvictionLosesNoMessage(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		rnd := rand.New(rand.NewPCG(1, 2))
		b := start(t, mem, echo(0), func(c *session.Config) { c.IdleEvict, c.OneByOne = time.Second, true })
		var all []session.Inbound
		for i := range 120 {
			in := msg(session.Address(fmt.Sprintf("slack:T1/D%d", i%2)), "slack:U1", fmt.Sprint(i))
			all = append(all, in)
			b.accept(in)
			time.Sleep(time.Duration(rnd.IntN(5)) * 500 * time.Millisecond)
		}
		synctest.Wait()
		for _, in := range all {
			b.ended(in, session.EndAnswered)
		}
		if n := len(b.log("slack:T1/D0")); n != 120 {
			t.Errorf("%d records, want 120", n)
		}
		b.stopLife()
	})
}
