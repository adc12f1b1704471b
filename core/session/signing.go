package session

import (
	"context"
	"strconv"
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
