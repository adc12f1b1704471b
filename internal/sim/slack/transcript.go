package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The kinds of a Line.
const (
	Post      = "post"
	Edit      = "edit"
	Delete    = "delete"
	Ephemeral = "ephemeral" // seen by one person only, named in To
	Reaction  = "reaction"  // Text is "+eyes" or "-eyes"
	Status    = "status"    // Text is empty when it is cleared
	File      = "file"      // Text is name and size
)

// Line is one thing that people could see happen, whoever did it.
type Line struct {
	At       time.Duration // since New
	Kind     string
	Channel  string
	Thread   string // root ts; empty at top level
	TS       string // of the message concerned
	User     string // who did it; a bot id where Slack names no user
	To       string // of an ephemeral message
	Text     string // as a person reads it, that of Blocks where there are any
	Pings    []string
	Folded   string // what stands in attachments below, as a person reads it once unfolded
	Blocks   json.RawMessage
	Metadata json.RawMessage
}

// String is the line as a script: "1.2s post C1/17.01 UBOT: text", without "/17.01" at top level.
func (l Line) String() string {
	where := l.Channel
	if l.Thread != "" {
		where += "/" + l.Thread
	}
	return fmt.Sprintf("%v %s %s %s: %s", l.At.Round(time.Millisecond), l.Kind, where, l.User, l.Text)
}

// Script is a transcript as text, one String a line, for tests that compare whole conversations.
func Script(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// Refusal is an answer "ok": false that the simulator itself gave; those of Faults don't count.
type Refusal struct {
	At            time.Duration
	Method, Error string
}

type record struct {
	lines    []Line
	refusals []Refusal
	wake     chan struct{} // closed and replaced at each change
}

func newRecord() record { return record{wake: make(chan struct{})} }

// changed wakes those who wait. It is called under the lock.
func (s *Server) changed() {
	close(s.seen.wake)
	s.seen.wake = make(chan struct{})
}

func (s *Server) show(l Line) {
	l.At = time.Since(s.start)
	s.seen.lines = append(s.seen.lines, l)
	s.changed()
}

// showMessage records what happened to a message of the conversations.
func (s *Server) showMessage(kind string, m *Message) {
	l := Line{
		Kind: kind, Channel: m.Channel, Thread: m.Thread, TS: m.TS, User: m.author(), Text: m.Shown, Blocks: m.Blocks,
		Metadata: m.Metadata,
	}
	_, l.Pings = s.world.view(m.Text, m.Blocks)
	for _, text := range attached(m.Attachments) {
		shown, pings := s.world.view(text, nil)
		l.Folded += shown
		l.Pings = append(l.Pings, pings...)
	}
	s.show(l)
}

func (m *Message) author() string {
	if m.User == "" {
		return m.BotID
	}
	return m.User
}

// Transcript returns what people saw so far, in order.
func (s *Server) Transcript() []Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen.lines)
}

// Refusals returns the calls that the simulator refused, in order.
func (s *Server) Refusals() []Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen.refusals)
}

// Refused counts the refused posts: chat.postMessage, chat.postEphemeral, chat.update and response URLs.
func (s *Server) Refused() int {
	n := 0
	for _, r := range s.Refusals() {
		if strings.HasPrefix(r.Method, "chat.post") || r.Method == "chat.update" || r.Method == "response_url" {
			n++
		}
	}
	return n
}

// Thread returns a thread's root and replies as they stand, a single message without replies likewise. An empty ts means
// the whole conversation.
func (s *Server) Thread(channel, ts string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.world.channels[channel]
	if ch == nil {
		return nil
	}
	list := ch.messages
	if ts != "" {
		list = ch.thread(ts)
	}
	out := make([]Message, len(list))
	for i, m := range list {
		out[i] = *m
		out[i].Reactions, out[i].Files = slices.Clone(m.Reactions), slices.Clone(m.Files)
	}
	return out
}

// WaitFor returns when done says yes to the transcript, which it is asked at once and after each change; else the error of
// ctx, or that the server was closed. The lines must not be changed.
func (s *Server) WaitFor(ctx context.Context, done func([]Line) bool) error {
	return s.wait(ctx, func() func() bool {
		lines := s.seen.lines[:len(s.seen.lines):len(s.seen.lines)]
		return func() bool { return done(lines) }
	})
}

// wait asks what look prepared under the lock, outside of it, until it is true.
func (s *Server) wait(ctx context.Context, look func() func() bool) error {
	for {
		s.mu.Lock()
		ask, wake, closed := look(), s.seen.wake, s.closed
		s.mu.Unlock()
		if ask() {
			return nil
		}
		if closed {
			return errors.New("slack simulator: closed while waiting")
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return fmt.Errorf("slack simulator: waiting: %w", context.Cause(ctx))
		}
	}
}
