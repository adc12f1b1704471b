package slack

import (
	"context"
	"time"

	"github.com/slack-go/slack/socketmode"

	"orebot/core/observe"
)

const (
	ackLife = 5 * time.Second // after it Slack has redelivered, and that copy gets an ack of its own
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

// writeAcks is the one goroutine that hands acks to the socket. The library keeps twenty while it has no connection and then blocks:
// an ack waits no longer than it is worth something.
func (n *intake) writeAcks(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-n.acks:
			n.writeAck(ctx, a)
		}
	}
}

func (n *intake) writeAck(ctx context.Context, a ack) {
	ctx, cancel := context.WithDeadline(ctx, a.until)
	defer cancel()
	sm := n.client.Load()
	if sm == nil || ctx.Err() != nil {
		return
	}
	if err := sm.SendCtx(ctx, socketmode.Response{EnvelopeID: a.envelope, Payload: a.payload}); err != nil {
		n.s.log.Debug("ack not sent", observe.KeyError, n.s.cfg.API.clean(err))
	}
}
