package access

import (
	"sync"
	"time"
)

// Knocks bounds how often people who are refused are written down: what they send costs room in the store, and nobody needs all of
// it. It is safe for concurrent use; its zero value is ready.
type Knocks struct {
	mu    sync.Mutex
	since time.Time
	by    map[string]int
	all   int
}

// Limits of an hour.
const (
	knocksOfOne = 20
	knocksOfAll = 2000
)

// Heard counts an attempt and reports whether it is within the hour's limits: twenty for each person, and two thousand for all
// together.
func (k *Knocks) Heard(id string, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.by == nil || now.Sub(k.since) >= time.Hour || now.Before(k.since) {
		k.since, k.by, k.all = now, map[string]int{}, 0
	}
	if k.all >= knocksOfAll || k.by[id] >= knocksOfOne {
		return false
	}
	k.all++
	k.by[id]++
	return true
}
