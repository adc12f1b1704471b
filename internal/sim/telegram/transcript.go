package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Line is one thing that the bot did and a person could see.
type Line struct {
	At       time.Duration // since New
	Action   string        // send, document, edit, buttons, delete, action, react, answer, commands
	Chat     int64
	Topic    int
	Message  int // the bot's message, or the one that it edits, deletes or reacts to
	ReplyTo  int
	Text     string // as shown; a caption, an action, an emoji, the answer to a button
	Entities []Entity
	File     *File
	Silent   bool
	Preview  bool // the first link is shown with a preview
	Keyboard json.RawMessage
	Dropped  int               // entities beyond the hundredth, which nobody sees
	Params   map[string]string // the call as sent
}

// String shows the line in one row, as in "1.2s send 7 [reply 3] text": time, action, chat or chat/topic, what it refers
// to, and the text with its line ends as \n.
func (l Line) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s %d", l.At.Round(time.Millisecond), l.Action, l.Chat)
	if l.Topic != 0 {
		fmt.Fprintf(&b, "/%d", l.Topic)
	}
	switch {
	case l.ReplyTo != 0:
		fmt.Fprintf(&b, " [reply %d]", l.ReplyTo)
	case l.Message != 0 && l.Action != "send" && l.Action != "document":
		fmt.Fprintf(&b, " [message %d]", l.Message)
	}
	if l.Silent {
		b.WriteString(" [silent]")
	}
	if l.File != nil {
		b.WriteString(" <" + l.File.Name + ">")
	}
	if l.Text != "" {
		b.WriteString(" " + strings.ReplaceAll(l.Text, "\n", `\n`))
	}
	return b.String()
}

// see appends a line and wakes everyone in WaitFor. The caller holds the lock.
func (s *Server) see(l Line) {
	l.At = time.Since(s.start)
	s.lines = append(s.lines, l)
	s.touch()
}

// Transcript returns what the bot did, in order.
func (s *Server) Transcript() []Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}

// Script is the transcript as text, a line for each thing; actions leaves out those named.
func (s *Server) Script(without ...string) string {
	var b strings.Builder
	for _, l := range s.Transcript() {
		if !slices.Contains(without, l.Action) {
			b.WriteString(l.String() + "\n")
		}
	}
	return b.String()
}

// WaitFor returns once ok holds of the transcript: at once, or after a change of anything that the server records. It
// fails with ctx's error, or when the server is closed.
func (s *Server) WaitFor(ctx context.Context, ok func([]Line) bool) error {
	for {
		s.mu.Lock()
		lines, changed := slices.Clone(s.lines), s.changed
		s.mu.Unlock()
		if ok(lines) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("telegram: the transcript (%d lines) never got there: %w", len(lines), ctx.Err())
		case <-s.alive.Done():
			return fmt.Errorf("telegram: the server closed at %d lines", len(lines))
		}
	}
}
