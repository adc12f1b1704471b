package slack

import (
	"sync"

	"orebot/core/observe"
)

// Noter is a Health that also keeps what an operator should know while the platform works. An empty text takes a note back.
type Noter interface {
	Note(topic, text string)
}

// Topics of notes.
const (
	noteShared  = "connections"
	noteScopes  = "scopes"
	notePosting = "posting"
)

// notes are what holds now, so that each is said once.
type notes struct {
	mu   sync.Mutex
	said map[string]string
}

// changed keeps a note and reports whether it says something new.
func (n *notes) changed(topic, text string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.said == nil {
		n.said = map[string]string{}
	}
	old := n.said[topic]
	n.said[topic] = text
	return old != text
}

// note tells the operator something, in the log and where the health is shown, once for as long as it holds.
func (s *Slack) note(topic, text string) {
	if !s.notes.changed(topic, text) {
		return
	}
	if text != "" {
		s.log.Warn("Slack needs attention", observe.KeyReason, text)
	}
	if h, ok := s.cfg.Health.(Noter); ok {
		h.Note(topic, text)
	}
}
