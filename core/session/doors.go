package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orebot/core/access"
	"orebot/core/observe"
)

// spaceAccess holds a Guest by id of the person or place.
const spaceAccess = "access"

// Guest is a person or a place that the operator has let in, or turned away.
type Guest struct {
	ID      string    `json:"id"` // of the person, as in Author, or of the place, as in Inbound
	Name    string    `json:"name,omitempty"`
	Handle  string    `json:"handle,omitempty"`
	At      time.Time `json:"at"`
	Revoked bool      `json:"revoked,omitempty"`
}

// DoorError is why something can't be done, as a sentence for the operator.
type DoorError struct{ Text string }

// Error returns the sentence.
func (e *DoorError) Error() string { return e.Text }

func doorError(format string, args ...any) error { return &DoorError{fmt.Sprintf(format, args...)} }

// Doors is the operator's side of access: it lets people and places in, and turns them away again. What it decides is durable when a
// method returns, and holds at once where its Book is that of the policies in use. It is safe for concurrent use, also beside the
// workers of a Manager on the same store.
type Doors struct {
	Store    Store
	Book     *access.Book
	Policies map[string]access.Policy // by conduit: what the configuration says
	Dismiss  func(id string)          // ends the turns under way of a person or at a place; nil: none is
	Counters observe.Counters         // nil: nobody counts
}

// listPage is how many small values are read at once.
const listPage = 500

// small calls f for every value of a space.
func (d *Doors) small(ctx context.Context, space string, f func(SmallValue) error) error {
	for after := ""; ; {
		page, err := d.Store.SmallList(ctx, space, after, listPage)
		if err != nil {
			return fmt.Errorf("session: %s: %w", space, err)
		}
		for _, v := range page {
			if err := f(v); err != nil {
				return err
			}
			after = v.Key
		}
		if len(page) < listPage {
			return nil
		}
	}
}

// Load reads what was decided in earlier lives into the Book. A record that can't be read lets nobody in.
func (d *Doors) Load(ctx context.Context) error {
	return d.small(ctx, spaceAccess, func(v SmallValue) error {
		d.note(readGuest(v))
		return nil
	})
}

func (d *Doors) note(g Guest) {
	n := access.Allowed
	if g.Revoked {
		n = access.Revoked
	}
	d.Book.Put(g.ID, n)
}

func readGuest(v SmallValue) Guest {
	var g Guest
	if json.Unmarshal(v.Value, &g) != nil || g.ID != v.Key {
		return Guest{ID: v.Key, Revoked: true}
	}
	return g
}

// Guests returns whom the operator has let in or turned away, by id, and who waits with a code, the newest first. A Stranger whose
// code has expired is listed for a day.
func (d *Doors) Guests(ctx context.Context) (guests []Guest, strangers []Stranger, err error) {
	err = d.small(ctx, spaceAccess, func(v SmallValue) error {
		guests = append(guests, readGuest(v))
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	err = d.small(ctx, spaceStrangers, func(v SmallValue) error {
		if who, err := readStranger(v); err == nil && time.Since(who.At) < strangersKept {
			strangers = append(strangers, who)
		}
		return nil
	})
	slices.SortStableFunc(strangers, func(a, b Stranger) int { return b.At.Compare(a.At) })
	return guests, strangers, err
}

// maxRetries is how often an operation is tried whose records others change at the same time.
const maxRetries = 5

// Approve lets the person in who got a code, and tells them where they wrote.
func (d *Doors) Approve(ctx context.Context, typed string) (Guest, error) {
	code, ok := access.ReadCode(typed)
	if !ok {
		return Guest{}, doorError("%q is no code; one has four letters and digits, such as 7Q4K. See: orebot access list", typed)
	}
	return d.retry(func() (Guest, error) {
		v, who, err := d.byCode(ctx, code)
		if err != nil {
			return Guest{}, err
		}
		return d.admit(ctx, who.ID, &v)
	})
}

// byCode finds the one stranger with a code that is still valid.
func (d *Doors) byCode(ctx context.Context, code string) (found SmallValue, who Stranger, err error) {
	n := 0
	err = d.small(ctx, spaceStrangers, func(v SmallValue) error {
		if s, err := readStranger(v); err == nil && s.Code == code {
			n++
			found, who = v, s
		}
		return nil
	})
	switch {
	case err != nil:
		return found, who, err
	case n == 0:
		return found, who, doorError("nobody waits with the code %s; see: orebot access list", code)
	case n > 1:
		return found, who, doorError("%d people have the code %s; name the one you mean: orebot access allow %s", n, code, who.ID)
	case time.Now().After(who.Until):
		return found, who, doorError("the code %s has expired; to let them in all the same: orebot access allow %s", code, who.ID)
	}
	return found, who, nil
}

// Allow lets a person or a place in, by id. Somebody who waits with a code is told.
func (d *Doors) Allow(ctx context.Context, id string) (Guest, error) {
	if err := d.check(id); err != nil {
		return Guest{}, err
	}
	return d.retry(func() (Guest, error) {
		value, rev, ok, err := d.Store.Small(ctx, spaceStrangers, id)
		if err != nil {
			return Guest{}, fmt.Errorf("session: stranger %s: %w", id, err)
		}
		if !ok {
			return d.admit(ctx, id, nil)
		}
		return d.admit(ctx, id, &SmallValue{Key: id, Value: value, Rev: rev})
	})
}

// check refuses what can't be the id of a person or a place of a platform.
func (d *Doors) check(id string) error {
	a := Address(id)
	if _, ok := d.Policies[a.Conduit()]; !ok || !a.Valid() || !nameable(id) || strings.ContainsAny(a.Place(), "/@") {
		return doorError("%q names nobody and no place; write it as telegram:8246, telegram:-100123, slack:U0123 or slack:C0123", id)
	}
	return nil
}

// admit writes the permission and, where the person waits with a code, drops that and leaves a notice at the address: its worker
// delivers it like any other, now or in a later life.
func (d *Doors) admit(ctx context.Context, id string, waits *SmallValue) (Guest, error) {
	g := Guest{ID: id, At: time.Now().UTC()}
	b := Batch{ID: NewBatchID()}
	if waits != nil {
		b.Small = append(b.Small, SmallWrite{Space: spaceStrangers, Key: id, Rev: waits.Rev})
		if who, err := readStranger(*waits); err == nil {
			g.Name, g.Handle = who.Name, who.Handle
			b.Entries = append(b.Entries, EntryWrite{Entry: welcome(who)})
		}
	}
	if err := d.write(ctx, b, g); err != nil {
		return Guest{}, err
	}
	if d.Counters != nil && len(b.Entries) > 0 {
		d.Counters.Add(observe.Messages, 1, b.Entries[0].Entry.ID.Address.Conduit(), observe.Received)
	}
	return g, nil
}

// welcome is the notice for a stranger who was let in. Its key is that of their code, so that they are told once.
func welcome(who Stranger) Entry {
	in := Inbound{
		Key: fmt.Sprintf("access/%s/%d", who.Code, who.At.Unix()), Address: who.Address, Call: CallDirect, At: time.Now().UTC(),
		Author: Author{ID: who.ID, Name: who.Name, Known: true}, Message: who.Message,
	}
	return Entry{ID: in.ID(), Inbound: in, Notice: "You are in. Please write your question again."}
}

// Revoke turns a person away, or everybody at a place. Whom the configuration lists can only be taken out there.
func (d *Doors) Revoke(ctx context.Context, id string) (Guest, error) {
	if err := d.check(id); err != nil {
		return Guest{}, err
	}
	if d.Policies[Address(id).Conduit()].Lists(id) {
		return Guest{}, doorError("%s stands in the configuration; take it out there, and start orebot again", id)
	}
	g, err := d.retry(func() (Guest, error) {
		g := Guest{ID: id, At: time.Now().UTC(), Revoked: true}
		if old, _, ok, err := d.Store.Small(ctx, spaceAccess, id); err == nil && ok {
			was := readGuest(SmallValue{Key: id, Value: old})
			g.Name, g.Handle = was.Name, was.Handle
		}
		b := Batch{ID: NewBatchID()}
		_, rev, ok, err := d.Store.Small(ctx, spaceStrangers, id)
		if err == nil && ok { // the code, too
			b.Small = append(b.Small, SmallWrite{Space: spaceStrangers, Key: id, Rev: rev})
		}
		return g, errors.Join(err, d.write(ctx, b, g))
	})
	if err == nil && d.Dismiss != nil {
		d.Dismiss(id)
	}
	return g, err
}

// write commits what is known of a guest with the rest of a Batch; then it holds.
func (d *Doors) write(ctx context.Context, b Batch, g Guest) error {
	_, rev, _, err := d.Store.Small(ctx, spaceAccess, g.ID)
	if err != nil {
		return fmt.Errorf("session: access of %s: %w", g.ID, err)
	}
	value, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("session: access of %s: %w", g.ID, err)
	}
	b.Small = append(b.Small, SmallWrite{Space: spaceAccess, Key: g.ID, Rev: rev, Value: value})
	if err := commitSettled(ctx, d.Store, b); err != nil {
		return fmt.Errorf("session: access of %s: %w", g.ID, err)
	}
	d.note(g)
	return nil
}

// commitSettled commits a Batch, and again while its outcome is unknown.
func commitSettled(ctx context.Context, c Committer, b Batch) error {
	for try := 0; ; try++ {
		_, err := CommitWait(ctx, c, b)
		if err == nil || applied(err) {
			return nil
		}
		if !errors.Is(err, ErrUnknown) || try >= maxSettle {
			return err
		}
	}
}

// retry repeats what others have come in between of.
func (d *Doors) retry(f func() (Guest, error)) (g Guest, err error) {
	for range maxRetries {
		var c *Conflict
		if g, err = f(); !errors.As(err, &c) {
			break
		}
	}
	return g, err
}
