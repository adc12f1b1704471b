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

// ReasonPlace is the reason of a refusal that concerns everybody at the place.
const ReasonPlace = "place"

// Decide judges a person at a place; place is "" in a private chat.
func (p Policy) Decide(who Person, place string) Verdict {
	switch {
	case who.Bot && !p.Bots:
		return Verdict{Outcome: Ignore, Reason: "bot"}
	case place != "" && !p.AnyPlace && !slices.Contains(p.Places, place):
		return Verdict{Refuse, ReasonPlace, fmt.Sprintf("Not enabled here. Operator: add `%s` to the configuration.", place)}
	case slices.Contains(p.Users, who.ID):
		return Verdict{Outcome: Allow}
	case who.External && !p.External:
		return Verdict{Refuse, "external", "I only answer people of this workspace."}
	}
	return p.byMode(who)
}

func (p Policy) byMode(who Person) Verdict {
	switch p.Mode {
	case Open:
		return Verdict{Outcome: Allow}
	case Members:
		return p.member(who)
	case Pairing:
		return Verdict{Refuse, "stranger", fmt.Sprintf("I don't know you yet, and letting people in by code isn't enabled here. "+
			"Ask the operator to add `%s` to the configuration.", who.ID)}
	default:
		return Verdict{Refuse, "allowlist", fmt.Sprintf("I'm not enabled for you. Ask the operator to add `%s`.", who.ID)}
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
