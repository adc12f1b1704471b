package main

import (
	"context"
	"time"

	"orebot/core/observe"
	"orebot/store/blob"
)

// Files that nothing refers to are looked for once a day, and not while a start has more to do; when conversations have been deleted, a
// moment later, but for no more than a hundredth of the time, and again when the time is over for which any file is kept.
const (
	blobsEvery = 24 * time.Hour
	blobsFirst = 10 * time.Minute
	blobsSoon  = 5 * time.Second
	blobsAgain = blob.Grace + time.Minute
	blobsShare = 100
)

// filesLeft notes that a conversation has been deleted.
func (d *daemon) filesLeft() {
	select {
	case d.left <- struct{}{}:
	default: // it is noted
	}
}

// sweepBlobs removes files that no record refers to: of a conversation or a question that was deleted, of one that was refused, or of a
// process that was killed before its record.
func (d *daemon) sweepBlobs(ctx context.Context) {
	sweepWhere(ctx, d.left, func() {
		n, err := d.blobs.Sweep(ctx, time.Now(), func(ctx context.Context, keep func(string)) error {
			return d.store.Mentions(ctx, blob.Scheme, blob.Length, keep)
		})
		if err != nil && ctx.Err() == nil {
			d.env.log.Error("old files stay", observe.KeyError, err)
		} else if n > 0 {
			d.env.log.Info("files that nothing refers to are removed", observe.KeyCount, n)
		}
	})
}

// sweepWhere calls f when a sweep is due, until ctx ends.
func sweepWhere(ctx context.Context, left <-chan struct{}, f func()) {
	due, next := time.NewTimer(blobsFirst), time.Now().Add(blobsFirst)
	defer due.Stop()
	var rest time.Time // no sweep before
	put := func(at time.Time) { next = at; due.Reset(time.Until(at)) }
	for again := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-left:
			again = true
			if soon := time.Now().Add(blobsSoon); soon.Before(next) && rest.Before(next) {
				put(later(soon, rest))
			}
			continue
		case <-due.C:
		}
		begin := time.Now()
		f()
		now := time.Now()
		rest = now.Add(blobsShare * now.Sub(begin))
		if put(now.Add(blobsEvery)); again {
			put(now.Add(blobsAgain))
		}
		again = false
	}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
