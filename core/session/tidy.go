package session

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Tidy forgets strangers and refusals that are older than anybody asks for.
func (d *Doors) Tidy(ctx context.Context, now time.Time) error {
	return errors.Join(
		d.drop(ctx, spaceStrangers, func(v SmallValue) bool {
			who, err := readStranger(v)
			return err != nil || now.Sub(who.At) >= strangersKept
		}),
		d.drop(ctx, spaceRefused, toldBefore(now.Add(-refusedKept))),
		d.drop(ctx, spaceClosed, toldBefore(now.Add(-closedKept))),
		d.drop(ctx, spaceSpent, toldBefore(now.Add(-spentKept))),
	)
}

func toldBefore(t time.Time) func(SmallValue) bool {
	return func(v SmallValue) bool {
		at, err := time.Parse(time.RFC3339, string(v.Value))
		return err != nil || at.Before(t)
	}
}

// drop removes values of a space; one that is written at the same time stays.
func (d *Doors) drop(ctx context.Context, space string, old func(SmallValue) bool) error {
	return d.small(ctx, space, func(v SmallValue) error {
		if !old(v) {
			return nil
		}
		b := Batch{ID: NewBatchID(), Small: []SmallWrite{{Space: space, Key: v.Key, Rev: v.Rev}}}
		var c *Conflict
		if err := commitSettled(ctx, d.Store, b); err != nil && !errors.As(err, &c) {
			return fmt.Errorf("session: %s: %w", space, err)
		}
		return nil
	})
}
