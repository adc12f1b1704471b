package ops

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"orebot/core/ledger"
	"orebot/core/observe"
	"orebot/core/session"
)

// SpacePoison is the space of small values in which conduits set updates aside that they can't read; see Poison.
const SpacePoison = "poison"

// Poison is an update that was set aside.
type Poison struct {
	At    time.Time       `json:"at"`
	Error string          `json:"error"`
	Raw   json.RawMessage `json:"raw,omitempty"`
}

// Queue is the operator's view of what waits.
type Queue struct {
	Store   session.Store
	Manager interface {
		Drop(context.Context, session.EntryID) error
	}
	Conduits []string
	NotReady func() []Reason
	Counters observe.Counters
}

// The kinds of what waits.
const (
	KindMessage  = "message"  // to be answered
	KindDelivery = "delivery" // an answer to be delivered
	KindUpdate   = "update"   // set aside, because it can't be read
)

// QueueItem is one thing that waits.
type QueueItem struct {
	ID    string    `json:"id"` // eight hexadecimal digits, the same each time
	Kind  string    `json:"kind"`
	Where string    `json:"where"` // an address; of an update, its key
	Who   string    `json:"who,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Why   string    `json:"why"`

	entry session.EntryID
}

// QueueList is everything that waits.
type QueueList struct {
	Items []QueueItem `json:"items"` // the oldest first
	More  bool        `json:"more,omitempty"`
}

// maxItems is how many things are listed of each kind.
const maxItems = 1000

// List returns what waits.
func (q *Queue) List(ctx context.Context) (QueueList, error) {
	out := QueueList{Items: []QueueItem{}}
	for _, list := range []func(context.Context) ([]QueueItem, error){q.messages, q.deliveries, q.updates} {
		items, err := list(ctx)
		if err != nil {
			return QueueList{}, err
		}
		if len(items) > maxItems {
			items, out.More = items[:maxItems], true
		}
		out.Items = append(out.Items, items...)
	}
	slices.SortStableFunc(out.Items, func(a, b QueueItem) int { return a.Since.Compare(b.Since) })
	return out, nil
}

func itemID(kind, name string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + name))
	return hex.EncodeToString(sum[:4])
}

// messages lists what waits to be answered.
func (q *Queue) messages(ctx context.Context) (out []QueueItem, err error) {
	trouble := q.modelTrouble()
	for after := session.Address(""); len(out) <= maxItems; {
		page, err := q.Store.Pending(ctx, after, maxItems)
		if err != nil || len(page) == 0 {
			return out, err
		}
		for _, a := range page {
			waiting, err := q.Store.Waiting(ctx, a)
			if err != nil {
				return out, err
			}
			out = append(out, messagesAt(a, waiting, trouble)...)
		}
		after = page[len(page)-1]
	}
	return out, nil
}

func messagesAt(a session.Address, waiting []session.StoredEntry, trouble string) (out []QueueItem) {
	for i, e := range waiting {
		in := e.Inbound
		out = append(out, QueueItem{
			ID: itemID(KindMessage, e.ID.String()), Kind: KindMessage, Where: string(a), Who: cmp.Or(in.Author.Name, in.Author.ID),
			Since: in.At, Why: whyWaiting(e, i, trouble), entry: e.ID,
		})
	}
	return out
}

// whyWaiting says why a message has no answer yet; n others at its address are ahead of it.
func whyWaiting(e session.StoredEntry, n int, trouble string) string {
	var why string
	switch {
	case e.State == session.EntrySubmitted:
		why = "being answered"
	case n > 0:
		why = fmt.Sprintf("%d ahead of it here", n)
	default:
		why = "next here"
	}
	if e.Failures > 0 {
		why += fmt.Sprintf("; failed %d times, is tried again", e.Failures)
	}
	if e.Starts > 1 {
		why += fmt.Sprintf("; started %d times without an end", e.Starts)
	}
	if trouble != "" {
		why += "; " + trouble
	}
	return why
}

// modelTrouble says which model host keeps answers waiting, or "".
func (q *Queue) modelTrouble() string {
	for _, r := range q.NotReady() {
		if !slices.Contains(q.Conduits, r.Component) {
			return r.Component + ": " + r.Reason
		}
	}
	return ""
}

// deliveries lists the addresses that are to be shown something.
func (q *Queue) deliveries(ctx context.Context) (out []QueueItem, err error) {
	for _, name := range q.Conduits {
		for after := session.Address(""); len(out) <= maxItems; {
			page, err := q.Store.Due(ctx, name, after, maxItems)
			if err != nil {
				return out, err
			}
			if len(page) == 0 {
				break
			}
			for _, a := range page {
				it, ok, err := q.delivery(ctx, a)
				if err != nil {
					return out, err
				}
				if ok {
					out = append(out, it)
				}
			}
			after = page[len(page)-1]
		}
	}
	return out, nil
}

// nothingYet reports whether an address waits for the first record of a conversation that has only begun: it counts as due until there
// is one.
func (q *Queue) nothingYet(ctx context.Context, st session.AddressState) (bool, error) {
	legs, _ := st.Serving()
	if len(legs) > 1 || st.BindingRev == (session.Revision{}) {
		return false, nil
	}
	recs, err := q.Store.Log(ctx, legs[0].Thread, max(st.Cursor.Seq, legs[0].From, 1), 1)
	if _, corrupt := errors.AsType[*session.CorruptError](err); corrupt {
		return false, nil
	}
	return err == nil && len(recs) == 0, err
}

// delivery describes what an address waits for; ok is false where that came meanwhile.
func (q *Queue) delivery(ctx context.Context, a session.Address) (it QueueItem, ok bool, err error) {
	st, err := q.Store.Address(ctx, a)
	if err != nil || st.Due == 0 {
		return it, false, err
	}
	if none, err := q.nothingYet(ctx, st); none || err != nil {
		return it, false, err
	}
	it = QueueItem{ID: itemID(KindDelivery, string(a)), Kind: KindDelivery, Where: string(a), Why: "to be posted"}
	recs, err := q.Store.Log(ctx, st.Binding.Thread, max(st.Cursor.Seq, st.Binding.From, 1), 64)
	if _, corrupt := errors.AsType[*session.CorruptError](err); err != nil && !corrupt {
		return it, false, err
	}
	for _, r := range recs {
		if at := shownSince(r, a); !at.IsZero() {
			it.Since = at
			break
		}
	}
	if at := st.Cursor.Attempt; at != nil {
		it.Why = fmt.Sprintf("part %d is being posted, try %d", len(st.Cursor.Posted)+1, at.N)
	}
	if n := st.Cursor.Unknown; n > 0 {
		it.Why += fmt.Sprintf("; of %d tries it is unknown whether they arrived", n)
	}
	for _, r := range q.NotReady() {
		if r.Component == a.Conduit() {
			it.Why += "; " + r.Component + ": " + r.Reason
		}
	}
	return it, true, nil
}

// shownSince returns when a record was made that an address is to be shown, or the zero time.
func shownSince(r session.LogRecord, a session.Address) time.Time {
	switch {
	case r.Turn != nil && (r.Turn.Final() || r.Turn.Role == ledger.RoleUser && r.Turn.Provenance != string(a)):
		return r.Turn.Time
	case r.End != nil && r.End.To == a:
		return r.End.Time
	}
	return time.Time{}
}

// updates lists what was set aside.
func (q *Queue) updates(ctx context.Context) (out []QueueItem, err error) {
	list, err := q.Store.SmallList(ctx, SpacePoison, "", maxItems+1)
	for _, v := range list {
		it := QueueItem{ID: itemID(KindUpdate, v.Key), Kind: KindUpdate, Where: v.Key, Why: "set aside: it can't be read"}
		var p Poison
		if json.Unmarshal(v.Value, &p) == nil {
			it.Since = p.At
			if p.Error != "" {
				it.Why = "set aside: " + p.Error
			}
		}
		out = append(out, it)
	}
	return out, err
}
