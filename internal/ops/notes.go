package ops

import (
	"fmt"
	"strings"

	"orebot/internal/secret"
)

// Note is what an operator should know of a component that works.
type Note struct {
	Component string `json:"component"`
	Topic     string `json:"topic"`
	Text      string `json:"text"`
}

// Note keeps a note about a component under a topic, in place of the one before; an empty text takes it back. It changes nothing about
// readiness, and /readyz shows it.
func (h *Health) Note(component, topic, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, n := range h.notes {
		if n.Component == component && n.Topic == topic {
			h.notes = append(h.notes[:i:i], h.notes[i+1:]...)
			break
		}
	}
	if text != "" {
		h.notes = append(h.notes, Note{component, topic, text})
	}
}

// Notes returns what holds now, the oldest first.
func (h *Health) Notes() []Note {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Note(nil), h.notes...)
}

// redacted returns the notes as they may be shown.
func redacted(notes []Note, r *secret.Redactor) []Note {
	for i := range notes {
		notes[i].Text = r.Redact(notes[i].Text)
	}
	return notes
}

// noteLines are the notes as lines behind those about readiness.
func noteLines(notes []Note) string {
	var b strings.Builder
	for _, n := range notes {
		fmt.Fprintf(&b, "note: %s: %s\n", n.Component, n.Text)
	}
	return b.String()
}
