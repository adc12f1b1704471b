package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"orebot/conduit"
	"orebot/core/observe"
	"orebot/core/session"
)

// mark is how far a conversation is known.
type mark struct {
	address session.Address
	at      place
	kind    string // channel_type of its messages
	from    string // what is newer may have been missed
	active  string // the newest that is known, for the order in which to look
}

// look is one round of catching up.
type look struct {
	s     *Slack
	me    identity
	since time.Time       // the gap began then
	marks map[string]mark // at start: of each address
	floor string          // nothing older counts
	found int
	asked time.Time // the last call
}

const (
	placesPage = 200 // conversations listed at once
	marksOf    = 50  // entries read of each
)

// known lists the conversations that hold entries, as far as all of them is known. A life before this one may have ended before it had
// looked for what it missed, with newer entries there already: so the last hour is looked at again, but for what stands before the
// first entry.
func (m *missed) known(ctx context.Context) ([]mark, error) {
	sure := stampOf(time.Now().Add(-missedAgain))
	return marksIn(ctx, m.s.cfg.Store, func(entries []session.StoredEntry) (string, bool) {
		first := slices.MinFunc(entries, func(a, b session.StoredEntry) int { return cmp.Compare(a.Inbound.Order, b.Inbound.Order) })
		return max(sure, first.Inbound.Order), true
	})
}

// marksIn lists the conversations that hold entries. until says, of a conversation's entries, up to where they were heard live; "" is
// all of them.
func marksIn(ctx context.Context, r session.Reader, until func([]session.StoredEntry) (string, bool)) ([]mark, error) {
	var out []mark
	for after := session.Address(""); ; {
		page, err := r.Places(ctx, Name, after, placesPage)
		if err != nil {
			return out, err
		}
		for _, a := range page {
			if k, ok := markOf(ctx, r, a, until); ok {
				out = append(out, k)
			}
		}
		if len(page) < placesPage {
			return out, nil
		}
		after = page[len(page)-1]
	}
}

// markOf reads one conversation's mark. A channel as a whole, which only commands come from, has none.
func markOf(ctx context.Context, r session.Reader, a session.Address, until func([]session.StoredEntry) (string, bool)) (k mark, ok bool) {
	at, err := parsePlace(a)
	entries, err2 := r.EntriesAt(ctx, a, marksOf)
	if err != nil || err2 != nil || len(entries) == 0 {
		return k, false
	}
	k = mark{address: a, at: at, kind: "channel"}
	if entries[0].Inbound.Place == "" {
		k.kind = "im"
	}
	last, use := until(entries)
	for _, e := range entries {
		order := e.Inbound.Order
		k.active = max(k.active, order)
		if last == "" || order <= last {
			k.from = max(k.from, order)
		}
	}
	return k, use && k.from != "" && (at.thread != "" || k.kind == "im")
}

// all looks at every conversation, the liveliest first, then at the other DMs. left is how many weren't looked at.
func (l *look) all(ctx context.Context) (left int, err error) {
	list, err := l.conversations(ctx)
	if err != nil {
		return 0, err
	}
	for i, k := range list {
		err := l.one(ctx, k)
		switch e := classify(err); {
		case err == nil:
		case ctx.Err() != nil, e.Class == conduit.Dead && !onlyThere(err):
			return len(list) - i, err
		default:
			l.s.log.Debug("catch-up: conversation skipped", observe.KeyAddress, string(k.address), observe.KeyError, l.s.cfg.API.clean(err))
		}
	}
	return 0, nil
}

// onlyThere reports whether a refusal concerns one kind of conversation, and not all.
func onlyThere(err error) bool { return codeOf(err) == "missing_scope" }

// conversations lists where to look, and since when.
func (l *look) conversations(ctx context.Context) ([]mark, error) {
	var list []mark
	seen := map[string]bool{}
	stamp := stampOf(l.since)
	known, err := marksIn(ctx, l.s.cfg.Store, func([]session.StoredEntry) (string, bool) { return stamp, true })
	if err != nil {
		return nil, err
	}
	for _, k := range known {
		if old, ok := l.marks[string(k.address)]; ok {
			k.from = old.from
		}
		k.from = max(k.from, l.floor)
		list = append(list, k)
		if k.at.thread == "" {
			seen[k.at.channel] = true
		}
	}
	slices.SortFunc(list, func(a, b mark) int { return cmp.Compare(b.active, a.active) })
	others, err := l.dms(ctx)
	for _, k := range others {
		if !seen[k.at.channel] {
			list = append(list, k)
		}
	}
	if err != nil && ctx.Err() == nil { // the rest is known all the same
		l.s.log.Debug("catch-up: DMs can't be listed", observe.KeyError, l.s.cfg.API.clean(err))
	}
	return list, nil
}

// dms asks for all DMs and group DMs. In those that hold no entries the gap itself is looked at, at start all of what may be caught up.
func (l *look) dms(ctx context.Context) ([]mark, error) {
	from := max(l.floor, stampOf(l.since.Add(-missedSlop)))
	if l.marks != nil {
		from = l.floor
	}
	var out []mark
	form := url.Values{"types": {"im,mpim"}, "exclude_archived": {"true"}, "limit": {strconv.Itoa(placesPage)}}
	for range historyPages {
		o, err := l.patiently(ctx, func() (object, error) { return l.s.cfg.API.politely(ctx, "users.conversations", form) })
		if err != nil {
			return out, err
		}
		for _, c := range o.list("channels") {
			k := mark{at: place{team: l.me.team, channel: c.text("id")}, kind: "mpim", from: from}
			if c.flag("is_im") {
				k.kind = "im"
				l.s.cfg.API.dms.note(k.at.channel, c.text("user"))
			}
			if k.address = k.at.address(); validID(k.at.channel) {
				out = append(out, k)
			}
		}
		next := o.object("response_metadata").text("next_cursor")
		if next == "" || next == form.Get("cursor") {
			break
		}
		form.Set("cursor", next)
	}
	return out, nil
}

// one looks at one conversation, and at the threads that its messages have opened.
func (l *look) one(ctx context.Context, k mark) error {
	var list []object
	_, err := l.patiently(ctx, func() (_ object, err error) {
		if k.at.thread != "" {
			list, err = l.s.cfg.API.replies(ctx, k.at, k.from, "", missedMost)
		} else {
			list, err = l.s.cfg.API.recent(ctx, k.at.channel, k.from, missedMost)
		}
		return nil, err
	})
	if err != nil {
		return err
	}
	for _, m := range list {
		if m.text("ts") <= k.from {
			continue
		}
		if err := l.give(ctx, k, m); err != nil {
			return err
		}
		if m.size("reply_count") > 0 && k.at.thread == "" {
			below := k
			below.at.thread = m.text("ts")
			if err := l.one(ctx, below); err != nil {
				return err
			}
		}
	}
	return nil
}

// give hands a message to the session as if it had just come, and waits until it is durable.
func (l *look) give(ctx context.Context, k mark, m object) error {
	m["channel"], m["channel_type"] = quoted(k.at.channel), quoted(k.kind)
	if m.text("type") == "" {
		m["type"] = quoted("message")
	}
	payload, err := json.Marshal(map[string]object{"event": m})
	if err != nil {
		return nil // it was JSON
	}
	in, why, err := translate(payload, l.me)
	if why != "" || err != nil {
		return nil
	}
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		r := l.accept(ctx, in)
		if r.Err == nil {
			if !r.Duplicate && r.Ignored == "" {
				l.found++
			}
			return nil
		}
		if err := conduit.Sleep(ctx, wait); err != nil {
			return errors.Join(err, r.Err)
		}
	}
}

func (l *look) accept(ctx context.Context, in session.Inbound) session.Receipt {
	done := make(chan session.Receipt, 1)
	l.s.cfg.Sessions.Accept(ctx, in, func(r session.Receipt) { done <- r })
	select {
	case r := <-done:
		return r
	case <-ctx.Done():
		return session.Receipt{Err: ctx.Err()}
	}
}

// lookTries is how often what fails for reasons of its own is asked for.
const lookTries = 3

// patiently makes a call at the pace of a look, and again where Slack wants it later: an app of which it takes one call a minute gets
// as far as missedTime goes.
func (l *look) patiently(ctx context.Context, call func() (object, error)) (object, error) {
	for try := 1; ; {
		if err := conduit.Sleep(ctx, time.Until(l.asked.Add(missedPace))); err != nil {
			return nil, err
		}
		o, err := call()
		l.asked = time.Now()
		if err == nil {
			return o, nil
		}
		switch e := classify(err); e.Class {
		case conduit.RetryAfter:
			if conduit.Sleep(ctx, e.After) != nil {
				return nil, err
			}
			continue
		case conduit.Retry, conduit.Unknown:
			if try++; try > lookTries || conduit.Sleep(ctx, time.Duration(try)*firstWait) != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
}

func quoted(s string) json.RawMessage {
	return json.RawMessage(strconv.Quote(strings.ToValidUTF8(s, "")))
}
