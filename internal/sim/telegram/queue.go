package telegram

import (
	"encoding/json"
	"slices"
	"time"
)

// How long an update waits for the bot (source: Client.cpp), and how far beyond the end an offset may point before the
// server ignores it (source: TQueue.cpp).
const (
	keepUpdates   = 24 * time.Hour
	keepCallbacks = 150 * time.Second
	offsetSlack   = 10
	offsetDepth   = 100000
)

// queued is an update that waits to be confirmed.
type queued struct {
	id      int
	body    json.RawMessage
	expires time.Time
}

// queue holds the updates of the bot. Ids run on from its tail, the id that the next update gets.
type queue struct {
	tail      int
	items     []queued
	allowed   []string // nil: the default kinds
	confirmed int
	polls     []Poll
	waiting   *waiter
	webhook   string
	calmAt    time.Time // until then a conflict is told 3 s late
}

func (q *queue) init(first int) { q.tail = first }

// add appends an update and wakes the poll that waits.
func (q *queue) add(kind string, value any, keep time.Duration) int {
	body, err := json.Marshal(map[string]any{"update_id": q.tail, kind: value})
	if err != nil {
		panic(err) // every value is made of plain data
	}
	return q.put(body, keep)
}

func (q *queue) put(body []byte, keep time.Duration) int {
	q.items = append(q.items, queued{q.tail, body, time.Now().Add(keep)})
	q.tail++
	if q.waiting != nil {
		q.waiting.wake()
	}
	return q.tail - 1
}

// wants tells whether updates of this kind are queued at all.
func (q *queue) wants(kind string) bool {
	if q.allowed == nil {
		return !slices.Contains(optInKinds, kind)
	}
	return slices.Contains(q.allowed, kind)
}

// expire drops what nobody fetched in time.
func (q *queue) expire(now time.Time) {
	q.items = slices.DeleteFunc(q.items, func(u queued) bool { return !now.Before(u.expires) })
}

// confirm forgets every update below the offset, as the server does before it answers a poll: an offset far outside the
// queue is ignored, a negative one keeps the last -offset updates.
func (q *queue) confirm(offset int) {
	head := q.head()
	switch {
	case offset == 0, offset > q.tail+offsetSlack, offset > 0 && offset < head-offsetDepth:
		return
	case offset < 0:
		offset = max(q.tail+offset, head)
	}
	done := 0
	for done < len(q.items) && q.items[done].id < offset {
		done++
	}
	if done > 0 {
		q.confirmed = q.items[done-1].id
	}
	q.items = q.items[done:]
}

func (q *queue) head() int {
	if len(q.items) > 0 {
		return q.items[0].id
	}
	return q.tail
}

// first returns up to limit updates from the head on.
func (q *queue) first(limit int) []json.RawMessage {
	out := []json.RawMessage{}
	for _, u := range q.items[:min(limit, len(q.items))] {
		out = append(out, u.body)
	}
	return out
}

// update queues an update of a kind if the bot asked for the kind. The caller holds the lock.
func (s *Server) update(kind string, value any) {
	if !s.queue.wants(kind) {
		return
	}
	keep := keepUpdates
	if kind == "callback_query" {
		keep = keepCallbacks
	}
	s.queue.add(kind, value, keep)
}

// Push queues an update as it stands, whatever the bot asked for, and returns its id: for updates that no person here
// can cause, and for poison. The body must be a JSON object; its update_id, if any, gives way to the next one in turn.
// Push panics on anything else, for it is a mistake of the test.
func (s *Server) Push(body string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(body), &fields); err != nil {
		panic("telegram: push: " + err.Error())
	}
	fields["update_id"], _ = json.Marshal(s.queue.tail)
	raw, _ := json.Marshal(fields)
	return s.queue.put(raw, keepUpdates)
}

// PushRaw queues bytes that take the place of an update without being looked at, so that even the envelope may be odd:
// PushRaw panics where they
// are not JSON, for then the whole batch would not be.
func (s *Server) PushRaw(body string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !json.Valid([]byte(body)) {
		panic("telegram: push: not JSON")
	}
	return s.queue.put([]byte(body), keepUpdates)
}

// ResetIDs makes the next update's id to, as Telegram does after a week without updates, when the new id may well be
// lower than all before. Updates that still wait are dropped: after a week none are left.
func (s *Server) ResetIDs(to int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.items, s.queue.tail, s.queue.confirmed = nil, to, 0
}

// Confirmed is the highest update id that the bot has confirmed, 0 before the first.
func (s *Server) Confirmed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.confirmed
}

// Pending counts the updates that wait to be confirmed, those included that the bot has fetched.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.expire(time.Now())
	return len(s.queue.items)
}
