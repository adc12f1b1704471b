package conduit_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/ledger"
	"orebot/core/session"
)

// TestBlockedBesideFast delivers to one address while another one hangs and a third keeps failing.
func TestBlockedBesideFast(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA, placeB, placeC))
		b.p.Next(placeA, conduittest.Trouble{Hang: time.Hour})
		for range 50 {
			b.p.Next(placeC, refuse(conduit.Retry))
		}
		b.must(b.w.Answer("0123456789abc"))
		start := time.Now()
		l := b.start("one")
		synctest.Wait()
		b.wantTexts(placeB, "0123456789", "abc")
		if d := b.p.At(placeB)[1].At.Sub(start); d != 0 {
			t.Errorf("the fast one waited %v", d)
		}
		l.rest(2 * time.Hour)
		b.wantTexts(placeA, "0123456789", "abc")
		b.wantTexts(placeC, "0123456789", "abc")
	})
}

// TestStop ends between parts: a post in flight may finish within the grace, and its outcome is written; one that can't is unknown.
func TestStop(t *testing.T) {
	for _, c := range []struct {
		name string
		hang time.Duration
		took time.Duration
		want []string
	}{
		{"in time", 3 * time.Second, 2 * time.Second, []string{"0123456789", "abc"}},
		{"cut off", time.Minute, 5 * time.Second, []string{repeat + "0123456789", "abc"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newBench(t, false)
				b.must(b.w.Bind(placeA))
				b.must(b.w.Answer("0123456789abc"))
				b.p.Next(placeA, conduittest.Trouble{Hang: c.hang})
				l := b.start("one")
				time.Sleep(time.Second)
				stopped := time.Now()
				b.must(l.stop())
				if d := time.Since(stopped); d != c.took {
					t.Errorf("stopping took %v", d)
				}
				b.start("two").rest(time.Minute)
				b.wantTexts(placeA, c.want...)
				b.wantServed(placeA)
			})
		})
	}
}

// TestStopLeavesNoTrace takes intents back that surely came to nothing: while pacing, backing off, pausing.
func TestStopLeavesNoTrace(t *testing.T) {
	for name, c := range map[string]struct {
		pacer   conduit.Pacer
		trouble conduittest.Trouble
	}{
		"pacing":      {stuck{}, conduittest.Trouble{}},
		"backing off": {nil, refuse(conduit.Retry)},
		"told to":     {nil, conduittest.Trouble{Err: &conduit.Error{Class: conduit.RetryAfter, After: time.Hour}}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newBench(t, false)
				b.cfg.Pacer = c.pacer
				b.w.Life = "one"
				b.must(b.w.Bind(placeA))
				b.must(b.w.Answer("answer"))
				b.p.Chance = func(session.Address) conduittest.Trouble { return c.trouble }
				b.start("one").rest(time.Minute)
				if at := b.address(placeA).Cursor.Attempt; at != nil {
					t.Errorf("the intent stays: %+v", at)
				}
				b.cfg.Pacer, b.p.Chance = nil, nil
				b.start("two").rest(time.Minute)
				b.wantTexts(placeA, "answer")
			})
		})
	}
}

type stuck struct{}

func (stuck) Wait(ctx context.Context, _ session.Address) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestLayoutChange re-splits from the offset.
func TestLayoutChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA))
		b.must(b.w.Answer("0123456789abcdefghijkl"))
		b.p.Next(placeA, conduittest.Trouble{}, refuse(conduit.Retry))
		l := b.start("one")
		synctest.Wait()
		b.must(l.stop())
		b.cfg.Renderer = conduittest.Text{Limit: 4, Version: 2}
		b.start("two").rest(time.Minute)
		b.wantTexts(placeA, "0123456789", "abcd", "efgh", "ijkl")
	})
}

// TestLayoutChangeFound doesn't trust a part that another layout cut: where it ended is unknown, so it comes again, labelled.
func TestLayoutChangeFound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, true)
		b.must(b.w.Bind(placeA))
		b.must(b.w.Answer("0123456789abc"))
		b.dies("one", 4) // the first part is shown, the process dies
		b.wantTexts(placeA, "0123456789")
		b.cfg.Renderer = conduittest.Text{Limit: 11, Version: 2}
		b.start("two").rest(time.Minute)
		b.wantTexts(placeA, "0123456789", repeat+"0123456789a", "bc")
	})
}

// TestWaitsForTheLookUp asks at the earliest 10 s after the post, and after the start of a life that didn't make it.
func TestWaitsForTheLookUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, true)
		b.must(b.w.Bind(placeA))
		b.must(b.w.Answer("answer"))
		b.dies("one", 4)
		time.Sleep(time.Hour)
		var asked time.Time
		b.p.FindChance = func(session.Address) error { asked = time.Now(); return nil }
		start := time.Now()
		b.start("two").rest(time.Minute)
		if d := asked.Sub(start); d != 10*time.Second {
			t.Errorf("asked after %v", d)
		}
		b.wantTexts(placeA, "answer")
	})
}

// TestStoreTrouble goes on after a pause and a conflict, and stops quietly when the outcome of a write is unknown.
func TestStoreTrouble(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, true)
		b.must(b.w.Bind(placeA))
		b.must(b.w.Answer("0123456789abc"))
		b.store.FailNext(session.ErrPaused)
		b.store.FailNext(session.ErrPaused)
		l := b.start("one")
		time.Sleep(time.Minute)
		b.wantTexts(placeA, "0123456789", "abc")
		for _, fail := range []func(error){b.store.FailNext, b.store.FailNextApplied} {
			b.must(b.w.Answer("more"))
			fail(session.ErrUnknown)
			l.c.Nudge(placeA)
			time.Sleep(time.Minute)
			l.c.Nudge(placeA)
			time.Sleep(time.Minute)
		}
		l.rest(0)
		b.wantTexts(placeA, "0123456789", "abc", "more", "more")
		b.wantServed(placeA)
	})
}

// TestConflict goes on when somebody else writes the cursor while a part is posted.
func TestConflict(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA))
		b.must(b.w.Answer("0123456789abc"))
		b.p.After = func(session.Address) error {
			b.p.After = nil
			st := b.address(placeA)
			batch := session.Batch{ID: session.NewBatchID()}
			batch.Cursors = []session.CursorWrite{{Address: placeA, Rev: st.CursorRev, Cursor: st.Cursor}}
			_, err := session.CommitWait(context.Background(), b.store, batch)
			return err
		}
		b.start("one").rest(time.Minute)
		b.wantTexts(placeA, "0123456789", "abc")
		b.wantServed(placeA)
	})
}

// putCursor writes an address's cursor, and raises due for it.
func (b *bench) putCursor(a session.Address, cur session.Cursor, due ledger.Seq) {
	b.t.Helper()
	batch := session.Batch{ID: session.NewBatchID()}
	batch.Cursors = []session.CursorWrite{{Address: a, Rev: b.address(a).CursorRev, Cursor: cur}}
	batch.Due = []session.DueWrite{{Address: a, Seq: due}}
	_, err := session.CommitWait(b.t.Context(), b.store, batch)
	b.must(err)
}

// TestOddCursors passes over an intent for a record that isn't shown, and never goes back.
func TestOddCursors(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA))
		b.must(b.w.User(placeA, "mem:U1", "hello"))
		b.must(b.w.Answer("answer"))
		b.putCursor(placeA, session.Cursor{Seq: 1, Attempt: &session.Attempt{N: 1, Since: time.Now(), Life: "zero"}}, 2)
		b.start("one").rest(time.Minute)
		b.wantTexts(placeA, "answer")
		b.wantServed(placeA)
		b.putCursor(placeA, b.address(placeA).Cursor, 2)
		b.start("two").rest(time.Minute)
		b.wantTexts(placeA, "answer")
		b.wantServed(placeA)
	})
}

// torn is a store of which one record can't be decoded.
type torn struct {
	session.Store
	bad ledger.Seq
}

func (s torn) Log(ctx context.Context, id ledger.ThreadID, from ledger.Seq, limit int) ([]session.LogRecord, error) {
	if from <= s.bad && s.bad < from+ledger.Seq(limit) {
		return nil, &session.CorruptError{Thread: id, Seq: s.bad, Err: errors.New("torn")}
	}
	return s.Store.Log(ctx, id, from, limit)
}

// flaky is a store whose reads fail now and then.
type flaky struct {
	session.Store
	n atomic.Int32
}

func (f *flaky) Address(ctx context.Context, a session.Address) (session.AddressState, error) {
	if f.n.Add(1)%3 == 1 {
		return session.AddressState{}, errors.New("store: busy")
	}
	return f.Store.Address(ctx, a)
}

func (f *flaky) Log(ctx context.Context, id ledger.ThreadID, from ledger.Seq, limit int) ([]session.LogRecord, error) {
	if f.n.Add(1)%5 == 2 {
		return nil, errors.New("store: busy")
	}
	return f.Store.Log(ctx, id, from, limit)
}

func (f *flaky) Due(ctx context.Context, name string, after session.Address, limit int) ([]session.Address, error) {
	if f.n.Add(1)%2 == 1 {
		return nil, errors.New("store: busy")
	}
	return f.Store.Due(ctx, name, after, limit)
}

// TestReads retries reads, and skips what can't be read without losing what follows.
func TestReads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA))
		for _, s := range []string{"one", "two", "three", "four"} {
			b.must(b.w.Answer(s))
		}
		b.cfg.Store = &flaky{Store: torn{b.store, 3}}
		b.start("one").rest(time.Hour)
		b.wantTexts(placeA, "one", "two", "four")
		b.wantServed(placeA)
	})
}

// TestManyDue serves more addresses than a page of the due list holds.
func TestManyDue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		for i := range 600 {
			a := placeA + session.Address(rune('0'+i/100)) + session.Address(rune('0'+i/10%10)) + session.Address(rune('0'+i%10))
			w := conduittest.NewWriter(b.store, byte(i))
			w.Thread[1] = byte(i >> 8)
			b.must(w.Bind(a))
			b.must(w.Answer("hello"))
		}
		b.start("one").rest(time.Minute)
		if n := b.p.Tries(); n != 600 {
			t.Errorf("%d posts", n)
		}
		due, err := b.store.Due(t.Context(), "mem", "", 10)
		if b.must(err); len(due) != 0 {
			t.Errorf("still due: %v", due)
		}
	})
}
