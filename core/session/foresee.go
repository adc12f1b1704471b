package session

import (
	"context"
	"errors"
	"fmt"
)

// keep stores what must be cleaned up, where that has changed. A write that fails is made again with the next change.
func (p *pump) keep(left *Presence) (err error) {
	if left == nil && p.shown == nil || left != nil && p.shown != nil && *left == *p.shown {
		return nil
	}
	p.shown = left
	for range 2 {
		b := Batch{ID: NewBatchID(), Patient: left == nil, Presences: []PresenceWrite{{Address: p.a, Rev: p.rev, Presence: left}}}
		_, err = CommitWait(context.Background(), p.of.m.cfg.Store, b)
		var c *Conflict
		if err == nil || errors.As(err, &c) && c.Applied {
			p.rev = b.ID
			if left == nil {
				p.rev = Revision{}
			}
			return nil
		}
		if st, err := p.of.m.cfg.Store.Address(p.of.ctx, p.a); err == nil {
			p.rev = st.PresenceRev
		}
	}
	return fmt.Errorf("session: presence of %s: %w", p.a, err)
}

type foreseeKey struct{}

// Foresee is called by a Presenter's Show before it shows what doesn't fade by itself, with what Show would return: it is durable when
// Foresee returns nil, so that the next life of the process clears it whenever this one ends. With an error nothing may be shown.
func Foresee(ctx context.Context, p Presence) error {
	if keep, ok := ctx.Value(foreseeKey{}).(func(*Presence) error); ok {
		return keep(&p)
	}
	return nil
}
