package slack

import (
	"time"

	"orebot/core/observe"
)

const (
	ackLife = 3 * time.Second // after it Slack has redelivered, and that copy gets an ack of its own
	maxAcks = 2048
)

// ack is one that is on its way to the socket. payload is nil for an ack that says nothing.
type ack struct {
	envelope string
	payload  any
	until    time.Time
}

// ackNow acknowledges an envelope. It never blocks: where too many wait, the ack is dropped, and the redelivery is acknowledged as a
// duplicate.
func (n *intake) ackNow(envelope string, payload any) {
	select {
	case n.acks <- ack{envelope, payload, time.Now().Add(ackLife)}:
	default:
		n.s.log.Debug("ack dropped", observe.KeyReason, "too many wait")
	}
}

// use makes w the connection that acks go to; nil: there is none now. Only one goroutine calls it.
func (n *intake) use(w *wire) {
	for {
		select {
		case n.wires <- w:
			return
		case <-n.wires: // not seen yet, and old now
		}
	}
}

// writeAcks is the one goroutine that writes to the socket. While there is no connection, acks wait, no longer than they are worth
// something. It ends with done, when all is written.
func (n *intake) writeAcks(done <-chan struct{}) {
	var w *wire
	for {
		acks := n.acks
		if w == nil {
			acks = nil
		}
		select {
		case w = <-n.wires:
		case a := <-acks:
			w = n.writeAck(w, a)
		case <-done:
			for w != nil && len(n.acks) > 0 {
				w = n.writeAck(w, <-n.acks)
			}
			return
		}
	}
}

// writeAck writes one ack. It returns nil where the connection is broken: another one will come.
func (n *intake) writeAck(w *wire, a ack) *wire {
	if time.Now().After(a.until) {
		return w
	}
	if err := w.write(a); err != nil {
		n.s.log.Debug("ack not written", observe.KeyError, bare(err))
		_ = w.conn.Close() // ends the reading too
		return nil
	}
	return w
}
