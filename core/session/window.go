package session

import (
	"math"
	"slices"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// add puts a turn into the window.
func (l *live) add(t ledger.Turn) error {
	follows := l.path != nil && t.Covers == 0 && t.Parent == l.led.Tip()
	if err := l.led.Add(t); err != nil {
		return err
	}
	l.size += weight(t)
	if !follows {
		l.path = nil
		return nil
	}
	l.path = append(l.path, t)
	return nil
}

// turns returns the active path, which is walked once for a job. A question that was deleted isn't on it.
func (l *live) turns() []ledger.Turn {
	if l.path == nil {
		l.path = slices.DeleteFunc(l.led.Path(), func(t ledger.Turn) bool {
			return t.Role == ledger.RoleUser && len(t.Artifacts) == 0
		})
	}
	return slices.Clip(l.path)
}

// amend replaces what a turn in the window says.
func (l *live) amend(seq ledger.Seq, arts []artifact.Artifact, parts []ledger.Part) {
	old, ok := l.led.Turn(seq)
	l.led.Amend(seq, arts, parts)
	l.path = nil
	if ok {
		now, _ := l.led.Turn(seq)
		l.size += weight(now) - weight(old)
	}
}

// rewrite replaces a turn in the window, as far as turns are rewritten: what it says, and which messages it comes from.
func (l *live) rewrite(t ledger.Turn) {
	l.led.SetEntries(t.ID.Seq, t.Entries)
	l.amend(t.ID.Seq, t.Artifacts, t.Parts)
}

// dropBefore moves the window's start.
func (l *live) dropBefore(start ledger.Seq) {
	l.led.DropBefore(start)
	l.path, l.size = nil, 0
	for _, t := range l.turns() {
		l.size += weight(t)
	}
}

// trim moves the live window forward when it has grown beyond its size, down to half of it, but not beyond what prompts still need. A
// Batch that takes the path back leaves it to the next one: where the path then ends, the window must not have dropped.
func (s *Stream) trim(b *Batch) {
	l := s.live
	if l.size <= s.m.cfg.WindowBytes || b.State.Tip < l.state.Tip {
		return
	}
	path := l.turns()
	if len(path) == 0 {
		return
	}
	needed, begins := s.needed(path)
	if start := min(s.cut(path), needed); start > b.State.Window {
		b.State.Fit.Lost = b.State.Fit.Lost || start > begins
		b.State.Window, b.State.Base = start, l.led.Rebase()
		l.dropBefore(start)
	}
}

// hardWindow is how many times its size a live window may grow to where no summary can be made of what is in it.
const hardWindow = 8

// needed returns the first turn that may not leave the window yet, and where begins what stands in no summary: that is what may not,
// or, where no summaries are made, what the prompts hold. A window with which nobody knows what they can hold is bounded by its size
// alone.
func (s *Stream) needed(path []ledger.Turn) (needed, begins ledger.Seq) {
	if path[0].Covers != 0 && len(path) > 1 {
		path = path[1:]
	}
	begins = path[0].ID.Seq
	if s.window == 0 && s.m.cfg.Spec.NumCtx == 0 {
		return math.MaxUint64, begins
	}
	from := s.live.state.Fit.From
	shown := slices.ContainsFunc(path, func(t ledger.Turn) bool { return t.ID.Seq == from })
	if shown && (s.m.cfg.CompactAt <= 0 || s.live.size > hardWindow*s.m.cfg.WindowBytes) {
		return from, begins
	}
	return begins, begins
}

// cut finds the user turn at which the newer half of a full window begins: the newest one, where that exchange alone is more. A
// window never begins inside an exchange, where a tool's result would have lost its call.
func (s *Stream) cut(path []ledger.Turn) ledger.Seq {
	size, at := 0, 0
	for i := len(path) - 1; i >= 0; i-- {
		size += weight(path[i])
		if at > 0 && size > s.m.cfg.WindowBytes/2 {
			break
		}
		if path[i].Role == ledger.RoleUser {
			at = i
		}
	}
	if path[at].Role != ledger.RoleUser {
		return 0
	}
	return path[at].ID.Seq
}

// weight is a turn's size in the live window: the bytes that its artifacts hold, and a little for the turn itself.
func weight(t ledger.Turn) int {
	n := 200
	for _, a := range t.Artifacts {
		switch a := a.(type) {
		case artifact.Text:
			n += len(a.Content)
		case artifact.Reasoning:
			n += len(a.Content)
		case artifact.ToolCall:
			n += len(a.Arguments)
		case artifact.ToolResult:
			n += len(a.Content)
		case artifact.Image:
			n += len(a.URL)
		}
	}
	return n
}
