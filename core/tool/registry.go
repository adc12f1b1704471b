package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"orebot/core/provider"
)

// Registry holds the tools, in groups. It is safe for concurrent use.
type Registry struct {
	room int

	mu     sync.RWMutex
	groups []*group
	byName map[string]*entry
	offer  []provider.Tool
	size   int
}

type group struct {
	name  string
	tools []*entry
}

type entry struct {
	Tool
	group string
	check *check // nil: the schema can't be checked
}

// NewRegistry returns a Registry with these groups, which are empty and stay in this order. The names, descriptions and schemas of all
// tools that are offered come to at most room bytes, since they stand in every prompt; zero is no limit.
func NewRegistry(room int, groups ...string) *Registry {
	r := &Registry{room: room, byName: map[string]*entry{}}
	for _, g := range groups {
		r.groups = append(r.groups, &group{name: g})
	}
	return r
}

// Set makes these the tools of a group, in place of those that it had; they are offered in the order of their names. The error names
// each tool that is left out, because of its name, its schema, or the room; the others are in.
func (r *Registry) Set(name string, tools []Tool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.groups, func(g *group) bool { return g.name == name })
	if i < 0 {
		return fmt.Errorf("tool: there is no group %q", name)
	}
	sorted := slices.SortedStableFunc(slices.Values(tools), func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	var errs []error
	var in []*entry
	for _, t := range sorted {
		e, err := newEntry(t)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		e.group = name
		in = append(in, e)
	}
	r.groups[i].tools = in
	return errors.Join(append(errs, r.rebuild(r.groups[i])...)...)
}

// newEntry checks a tool by itself.
func newEntry(t Tool) (*entry, error) {
	if !goodName.MatchString(t.Name) {
		return nil, fmt.Errorf("tool: %q: the name isn't one that a model can call", clipped(t.Name, 80))
	}
	if t.Call == nil {
		return nil, fmt.Errorf("tool: %s: nothing runs it", t.Name)
	}
	if len(t.Parameters) == 0 {
		t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	var compact bytes.Buffer
	var object map[string]json.RawMessage
	if json.Unmarshal(t.Parameters, &object) != nil || json.Compact(&compact, t.Parameters) != nil || object == nil {
		return nil, fmt.Errorf("tool: %s: the schema of its arguments is no object", t.Name)
	}
	t.Parameters = compact.Bytes()
	return &entry{Tool: t, check: checker(t.Parameters)}, nil
}

// rebuild makes the list to offer anew, and returns what is left out of changed.
func (r *Registry) rebuild(changed *group) (errs []error) {
	r.byName, r.offer, r.size = map[string]*entry{}, nil, 0
	for _, g := range r.groups {
		for _, e := range g.tools {
			err := r.add(e)
			if err != nil && g == changed {
				errs = append(errs, err)
			}
		}
	}
	return errs
}

func (r *Registry) add(e *entry) error {
	size := len(e.Name) + len(e.Description) + len(e.Parameters)
	switch {
	case r.byName[e.Name] != nil:
		return fmt.Errorf("tool: %s: the name is taken", e.Name)
	case r.room > 0 && r.size+size > r.room:
		return fmt.Errorf("tool: %s: no room, its description is %d bytes and %d of %d are taken", e.Name, size, r.size, r.room)
	}
	r.size += size
	r.byName[e.Name] = e
	r.offer = append(r.offer, provider.Tool{Name: e.Name, Description: e.Description, Parameters: e.Parameters})
	return nil
}

// Offer is the option that tells a model of the tools that there are when it is called.
func (r *Registry) Offer() provider.InvokeOption {
	return func(inv *provider.Invocation) { provider.WithTools(r.Tools()...)(inv) }
}

// Tools returns what a model is told, in an order that changes only with the tools.
func (r *Registry) Tools() []provider.Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.offer)
}

// Size returns how many bytes of names, descriptions and schemas stand in every prompt.
func (r *Registry) Size() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.size
}

func (r *Registry) find(name string) *entry {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byName[name]
}

// names lists what there is, for a model that called something else.
func (r *Registry) names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]string, len(r.offer))
	for i, t := range r.offer {
		out[i] = t.Name
	}
	return out
}
