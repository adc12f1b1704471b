package conduit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

var errUntold = errors.New("nobody can tell who reads")

// An answer to a message of the address itself, and a line about one, is shown at once though nobody can tell who reads there, and though
// that message can't be read any more, or was never noted: no look-up holds it up.
func TestOnesOwnNeverWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, true)
		b.must(b.w.Bind(placeA))
		torn, gone := session.EntryID{Address: placeA, Key: "torn"}, session.EntryID{Address: placeA, Key: "gone"}
		b.cfg.Store = unread{b.store, torn}
		b.must(b.w.Answer("one", torn))
		b.must(b.w.Answer("two", gone))
		b.must(b.w.Notice(placeA, "three", gone))
		b.must(b.w.End(session.EndRecord{To: placeA, Text: "four", Of: gone}))
		b.must(b.w.End(session.EndRecord{To: placeA, Text: "five", Reply: "17"})) // as lines were before they named a message
		b.guard().set(placeA, false, errUntold)
		b.start("one").rest(time.Second)
		b.wantTexts(placeA, "one", "two", "three", "four", "five")
		b.wantServed(placeA)
	})
}

// unread is a store with an entry that can't be decoded.
type unread struct {
	*storetest.Memory
	id session.EntryID
}

func (s unread) Entry(ctx context.Context, id session.EntryID) (session.StoredEntry, bool, error) {
	if id == s.id {
		return session.StoredEntry{}, false, &session.CorruptError{Err: errors.New("torn")}
	}
	return s.Memory.Entry(ctx, id)
}

// Where it stays unknown who reads at an address, what is said elsewhere costs its patience once, not each time that an answer of the
// address's own has been shown in between.
func TestPatienceForReadersIsSpentOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, true)
		b.must(b.w.Bind(placeA, placeB))
		own, err := b.w.Ask(placeA, "1")
		b.must(err)
		const n = 10
		for range n {
			b.must(b.w.User(placeB, "mem:b", "theirs"))
			b.must(b.w.Answer("own", own))
		}
		asked := 0
		b.cfg.Reads = func(_ context.Context, a session.Address, in *session.Inbound) (bool, error) {
			if in != nil || a == placeB {
				return true, nil
			}
			asked++
			return false, errUntold
		}
		b.start("one").rest(2 * time.Hour)
		b.wantTexts(placeA, slices.Repeat([]string{"own"}, n)...)
		b.wantServed(placeA)
		if asked > 60+2*n {
			t.Errorf("asked %d times", asked)
		}
	})
}

// What is edited or taken back while it waits to be known who reads there isn't posted in the old wording.
func TestAnEditWhileReadersAreUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		now  string
		want []string
	}{"edited": {"two", []string{"mem:b: two", "answer"}}, "taken back": {"~", []string{"answer"}}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newLinked(t, true, "one")
				b.must(b.w.Answer("answer"))
				texts := ever(b.p)
				n := 0
				b.cfg.Reads = func(_ context.Context, a session.Address, _ *session.Inbound) (bool, error) {
					if a != placeA {
						return true, nil
					}
					switch n++; n {
					case 2, 3: // the first time, before its intent, it is known
						return false, errUntold
					case 4:
						b.must(b.w.Edit(placeB, 1, c.now))
					}
					return true, nil
				}
				b.start("one").rest(time.Hour)
				b.wantTexts(placeA, c.want...)
				b.wantServed(placeA)
				for _, got := range texts() {
					if strings.Contains(got, "one") {
						t.Errorf("%q was shown", got)
					}
				}
			})
		})
	}
}

// Nothing is posted by a process that isn't in charge any more once it knows who reads there.
func TestALeaseThatEndsWhileReadersAreAsked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newLinked(t, true, "one")
		lease := &brittle{lostLease{lost: make(chan struct{})}}
		b.cfg.Lease = lease
		var n atomic.Int64
		b.cfg.Reads = func(_ context.Context, a session.Address, _ *session.Inbound) (bool, error) {
			if a == placeA && n.Add(1) == 2 {
				close(lease.lost)
				time.Sleep(time.Second)
			}
			return true, nil
		}
		l := b.start("one")
		time.Sleep(time.Minute)
		if err := l.stop(); !errors.Is(err, conduit.ErrLeaseLost) {
			t.Errorf("Run: %v", err)
		}
		b.wantTexts(placeA)
	})
}

// brittle is a lease that holds until it is lost.
type brittle struct{ lostLease }

func (l *brittle) Valid() bool {
	select {
	case <-l.lost:
		return false
	default:
		return true
	}
}
