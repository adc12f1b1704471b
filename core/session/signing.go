package session

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/provider"
)

// signing shows that a job is being answered until the returned function is called, and after a while that it takes long.
func (s *Stream) signing(j *job) (end func()) {
	in, signs := j.last().Inbound, s.m.signs
	signs.show(j.addr, Sign{Activity: ActivityThinking, Message: in.Message, Author: in.Author.ID})
	forget := signs.remind(j.addr, s.m.cfg.SlowNotice)
	return func() {
		forget()
		signs.clear(j.addr)
	}
}

// remind says after d that an answer takes long, until the returned function is called. Where it is said what is waited for, that is enough
// for another d.
func (s *signs) remind(a Address, d time.Duration) (end func()) {
	if d <= 0 {
		return func() {}
	}
	var mu sync.Mutex
	var slow *time.Timer
	over := false
	mu.Lock()
	defer mu.Unlock()
	slow = time.AfterFunc(d, func() {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case over:
		case s.waits(a):
			slow.Reset(d)
		default:
			s.change(a, ActivitySlow, "")
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		slow.Stop()
	}
}

// watched lets what runs under ctx say what is being done about the messages of an address.
func (s *Stream) watched(ctx context.Context, j *job) context.Context {
	a := j.addr
	ctx = withPlace(ctx, func(ahead int) {
		if ahead < 0 {
			s.m.signs.change(a, ActivityThinking, "")
		} else {
			s.m.signs.change(a, ActivityQueued, strconv.Itoa(ahead))
		}
	})
	return provider.WithProgress(ctx, func(p provider.Progress) {
		switch {
		case p.Cut != nil: // no sign of an answer under way: measure takes it up
			j.cut.Store(p.Cut)
		case p.Loading:
			s.m.signs.change(a, ActivityLoading, p.Model)
		default:
			s.m.signs.change(a, ActivityThinking, "")
		}
	})
}

// signTools shows which tool runs, and that the model goes on behind its result.
func (s *Stream) signTools(t ledger.Turn) {
	j := s.live.job
	if j == nil {
		return
	}
	if t.Role == ledger.RoleTool {
		s.m.signs.change(j.addr, ActivityThinking, "")
		return
	}
	for _, a := range t.Artifacts {
		if call, ok := a.(artifact.ToolCall); ok {
			s.m.signs.change(j.addr, ActivityTool, call.Name)
			return
		}
	}
}

// Line is what a platform says of a sign in a message of its own; empty where a sign is all that there is to say. prefix is how
// commands are written there.
func (s Sign) Line(prefix string) string {
	switch s.Activity {
	case ActivityQueued:
		if s.Next() {
			return fmt.Sprintf("You are next. `%sstop` withdraws.", prefix)
		}
		return fmt.Sprintf("%s ahead of you. `%sstop` withdraws.", s.Ahead(), prefix)
	case ActivityLoading:
		if name := strings.Join(strings.Fields(strings.NewReplacer("`", "", "<", "", ">", "", "&", "").Replace(s.Detail)), " "); name != "" {
			return fmt.Sprintf("Loading `%s`, can take minutes.", name)
		}
		return "Loading the model, can take minutes."
	case ActivitySlow:
		return "Still working."
	}
	return ""
}

// Next reports whether nobody is in front of who waits.
func (s Sign) Next() bool { return s.Detail == "0" }

// Ahead says how many are in front of who waits: "Two"; "Some" where that isn't known.
func (s Sign) Ahead() string {
	words := [...]string{"Nobody", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"}
	switch n, err := strconv.Atoi(s.Detail); {
	case err != nil || n < 0 || n >= 1e6:
		return "Some"
	case n < len(words):
		return words[n]
	default:
		return strconv.Itoa(n)
	}
}
