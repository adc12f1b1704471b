package session

import (
	"slices"
	"sync"

	"orebot/core/observe"
)

// IgnoredLoop is the reason for ignoring a bot that goes on without a person.
const IgnoredLoop = "bot_loop"

// How many messages of bots in a row are answered without one of a person: in a conversation, and in a channel with all its
// conversations. Two bots that answer each other would never stop.
const (
	maxBotsInARow   = 6
	maxBotsAtAPlace = 30
	maxBotRows      = 10_000 // conversations and channels remembered
)

// botRows counts bots' messages in a row. It lives in memory: after a restart a loop gets as far again, and no further.
type botRows struct {
	mu   sync.Mutex
	rows map[string][]string // the keys of the messages, by address or place
}

// loops reports whether a message of a bot goes beyond what is answered without a person, and takes it down where it doesn't. The same
// message counts once. A message of a person, for the bot or not, begins a new row.
func (b *botRows) loops(in Inbound) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	here, around := string(in.Address), in.Place
	if !in.Author.Bot {
		delete(b.rows, here)
		delete(b.rows, around)
		return false
	}
	if slices.Contains(b.rows[here], in.Key) {
		return false
	}
	if len(b.rows[here]) >= maxBotsInARow || around != "" && len(b.rows[around]) >= maxBotsAtAPlace {
		return true
	}
	if b.rows == nil || len(b.rows) >= maxBotRows {
		b.rows = map[string][]string{}
	}
	b.rows[here] = append(b.rows[here], in.Key)
	if around != "" {
		b.rows[around] = append(b.rows[around], in.Key)
	}
	return false
}

// loopsOn is botRows.loops, told to the operator.
func (m *Manager) loopsOn(in Inbound) bool {
	if !m.bots.loops(in) {
		return false
	}
	m.cfg.Logger.Warn("bots talk to each other; a person has to join in", observe.KeyAddress, string(in.Address), observe.KeyAuthor, in.Author.ID)
	return true
}
