package conduit

import (
	"context"
	"errors"

	"orebot/core/observe"
	"orebot/core/session"
)

// extra is what goes along with a cursor.
type extra struct {
	due   []session.DueWrite
	index []session.IndexWrite
}

// put makes cur the cursor. If another one was written meanwhile that stands at the same place (it carries an intent, no more),
// cur replaces it; if it stands elsewhere, put returns errAgain.
func (c *courier) put(ctx context.Context, cur session.Cursor, ex extra) error {
	was := c.st.Cursor
	for {
		b := session.Batch{
			ID:      session.NewBatchID(),
			Cursors: []session.CursorWrite{{Address: c.a, Rev: c.st.CursorRev, Cursor: cur}},
			Due:     ex.due,
			Index:   ex.index,
		}
		conflict, err := c.commit(ctx, b)
		if err != nil {
			return err
		}
		if !conflict {
			c.st.Cursor, c.st.CursorRev = cur, b.ID
			return nil
		}
		if err := c.read(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		if c.st.Cursor.Leg != was.Leg || c.st.Cursor.Seq != was.Seq || c.st.Cursor.Offset != was.Offset {
			return errAgain
		}
	}
}

// commit applies a Batch, also when ctx has ended: what was posted is to be known. It waits while the store has no room, and
// reports a conflict apart from errors, which all stop the courier.
func (c *courier) commit(ctx context.Context, b session.Batch) (conflict bool, err error) {
	for {
		_, err := session.CommitWait(context.WithoutCancel(ctx), c.cfg.Store, b)
		var failed *session.Conflict
		switch {
		case err == nil:
			return false, nil
		case errors.As(err, &failed):
			return !failed.Applied, nil
		case errors.Is(err, session.ErrPaused):
			c.once("delivery waits for the store", err)
			if Sleep(ctx, c.wait.next()) != nil {
				return false, errStop
			}
		case errors.Is(err, session.ErrUnknown), errors.Is(err, session.ErrClosed):
			return false, errStop
		default:
			c.slog.Error("cursor can't be written", observe.KeyError, err)
			return false, errStop
		}
	}
}
