package conduit

import (
	"context"
	"errors"
	"slices"
	"strings"

	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/observe"
	"orebot/core/session"
)

const (
	// takenBackText stands in a message that can't be removed, in place of what its author took back.
	takenBackText = "(taken back)"
	// stillThereText is said where a message can neither be removed nor changed.
	stillThereText = "Something that was shown here from elsewhere was taken back by its author; I can't remove it."
	// maxRetold bounds how many messages are changed for one question.
	maxRetold = 200
	// maxVain is how many changes in a row may have an outcome that nobody knows, until that is taken for a refusal: longer than most
	// outages take.
	maxVain = 60
)

// errRefused says that the platform won't change or remove a message.
var errRefused = errors.New("conduit: the platform refuses it for good")

// retold is what has become of a question that was shown here: by an amendment, or, without one, by the question's record, which was
// rewritten. There is nothing to do where nothing of it was shown, where it was written here, and where a later change overtakes this one.
func (c *courier) retold(ctx context.Context, seq ledger.Seq, change session.LogRecord) (Item, bool, error) {
	by := change.Amendment
	if seq == 0 || by != nil && c.here(by.Entry.Address) {
		return Item{}, false, nil
	}
	rec, ok, err := c.log.one(ctx, seq)
	if c.unreadable(err, seq) {
		return Item{}, false, nil
	}
	if err != nil || !ok || rec.Turn == nil {
		return Item{}, false, err
	}
	it, ok, err := c.turn(ctx, *rec.Turn)
	if err != nil || !ok || it.Kind != Attributed {
		return Item{}, false, err
	}
	if by != nil {
		t := *rec.Turn
		if t.Artifacts, err = by.Decode(); err != nil {
			return Item{}, false, nil // nobody can show it
		}
		it.Source = t.Text()
	}
	it.Turn, it.Retells = ledger.TurnID{}, seq
	shown, err := c.cfg.Store.Shown(ctx, c.log.thread, seq, c.at(), 1)
	if err != nil || len(shown) == 0 && seq != c.noting {
		return it, false, err
	}
	over, err := c.overtaken(ctx, seq, change.Seq)
	return it, !over, err
}

// retell makes the messages that showed a question say what it says now, and removes those that are too many. It returns what is left to
// be posted: the question anew, where it doesn't fit in them or can't be put there; a line, where what was taken back can't be removed;
// nothing else. It may be repeated at any time, and comes to the same.
func (c *courier) retell(ctx context.Context, it Item) (Item, error) {
	old, err := c.cfg.Store.Shown(ctx, it.Thread, it.Retells, c.at(), maxRetold)
	if err != nil {
		return it, err
	}
	old = slices.DeleteFunc(old, func(s session.Shown) bool { return slices.Contains(c.st.Cursor.Posted, s.Message) })
	c.retired, c.vain = c.retired[:0], 0
	post := it
	post.Edited = true
	if c.st.Cursor.Offset > 0 { // it is being posted anew
		c.retire(it, old)
		return post, nil
	}
	kept, err := c.rewrite(ctx, it, old)
	if err != nil {
		return it, err
	}
	gone, err := c.removeAll(ctx, it, old[kept:])
	if err == nil && kept > 0 {
		it.Source = ""
		return it, nil
	}
	switch {
	case err != nil:
		return it, err
	case strings.TrimSpace(it.Source) == "" && !gone:
		post.Kind, post.Severity, post.Source, post.Author, post.Speaker = Notice, loop.SeverityInfo, stillThereText, "", ""
	}
	return post, nil
}

// retire notes that messages show the question no more, once the cursor is behind the item: until then, a process that dies begins anew
// with all of them.
func (c *courier) retire(it Item, old []session.Shown) {
	for _, s := range old {
		ref := session.MessageRef{Thread: it.Thread, Seq: it.Seq}
		c.retired = append(c.retired, session.IndexWrite{Address: c.at(), Message: s.Message, Ref: ref})
	}
}

// rewrite makes the first messages show a question, and returns how many that are: none, where not all of it can be shown in them.
func (c *courier) rewrite(ctx context.Context, it Item, old []session.Shown) (kept int, err error) {
	for _, how := range []Shape{{}, {Plain: true}} {
		parts := c.partsOf(it, how)
		if len(parts) == 0 || len(parts) > len(old) {
			return 0, nil
		}
		for i, p := range parts {
			if err = c.change(ctx, old[i].Message, it, p); err != nil {
				break
			}
		}
		if err == nil {
			return len(parts), nil
		}
		if !errors.Is(err, errRefused) {
			return 0, err
		}
	}
	return 0, nil
}

// partsOf makes all parts of an item; none where one can't be made.
func (c *courier) partsOf(it Item, how Shape) (parts []Part) {
	for off, ok := c.locate(it, 0); ok; {
		how.Posted = len(parts)
		p, err := c.part(it, off, how)
		if err != nil || len(parts) == maxRetold {
			return nil
		}
		parts = append(parts, p)
		off, ok = c.locate(it, p.Next)
	}
	return parts
}

// removeAll removes messages. One that stays is emptied; gone is false where that can't be either.
func (c *courier) removeAll(ctx context.Context, it Item, old []session.Shown) (gone bool, err error) {
	mark := it
	mark.Kind, mark.Severity, mark.Source, mark.Author, mark.Speaker = Notice, loop.SeverityInfo, takenBackText, "", ""
	gone = true
	c.retire(it, old)
	for _, s := range old {
		err := c.revise(ctx, func(r Reviser) error { return r.Remove(c.hard, c.at(), s.Message) })
		if errors.Is(err, errRefused) {
			var p Part
			if p, err = c.part(mark, 0, Shape{}); err == nil {
				err = c.change(ctx, s.Message, mark, p)
			}
		}
		if errors.Is(err, errRefused) {
			gone, err = false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return gone, nil
}

func (c *courier) change(ctx context.Context, message string, it Item, p Part) error {
	return c.revise(ctx, func(r Reviser) error { return r.Change(c.hard, c.at(), message, it, p) })
}

// revise does something to a message that stands, in its turn among the posts, until it is done or refused for good.
func (c *courier) revise(ctx context.Context, do func(Reviser) error) error {
	r, ok := c.cfg.Poster.(Reviser)
	if !ok {
		return errRefused
	}
	for {
		if err := c.turnToPost(ctx); err != nil {
			return err
		}
		if err := c.stale(ctx); err != nil {
			return err
		}
		err := do(r)
		if err == nil {
			c.well()
			c.vain = 0
			return nil
		}
		if err := c.unrevised(ctx, classify(err)); err != nil {
			return err
		}
	}
}

// unrevised reacts to a change that failed: nil lets it be tried again. That nobody knows its outcome is no trouble, since it may be
// repeated, unless it goes on for ever: one message that a platform can't cope with doesn't keep an address from what follows.
func (c *courier) unrevised(ctx context.Context, e *Error) error {
	switch e.Class {
	case Malformed, TooBig, NoFile, Gone: // whether the place is gone, the next post shows
		c.slog.Info("message stays as it is", observe.KeyError, e)
		return errRefused
	case RetryAfter:
		return c.obey(ctx, e, c.posting)
	case Moved:
		return c.move(ctx, e)
	case Dead:
		c.slog.Error(observe.MsgCredentialsRefused, observe.KeyError, e)
		c.fail(e)
		return errStop
	}
	if c.hard.Err() != nil {
		return errStop
	}
	if e.Class == Unknown {
		if c.vain++; c.vain >= maxVain {
			c.slog.Warn("change ended unknown", observe.KeyError, e)
			return errRefused
		}
	}
	c.once("message can't be changed now", e)
	return c.backOff(ctx)
}
