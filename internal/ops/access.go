package ops

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"orebot/core/access"
	"orebot/core/session"
)

// Access is the operator's view of who may talk to the bot.
type Access struct {
	Doors *session.Doors
}

// AccessList is who may talk to the bot, who may not any more, and who waits.
type AccessList struct {
	Waiting []Waiter   `json:"waiting"` // the newest first
	Allowed []Admitted `json:"allowed"`
	Revoked []Admitted `json:"revoked"`
}

// Waiter is a stranger with a code.
type Waiter struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Handle  string    `json:"handle,omitempty"`
	Code    string    `json:"code,omitempty"` // empty once it has expired
	Since   time.Time `json:"since"`
	Expires time.Time `json:"expires"`
}

// Sources of a permission.
const (
	ByConfiguration = "configuration"
	ByOperator      = "operator"
)

// Admitted is a person or place with what was decided.
type Admitted struct {
	ID     string    `json:"id"`
	Name   string    `json:"name,omitempty"`
	Handle string    `json:"handle,omitempty"`
	By     string    `json:"by"`
	Since  time.Time `json:"since,omitzero"`
}

// List returns everybody.
func (a *Access) List(ctx context.Context) (AccessList, error) {
	guests, strangers, err := a.Doors.Guests(ctx)
	if err != nil {
		return AccessList{}, err
	}
	out := AccessList{Waiting: []Waiter{}, Allowed: a.configured(), Revoked: []Admitted{}}
	for _, g := range guests {
		one := Admitted{g.ID, g.Name, g.Handle, ByOperator, g.At}
		if g.Revoked {
			out.Revoked = append(out.Revoked, one)
		} else if !slices.ContainsFunc(out.Allowed, func(o Admitted) bool { return o.ID == g.ID }) {
			out.Allowed = append(out.Allowed, one)
		}
	}
	for _, s := range strangers {
		w := Waiter{s.ID, s.Name, s.Handle, s.Code, s.At, s.Until}
		if time.Now().After(s.Until) {
			w.Code = ""
		}
		out.Waiting = append(out.Waiting, w)
	}
	return out, nil
}

// configured lists whom the configuration names.
func (a *Access) configured() []Admitted {
	out := []Admitted{}
	for _, platform := range slices.SortedFunc(maps.Keys(a.Doors.Policies), cmp.Compare[string]) {
		p := a.Doors.Policies[platform]
		for _, id := range slices.Concat(p.Users, p.Places) {
			out = append(out, Admitted{ID: id, By: ByConfiguration})
		}
	}
	return out
}

// Approve lets the person in who got a code.
func (a *Access) Approve(ctx context.Context, code Name) (Admitted, error) {
	return admitted(a.Doors.Approve(ctx, code.Name))
}

// Allow lets a person or place in, by id.
func (a *Access) Allow(ctx context.Context, id Name) (Admitted, error) {
	return admitted(a.Doors.Allow(ctx, id.Name))
}

// Revoke turns a person or place away.
func (a *Access) Revoke(ctx context.Context, id Name) (Admitted, error) {
	return admitted(a.Doors.Revoke(ctx, id.Name))
}

func admitted(g session.Guest, err error) (Admitted, error) {
	return Admitted{g.ID, g.Name, g.Handle, ByOperator, g.At}, err
}

// NewDoors is the operator's side of access to the state of a daemon that is stopped.
func NewDoors(store session.Store, policies map[string]access.Policy) *session.Doors {
	return &session.Doors{Store: store, Book: access.NewBook(), Policies: policies}
}
