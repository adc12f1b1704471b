package session

import (
	"context"
	"slices"

	"orebot/core/access"
)

// Readers tells who reads at an address. A conduit implements it where what was said at one place may be shown at another.
type Readers interface {
	// Readers returns the id of the person whose private chat the address lies in, as in Author.ID; where it lies in none, the names that
	// its place has or had in the lists, as in Inbound.Place. It may call the network. An error means that it can't be told now.
	Readers(ctx context.Context, a Address) (who string, places []string, err error)
}

// Reads reports whether an item may be shown at an address. asked is the message there that it answers: then it is for whoever may still
// talk to the bot, as far as that is known without asking the platform. Nil, it is about what was said elsewhere, and for nobody but those
// who would be answered now: a person of whom too little is known is looked up. Whoever's access has ended, in whatever way, so reads no
// more of a conversation. An error means that it can't be told now.
func (m *Manager) Reads(ctx context.Context, a Address, asked *Inbound) (bool, error) {
	p, ok := m.cfg.Platforms[a.Conduit()]
	switch {
	case !ok:
		return true, nil
	case asked != nil && (p.keeps(*asked) || asked.Place == "" || p.Readers == nil):
		return p.keeps(*asked), nil
	case p.Readers == nil:
		return true, nil
	}
	who, places, err := p.Readers.Readers(ctx, a) // a place that is closed by the name that it had may be open by another one
	switch {
	case asked != nil && (err != nil || who != ""):
		return false, nil
	case err != nil:
		return false, err
	case who == "":
		return p.openAt(places), nil
	}
	return p.answers(ctx, a, Author{ID: who})
}

// keeps reports whether nothing speaks against a message of somebody who was let in: in a place of several people, what holds for that.
func (p Platform) keeps(in Inbound) bool {
	if in.Place != "" {
		return p.Policy.OpenAt(in.Place)
	}
	v := p.Policy.Decide(person(in.Author), "")
	return v.Outcome == access.Allow || v.Outcome == access.Ask
}

// openAt reports whether the bot may answer at a place, by one of its names, and was told by none that it may not.
func (p Platform) openAt(places []string) bool {
	revoked := func(place string) bool { return p.Policy.Revoked("", place) }
	return slices.ContainsFunc(places, p.Policy.OpenAt) && !slices.ContainsFunc(places, revoked)
}

// answers reports whether somebody would be answered in their private chat.
func (p Platform) answers(ctx context.Context, a Address, who Author) (bool, error) {
	v := p.Policy.Decide(person(who), "")
	if v.Outcome == access.Ask && p.People != nil {
		found, err := p.People.Person(ctx, a, who)
		if err != nil {
			return false, err
		}
		v = p.Policy.Decide(person(found), "")
	}
	return v.Outcome == access.Allow, nil
}
