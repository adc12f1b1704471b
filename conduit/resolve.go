package conduit

import (
	"context"
	"time"

	"orebot/core/observe"
)

// settle is how long a platform may take until a look-up shows what was posted.
const settle = 10 * time.Second

// resolve decides about a part that may or may not have been posted.
func (c *courier) resolve(ctx context.Context, what Item, p Part, next int) (*shown, error) {
	finder, ok := c.cfg.Poster.(Finder)
	if !ok || c.mem.blind {
		return c.guess(ctx, next)
	}
	if c.doze(ctx, c.untilSettled()) != nil || c.sitOut(ctx, c.asking) != nil {
		return nil, errStop
	}
	ids, found, err := finder.Find(ctx, c.at(), what, p.Offset)
	switch {
	case err != nil:
		return nil, c.lookAgain(ctx, classify(err))
	case found && c.resplit(what, next):
		return c.guess(ctx, next)
	case found:
		return &shown{ids: ids, from: c.st.Cursor.Offset, next: next}, nil
	}
	if err := c.intend(ctx, more(c.st.Cursor.Attempt.N), c.st.Cursor.Unknown); err != nil {
		return nil, err
	}
	return nil, c.backOff(ctx)
}

// untilSettled is how long to wait before the look-up: 10 s from the post where this life made it; else from the intent, and from
// the start of this life, because the post may have waited for its turn or been retried until the last moment of the other one.
// A clock that was set back costs no more than the 10 s.
func (c *courier) untilSettled() time.Duration {
	from := c.mem.ended
	if !c.mem.tried {
		from = c.st.Cursor.Attempt.Since
		if c.started.After(from) {
			from = c.started
		}
	}
	return min(settle, from.Add(settle).Sub(c.cfg.Now()))
}

// lookAgain reacts to a look-up that failed: it is repeated, unless it never can succeed.
func (c *courier) lookAgain(ctx context.Context, e *Error) error {
	switch {
	case ctx.Err() != nil:
		return errStop
	case e.permanent():
		c.once("look-up is refused", e)
		c.mem.blind = true
		return nil
	case e.Class == RetryAfter:
		return c.obey(ctx, e, c.asking)
	case e.Class == Moved:
		return c.move(ctx, e)
	case e.Class == Dead:
		c.slog.Error(observe.MsgCredentialsRefused, observe.KeyError, e)
		c.fail(e)
		return errStop
	}
	c.once("look-up fails", e)
	return c.backOff(ctx)
}

// guess goes on without knowing: one labelled repeat in each life, then a note; a note's second unknown outcome ends the part. What may
// still arrive gets the time for it, so that it stands before what follows, and so that one trouble doesn't meet the repeat too.
func (c *courier) guess(ctx context.Context, next int) (*shown, error) {
	if c.mem.tried && c.doze(ctx, c.untilSettled()) != nil {
		return nil, errStop
	}
	cur := c.st.Cursor
	switch {
	case !c.mem.repeated:
		return nil, c.intend(ctx, more(cur.Attempt.N), more(cur.Unknown))
	case c.mem.missing:
		c.slog.Warn("note may not have arrived", observe.KeySeq, uint64(cur.Seq))
		return &shown{from: cur.Offset, next: next}, nil
	}
	c.slog.Warn("part ended unknown", observe.KeySeq, uint64(cur.Seq))
	return nil, c.giveUp(ctx)
}
