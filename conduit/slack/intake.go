package slack

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack/socketmode"

	"orebot/core/observe"
	"orebot/core/session"
)

// How much may be on its way in; what comes beyond it is left to Slack's redelivery.
const (
	maxQueue  = 256 // translated, not yet given to the session
	maxFlight = 512 // given to the session, not yet durable
)

// commandText answers every slash command.
const commandText = "I don't take slash commands yet. Please write to me in a direct message, or mention me in a channel that I'm in."

// intake is one Run's way in. The fields below the line belong to the goroutine that drains.
type intake struct {
	s      *Slack
	me     identity
	client atomic.Pointer[socketmode.Client]
	up     atomic.Bool // greeted, and not disconnected since
	queue  chan message
	flight chan struct{}
	acks   chan ack
	failed atomic.Bool // the last message wasn't stored

	hellos   int
	lost     time.Time // when the last connection that was greeted ended
	troubled bool      // no connection, and that was said
	stormy   bool
	shared   bool
	full     bool
}

// message is one that is to be accepted, with the envelope that its durability acknowledges.
type message struct {
	in       session.Inbound
	envelope string
}

func newIntake(s *Slack, me identity) *intake {
	return &intake{
		s: s, me: me,
		queue: make(chan message, maxQueue), flight: make(chan struct{}, maxFlight), acks: make(chan ack, maxAcks),
	}
}

// run takes in until ctx ends; then it returns nil. The error means that Slack refuses the credentials.
func (n *intake) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { n.accept(ctx) })
	wg.Go(func() { n.writeAcks(ctx) })
	err := n.connect(ctx)
	cancel()
	wg.Wait()
	return err
}

// take decides about one envelope. It never blocks.
func (n *intake) take(f frame) {
	switch {
	case f.envelope == "":
	case f.kind == "events_api":
		n.takeEvent(f)
	case f.kind == "slash_commands":
		n.ignore(f, ignoredCommand, n.answer(f))
	case f.kind == "interactive":
		n.ignore(f, ignoredInteractive, nil)
	default:
		n.ignore(f, ignoredEnvelope, nil)
	}
}

// answer is what the ack of a slash command says to its author alone.
func (n *intake) answer(f frame) any {
	if !f.accepts {
		return nil
	}
	return map[string]string{"response_type": "ephemeral", "text": commandText}
}

// ignore acknowledges an envelope at once and counts why nothing comes of it.
func (n *intake) ignore(f frame, why string, payload any) {
	n.s.cfg.Counters.Add(observe.Ignored, 1, Name, why)
	n.ackNow(f.envelope, payload)
}

func (n *intake) takeEvent(f frame) {
	in, why, err := translate(f.payload, n.me)
	if err != nil {
		n.s.log.Debug("event dropped", observe.KeyError, err)
	}
	if why == ignoredLimited {
		n.s.log.Warn("Slack drops events: more than 30,000 in an hour")
	}
	if why != "" {
		n.ignore(f, why, nil)
		return
	}
	select {
	case n.queue <- message{in, f.envelope}:
		n.full = n.full && len(n.queue) > maxQueue/2 // a queue that stays full is one streak
	default:
		n.overrun()
	}
}

// overrun notes that a message was dropped, not acknowledged.
func (n *intake) overrun() {
	if !n.full {
		n.s.log.Warn("more comes in than can be stored; Slack will send it again")
	}
	n.full = true
}

// accept gives messages to the session, in their order, as long as not too many are on their way to the disk.
func (n *intake) accept(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-n.queue:
			select {
			case n.flight <- struct{}{}:
			case <-ctx.Done():
				return
			}
			n.s.cfg.Sessions.Accept(ctx, m.in, func(r session.Receipt) { n.accepted(m, r) })
		}
	}
}

// accepted acknowledges what is durable, a duplicate of it, or ignored by the session. What failed comes again.
func (n *intake) accepted(m message, r session.Receipt) {
	<-n.flight
	if r.Err != nil {
		if !n.failed.Swap(true) {
			n.s.log.Warn("message not stored; Slack will send it again", observe.KeyEntry, m.in.Key, observe.KeyError, r.Err)
		}
		return
	}
	n.failed.Store(false)
	n.ackNow(m.envelope, nil)
}
