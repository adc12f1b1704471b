package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"orebot/core/access"
	"orebot/core/loop"
	"orebot/core/observe"
)

// spaceStrangers holds a Stranger by id of the person.
const spaceStrangers = "strangers"

// Stranger is somebody who wrote, isn't known, and got a code for the operator to approve.
type Stranger struct {
	ID      string    `json:"id"` // as in Author
	Name    string    `json:"name,omitempty"`
	Handle  string    `json:"handle,omitempty"`
	Code    string    `json:"code"`
	At      time.Time `json:"at"`    // when they got it
	Until   time.Time `json:"until"` // when it expires
	Address Address   `json:"addr"`  // where they wrote
	Message string    `json:"msg,omitempty"`
}

const (
	codeValid     = time.Hour
	strangersKept = 24 * time.Hour // also without a valid code, for the operator to see
	maxStrangers  = 100            // within strangersKept; beyond, they get no word
	maxName       = 64             // runes kept of a stranger's name
)

// turnAway ends messages of somebody who may not talk to the bot.
func (s *Stream) turnAway(j *job, v access.Verdict) error {
	p := s.m.cfg.Platforms[j.addr.Conduit()].Policy
	if v.Reason == access.ReasonStranger && p.Book != nil {
		return s.stranger(j)
	}
	return s.refuse(j, v)
}

// stranger gives a person a code, unless they have one that is valid; then there is nothing to add. Where too many wait, none is
// given: whoever sends strangers by the dozen doesn't fill the store.
func (s *Stream) stranger(j *job) error {
	s.m.desk.Lock()
	defer s.m.desk.Unlock()
	who, w, err := s.newStranger(j)
	switch {
	case err != nil:
		return err
	case who.Code == "":
		return s.endSilently(j, EndRefused)
	}
	text := fmt.Sprintf("I don't know you yet. Ask the operator to run `orebot access approve %s` (valid 1 h).", who.Code)
	s.log(j).Info("stranger got a code", observe.KeyAuthor, who.ID)
	return s.notice(j, ending{how: EndRefused, sev: loop.SeverityWarn, text: text, small: []SmallWrite{w}})
}

// newStranger prepares the record of a stranger; its code is empty where none is to be given.
func (s *Stream) newStranger(j *job) (who Stranger, w SmallWrite, err error) {
	in, now := j.last().Inbound, time.Now().UTC()
	list, err := s.m.cfg.Store.SmallList(s.m.turns, spaceStrangers, "", 10*maxStrangers)
	if err != nil {
		return who, w, err
	}
	recent, codes := 0, map[string]bool{}
	for _, v := range list {
		old, err := readStranger(v)
		if v.Key == in.Author.ID {
			if w.Rev = v.Rev; err == nil && now.Before(old.Until) {
				return Stranger{}, w, nil
			}
			continue
		}
		codes[old.Code] = true
		if now.Sub(old.At) < strangersKept {
			recent++
		}
	}
	if recent >= maxStrangers {
		s.m.overrun.say(s.log(j), now)
		return Stranger{}, w, nil
	}
	who = Stranger{
		ID: in.Author.ID, Name: shortName(in.Author.Name), Handle: shortName(in.Author.Handle), At: now, Until: now.Add(codeValid),
		Code: access.NewCode(func(c string) bool { return codes[c] }), Address: j.addr, Message: in.Message,
	}
	w.Space, w.Key = spaceStrangers, who.ID
	w.Value, err = json.Marshal(who)
	return who, w, err
}

func readStranger(v SmallValue) (who Stranger, err error) {
	if err := json.Unmarshal(v.Value, &who); err != nil {
		return Stranger{}, fmt.Errorf("session: stranger %s: %w", v.Key, err)
	}
	return who, nil
}

func shortName(s string) string {
	for i := range s {
		if utf8.RuneCountInString(s[:i]) == maxName {
			return s[:i]
		}
	}
	return s
}

// errDismissed is the cause that ends the turn of somebody whose access was taken back.
var errDismissed = errors.New("session: access was taken back")

// dismiss ends the messages of a turn that was under way when access was taken back. The question leaves the prompts that follow.
func (s *Stream) dismiss(j *job) error {
	e := ending{how: EndRefused, sev: loop.SeverityWarn, aside: true, text: "The operator has taken my permission back; I stop here."}
	w, told, err := s.toldToday(j, s.decide(j))
	if err != nil {
		return err
	}
	if !told {
		e.small = []SmallWrite{w}
	}
	return s.notice(j, e)
}

// decide judges the author of a job as things stand now.
func (s *Stream) decide(j *job) access.Verdict {
	in := j.first().Inbound
	return s.m.cfg.Platforms[j.addr.Conduit()].Policy.Decide(person(in.Author), in.Place)
}
