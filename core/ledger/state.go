package ledger

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"orebot/core/artifact"
)

// State is the conversation as somebody sees it. It belongs to one thread; two
// States are never compared with ==.
type State interface {
	// Turns returns the turns, oldest first: of a long thread the live window.
	// The caller must not change what it gets.
	Turns() []Turn
	// Append adds a turn and returns it as it was added. A persistent State
	// stamps it: ID, Parent and Time are set. On an error nothing was added,
	// unless the error says that the outcome is unknown.
	Append(ctx context.Context, t Turn) (Turn, error)
}

type draftKey struct{}

// WithDraft marks the turns that are appended under the returned context, of
// whatever role, as drafts: stored, but neither delivered nor the end of
// anything.
func WithDraft(ctx context.Context) context.Context {
	return context.WithValue(ctx, draftKey{}, true)
}

// IsDraft reports whether the context comes from WithDraft.
func IsDraft(ctx context.Context) bool {
	d, _ := ctx.Value(draftKey{}).(bool)
	return d
}

// view is a State that nothing stores.
type view struct {
	mu    sync.Mutex
	turns []Turn
}

// Prepend returns a view of st with turns in front. The view is a snapshot: it
// doesn't follow st, and an Append to it stays in it (see NewView). A nil st
// has no turns.
func Prepend(st State, turns ...Turn) State {
	all := slices.Clone(turns)
	if st != nil {
		all = append(all, st.Turns()...)
	}
	return &view{turns: all}
}

// NewView returns a view derived from st that shows turns instead of its own.
// A view is thrown away after use: a turn appended to it is added to the view
// alone and is not stamped, because it is on no log. st is never changed.
func NewView(st State, turns []Turn) State {
	return &view{turns: slices.Clone(turns)}
}

// Snapshot returns a view of st that shares no slice with it, so that nothing
// done to the view or its turns can reach st. A nil st gives an empty view.
func Snapshot(st State) State {
	if st == nil {
		return &view{}
	}
	turns := slices.Clone(st.Turns())
	n := 0
	for _, t := range turns {
		n += len(t.Artifacts)
	}
	all := make([]artifact.Artifact, 0, n)
	for i := range turns {
		t := &turns[i]
		at := len(all)
		all = append(all, t.Artifacts...)
		t.Artifacts = all[at:len(all):len(all)]
		t.Entries, t.Parts = slices.Clone(t.Entries), slices.Clone(t.Parts)
	}
	return &view{turns: turns}
}

// Turns returns the turns of the view. Who writes to them changes the view
// alone, and a later Append doesn't reach what was returned.
func (v *view) Turns() []Turn {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clip(v.turns)
}

// Append adds t to the view alone.
func (v *view) Append(_ context.Context, t Turn) (Turn, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.turns = append(v.turns, t)
	return t, nil
}

// Buffer is a State in memory: it stamps like a persistent one and forgets
// everything with the process. It is safe for concurrent use.
type Buffer struct {
	mu     sync.Mutex
	thread ThreadID
	turns  []Turn
}

// NewBuffer returns an empty Buffer. Its turns carry the zero ThreadID.
func NewBuffer() *Buffer { return &Buffer{} }

// NewBufferOf returns an empty Buffer whose turns belong to the given thread.
func NewBufferOf(thread ThreadID) *Buffer { return &Buffer{thread: thread} }

// Turns returns a copy of the turns so far.
func (b *Buffer) Turns() []Turn {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.turns)
}

// Append stamps t with the next sequence, the previous turn as parent, and the
// time if it has none. It fails only when ctx is done.
func (b *Buffer) Append(ctx context.Context, t Turn) (Turn, error) {
	if err := ctx.Err(); err != nil {
		return Turn{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	last := Seq(len(b.turns))
	t.ID, t.Parent = TurnID{Thread: b.thread, Seq: last + 1}, last
	if t.Time.IsZero() {
		t.Time = time.Now().UTC()
	}
	b.turns = append(b.turns, t)
	return t, nil
}

// Promote makes a draft an answer to deliver.
func (b *Buffer) Promote(_ context.Context, id TurnID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.turns {
		if b.turns[i].ID == id {
			b.turns[i].Draft = false
			return nil
		}
	}
	return fmt.Errorf("ledger: promote %s: no such turn", id)
}
