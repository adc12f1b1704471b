package budget

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// Bounds of a scale: beyond them, what a server said was no count.
const (
	minScale = 0.2
	maxScale = 8
)

// How much of an estimate it takes, in tokens, until what was counted weighs as much as what was believed before: of one
// conversation, whose next prompt is mostly the last one, and of a model, which has many.
const (
	threadInertia = 500
	modelInertia  = 5000
)

// maxModels is how many models a Meter remembers.
const maxModels = 64

// Meter remembers how many tokens servers have counted for each estimated one, by model, in memory. It is safe for concurrent use.
type Meter struct {
	mu     sync.Mutex
	models map[string]measured
}

type measured struct {
	scale float64
	used  time.Time
}

// NewMeter returns a Meter that knows nothing: every scale is 1.
func NewMeter() *Meter { return &Meter{models: map[string]measured{}} }

// Scale returns what a conversation begins with that a model answers.
func (m *Meter) Scale(model string) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k, ok := m.models[model]; ok {
		return k.scale
	}
	return 1
}

// Learn takes down that a prompt which was estimated at raw tokens, unscaled, had so many.
func (m *Meter) Learn(model string, raw, tokens int) {
	if raw <= 0 || tokens <= 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.models[model]
	if !ok {
		k.scale = 1
		m.forget()
	}
	k.scale, k.used = learnt(k.scale, raw, tokens, modelInertia), time.Now()
	m.models[model] = k
}

// forget makes room for a model.
func (m *Meter) forget() {
	if len(m.models) < maxModels {
		return
	}
	oldest := slices.MinFunc(slices.Collect(maps.Keys(m.models)), func(a, b string) int {
		return cmp.Or(m.models[a].used.Compare(m.models[b].used), cmp.Compare(a, b))
	})
	delete(m.models, oldest)
}

// Learn returns a conversation's scale after a prompt of it that was estimated at raw tokens, unscaled, had so many.
func Learn(scale float64, raw, tokens int) float64 {
	if raw <= 0 || tokens <= 0 {
		return scale
	}
	return learnt(scale, raw, tokens, threadInertia)
}

func learnt(scale float64, raw, tokens, inertia int) float64 {
	sum := scale*float64(inertia) + float64(tokens)
	return min(max(sum/float64(inertia+raw), minScale), maxScale)
}

// Refused returns a conversation's scale after a server has refused a prompt that was estimated at raw tokens, unscaled, as more
// than the window holds.
func Refused(scale float64, raw, window int) float64 {
	if raw <= 0 {
		return scale
	}
	return min(max(scale*1.25, 1.05*float64(window)/float64(raw)), maxScale)
}
