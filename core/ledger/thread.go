package ledger

import (
	"fmt"
	"slices"

	"orebot/core/artifact"
)

// Thread is the tree of a thread's turns, or of its live window, with the tip
// of the active path. It is pure data for one goroutine.
type Thread struct {
	id    ThreadID
	turns map[Seq]Turn
	first Seq // the window's first turn; earlier parents are taken on trust
	last  Seq
	tip   Seq
	base  *Turn // the summary of what lies before the window, on the active path
}

// NewThread returns a Thread without turns.
func NewThread(id ThreadID) *Thread {
	return &Thread{id: id, turns: make(map[Seq]Turn)}
}

// ID returns the thread's id.
func (th *Thread) ID() ThreadID { return th.id }

// Tip returns the last turn of the active path; zero where there is none.
func (th *Thread) Tip() Seq { return th.tip }

// Last returns the highest sequence that was added.
func (th *Thread) Last() Seq { return th.last }

// Len returns how many turns the window holds, on all branches.
func (th *Thread) Len() int { return len(th.turns) }

// Turn returns the turn at seq, if the window holds it.
func (th *Thread) Turn(seq Seq) (Turn, bool) {
	t, ok := th.turns[seq]
	return t, ok
}

// Add puts a stamped turn into the tree and makes it the tip. Its sequence must
// be above all before it (records that aren't turns may lie between), its
// parent known, zero, or older than the window.
func (th *Thread) Add(t Turn) error {
	if t.ID.Thread != th.id {
		return fmt.Errorf("ledger: thread %s: turn %s is of another thread", th.id, t.ID)
	}
	if t.ID.Seq <= th.last {
		return fmt.Errorf("ledger: thread %s: turn %d after %d", th.id, t.ID.Seq, th.last)
	}
	if err := th.checkRefs(t); err != nil {
		return err
	}
	if len(th.turns) == 0 && th.first == 0 {
		th.first = t.ID.Seq
	}
	th.turns[t.ID.Seq] = t
	th.last, th.tip = t.ID.Seq, t.ID.Seq
	return nil
}

// checkRefs makes sure that the turn points backwards, to something known.
func (th *Thread) checkRefs(t Turn) error {
	if t.Parent >= t.ID.Seq || t.Covers >= t.ID.Seq {
		return fmt.Errorf("ledger: thread %s: turn %d points forward", th.id, t.ID.Seq)
	}
	if !th.reachable(t.Parent) {
		return fmt.Errorf("ledger: thread %s: turn %d: no parent %d", th.id, t.ID.Seq, t.Parent)
	}
	return nil
}

func (th *Thread) reachable(seq Seq) bool {
	if seq == 0 || th.first == 0 || seq < th.first {
		return true
	}
	_, ok := th.turns[seq]
	return ok
}

// SetTip makes seq the end of the active path; zero empties the path.
func (th *Thread) SetTip(seq Seq) error {
	if _, ok := th.turns[seq]; !ok && seq != 0 {
		return fmt.Errorf("ledger: thread %s: no turn %d to be the tip", th.id, seq)
	}
	th.tip = seq
	return nil
}

// Amend replaces what the turn at seq says, where the window holds it. The turn
// that was there keeps its slices: who was shown it isn't disturbed.
func (th *Thread) Amend(seq Seq, artifacts []artifact.Artifact, parts []Part) {
	if t, ok := th.turns[seq]; ok {
		t.Artifacts, t.Parts = artifacts, parts
		th.turns[seq] = t
	}
	if th.base != nil && th.base.ID.Seq == seq {
		t := *th.base
		t.Artifacts, t.Parts = artifacts, parts
		th.base = &t
	}
}

// SetEntries replaces which messages the turn at seq comes from, where the window holds it.
func (th *Thread) SetEntries(seq Seq, entries []string) {
	if t, ok := th.turns[seq]; ok {
		t.Entries = entries
		th.turns[seq] = t
	}
}

// Promote makes the draft at seq an answer to deliver, where the window holds it.
func (th *Thread) Promote(seq Seq) {
	if t, ok := th.turns[seq]; ok {
		t.Draft = false
		th.turns[seq] = t
	}
}

// Path returns the turns of the active path, oldest first. Where a summary covers a turn of it, the newest one that covers the latest
// such turn stands first, followed by the turns after that one; older summaries are part of what it covers. A summary needn't lie on
// the path itself: what comes before a turn is the same on every path through it. One that has been emptied counts for nothing.
func (th *Thread) Path() []Turn {
	covering := th.summaries()
	lead := th.base // of a path that leaves the window
	var path []Turn
	met := false
	seq := th.tip
	for seq != 0 {
		if s, ok := covering[seq]; ok {
			met, lead = true, &s
			break
		}
		t, ok := th.turns[seq]
		if !ok || met && seq <= lead.Covers {
			break
		}
		switch {
		case t.Covers == 0:
			path = append(path, t)
		case !met && len(t.Artifacts) > 0:
			s := t // a copy of its own, so that the other turns stay on the stack
			met, lead = true, &s
		}
		seq = t.Parent
	}
	if lead != nil && len(lead.Artifacts) > 0 && (seq != 0 || met) {
		path = append(path, *lead)
	}
	slices.Reverse(path)
	return path
}

// summaries returns the newest summary for each turn that is the last one covered by any.
func (th *Thread) summaries() map[Seq]Turn {
	var out map[Seq]Turn
	for _, t := range th.turns {
		if t.Covers == 0 || len(t.Artifacts) == 0 || t.ID.Seq < out[t.Covers].ID.Seq {
			continue
		}
		if out == nil {
			out = map[Seq]Turn{}
		}
		out[t.Covers] = t
	}
	return out
}

// Base returns the summary that stands for what the active path has before the window; zero where there is none.
func (th *Thread) Base() (Turn, bool) {
	if th.base == nil {
		return Turn{}, false
	}
	return *th.base, true
}

// SetBase makes a summary stand for what the active path has before the window, as Rebase once did.
func (th *Thread) SetBase(t Turn) { th.base = &t }

// Rebase keeps the summary that the active path begins with, if it does, for when the window begins behind it, and returns its
// sequence.
func (th *Thread) Rebase() Seq {
	if path := th.Path(); len(path) > 0 && path[0].Covers != 0 {
		th.base = &path[0]
		return path[0].ID.Seq
	}
	th.base = nil
	return 0
}

// DropBefore forgets the turns below seq, which is the window's new start. What
// the active path loses by that is the caller's to know; see Rebase.
func (th *Thread) DropBefore(seq Seq) {
	for s := range th.turns {
		if s < seq {
			delete(th.turns, s)
		}
	}
	th.first = max(th.first, seq)
}
