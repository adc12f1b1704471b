package play

import (
	"context"
	"errors"
	"strings"
	"sync"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/core/session"
)

// model is a provider whose calls wait for the play's lines.
type model struct {
	usual string

	mu    sync.Mutex
	calls []*call       // that wait, in the order in which they came
	freed int           // calls that were given up by their callers
	down  provider.Kind // every call fails so; KindUnknown: none does
	came  chan struct{} // has one in it once something has changed
}

// call is one call of the model.
type call struct {
	turns []ledger.Turn
	spec  models.Spec
	begun bool // a part of the answer was sent
	lines chan reply
}

// reply is what one line lets the model do.
type reply struct {
	arts []artifact.Artifact
	err  error
	more bool // the call goes on
	bang bool
}

func newModel(name string) *model { return &model{usual: name, came: make(chan struct{}, 1)} }

// lifeModel is the model as one life of the process sees it: its calls end with it.
type lifeModel struct {
	*model
	dead <-chan struct{}
}

// Invoke implements provider.Provider.
func (m lifeModel) Invoke(ctx context.Context, st ledger.State, spec models.Spec, ch chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	m.mu.Lock()
	down := m.down
	c := &call{turns: st.Turns(), spec: spec, lines: make(chan reply)}
	if down == provider.KindUnknown && c.read() == "user "+session.Harmless {
		m.mu.Unlock()
		ch <- artifact.TextDelta{Content: "OK."} // what shows that a failure was the question's needs no line of its own
		return nil
	}
	if down == provider.KindUnknown {
		m.calls = append(m.calls, c)
		m.ring()
	}
	m.mu.Unlock()
	if down != provider.KindUnknown {
		return &provider.Error{Kind: down, Model: m.name(spec)}
	}
	defer m.drop(c)
	return m.serve(ctx, c, ch)
}

func (m *model) name(spec models.Spec) string {
	if spec.Model != "" {
		return spec.Model
	}
	return m.usual
}

// serve does what the lines say until the call is over.
func (m lifeModel) serve(ctx context.Context, c *call, ch chan<- artifact.Artifact) error {
	for {
		var r reply
		select {
		case r = <-c.lines:
		case <-ctx.Done():
			m.mu.Lock()
			m.freed++
			m.mu.Unlock()
			return ctx.Err()
		case <-m.dead:
			return context.Canceled
		}
		for _, a := range r.arts {
			select {
			case ch <- a:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if r.bang {
			panic("the model's provider is broken")
		}
		if !r.more {
			return m.failed(c, r.err)
		}
	}
}

// failed names the model in an error.
func (m *model) failed(c *call, err error) error {
	var pe *provider.Error
	if errors.As(err, &pe) {
		return &provider.Error{Kind: pe.Kind, Model: m.name(c.spec), Partial: pe.Partial || c.begun, Installed: pe.Installed}
	}
	return err
}

func (m *model) ring() {
	select {
	case m.came <- struct{}{}:
	default:
	}
}

func (m *model) drop(c *call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, o := range m.calls {
		if o == c {
			m.calls = append(m.calls[:i:i], m.calls[i+1:]...)
			break
		}
	}
	m.ring()
}

// first returns the call that waits longest; nil where none does.
func (m *model) first() *call {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.calls) == 0 {
		return nil
	}
	return m.calls[0]
}

func (m *model) waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.calls)
}

// fallen takes note of one call that was given up, if one was.
func (m *model) fallen() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.freed == 0 {
		return false
	}
	m.freed--
	return true
}

func (m *model) setDown(k provider.Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = k
}

// read is what a call shows the model, in one line.
func (c *call) read() string {
	var out []string
	for _, t := range c.turns {
		who := string(t.Role)
		if t.Role == ledger.RoleAssistant {
			who = "bot"
		}
		out = append(out, who+" "+shown(t))
	}
	return strings.Join(out, " / ")
}

// shown is what a turn says, its artifacts joined by "|".
func shown(t ledger.Turn) string {
	var out []string
	for _, a := range t.Artifacts {
		switch a := a.(type) {
		case artifact.Text:
			out = append(out, a.Content)
		case artifact.Image:
			out = append(out, "[picture]")
		case artifact.ToolCall:
			out = append(out, "["+a.Name+"]")
		case artifact.ToolResult:
			out = append(out, a.Content)
		}
	}
	return strings.Join(out, "|")
}

// kindOf returns the kind of failure of a name.
func kindOf(name string) (provider.Kind, bool) {
	for k := provider.KindUnknown + 1; k <= provider.KindDenied; k++ {
		if k.String() == name {
			return k, true
		}
	}
	return provider.KindUnknown, false
}
