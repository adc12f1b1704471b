package attribution

import (
	"context"
	"slices"
	"strings"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
)

// Speakers is a loop.Transform that labels each user turn that has a Speaker. It belongs in front of what measures or cuts the
// conversation, so that the labels are counted and a cut doesn't change who is told apart from whom.
type Speakers struct{}

var _ loop.Transform = Speakers{}

// Transform returns a view of st with the labels, or st itself where no turn has a Speaker. It never fails.
func (Speakers) Transform(_ context.Context, st ledger.State) (ledger.State, error) {
	if st == nil {
		return st, nil
	}
	turns := st.Turns()
	if !slices.ContainsFunc(turns, named) {
		return st, nil
	}
	shown := slices.Clone(turns)
	people := make(crowd)
	for i, t := range turns {
		if named(t) {
			shown[i].Artifacts = labelled(t.Artifacts, "["+people.label(t)+"]:")
		}
	}
	return ledger.NewView(st, shown), nil
}

func named(t ledger.Turn) bool { return t.Role == ledger.RoleUser && t.Speaker != "" }

// labelled returns a copy of the artifacts, in their order, with the label before the first text; where there is none, the label
// is a text of its own in front.
func labelled(arts []artifact.Artifact, label string) []artifact.Artifact {
	out := make([]artifact.Artifact, 0, len(arts)+1)
	open := true
	for _, a := range arts {
		if text, ok := a.(artifact.Text); ok {
			text.Content = harmless(text.Content)
			if open {
				text.Content = label + " " + text.Content
			}
			a, open = text, false
		}
		out = append(out, a)
	}
	if open {
		return slices.Insert(out, 0, artifact.Artifact(artifact.Text{Content: label}))
	}
	return out
}

// crowd remembers which label is whose: the author's id by the label in lower case.
type crowd map[string]string

// label returns the name that the writer of t goes by. The first of a name has it alone; another author has the id behind it, as
// often as it takes.
func (c crowd) label(t ledger.Turn) string {
	name, id := oneLine(t.Speaker), oneLine(t.Author)
	for {
		key := strings.ToLower(name)
		author, taken := c[key]
		if !taken {
			c[key] = t.Author
		}
		if !taken || author == t.Author || id == "" {
			return name
		}
		name += " (" + id + ")"
	}
}
