package slack

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"orebot/core/session"
)

// Name is what Slack's addresses and person ids begin with.
const Name = "slack"

// place is where a conversation is held. thread is the root's ts, empty in a DM that is read without threads.
type place struct{ team, channel, thread string }

// address is the place's text form.
func (p place) address() session.Address {
	s := Name + ":" + p.team + "/" + p.channel
	if p.thread != "" {
		s += "/" + p.thread
	}
	return session.Address(s)
}

// parsePlace reads what address wrote and nothing else.
func parsePlace(a session.Address) (place, error) {
	var p place
	parts := strings.Split(a.Place(), "/")
	if a.Conduit() != Name || len(parts) < 2 || len(parts) > 3 {
		return p, fmt.Errorf("slack: %q is no address of Slack", a)
	}
	p.team, p.channel = parts[0], parts[1]
	if len(parts) == 3 {
		p.thread = parts[2]
	}
	if !validID(p.team) || !validID(p.channel) || len(parts) == 3 && !validTS(p.thread) {
		return place{}, fmt.Errorf("slack: %q is no address of Slack", a)
	}
	return p, nil
}

// entryKey names a message by what every delivery of it has in common.
func entryKey(team, channel, ts string) string { return team + "/" + channel + "/" + ts }

// personID is a person's or bot's id as the configuration writes it; a channel's likewise.
func personID(id string) string { return Name + ":" + id }

// validID reports whether s looks like one of Slack's ids and can be part of an address.
func validID(s string) bool {
	for _, r := range s {
		if (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// validTS reports whether s is a message's ts: seconds, a dot, microseconds. It is a string, never a number.
func validTS(s string) bool {
	sec, micros, ok := strings.Cut(s, ".")
	return ok && digits(sec) && digits(micros) && len(sec) <= 12 && len(micros) <= 9
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// timeOf is when a message with this ts was written.
func timeOf(ts string) time.Time {
	s, frac, _ := strings.Cut(ts, ".")
	sec, err := strconv.ParseInt(s, 10, 64)
	micros, err2 := strconv.ParseInt((frac + "000000")[:6], 10, 64)
	if err != nil || err2 != nil {
		return time.Time{}
	}
	return time.Unix(sec, micros*1000).UTC()
}

// stampOf is the ts of a moment, to compare with those of messages.
func stampOf(t time.Time) string {
	return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000)
}
