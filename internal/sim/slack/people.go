package slack

import (
	"fmt"
	"slices"
)

// UserOption says what is special about a user.
type UserOption func(*User)

// Guest makes a user a guest of the workspace.
func Guest() UserOption { return func(u *User) { u.Guest = true } }

// External makes a user a member of another team, met through shared channels.
func External(team string) UserOption { return func(u *User) { u.Team = team } }

// OtherBot makes a user another app's bot.
func OtherBot() UserOption { return func(u *User) { u.Bot = true } }

// AddUser adds somebody and returns the id, "U1" first.
func (s *Server) AddUser(name string, opts ...UserOption) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := &User{ID: s.world.id("U"), Name: name, Team: s.opt.Team}
	for _, opt := range opts {
		opt(u)
	}
	s.world.users[u.ID] = u
	return u.ID
}

// Become changes what somebody is.
func (s *Server) Become(user string, opts ...UserOption) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.world.users[user]; u != nil {
		for _, opt := range opts {
			opt(u)
		}
	}
}

// AddChannel adds a public channel with these members and returns its id, "C1" first. The bot is in it only if its id is
// among them.
func (s *Server) AddChannel(name string, members ...string) string {
	return s.AddConversation(Public, name, members...)
}

// AddConversation adds a conversation of any kind but IM, for which there is OpenDM.
func (s *Server) AddConversation(kind Kind, name string, members ...string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addChannel(kind, name, members)
}

func (s *Server) addChannel(kind Kind, name string, members []string) string {
	id := s.world.id("C")
	s.makeChannel(id, kind, name, members)
	return id
}

func (s *Server) makeChannel(id string, kind Kind, name string, members []string) {
	ch := &channel{id: id, name: name, kind: kind, members: slices.Clone(members), gone: map[string]bool{},
		status: map[string]status{}}
	ch.shared = slices.ContainsFunc(members, func(m string) bool {
		u := s.world.users[m]
		return u != nil && u.Team != s.opt.Team
	})
	s.world.channels[id] = ch
}

// OpenDM returns the id of the DM between a user and the bot, "D1" first.
func (s *Server) OpenDM(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openDM(user)
}

func (s *Server) openDM(user string) string {
	for id, ch := range s.world.channels {
		if ch.kind == IM && ch.has(user) && ch.has(s.opt.BotUser) {
			return id
		}
	}
	id := s.world.id("D")
	s.makeChannel(id, IM, "", []string{user, s.opt.BotUser})
	return id
}

// Join puts a user, or the bot, into a conversation and tells the app, if it is in there then.
func (s *Server) Join(channel, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.world.channels[channel]; ch != nil && !ch.has(user) {
		ch.members = append(ch.members, user)
		s.event(ch, object{"type": "member_joined_channel", "user": user, "team": s.opt.Team}, s.world.stamp())
	}
}

// Part takes a user, or the bot, out of a conversation. The app isn't told of its own.
func (s *Server) Part(channel, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.world.channels[channel]; ch != nil && ch.has(user) {
		ch.members = slices.DeleteFunc(ch.members, func(m string) bool { return m == user })
		s.event(ch, object{"type": "member_left_channel", "user": user, "team": s.opt.Team}, s.world.stamp())
	}
}

// Archive closes a conversation for posts.
func (s *Server) Archive(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.world.channels[channel]; ch != nil {
		ch.archived = true
	}
}

// SayOption says how something is said.
type SayOption func(*say)

type say struct {
	thread    string
	broadcast bool
	raw       bool
	order     Order
}

// InThread makes it a reply in the thread of this root. An empty ts means top level.
func InThread(ts string) SayOption { return func(o *say) { o.thread = ts } }

// Broadcast sends a reply to the channel too.
func Broadcast() SayOption { return func(o *say) { o.broadcast = true } }

// Raw takes the text as the event's, without the escaping that typing brings.
func Raw() SayOption { return func(o *say) { o.raw = true } }

// Twins sets the order of the two events of a mention, here only.
func Twins(order Order) SayOption { return func(o *say) { o.order = order } }

// Say posts a user's message and returns its ts. "@name" of somebody known and "<@U1>" are mentions; one of the bot in a
// channel gives two events. It returns "" where Slack wouldn't let the user write: not a member, archived, no such thread.
func (s *Server) Say(user, channel, text string, opts ...SayOption) string {
	return s.utter(user, channel, text, opts, func(*Message) {})
}

// utter posts a user's message, to which more may be added before anybody sees it, and returns its ts, as Say does.
func (s *Server) utter(user, channel, text string, opts []SayOption, more func(*Message)) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := say{order: s.opt.Order}
	for _, opt := range opts {
		opt(&o)
	}
	ch := s.world.channels[channel]
	if ch == nil || !ch.has(user) || ch.archived {
		return ""
	}
	if root := ch.find(o.thread); o.thread != "" && (root == nil || root.Thread != "") {
		return ""
	}
	m := s.compose(ch, user, text, o)
	more(m)
	s.world.put(m)
	s.showMessage(Post, m)
	s.announce(m, o.order)
	return m.TS
}

func (s *Server) compose(ch *channel, user, text string, o say) *Message {
	if !o.raw {
		text = s.world.typed(text)
	}
	m := &Message{
		Channel: ch.id, Thread: o.thread, User: user, Text: text, Blocks: encode(richText(text)), TS: s.world.stamp(),
		clientID: fmt.Sprintf("client-%d", s.world.next("client")), Shown: s.world.shown(text),
	}
	if u := s.world.users[user]; u != nil && u.Bot {
		m.BotID, m.clientID = "B"+user, ""
	}
	if m.broadcast = o.broadcast && o.thread != ""; m.broadcast {
		m.Subtype = "thread_broadcast"
	}
	return m
}

// announce sends the events of a new message of somebody's, as separate deliveries.
func (s *Server) announce(m *Message, order Order) {
	from := s.origin(m.User)
	first := func() { s.messageEvent(m, from) }
	if !s.mentioned(m) {
		first()
		return
	}
	second := func() { s.mentionEvent(m, from) }
	if order == MentionFirst || order == AnyOrder && s.rand.IntN(2) == 1 {
		first, second = second, first
	}
	first()
	if s.opt.TwinGap > 0 {
		s.after(s.opt.TwinGap, second)
		return
	}
	second()
}

// origin is what an event says of an author from elsewhere.
func (s *Server) origin(user string) object {
	u := s.world.users[user]
	if u == nil || u.Team == s.opt.Team {
		return object{}
	}
	return object{"team": u.Team, "user_team": u.Team, "source_team": u.Team}
}

// mentioned reports whether a message brings an app_mention.
func (s *Server) mentioned(m *Message) bool {
	kind := s.world.channels[m.Channel].kind
	if kind == IM || kind == MPIM && !s.opt.MPIMTwin {
		return false
	}
	for _, t := range ping.FindAllStringSubmatch(m.Text, -1) {
		if t[1] == "@"+s.opt.BotUser {
			return true
		}
	}
	return false
}

// Edit changes a user's message and reports whether it was there to be changed.
func (s *Server) Edit(channel, ts, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, m := s.existing(channel, ts)
	if m == nil {
		return false
	}
	s.change(m, func() {
		m.Text = s.world.typed(text)
		m.Blocks, m.Shown = encode(richText(m.Text)), s.world.shown(m.Text)
	})
	return true
}

// Delete removes a message, the bot's included, and reports whether it was there. A root with replies leaves a tombstone.
func (s *Server) Delete(channel, ts string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, m := s.existing(channel, ts)
	if m == nil {
		return false
	}
	s.remove(ch, m)
	return true
}

func (s *Server) existing(channel, ts string) (*channel, *Message) {
	ch := s.world.channels[channel]
	if ch == nil {
		return nil, nil
	}
	if m := ch.find(ts); m != nil && !m.Deleted {
		return ch, m
	}
	return nil, nil
}
