package ledger

import (
	"slices"
	"strings"
	"time"

	"orebot/core/artifact"
)

// Role says who speaks in a turn. A role that isn't one of the constants
// survives storage unchanged.
type Role string

// The roles that a model knows.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
	RoleTool      Role = "tool"
)

// Turn is one contribution to a conversation. A stamped turn is on a log and
// must not be changed, its slices included.
type Turn struct {
	// ID is set by the State that the turn is appended to.
	ID TurnID
	// Parent is the turn this one follows; zero at the root.
	Parent Seq
	// Role is who speaks.
	Role Role
	// Artifacts are complete: a Delta has no place in a turn.
	Artifacts []artifact.Artifact
	// Time is when the turn was appended.
	Time time.Time
	// Provenance is the address that caused the turn; empty for an answer to
	// several.
	Provenance string
	// Author is the person who wrote it, such as "slack:U1"; the bound State
	// adds it.
	Author string
	// Speaker is the name that the model is to know the author by, set where
	// several people may write; empty in a private chat.
	Speaker string
	// Entries are the keys of the messages that a user turn came from.
	Entries []string
	// Parts says which of a user turn's artifacts came from which of Entries, in
	// the same order; empty where the turn came from one message.
	Parts []Part
	// Draft marks a turn of an answer that is still being checked: it is not
	// delivered and ends nothing.
	Draft bool
	// Covers is, for a summary, the last turn that it stands for.
	Covers Seq
	// ShowReasoning says that the turn's reasoning is shown with it. It is
	// decided once, when the turn is appended, so that what is delivered half
	// isn't another thing after the setting has changed.
	ShowReasoning bool
}

// Part is the share that one message has of a user turn: how many artifacts
// come from what it quotes, from its text, and from its files, in this order.
type Part struct {
	Quotes int  `json:"q,omitempty"`
	Text   int  `json:"t,omitempty"`
	Files  int  `json:"f,omitempty"`
	Joined bool `json:"j,omitempty"` // its text stands in that of the part before
}

// Len is how many artifacts the part has.
func (p Part) Len() int { return p.Quotes + p.Text + p.Files }

// Stamped reports whether the turn has been appended to a log.
func (t Turn) Stamped() bool { return t.ID.Seq > 0 }

// Text returns what the turn says. The texts of an answer are pieces of one and are put together as they are; those of a user turn
// are messages of their own, written one after the other, and a blank line keeps them apart.
func (t Turn) Text() string {
	var texts []string
	for _, a := range t.Artifacts {
		if s, ok := a.(artifact.Text); ok {
			texts = append(texts, s.Content)
		}
	}
	between := ""
	if t.Role == RoleUser {
		between = "\n\n"
	}
	return strings.Join(texts, between)
}

// Reasoning returns what the model thought before it said what the turn says;
// empty for nothing.
func (t Turn) Reasoning() string {
	var all []string
	for _, a := range t.Artifacts {
		if r, ok := a.(artifact.Reasoning); ok && strings.TrimSpace(r.Content) != "" {
			all = append(all, strings.TrimSpace(r.Content))
		}
	}
	return strings.Join(all, "\n\n")
}

// HasToolCall reports whether the turn asks for a tool to be run.
func (t Turn) HasToolCall() bool {
	return slices.ContainsFunc(t.Artifacts, func(a artifact.Artifact) bool {
		return a.Kind() == artifact.KindToolCall
	})
}

// Final reports whether the turn is an answer to deliver: the assistant's,
// without a tool call, and no draft.
func (t Turn) Final() bool {
	return t.Role == RoleAssistant && !t.Draft && !t.HasToolCall()
}
