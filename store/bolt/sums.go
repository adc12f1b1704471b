package bolt

import (
	"encoding/json"
	"maps"

	bolt "go.etcd.io/bbolt"

	"orebot/core/session"
)

// sums counts entries. It is kept in a record of its own, put in every commit that changes it: counting at the start would mean
// reading every entry that is kept.
type sums struct {
	Waiting int64 `json:"waiting"`
	Kept    tally `json:"kept"`
	Expired tally `json:"expired"`
}

// tally counts entries that no longer wait.
type tally struct {
	Heard   int64                 `json:"heard"`
	Signals int64                 `json:"signals,omitempty"` // that wait too
	Ended   map[session.End]int64 `json:"ended,omitempty"`
}

// add counts an entry n times, among the kept.
func (s *sums) add(h entryHead, n int64) {
	if h.state.Waits() && !h.state.IsSignal() {
		s.Waiting += n
		return
	}
	s.Kept.add(h, n)
}

// expire moves an entry from the kept to the expired.
func (s *sums) expire(h entryHead) {
	s.Kept.add(h, -1)
	s.Expired.add(h, 1)
}

// add counts every state that is no signal's, neither waits nor is heard as ended, those of a later version too.
func (t *tally) add(h entryHead, n int64) {
	switch {
	case h.state.IsSignal():
		t.Signals += n
		return
	case h.state.IsHeard():
		t.Heard += n
		return
	}
	if t.Ended == nil {
		t.Ended = make(map[session.End]int64)
	}
	t.Ended[h.end] += n
	if t.Ended[h.end] == 0 {
		delete(t.Ended, h.end)
	}
}

func (s sums) clone() sums {
	s.Kept.Ended = maps.Clone(s.Kept.Ended)
	s.Expired.Ended = maps.Clone(s.Expired.Ended)
	return s
}

func (s sums) equal(o sums) bool {
	return s.Waiting == o.Waiting && s.Kept.equal(o.Kept) && s.Expired.equal(o.Expired)
}

func (t tally) equal(o tally) bool {
	return t.Heard == o.Heard && t.Signals == o.Signals && maps.Equal(t.Ended, o.Ended)
}

func (s sums) totals() session.Totals {
	t := session.Totals{
		Ended:   make(map[session.End]uint64),
		Heard:   uint64(s.Kept.Heard + s.Expired.Heard),
		Signals: uint64(s.Kept.Signals + s.Expired.Signals),
		Waiting: uint64(s.Waiting),
	}
	for _, m := range []map[session.End]int64{s.Kept.Ended, s.Expired.Ended} {
		for end, n := range m {
			t.Ended[end] += uint64(n)
		}
	}
	return t
}

func sumsKey() []byte { return []byte{famSums} }

func (s sums) encode() ([]byte, error) {
	body, err := json.Marshal(s)
	return append(newValue(len(body)), body...), err
}

func decodeSums(v []byte) (s sums, err error) { return s, json.Unmarshal(v, &s) }

// readSums returns the stored sums; a file without entries has none.
func readSums(b *bolt.Bucket) (sums, error) {
	body, ok, err := read(b, sumsKey())
	if !ok || err != nil {
		return sums{}, corrupt(sumsKey(), err)
	}
	s, err := decodeSums(body)
	return s, corrupt(sumsKey(), err)
}
