package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"orebot/core/artifact"
	"orebot/core/loop"
	"orebot/core/observe"
)

// Limits of what the model is told of what others said before a message.
const (
	maxAbove      = 50
	maxAboveBytes = 48 << 10
	maxAboveText  = 4 << 10
	maxHeard      = 200 // what is beyond maxAbove is passed over
	historyTime   = 10 * time.Second
)

// What stands for the text of a message that only calls the bot, below something to answer.
const answerAbove = "Please answer what stands above."

const noHistory = "I couldn't read what was written here before."

// above is what others said at an address: heard there, or read from the platform.
type above struct {
	author  Author
	own     bool
	text    string
	message string
	heard   *StoredEntry // nil: read from the platform
}

// gather makes a job ready to be submitted: its files are read, and what was said before it becomes turns of its own. It is over where
// nothing is left to answer.
func (s *Stream) gather(ctx context.Context, j *job) (over bool, err error) {
	var got gathered
	heard, err := s.heardBefore(j)
	if err != nil {
		return false, err
	}
	fresh, err := s.fresh(j)
	if err != nil {
		return false, err
	}
	model := s.model()
	if err := s.apart(j, func() (err error) {
		if got, err = s.collect(ctx, j, heard, fresh); err == nil {
			got.see(s.blind(ctx, model, got.files))
		}
		return err
	}); err != nil {
		over, err := s.failed(ctx, j, err, 1, time.Now())
		if over || err != nil {
			return true, err
		}
		return s.gather(ctx, j)
	}
	j.files = got.files
	if over, err := s.leftWithout(j, got, heard); over || err != nil {
		return over, err
	}
	for _, line := range got.lines {
		j.tellBeside(line)
	}
	s.live.state.Recalled = s.live.state.Recalled || fresh
	return false, s.recount(j, got.above, heard)
}

// gathered is what gather has found.
type gathered struct {
	files map[EntryID][]artifact.Artifact
	above []above
	lines []string
	blind bool // pictures can't be seen
}

// see takes down what a model that can't see makes of pictures; an empty line: nothing.
func (g *gathered) see(line string) {
	if line != "" {
		g.blind, g.lines = true, append(g.lines, line)
	}
}

// collect does what takes time. It touches nothing of the thread.
func (s *Stream) collect(ctx context.Context, j *job, heard []StoredEntry, fresh bool) (got gathered, err error) {
	if got.files, got.lines, err = s.attach(ctx, j); err != nil {
		return got, err
	}
	if fresh {
		said, err := s.history(ctx, j, heard)
		if context.Cause(ctx) != nil {
			return got, context.Cause(ctx)
		}
		if err != nil {
			s.log(j).Warn("history unreadable", observe.KeyError, err)
			got.lines = append(got.lines, noHistory)
		}
		got.above = said
	}
	namer := s.m.cfg.Platforms[j.addr.Conduit()].Namer
	for i := range heard[max(0, len(heard)-maxAbove):] {
		e := &heard[max(0, len(heard)-maxAbove)+i]
		if namer != nil {
			e.Inbound = namer.Names(ctx, e.Inbound)
		}
		a := above{author: e.Inbound.Author, message: e.Inbound.Message, heard: e}
		a.text = strings.TrimSpace(strings.Join([]string{quoted(e.Inbound.Quotes), e.Inbound.Text}, "\n\n"))
		got.above = append(got.above, a)
	}
	return got, context.Cause(ctx)
}

// leftWithout ends a job of which nothing can be read: with the lines that say why, or with help for who only called the bot.
func (s *Stream) leftWithout(j *job, got gathered, heard []StoredEntry) (over bool, err error) {
	arts, _ := prompt(j.entries, j.files)
	unread := len(got.lines) > 0 && (len(arts) == 0 || got.blind && !slices.ContainsFunc(arts, seen))
	in := j.last().Inbound
	switch quotes := slices.ContainsFunc(j.entries, func(e StoredEntry) bool { return quoted(e.Inbound.Quotes) != "" }); {
	case s.nothing(j) && (quotes || len(got.above) > 0 || in.Place != "" && len(s.live.turns()) > 0):
		j.bare = true
		return false, nil
	case s.nothing(j):
		return true, s.notice(j, ending{how: EndNoticed, sev: loop.SeverityInfo, text: Greeting(in)})
	case unread:
		return true, s.notice(j, ending{how: EndNoticed, sev: loop.SeverityInfo, text: strings.Join(got.lines, "\n"), quotes: true})
	}
	return false, nil
}

// seen reports whether any model can read an artifact.
func seen(a artifact.Artifact) bool { return a.Kind() != artifact.KindImage }

// blind says what a model that can't see makes of pictures. It touches nothing of the thread.
func (s *Stream) blind(ctx context.Context, model string, files map[EntryID][]artifact.Artifact) string {
	n := 0
	for _, arts := range files {
		for _, a := range arts {
			if !seen(a) {
				n++
			}
		}
	}
	if n == 0 || s.m.cfg.Vision == nil {
		return ""
	}
	sees, others, err := s.m.cfg.Vision(ctx, model)
	if sees || err != nil { // whoever can't be asked will be asked again, by the call
		return ""
	}
	what, who := "the image", "no model here can"
	if n > 1 {
		what = "the images"
	}
	if len(others) > 0 {
		who = "models that can: " + strings.Join(others, ", ")
	}
	return "I couldn't see " + what + "; " + who + "."
}

// fresh reports whether the platform is to be asked for what stands above a job: at the first question of the first conversation of several
// people at a place. What stands above a later one was said in those before it, which somebody has left, deleted or shared.
func (s *Stream) fresh(j *job) (bool, error) {
	if j.first().Inbound.Place == "" || s.live.state.Recalled || s.live.state.Tip != 0 || s.live.broken != nil ||
		s.m.cfg.Platforms[j.addr.Conduit()].Historian == nil {
		return false, nil
	}
	st, err := s.m.cfg.Store.Address(s.m.turns, j.addr)
	if err != nil {
		return false, &storeError{err}
	}
	return st.Binding.Leg == 0 && st.Binding.Own == nil, nil
}

// history asks the platform for what stands above a job, without what is known already.
func (s *Stream) history(ctx context.Context, j *job, heard []StoredEntry) ([]above, error) {
	ctx, cancel := context.WithTimeout(ctx, historyTime)
	defer cancel()
	type reply struct {
		said []Said
		err  error
	}
	ch := make(chan reply, 1)
	go func() { // whoever doesn't listen to ctx holds up nobody
		var r reply
		r.err = guarded(func() (err error) {
			r.said, err = s.m.cfg.Platforms[j.addr.Conduit()].Historian.Before(ctx, j.first().Inbound, maxAbove)
			return err
		})
		ch <- r
	}()
	var r reply
	select {
	case r = <-ch:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r.err != nil {
		return nil, r.err
	}
	known, err := s.m.cfg.Store.EntriesAt(ctx, j.addr, maxHeard)
	if err != nil {
		return nil, err
	}
	var out []above
	for _, said := range r.said[max(0, len(r.said)-maxAbove):] {
		same := func(e StoredEntry) bool { return e.Inbound.Message == said.Message }
		if blank(said.Text) || said.Message != "" && slices.ContainsFunc(known, same) {
			continue
		}
		out = append(out, above{author: said.Author, own: said.Own, text: said.Text, message: said.Message})
	}
	return out, nil
}

// heardBefore returns what was heard at a job's address before its first message, and in no turn yet.
func (s *Stream) heardBefore(j *job) ([]StoredEntry, error) {
	if j.first().Inbound.Place == "" {
		return nil, nil
	}
	heard, err := s.m.heard(j.addr)
	if err != nil {
		return nil, &storeError{err}
	}
	return slices.DeleteFunc(heard, func(e StoredEntry) bool {
		return e.Loose || e.Inbound.Order >= j.first().Inbound.Order || e.Inbound.Group != "" && e.Inbound.Group == j.first().Inbound.Group
	}), nil
}
