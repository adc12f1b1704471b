package slack

import "orebot/core/session"

// spot is where a message stands: its conversation, and its ts.
type spot struct {
	at     place
	ts     string
	direct bool // in a person's DM with the bot
}

// spotOf finds the spot of the message m, which the event tells of; ok is false where it names none. A DM is one conversation, and a
// thread in it another; in a channel each root is one. A DM's root says that it is one once it has replies, and stays where it is. A
// root that names itself as its thread without a reply belongs to an app whose DMs are always threads.
func spotOf(ev, m object, me identity) (s spot, ok bool) {
	channel, ts, thread := ev.text("channel"), m.text("ts"), m.text("thread_ts")
	if !validID(channel) || !validTS(ts) || thread != "" && !validTS(thread) {
		return spot{}, false
	}
	s = spot{at: place{team: me.team, channel: channel, thread: thread}, ts: ts, direct: private(ev)}
	_, replies := m["reply_count"]
	switch {
	case s.direct && thread == ts && replies:
		s.at.thread = ""
	case !s.direct && thread == "":
		s.at.thread = ts
	}
	return s, true
}

// key names the message by what every delivery of it has in common.
func (s spot) key() string { return entryKey(s.at.team, s.at.channel, s.ts) }

// inbound begins the Inbound of the message.
func (s spot) inbound() session.Inbound {
	in := session.Inbound{Key: s.key(), Address: s.at.address(), Order: s.ts, Message: s.ts, At: timeOf(s.ts)}
	if !s.direct {
		in.Place = personID(s.at.channel)
	}
	return in
}

// signal begins the Inbound of a signal about the message. name and when tell it from others about the same message.
func (s spot) signal(kind session.Signal, name, when string) session.Inbound {
	in := s.inbound()
	in.Signal, in.Target, in.TargetKey, in.Message = kind, s.ts, s.key(), ""
	in.Key, in.Order, in.At = s.key()+"/"+name, when, timeOf(when)
	return in
}
