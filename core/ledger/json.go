package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"orebot/core/artifact"
)

// record is the JSON of a Turn on disk. Members may be added, never renamed.
type record struct {
	ID         TurnID            `json:"id,omitzero"`
	Parent     Seq               `json:"parent,omitempty"`
	Role       Role              `json:"role"`
	Artifacts  []json.RawMessage `json:"art,omitempty"`
	Time       time.Time         `json:"at,omitzero"`
	Provenance string            `json:"from,omitempty"`
	Author     string            `json:"by,omitempty"`
	Speaker    string            `json:"name,omitempty"`
	Entries    []string          `json:"entries,omitempty"`
	Parts      []Part            `json:"parts,omitempty"`
	Draft      bool              `json:"draft,omitempty"`
	Covers     Seq               `json:"covers,omitempty"`
	Thoughts   bool              `json:"thoughts,omitempty"` // ShowReasoning
}

// MarshalJSON returns the turn as it is stored: short member names, nothing for
// what is empty, the time in UTC, each artifact in the form of package artifact.
func (t Turn) MarshalJSON() ([]byte, error) {
	r := record{
		ID: t.ID, Parent: t.Parent, Role: t.Role, Provenance: t.Provenance,
		Author: t.Author, Speaker: t.Speaker, Entries: t.Entries, Parts: t.Parts, Draft: t.Draft, Covers: t.Covers,
		Thoughts: t.ShowReasoning,
	}
	if !t.Time.IsZero() {
		r.Time = t.Time.UTC()
	}
	for i, a := range t.Artifacts {
		b, err := artifact.Marshal(a)
		if err != nil {
			return nil, fmt.Errorf("ledger: turn %s: artifact %d: %w", t.ID, i, err)
		}
		r.Artifacts = append(r.Artifacts, b)
	}
	return json.Marshal(r)
}

// UnmarshalJSON reads what MarshalJSON wrote, with the artifact kinds that
// package artifact knows; others become artifact.Unknown.
func (t *Turn) UnmarshalJSON(data []byte) error {
	out, err := DecodeTurn(data, nil)
	if err != nil {
		return err
	}
	*t = out
	return nil
}

// DecodeTurn reads what MarshalJSON wrote, with the artifact kinds of reg. A nil
// reg knows those of package artifact.
func DecodeTurn(data []byte, reg *artifact.Registry) (Turn, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return Turn{}, fmt.Errorf("ledger: turn: %w", err)
	}
	t := Turn{
		ID: r.ID, Parent: r.Parent, Role: r.Role, Time: r.Time, Provenance: r.Provenance,
		Author: r.Author, Speaker: r.Speaker, Entries: r.Entries, Parts: r.Parts, Draft: r.Draft, Covers: r.Covers,
		ShowReasoning: r.Thoughts,
	}
	for i, raw := range r.Artifacts {
		a, err := reg.Unmarshal(raw)
		if err != nil {
			return Turn{}, fmt.Errorf("ledger: turn %s: artifact %d: %w", r.ID, i, err)
		}
		t.Artifacts = append(t.Artifacts, a)
	}
	return t, nil
}
