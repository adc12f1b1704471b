package loop

import (
	"strings"

	"orebot/core/artifact"
)

// accumulator puts the fragments of a stream together. Every artifact goes to
// seen as it comes; a block that is put together goes there when it is flushed.
type accumulator struct {
	seen   func(artifact.Artifact)
	blocks []*block // in the order of their first fragment
	done   []artifact.Artifact
}

// block is what the fragments with one key have come to.
type block struct {
	key string
	acc artifact.Artifact
	// A run of text fragments of one kind waits in text, so that a long answer
	// isn't copied once for every fragment.
	run  string
	text strings.Builder
}

// add takes the next artifact of the stream, as it will be stored. A complete one
// ends the blocks before it; a fragment that can't be merged is shown and
// forgotten.
func (ac *accumulator) add(a artifact.Artifact) {
	if a = artifact.Clean(a); a == nil {
		return
	}
	if _, fragment := a.(artifact.Delta); fragment {
		ac.seen(a)
		if d, ok := a.(artifact.Accumulable); ok {
			ac.block(d.AccumulatorKey()).merge(d)
		}
		return
	}
	ac.flush()
	ac.seen(a)
	ac.done = append(ac.done, a)
}

// flush completes all blocks.
func (ac *accumulator) flush() {
	for _, b := range ac.blocks {
		b.settle()
		if a := artifact.Clean(b.acc); a != nil {
			ac.seen(a)
			ac.done = append(ac.done, a)
		}
	}
	ac.blocks = nil
}

func (ac *accumulator) block(key string) *block {
	for _, b := range ac.blocks {
		if b.key == key {
			return b
		}
	}
	b := &block{key: key}
	ac.blocks = append(ac.blocks, b)
	return b
}

func (b *block) merge(d artifact.Accumulable) {
	switch v := d.(type) {
	case artifact.TextDelta:
		b.write(artifact.KindTextDelta, v.Content)
	case artifact.ReasoningDelta:
		b.write(artifact.KindReasoningDelta, v.Content)
	default:
		b.settle()
		b.acc = d.MergeInto(b.acc)
	}
}

func (b *block) write(run, s string) {
	if b.run != run {
		b.settle()
		b.run = run
	}
	b.text.WriteString(s)
}

// settle merges the waiting run, as one long fragment.
func (b *block) settle() {
	switch b.run {
	case artifact.KindTextDelta:
		b.acc = artifact.TextDelta{Content: b.text.String()}.MergeInto(b.acc)
	case artifact.KindReasoningDelta:
		b.acc = artifact.ReasoningDelta{Content: b.text.String()}.MergeInto(b.acc)
	}
	b.run = ""
	b.text.Reset()
}
