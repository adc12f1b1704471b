package telegram

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"orebot/conduit"
	"orebot/core/observe"
	"orebot/core/session"
)

// barred are the chats that have shut the bot out, as far as this life was told: posting there is refused without a try. It is safe
// for concurrent use.
type barred struct {
	mu    sync.Mutex
	chats map[int64]bool
}

func newBarred() *barred { return &barred{chats: map[int64]bool{}} }

func (b *barred) set(chat int64, out bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if out {
		b.chats[chat] = true
	} else {
		delete(b.chats, chat)
	}
}

func (b *barred) has(chat int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.chats[chat]
}

// stand takes note of where the bot may be. Where it was shut out, all that is being done there stops, and nothing is said about it.
func (p *poller) stand(ctx context.Context, s standing) ([]session.Inbound, error) {
	p.barred.set(s.chat, !s.in)
	where := place{chat: s.chat}
	log := p.log.With(observe.KeyAddress, string(where.address()), observe.KeyState, s.name)
	switch {
	case s.in && !s.was:
		log.Info("bot was let in")
		return p.added(s), nil
	case s.in:
		return nil, nil
	}
	log.Info("bot was shut out")
	return p.stops(ctx, s)
}

// added is what somebody says who adds the bot to a group that isn't listed: a greeting, so that they hear that it isn't, and what the
// operator is to do. A channel has nobody to tell.
func (p *poller) added(s standing) []session.Inbound {
	where := place{chat: s.chat}
	if where.private() || s.kind == "channel" || p.cfg.Listed == nil || p.cfg.Listed(idOf(s.chat)) || p.cfg.Listed(idOf(p.moves.first(s.chat))) {
		return nil
	}
	in := session.Inbound{
		Key: decimal(s.chat) + "/added/" + decimal(s.date), Address: where.address(), Place: idOf(s.chat), Author: s.by.author(),
		Call: session.CallCommand, Order: p.newest[s.chat] + "/added", Text: "/start", At: dated(s.date),
	}
	p.moves.settle(&in, where, p.cfg.decided)
	return []session.Inbound{in}
}

// maxTopics is how many topics of a chat are looked through.
const maxTopics = 1000

// stops returns a stop for each conversation of a chat, in the name of who shut the bot out, and for each whose question waits in one:
// nobody can read its answer.
func (p *poller) stops(ctx context.Context, s standing) ([]session.Inbound, error) {
	chat := string(place{chat: p.moves.first(s.chat)}.address())
	list, err := p.cfg.Store.Places(ctx, Name, session.Address(chat[:len(chat)-1]), maxTopics)
	if err != nil {
		return nil, fmt.Errorf("telegram: topics of %s: %w", chat, err)
	}
	var out []session.Inbound
	for _, a := range list {
		if string(a) != chat && !strings.HasPrefix(string(a), chat+"/") {
			continue
		}
		waiting, err := p.cfg.Store.Waiting(ctx, a)
		if err != nil {
			return nil, fmt.Errorf("telegram: what waits at %s: %w", a, err)
		}
		out = append(out, s.stopAll(a, waiting, p.lastOrder(s.chat, waiting))...)
	}
	return out, nil
}

// lastOrder returns the order of the newest message of a chat, as far as this life has seen it, or of what waits at one of its
// addresses. What is written after the bot was let in again sorts behind it.
func (p *poller) lastOrder(chat int64, waiting []session.StoredEntry) string {
	last := p.newest[chat]
	if p.moves.first(chat) != chat {
		last = movedOrder + last
	}
	for _, e := range waiting {
		last = max(last, e.Inbound.Order)
	}
	return last
}

// stopAll returns a stop of who shut the bot out, and one of each other author of what waits, right behind the message with the order
// last.
func (s standing) stopAll(a session.Address, waiting []session.StoredEntry, last string) []session.Inbound {
	by := s.by.author()
	out, told := []session.Inbound{s.stop(a, by, last)}, map[string]bool{by.ID: true}
	for _, e := range waiting {
		if who := e.Inbound.Author; !told[who.ID] {
			told[who.ID] = true
			out = append(out, s.stop(a, who, last))
		}
	}
	return out
}

// stop is somebody's stop of all that they had asked at an address, up to the message with the order last: who lets the bot in again may
// write before it is done. In a group only administrators shut the bot out, and Telegram tells a bot that is out no more who they are.
func (s standing) stop(a session.Address, who session.Author, last string) session.Inbound {
	in := session.Inbound{
		Key: decimal(s.chat) + "/shut/" + decimal(s.date) + "/" + who.ID, Address: a, Author: who, Call: session.CallCommand,
		Order: last + "/shut", Signal: session.SignalButton, Action: "stop", Here: true, At: dated(s.date),
	}
	if where, err := parseAddress(a); err == nil && !where.private() {
		in.Place = idOf(where.chat)
		in.Author.Admin = who.Admin || who.ID == idOf(s.by.ID)
	}
	return in
}

// rover is a Poster that follows chats that moved, and stays away from those that don't want the bot.
type rover struct {
	Poster
	moves  *moves
	barred *barred
}

// Post posts where the chat is now. Ids of messages don't move along: what was asked before the move is answered without a reference
// to it.
func (r rover) Post(ctx context.Context, a session.Address, it conduit.Item, part conduit.Part) ([]string, error) {
	where, err := parseAddress(a)
	if err != nil {
		return r.Poster.Post(ctx, a, it, part)
	}
	chat, since := r.moves.now(where.chat)
	if r.barred.has(chat) {
		return nil, &conduit.Error{Class: conduit.Gone, Err: fmt.Errorf("telegram: post to %s: the bot was shut out", a)}
	}
	if chat != where.chat && !it.Asked.After(since) {
		it.ReplyTo = ""
	}
	where.chat = chat
	ids, err := r.Poster.Post(ctx, where.address(), it, part)
	to, moved := movedTo(err)
	if !moved || r.moves.note(ctx, chat, to.chat, it.Asked) != nil {
		return ids, err
	}
	to.topic, it.ReplyTo = where.topic, ""
	return r.Poster.Post(ctx, to.address(), it, part)
}

// movedTo returns where a refused post says that the chat is now.
func movedTo(err error) (place, bool) {
	var e *conduit.Error
	if !errors.As(err, &e) || e.Class != conduit.Moved {
		return place{}, false
	}
	to, err := parseAddress(e.To)
	return to, err == nil
}
