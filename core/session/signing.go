package session

import (
	"context"
	"strconv"
	"strings"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/provider"
)

// signing shows that a job is being answered until the returned function is called, and after a while that it takes long.
func (s *Stream) signing(j *job) (end func()) {
	in, signs := j.last().Inbound, s.m.signs
	signs.show(j.addr, Sign{Activity: ActivityThinking, Message: in.Message, Author: in.Author.ID})
	var slow *time.Timer
	if d := s.m.cfg.SlowNotice; d > 0 {
		slow = time.AfterFunc(d, func() { signs.change(j.addr, ActivitySlow, "") })
	}
	return func() {
		if slow != nil {
			slow.Stop()
		}
		signs.clear(j.addr)
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
		return s.Ahead() + " ahead of you. `" + prefix + "stop` withdraws."
	case ActivityLoading:
		if name := strings.Join(strings.Fields(strings.NewReplacer("`", "", "<", "", ">", "", "&", "").Replace(s.Detail)), " "); name != "" {
			return "Loading `" + name + "`, can take minutes."
		}
		return "Loading the model, can take minutes."
	case ActivitySlow:
		return "Still working."
	}
	return ""
}

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
