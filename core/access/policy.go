package access

import (
	"fmt"
	"slices"
)

// Mode says who is let in by default. A person in Policy.Users is always let in, whatever the mode.
type Mode uint8

// The modes. The zero value lets nobody in who isn't listed.
const (
	Allowlist Mode = iota // only Policy.Users; an empty list means nobody
	Members               // everybody of one's own workspace
	Pairing               // strangers wait for the operator's approval
	Open                  // everybody
)

// Person is who asks, as far as it is known. With Known unset, Guest and External may be unset wrongly.
type Person struct {
	ID       string
	Bot      bool
	Guest    bool // not a full member
	External bool // of another workspace
	Known    bool
}

// Policy is one platform's rules.
type Policy struct {
	Mode     Mode
	Users    []string // always let in
	Places   []string // where the bot may answer, beside private chats
	AnyPlace bool     // it may answer everywhere; Places then means nothing
	Guests   bool
	External bool
	Bots     bool
	Book     *Book // whom and where the operator has let in, or turned away, at run time; nil: nobody
}

// Outcome is what a Verdict comes to.
type Outcome uint8

// The outcomes.
const (
	Allow  Outcome = iota
	Refuse         // once, with the Verdict's text; further attempts get silence
	Ignore         // no word: it was not for the bot, or answering could loop
	Ask            // the person must be looked up first
)

// Verdict is a decision, its reason as a metric label, and for Refuse the sentence that the chat gets.
type Verdict struct {
	Outcome Outcome
	Reason  string
	Text    string
}

// Reasons of refusals that are dealt with in a way of their own.
const (
	ReasonPlace    = "place"    // it concerns everybody at the place
	ReasonStranger = "stranger" // the person may get a code, which the operator approves
)

// Decide judges a person at a place; place is "" in a private chat. The lists of the configuration win over what the operator has
// decided since, and that over the mode.
func (p Policy) Decide(who Person, place string) Verdict {
	noted := p.Book.noted(who.ID)
	switch {
	case who.Bot && !p.Bots:
		return Verdict{Outcome: Ignore, Reason: "bot"}
	case place != "" && !p.OpenAt(place):
		return Verdict{Refuse, ReasonPlace, fmt.Sprintf("Not enabled here. Operator: `orebot access allow %s`.", place)}
	case p.Lists(who.ID), noted == Allowed:
		return Verdict{Outcome: Allow}
	case noted == Revoked:
		return Verdict{Refuse, "revoked", "I'm not enabled for you any more. Ask the operator."}
	case who.External && !p.External:
		return Verdict{Refuse, "external", "I only answer people of this workspace."}
	}
	return p.byMode(who)
}

// Lists reports whether the configuration names a person or a place.
func (p Policy) Lists(id string) bool {
	return slices.Contains(p.Users, id) || slices.Contains(p.Places, id)
}

// Revoked reports whether access was taken back from a person or at a place, and the configuration doesn't say otherwise.
func (p Policy) Revoked(id, place string) bool {
	return p.Book.noted(id) == Revoked && !p.Lists(id) || place != "" && p.Book.noted(place) == Revoked && !p.Lists(place)
}

// OpenAt reports whether the bot may answer at a place.
func (p Policy) OpenAt(place string) bool {
	noted := p.Book.noted(place)
	return slices.Contains(p.Places, place) || noted == Allowed || p.AnyPlace && noted != Revoked
}

func (p Policy) byMode(who Person) Verdict {
	switch p.Mode {
	case Open:
		return Verdict{Outcome: Allow}
	case Members:
		return p.member(who)
	case Pairing:
		return Verdict{Refuse, ReasonStranger, fmt.Sprintf("I don't know you yet. Ask the operator to run `orebot access allow %s`.", who.ID)}
	default:
		return Verdict{Refuse, "allowlist", fmt.Sprintf("I'm not enabled for you. Ask the operator to run `orebot access allow %s`.", who.ID)}
	}
}

func (p Policy) member(who Person) Verdict {
	switch {
	case who.Bot || who.External || p.Guests && p.External:
		return Verdict{Outcome: Allow}
	case who.Guest && !p.Guests:
		return Verdict{Refuse, "guest", "I only answer full members of this workspace."}
	case !who.Known:
		return Verdict{Outcome: Ask, Reason: "unknown"}
	default:
		return Verdict{Outcome: Allow}
	}
}
