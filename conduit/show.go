package conduit

import (
	"context"
	"errors"
	"fmt"
	"math"

	"orebot/core/loop"
	"orebot/core/observe"
	"orebot/core/session"
)

// missingText is what a chat is told where a part came to an unknown end.
const missingText = "Part of my answer may be missing."

// show brings the part at the cursor to its end.
func (c *courier) show(ctx context.Context, it Item) (shown, error) {
	for {
		s, err := c.step(ctx, it)
		if err != nil {
			return shown{}, err
		}
		if s != nil {
			c.well()
			return *s, nil
		}
	}
}

// step does the one thing that the part needs now: an intent, a decision about an unknown outcome, or a post. It returns the
// part's end, or nil where another step must follow.
func (c *courier) step(ctx context.Context, it Item) (*shown, error) {
	if ctx.Err() != nil || !c.cfg.Lease.Valid() {
		return nil, errStop
	}
	c.enter()
	what, p, next, err := c.render(it)
	if err != nil {
		return c.degrade(ctx, next, Malformed, err)
	}
	switch at := c.st.Cursor.Attempt; {
	case at == nil:
		return nil, c.intend(ctx, 1, c.st.Cursor.Unknown)
	case at.Life != c.cfg.Life || c.mem.tried:
		return c.resolve(ctx, what, p, next)
	}
	return c.post(ctx, what, p, next)
}

// render makes the part at the cursor, or the note in its place; next is where the source goes on.
func (c *courier) render(it Item) (what Item, p Part, next int, err error) {
	cur := c.st.Cursor
	f := c.formOf(cur)
	how := Shape{Plain: f.plain, Shrink: f.shrink, Repeat: cur.Unknown > 0 && !f.missing, Inline: f.inline, Posted: len(cur.Posted)}
	p, err = c.part(it, cur.Offset, how)
	next = p.Next
	if err != nil {
		next = len(it.Source)
	}
	if !f.missing {
		return it, p, next, err
	}
	note := missingNote(it)
	p, err = c.part(note, 0, Shape{Repeat: cur.Unknown > 0})
	p.Offset = -1 - cur.Offset
	return note, p, next, err
}

// part asks the renderer and holds it to its promises.
func (c *courier) part(it Item, off int, how Shape) (Part, error) {
	p, err := c.make(it, off, how)
	if err == nil && (p.Next <= off || p.Body == nil) {
		err = fmt.Errorf("conduit: %s rendered to nothing at %d", it.Turn, off)
	}
	p.Offset = off
	return p, err
}

// make asks the renderer. One that panics makes no part: the same answer would end the process again after each restart.
func (c *courier) make(it Item, off int, how Shape) (p Part, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = Part{}, fmt.Errorf("conduit: %s at %d: the renderer panics: %v", it.Turn, off, r)
		}
	}()
	return c.cfg.Renderer.Part(it, off, how)
}

// missingNote says in an item's place that part of it may not have arrived.
func missingNote(it Item) Item {
	note := it
	note.Kind, note.Severity, note.Source = Notice, loop.SeverityWarn, missingText
	note.Author, note.Speaker, note.Ref, note.File, note.Offers, note.Reasoning = "", "", "", "", nil, ""
	if it.Kind != Notice { // those who read the answer are to know
		note.ReplyURL, note.Private = "", false
	}
	return note
}

// post waits for its turn and posts the part under the intent that is durable.
func (c *courier) post(ctx context.Context, what Item, p Part, next int) (*shown, error) {
	if err := c.turnToPost(ctx); err != nil {
		return nil, err
	}
	if err := c.stale(ctx); err != nil {
		return nil, err
	}
	c.countRepeat()
	c.mem.tried = true
	ids, err := c.cfg.Poster.Post(c.hard, c.at(), what, p)
	c.mem.ended = c.cfg.Now()
	if err == nil {
		return &shown{ids: ids, from: c.st.Cursor.Offset, next: next}, nil
	}
	return c.refused(ctx, next, classify(err))
}

// countRepeat notes that a labelled repeat is about to be posted in this life.
func (c *courier) countRepeat() {
	if c.st.Cursor.Unknown > 0 && !c.mem.repeated {
		c.mem.repeated = true
		c.cfg.Counters.Add(observe.Repeats, 1, c.cfg.Name)
	}
}

// turnToPost returns when the part may be posted. Who gets a turn while there is a pause queues up again after it: all those would
// post at once else.
func (c *courier) turnToPost(ctx context.Context) error {
	for {
		if err := c.sitOut(ctx, c.posting); err != nil {
			return err
		}
		if err := c.cfg.Pacer.Wait(ctx, c.at()); err != nil {
			if ctx.Err() != nil {
				return errStop
			}
			return err
		}
		if c.posting.Left(c.place()) <= 0 {
			break
		}
	}
	if !c.cfg.Lease.Valid() {
		return errStop
	}
	return nil
}

// refused reacts to a post that failed.
func (c *courier) refused(ctx context.Context, next int, e *Error) (*shown, error) {
	if e.Class == Unknown {
		if c.hard.Err() != nil {
			return nil, errStop
		}
		c.once("part may not have arrived", e)
		return nil, nil
	}
	c.mem.tried = false
	switch e.Class {
	case RetryAfter:
		return nil, c.obey(ctx, e, c.posting)
	case Malformed, TooBig, NoFile:
		return c.degrade(ctx, next, e.Class, e)
	case Gone:
		c.slog.Warn("address is gone", observe.KeyError, e)
		return nil, c.bury(ctx)
	case Moved:
		return nil, c.move(ctx, e)
	case Dead:
		c.slog.Error(observe.MsgCredentialsRefused, observe.KeyError, e)
		c.fail(e)
		return nil, errStop
	}
	if c.hard.Err() != nil { // cut short, and nothing was posted
		return nil, errStop
	}
	c.once("delivery fails", e)
	return nil, c.backOff(ctx)
}

// backOff waits as long as the failures in a row demand.
func (c *courier) backOff(ctx context.Context) error {
	if c.doze(ctx, c.wait.next()) != nil {
		return errStop
	}
	return nil
}

// obey waits as long as the platform said, and lets the others wait too if it means them.
func (c *courier) obey(ctx context.Context, e *Error, p *Pauses) error {
	c.once("platform asks to wait", e)
	d := e.After
	if d <= 0 {
		d = c.wait.next()
	}
	p.Told(c.place(), d)
	if c.doze(ctx, d) != nil {
		return errStop
	}
	return nil
}

// degrade makes the part in a form that the platform may take: without a file, smaller, then as plain text, at last a note in its place. A note
// that is refused too ends the part.
func (c *courier) degrade(ctx context.Context, next int, class Class, err error) (*shown, error) {
	f := c.formOf(c.st.Cursor)
	switch {
	case f.missing:
		c.slog.Error("note refused", observe.KeySeq, uint64(c.st.Cursor.Seq), observe.KeyError, err) // nothing tells people: the operator has to
		return &shown{from: c.st.Cursor.Offset, next: next}, nil
	case class == NoFile && !f.inline:
		f.inline = true
	case class == TooBig && f.shrink < MaxShrink:
		f.shrink++
	case !f.plain:
		f.plain = true
	default:
		c.slog.Error("part can't be shown", observe.KeySeq, uint64(c.st.Cursor.Seq), observe.KeyError, err)
		return nil, c.giveUp(ctx)
	}
	c.once("part is made otherwise", err)
	cur := c.st.Cursor
	cur = c.made(cur, f)
	cur.Attempt = c.first(ctx)
	return nil, c.put(ctx, cur, extra{})
}

// giveUp puts the note in the part's place.
func (c *courier) giveUp(ctx context.Context) error {
	f := c.formOf(c.st.Cursor)
	f.missing = true
	cur := c.st.Cursor
	cur = c.made(cur, f)
	cur.Unknown, cur.Attempt = 0, c.first(ctx)
	return c.put(ctx, cur, extra{})
}

// intend makes the intent for try n durable. unknown is how many outcomes of the part nobody knows.
func (c *courier) intend(ctx context.Context, n, unknown uint8) error {
	cur := c.st.Cursor
	cur.Attempt, cur.Unknown = c.first(ctx), unknown
	if cur.Attempt == nil {
		return errStop
	}
	cur.Attempt.N = n
	cur = c.made(cur, c.formOf(cur))
	err := c.put(ctx, cur, extra{})
	if err == nil {
		c.mem.tried = false
	}
	return err
}

// more counts without running over.
func more(n uint8) uint8 { return min(n, math.MaxUint8-1) + 1 }

// withdraw takes back an intent that surely came to nothing, so that its part isn't taken for a possible repeat.
func (c *courier) withdraw(ctx context.Context) {
	at := c.st.Cursor.Attempt
	if at == nil || at.Life != c.cfg.Life || c.st.CursorRev == (session.Revision{}) {
		return
	}
	if c.enter(); c.mem.tried || !c.cfg.Lease.Valid() {
		return
	}
	cur := c.st.Cursor
	cur.Attempt = nil
	if err := c.put(ctx, cur, extra{}); err != nil && !errors.Is(err, errStop) {
		c.slog.Debug("intent stays", observe.KeyError, err)
	}
}
