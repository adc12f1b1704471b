package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"orebot/core/session"
)

// spaceMoves is where it is kept what groups have become: by the id of the supergroup, a moved.
const spaceMoves = "telegram/moved"

// moved says what a supergroup was before.
type moved struct {
	From int64     `json:"from"`
	At   time.Time `json:"at"`
}

// moves is what groups have become. A conversation keeps the address that it began with, whatever its chat is called now, so that
// nothing is to be re-keyed: neither its thread nor what waits, nor the lists of who may write where. It is safe for concurrent use.
type moves struct {
	store session.Store

	mu   sync.Mutex
	was  map[int64]moved // by the new id
	is   map[int64]int64 // by the old id
	read bool
}

func newMoves(s session.Store) *moves {
	return &moves{store: s, was: map[int64]moved{}, is: map[int64]int64{}}
}

// maxMoves is how many groups may have moved.
const maxMoves = 10000

// load reads what is stored, once.
func (m *moves) load(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.read {
		return nil
	}
	list, err := m.store.SmallList(ctx, spaceMoves, "", maxMoves)
	if err != nil {
		return fmt.Errorf("telegram: moved groups: %w", err)
	}
	for _, v := range list {
		var to int64
		var w moved
		if _, err := fmt.Sscan(v.Key, &to); err == nil && json.Unmarshal(v.Value, &w) == nil {
			m.was[to], m.is[w.From] = w, to
		}
	}
	m.read = true
	return nil
}

// note makes a move durable. The same one again is nothing new; neither is one that would make a circle.
func (m *moves) note(ctx context.Context, from, to int64, at time.Time) error {
	if err := m.load(ctx); err != nil {
		return err
	}
	if _, known := m.of(to); known || from == to || m.first(from) == m.first(to) {
		return nil
	}
	value, err := json.Marshal(moved{from, at})
	if err != nil {
		return fmt.Errorf("telegram: %d moved to %d: %w", from, to, err)
	}
	b := session.Batch{ID: session.NewBatchID(), Small: []session.SmallWrite{{Space: spaceMoves, Key: decimal(to), Value: value}}}
	var conflict *session.Conflict
	if _, err := session.CommitWait(ctx, m.store, b); err != nil && !errors.As(err, &conflict) {
		return fmt.Errorf("telegram: %d moved to %d: %w", from, to, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.was[to], m.is[from] = moved{from, at}, to
	return nil
}

// of returns what a chat was before.
func (m *moves) of(chat int64) (moved, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.was[chat]
	return w, ok
}

// first returns the id under which a chat was known first.
func (m *moves) first(chat int64) int64 {
	for {
		w, ok := m.of(chat)
		if !ok {
			return chat
		}
		chat = w.From
	}
}

// now returns the id that a chat has now, and when it got it; a zero time is a chat that never moved.
func (m *moves) now(chat int64) (id int64, since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for to, ok := m.is[chat]; ok; to, ok = m.is[chat] {
		chat, since = to, m.was[to].At
	}
	return chat, since
}

// settle gives a message of a chat that has moved the address of its conversation, and the name that its chat has in the lists: the
// first one, unless something was decided of the new one. Message ids begin anew in a supergroup: what is written there comes behind all that was
// written before.
func (m *moves) settle(in *session.Inbound, where place, decided func(string) bool) {
	first := m.first(where.chat)
	if first == where.chat {
		return
	}
	if decided == nil || !decided(in.Place) {
		in.Place = idOf(first)
	}
	where.chat = first
	in.Address, in.Order = where.address(), movedOrder+in.Order
}

// movedOrder sorts behind every digit.
const movedOrder = "~"
