package conduit

import (
	"context"
	"errors"
	"strings"

	"orebot/core/ledger"
	"orebot/core/observe"
	"orebot/core/session"
)

// item makes of a record what the address is to be shown; ok is false where that is nothing. Kinds of a later version are nothing.
func (c *courier) item(ctx context.Context, rec session.LogRecord) (it Item, ok bool, err error) {
	switch {
	case rec.Kind == session.KindTurn && rec.Turn != nil:
		if it, ok, err = c.turn(ctx, *rec.Turn); err == nil && it.Kind == Attributed {
			it, err = c.latest(ctx, it, rec.Seq)
		}
	case rec.Kind == session.KindEnd && rec.End != nil && c.here(rec.End.To):
		it, err = c.end(ctx, *rec.End)
		ok = true
	case rec.Kind == session.KindFinal && rec.Final != nil:
		it, ok, err = c.promoted(ctx, rec.Final.Turn)
	case rec.Kind == session.KindAmendment && rec.Amendment != nil:
		it, ok, err = c.retold(ctx, rec.Amendment.Turn, rec)
	case rec.Kind == session.KindRetold && rec.Retold != nil:
		it, ok, err = c.retold(ctx, rec.Retold.Turn, rec)
	}
	it.Thread, it.Seq = c.log.thread, rec.Seq
	if it.Turn.IsZero() {
		it.Turn = ledger.TurnID{Thread: it.Thread, Seq: rec.Seq}
	}
	return it, ok && (it.Retells != 0 || c.emptied(it) || strings.TrimSpace(it.Source) != ""), err
}

// here reports whether a names this address, under its old or its new name.
func (c *courier) here(a session.Address) bool { return a == c.a || a == c.at() }

// turn shows what the assistant says for good, and what people wrote elsewhere.
func (c *courier) turn(ctx context.Context, t ledger.Turn) (Item, bool, error) {
	from := session.Address(t.Provenance)
	switch {
	case t.Covers != 0: // a summary is for the model
		return Item{}, false, nil
	case t.Final():
		it, err := c.answer(ctx, t)
		return it, true, err
	case t.Role == ledger.RoleUser && from != "" && !c.here(from):
		return Item{Kind: Attributed, Turn: t.ID, Source: t.Text(), Author: t.Author, Speaker: t.Speaker, At: t.Time}, true, nil
	}
	return Item{}, false, nil
}

// promoted shows the draft that a record made final.
func (c *courier) promoted(ctx context.Context, seq ledger.Seq) (Item, bool, error) {
	rec, ok, err := c.log.one(ctx, seq)
	if c.unreadable(err, seq) {
		return Item{}, false, nil
	}
	if err != nil || !ok || rec.Turn == nil {
		return Item{}, false, err
	}
	t := *rec.Turn
	if t.Draft = false; !t.Final() {
		return Item{}, false, nil
	}
	it, err := c.answer(ctx, t)
	return it, true, err
}

func (c *courier) answer(ctx context.Context, t ledger.Turn) (Item, error) {
	it := Item{Kind: Answer, Turn: t.ID, Source: sourceOf(t), At: t.Time, Reasoning: reasoningOf(t)}
	return it, c.asked(ctx, &it, entriesOf(t))
}

func (c *courier) end(ctx context.Context, e session.EndRecord) (Item, error) {
	it := Item{Kind: Notice, Severity: e.Severity, Source: e.Text, Ref: e.Ref, At: e.Time,
		Offers: e.Offers, Private: e.Private, File: e.File, always: e.Always}
	err := c.asked(ctx, &it, e.Entries)
	it.own = it.own || e.Reply != "" || !e.Of.IsZero()
	if e.Reply != "" && c.at() == c.a {
		it.ReplyTo = e.Reply
	}
	if err != nil || e.Of.IsZero() {
		return it, err
	}
	of, ok, err := c.entry(ctx, e.Of)
	if ok {
		it.asked = &of.Inbound
	}
	return it, err
}

// asked notes in an item the newest of the given messages that was written where posts go now: a place that moved doesn't know the
// ids of the old one.
func (c *courier) asked(ctx context.Context, it *Item, ids []session.EntryID) error {
	order, found := "", false
	for _, id := range ids {
		it.own = it.own || c.here(id.Address)
		if id.Address != c.at() {
			continue
		}
		e, ok, err := c.entry(ctx, id)
		if err != nil {
			return err
		}
		if in := e.Inbound; ok && (!found || in.Order > order) {
			it.ReplyTo, it.Asked, it.Asker, it.ReplyURL, it.asked = in.Message, in.At, in.Author.ID, in.ReplyURL, &in
			order, found = in.Order, true
		}
	}
	return nil
}

// entry reads an entry; one that can't be decoded is treated as absent, since it holds up nobody but itself.
func (c *courier) entry(ctx context.Context, id session.EntryID) (session.StoredEntry, bool, error) {
	e, ok, err := c.cfg.Store.Entry(ctx, id)
	var corrupt *session.CorruptError
	if errors.As(err, &corrupt) {
		c.slog.Error("entry skipped", observe.KeyEntry, id.String(), observe.KeyError, err)
		return session.StoredEntry{}, false, nil
	}
	return e, ok, err
}

// entriesOf returns the messages that a turn came from or answers. What isn't an id is left out.
func entriesOf(t ledger.Turn) []session.EntryID {
	ids := make([]session.EntryID, 0, len(t.Entries))
	for _, s := range t.Entries {
		if id, err := session.ParseEntryID(s); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
