package conduit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/session"
)

// door tells who may read: whoever is at an address that isn't shut.
type door struct {
	mu    sync.Mutex
	shut  map[session.Address]bool
	err   error
	asked int
}

// guard puts a door before the couriers of a bench.
func (b *bench) guard(shut ...session.Address) *door {
	d := &door{shut: map[session.Address]bool{}}
	for _, a := range shut {
		d.shut[a] = true
	}
	b.cfg.Reads = d.reads
	return d
}

func (d *door) reads(_ context.Context, a session.Address, _ *session.Inbound) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	return !d.shut[a], d.err
}

func (d *door) set(a session.Address, shut bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut[a], d.err = shut, err
}

// Whoever may not read at an address is shown nothing of what is said from then on, be it a question, an answer, a line or an edit; what
// their own messages came to counts as undeliverable. What was shown before stays, but for what its author takes back. Let in again, they
// are shown what follows, and nothing of what was said in between.
func TestWhatIsSaidIsWithheld(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newLinked(t, true, "one")
		b.must(b.w.User(placeB, "mem:b", "two"))
		d := b.guard()
		l := b.start("one")
		time.Sleep(time.Hour)
		d.set(placeA, true, nil)
		id, err := b.w.Ask(placeA, "1")
		b.must(err)
		theirs, err := b.w.Ask(placeB, "2")
		b.must(err)
		b.must(b.w.Edit(placeB, 1, "uno"))
		b.must(b.w.Rewrite(placeB, 2, ""))
		b.must(b.w.User(placeB, "mem:b", "secret"))
		b.must(b.w.Answer("an answer", id, theirs))
		b.must(b.w.Notice(placeA, "a line"))
		for range 3 { // what is withheld stays so, whatever wakes the courier
			l.c.Nudge(placeA)
			l.c.Nudge(placeB)
			time.Sleep(time.Hour)
		}
		b.wantTexts(placeA, "mem:b: one")
		b.wantServed(placeA)
		b.wantTexts(placeB, "an answer")
		for id, want := range map[session.EntryID]session.End{id: session.EndUndeliverable, theirs: session.EndAnswered} {
			if e, _, err := b.store.Entry(t.Context(), id); err != nil || e.End != want {
				t.Errorf("%s ended %s, want %s (%v)", id, e.End, want, err)
			}
		}
		d.set(placeA, false, nil)
		b.must(b.w.Edit(placeB, 5, "a secret")) // nothing of it was shown
		b.must(b.w.User(placeB, "mem:b", "welcome"))
		l.c.Nudge(placeA)
		time.Sleep(time.Hour)
		b.must(b.w.Edit(placeB, 1, "eins"))
		l.c.Nudge(placeA)
		l.rest(time.Hour)
		b.wantTexts(placeA, "mem:b: eins", "mem:b: welcome")
		b.wantServed(placeA)
	})
}

// Access that ends between two parts, while a part waits, or while nobody knows whether one arrived ends the rest of it; and what ends in
// the middle of one life isn't begun again by the next one.
func TestAccessThatEndsInTheMiddle(t *testing.T) {
	for name, c := range map[string]struct {
		trouble conduittest.Trouble // of the second part
		want    []string
	}{
		"between two parts":             {conduittest.Trouble{}, []string{"0123456789", "abcdefghij"}},
		"while a part waits":            {refuse(conduit.RetryAfter), []string{"0123456789"}},
		"while one may have arrived":    {failing(false, 0), []string{"0123456789"}},
		"while one has, and none knows": {failing(true, 0), []string{"0123456789", "abcdefghij"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newBench(t, true)
				b.must(b.w.Bind(placeA))
				b.must(b.w.Answer("0123456789abcdefghijend"))
				d := b.guard()
				n := 0
				b.p.Chance = func(session.Address) conduittest.Trouble {
					if n++; n != 2 {
						return conduittest.Trouble{}
					}
					d.set(placeA, true, nil)
					return c.trouble
				}
				b.start("one").rest(time.Hour)
				d.set(placeA, false, nil)
				b.start("two").rest(time.Hour)
				b.wantTexts(placeA, c.want...)
				b.wantServed(placeA)
			})
		})
	}
}

// Where nobody can tell who reads at an address, what is said waits as long as most outages take, and is shown once it is known that it may
// be; later, or where the platform won't tell, it is taken to be for nobody, so that it doesn't hold up for ever what follows. What is for
// everybody never waits.
func TestReadersThatAreUnknown(t *testing.T) {
	errDown := errors.New("down")
	for name, c := range map[string]struct {
		err  error
		down time.Duration
		want []string
	}{
		"for a minute":     {errDown, time.Minute, []string{"mem:b: one", "mem:b: two"}},
		"for half an hour": {errDown, 30 * time.Minute, []string{"mem:b: one", "mem:b: two"}},
		"for two hours":    {errDown, 2 * time.Hour, []string{"mem:b: two"}},
		"for good":         {refuse(conduit.Gone).Err, time.Second, []string{"mem:b: two"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newLinked(t, true, "one")
				d := b.guard()
				d.set(placeA, false, c.err)
				l := b.start("one")
				time.Sleep(c.down)
				d.set(placeA, false, nil)
				time.Sleep(time.Hour)
				b.must(b.w.User(placeB, "mem:b", "two"))
				l.c.Nudge(placeA)
				l.rest(time.Hour)
				b.wantTexts(placeA, c.want...)
				b.wantServed(placeA)
				if d.asked > 70 {
					t.Errorf("asked %d times", d.asked)
				}
			})
		})
	}
	bubble(t, func(t *testing.T) {
		b := newBench(t, true)
		b.must(b.w.Bind(placeA))
		b.guard(placeA).set(placeA, true, errDown)
		b.must(b.w.End(session.EndRecord{To: placeA, Text: "not you", Always: true}))
		b.start("one").rest(time.Second)
		b.wantTexts(placeA, "not you")
	})
}

// What is about a message of the address itself is judged by that: the answer to it, the line that ends it, and a line beside those. What
// tells of others isn't, nor an answer to what was asked elsewhere.
func TestWhatIsOnesOwn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, true)
		b.must(b.w.Bind(placeA))
		own, err := b.w.Ask(placeA, "1")
		b.must(err)
		theirs, err := b.w.Ask(placeB, "2")
		b.must(err)
		b.must(b.w.Answer("own", theirs, own))
		b.must(b.w.Notice(placeA, "own end", own))
		b.must(b.w.End(session.EndRecord{To: placeA, Text: "own beside", Of: own}))
		b.must(b.w.Answer("theirs", theirs))
		b.must(b.w.Notice(placeA, "of others"))
		b.cfg.Reads = func(_ context.Context, _ session.Address, asked *session.Inbound) (bool, error) {
			return asked != nil && asked.ID() == own, nil
		}
		b.cfg.Renderer = conduittest.Text{Limit: 30}
		b.start("one").rest(time.Hour)
		b.wantTexts(placeA, "own", "own end", "own beside")
		b.wantServed(placeA)
	})
}

// Wherever the process dies around what is withheld, the address is served in the end, and nothing is shown that isn't to be.
func TestDeathAtEveryStepOfWhatIsWithheld(t *testing.T) {
	for at := range 12 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newLinked(t, true, "one")
				id, err := b.w.Ask(placeA, "1")
				b.must(err)
				b.must(b.w.Answer("secret", id))
				b.must(b.w.Edit(placeB, 1, "uno"))
				b.guard(placeA)
				failing := &faulty{Store: b.store, left: at}
				b.cfg.Store = failing
				b.start("one").rest(time.Hour)
				b.cfg.Store = b.store
				b.start("two").rest(time.Hour)
				b.wantTexts(placeA)
				b.wantServed(placeA)
				b.wantTexts(placeB, "secret")
				if e, _, err := b.store.Entry(t.Context(), id); err != nil || e.End != session.EndUndeliverable {
					t.Errorf("ended %s (%v)", e.End, err)
				}
			})
		})
	}
}

// faulty is a store that takes some Batches, and then, as if the process had died, no more.
type faulty struct {
	session.Store
	mu   sync.Mutex
	left int
}

func (f *faulty) Commit(ctx context.Context, b session.Batch, done func(session.Result, error)) {
	f.mu.Lock()
	f.left--
	dead := f.left < 0
	f.mu.Unlock()
	if dead {
		done(session.Result{}, session.ErrClosed)
		return
	}
	f.Store.Commit(ctx, b, done)
}
