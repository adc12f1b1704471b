package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"orebot/conduit"
	"orebot/core/session"
)

// How long a group's administrators are believed to be the same, and of how many groups they are remembered.
const (
	adminsFor = 5 * time.Minute
	maxAdmins = 1000
)

// admins remembers the administrators of groups. It is safe for concurrent use.
type admins struct {
	mu     sync.Mutex
	groups map[int64]adminList
}

type adminList struct {
	ids map[string]bool
	at  time.Time
}

// Person tells whether somebody is an administrator of the group that an address lies in, as a session.People does; all else is told
// by Telegram's events. Who writes as the group is one of its administrators, and was known to be one.
func (a *API) Person(ctx context.Context, at session.Address, who session.Author) (session.Author, error) {
	where, err := parseAddress(at)
	if err != nil {
		return who, err
	}
	if who.Known = true; where.private() || who.Admin {
		return who, nil
	}
	ids, err := a.administrators(ctx, where.chat)
	if err != nil {
		return who, fmt.Errorf("telegram: administrators of %s: %w", at, err)
	}
	who.Admin = ids[who.ID]
	return who, nil
}

var _ session.Readers = (*API)(nil)

// Readers tells whose private chat an address lies in, or the ids that its group had first and has now. It asks nobody.
func (a *API) Readers(ctx context.Context, at session.Address) (who string, places []string, err error) {
	where, err := parseAddress(at)
	switch {
	case err != nil:
		return "", nil, err
	case where.private():
		return idOf(where.chat), nil, nil
	}
	m := a.moves.Load()
	if m == nil {
		return "", []string{idOf(where.chat)}, nil
	}
	if err := m.load(ctx); err != nil {
		return "", nil, err
	}
	now, _ := m.now(where.chat)
	return "", []string{idOf(m.first(where.chat)), idOf(now)}, nil
}

// administrators asks for a group's administrators, unless that was done a short while ago. A group that doesn't tell has none.
func (a *API) administrators(ctx context.Context, chat int64) (map[string]bool, error) {
	if ids, ok := a.admins.fresh(chat, time.Now()); ok {
		return ids, nil
	}
	params := tgbotapi.Params{"chat_id": decimal(chat)}
	a.readdress(params)
	if err := conduit.Sleep(ctx, a.pauses.Left(params["chat_id"])); err != nil {
		return nil, err
	}
	raw, err := a.call(ctx, "getChatAdministrators", params)
	var list []struct {
		User user `json:"user"`
	}
	if err != nil {
		if e := asCall(err); e.odd || e.code != http.StatusBadRequest && e.code != http.StatusForbidden {
			return nil, err
		}
	} else if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, m := range list {
		ids[idOf(m.User.ID)] = true
	}
	a.admins.put(chat, ids, time.Now())
	return ids, nil
}

func (s *admins) fresh(chat int64, now time.Time) (map[string]bool, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.groups[chat]
	return l.ids, ok && now.Sub(l.at) < adminsFor
}

func (s *admins) put(chat int64, ids map[string]bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.groups == nil || len(s.groups) >= maxAdmins {
		s.groups = map[int64]adminList{}
	}
	s.groups[chat] = adminList{ids, now}
}
