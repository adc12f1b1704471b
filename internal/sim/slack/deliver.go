package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"
)

// Delivery is one try to bring an envelope to the app.
type Delivery struct {
	Envelope string
	Type     string // events_api, slash_commands, interactive
	Event    string // event_id; the same for every try of an event
	Attempt  int    // 0 to 3
	At       time.Duration
	Sent     bool          // false: there was no connection
	Acked    bool          // in time
	AckAfter time.Duration // since At
	Payload  json.RawMessage
}

// Stats sum up what became of the envelopes.
type Stats struct {
	Sent, Acked int // tries
	Lost        int // events that ran out of tries, commands that were not acked
	Stray       int // frames of the client that ack nothing: late, twice, unknown or no JSON
}

// delivery is an envelope under way; it lives through its redeliveries.
type delivery struct {
	kind    string
	event   string
	payload json.RawMessage
	accepts bool // the ack may carry content
	attempt int
	raw     map[string]json.RawMessage // of Push: sent as it is, but for a redelivery

	envelope string
	sock     *socket
	timer    *time.Timer
	try      *Delivery
	onAck    func(payload json.RawMessage)
	onLoss   func()
}

// deliver makes a try. It is called under the lock.
func (s *Server) deliver(d *delivery) {
	if d.envelope == "" {
		d.envelope = fmt.Sprintf("sim-env-%04d", s.world.next("envelope"))
	}
	d.try = &Delivery{Envelope: d.envelope, Type: d.kind, Event: d.event, Attempt: d.attempt, At: time.Since(s.start)}
	s.link.log = append(s.link.log, d.try)
	if d.sock = s.pick(); d.sock == nil {
		s.unacked(d)
		return
	}
	d.try.Sent = true
	s.link.pending[d.envelope] = d
	d.sock.push(d.frame(), false)
	d.timer = s.after(s.opt.AckDeadline, func() { s.unacked(d) })
	s.changed()
}

// pick returns any connection, nil if there is none.
func (s *Server) pick() *socket {
	open := s.link.staying()
	if len(open) == 0 || s.closed {
		return nil
	}
	return open[s.rand.IntN(len(open))]
}

func (d *delivery) frame() []byte {
	f := object{
		"envelope_id": d.envelope, "type": d.kind, "payload": d.payload, "accepts_response_payload": d.accepts,
	}
	if d.kind == "events_api" {
		f["retry_attempt"], f["retry_reason"] = d.attempt, ""
		if d.attempt > 0 {
			f["retry_reason"] = "timeout"
		}
	}
	if d.raw != nil {
		own := object{}
		for k, v := range d.raw {
			own[k] = v
		}
		if d.try.Envelope != unquote(d.raw["envelope_id"]) {
			maps.Copy(own, f)
		}
		f = own
	}
	return encode(f)
}

func unquote(raw json.RawMessage) string {
	var text string
	_ = json.Unmarshal(raw, &text)
	return text
}

func (s *Server) acked(d *delivery, payload json.RawMessage) {
	s.stop(d.timer)
	delete(s.link.pending, d.envelope)
	d.try.Acked, d.try.AckAfter = true, time.Since(s.start)-d.try.At
	if d.accepts {
		d.try.Payload = payload
	}
	if d.onAck != nil {
		d.onAck(d.try.Payload)
	}
	s.changed()
}

// unacked ends a try. Events come again in a new envelope, at once, after a minute, after five; nothing else does.
func (s *Server) unacked(d *delivery) {
	delete(s.link.pending, d.envelope)
	if d.kind != "events_api" || d.attempt >= len(s.opt.Retries) || s.closed {
		s.link.lost++
		if d.onLoss != nil {
			d.onLoss()
		}
		s.changed()
		return
	}
	wait := s.opt.Retries[d.attempt]
	d.attempt++
	d.envelope = ""
	if wait == 0 {
		s.deliver(d)
		return
	}
	d.timer = s.after(wait, func() { s.deliver(d) })
}

// resend gives a new connection what was left on lost ones, as it was.
func (s *Server) resend(k *socket) {
	live := map[*socket]bool{}
	for _, x := range s.link.sockets {
		live[x] = true
	}
	for _, t := range s.link.log {
		if d := s.link.pending[t.Envelope]; d != nil && d.try == t && !live[d.sock] {
			d.sock = k
			k.push(d.frame(), false)
		}
	}
}

// Push sends a frame as it is, with whatever is wrong with it. One with an envelope_id is treated as any envelope: it has
// an ack deadline, and an event that misses it comes again. A message in it that the workspace doesn't know is added, its
// conversation and author too, so that the bot can answer it. A "disconnect" also closes the connection that gets it.
// Without a connection an envelope waits as others do; any other frame is an error.
func (s *Server) Push(data json.RawMessage) error {
	var raw map[string]json.RawMessage
	_ = json.Unmarshal(data, &raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := unquote(raw["envelope_id"]); id != "" && s.link.pending[id] == nil {
		s.pushEnvelope(id, raw)
		return nil
	}
	k := s.pick()
	if k == nil {
		return errors.New("slack simulator: push: no connection")
	}
	if unquote(raw["type"]) == "disconnect" {
		s.disconnect(k, unquote(raw["reason"]))
		return nil
	}
	k.push(data, false)
	return nil
}

func (s *Server) pushEnvelope(id string, raw map[string]json.RawMessage) {
	d := &delivery{kind: unquote(raw["type"]), payload: raw["payload"], envelope: id, raw: raw}
	_ = json.Unmarshal(raw["accepts_response_payload"], &d.accepts)
	_ = json.Unmarshal(raw["retry_attempt"], &d.attempt)
	var p pushed
	_ = json.Unmarshal(d.payload, &p)
	d.event = p.EventID
	s.plant(p.Event)
	s.deliver(d)
}

// Deliveries returns every try so far, in order.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Delivery, len(s.link.log))
	for i, d := range s.link.log {
		out[i] = *d
	}
	return out
}

// Stats returns the sums so far.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Stats{Lost: s.link.lost, Stray: s.link.stray}
	for _, d := range s.link.log {
		if d.Sent {
			st.Sent++
		}
		if d.Acked {
			st.Acked++
		}
	}
	return st
}
