package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orebot/core/observe"
	"orebot/core/session"
)

// How much may be on its way in; what comes beyond it is left to Slack's redelivery.
const (
	maxQueue  = 4096     // translated, not yet given to the session
	maxFlight = 512      // given to the session, not yet durable
	maxHeld   = 24 << 20 // bytes of the payloads of both
)

// What the ack of a slash command says to its author alone where the command isn't taken. Slack doesn't send a command again.
const (
	notKeptText = "I couldn't take that down just now. Please try again in a minute."
	otherText   = "My command is `%s` here; the operator can change that (`slack.command`)."
)

// intake is one Run's way in. The fields below the line belong to the goroutine that reads.
type intake struct {
	s      *Slack
	me     identity
	queue  chan message
	flight chan struct{}
	wires  chan *wire
	acks   chan ack
	held   atomic.Int64 // bytes, see maxHeld
	failed atomic.Bool  // the last message wasn't stored

	up       bool // greeted, and not disconnected since
	beaten   time.Time
	last     *wire
	revoked  error // Slack has taken the app away
	hellos   int
	lost     time.Time // when the last connection that was greeted ended
	cause    string    // why Slack ended the last connection
	warned   string    // of what ends the connections
	troubled bool      // no connection, and that was said
	full     bool
}

// message is one that is to be accepted, with the envelope that its durability acknowledges.
type message struct {
	in     session.Inbound
	from   frame
	size   int64  // of the payload, in bytes
	answer string // of a slash command: what its ack says to its author
}

func newIntake(s *Slack, me identity) *intake {
	return &intake{
		s: s, me: me,
		queue: make(chan message, maxQueue), flight: make(chan struct{}, maxFlight), acks: make(chan ack, maxAcks),
		wires: make(chan *wire, 1),
	}
}

// run takes in until ctx ends; then it returns nil. The error means that Slack refuses the credentials. What is being stored at the end
// gets a moment, and its ack.
func (n *intake) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var givers, writer sync.WaitGroup
	flushed := make(chan struct{})
	givers.Go(func() { n.accept(ctx) })
	writer.Go(func() { n.writeAcks(flushed) })
	err := n.connect(ctx)
	cancel()
	givers.Wait()
	n.settle()
	close(flushed)
	writer.Wait()
	if n.last != nil {
		n.last.close()
	}
	return err
}

// flushTime is how long the end waits for what is being stored.
const flushTime = 500 * time.Millisecond

// settle waits until nothing is on its way to the disk.
func (n *intake) settle() {
	t := time.NewTimer(flushTime)
	defer t.Stop()
	for range maxFlight {
		select {
		case n.flight <- struct{}{}:
		case <-t.C:
			return
		}
	}
}

// take decides about one envelope. It never blocks.
func (n *intake) take(f frame) {
	switch {
	case f.envelope == "":
	case f.kind == "events_api":
		n.takeEvent(f)
	case f.kind == "slash_commands":
		n.takeCommand(f)
	case f.kind == "interactive":
		in, why := buttonOf(f.payload, n.me, n.s.cfg.API.dms.has, time.Now())
		n.enqueue(f, in, why, "")
	default:
		n.ignore(f, ignoredEnvelope, nil)
	}
}

// takeCommand decides about a slash command. Its author sees what they asked, which Slack doesn't show otherwise.
func (n *intake) takeCommand(f frame) {
	var p object
	_ = json.Unmarshal(f.payload, &p)
	if name := p.text("command"); n.s.cfg.Command != "" && name != n.s.cfg.Command && name != "" {
		n.ignore(f, ignoredCommand, onlyTo(f, fmt.Sprintf(otherText, n.s.cfg.Command)))
		return
	}
	in, why := commandOf(f.payload, n.me, n.s.cfg.API.dms.has, time.Now())
	n.enqueue(f, in, why, asked(p.text("command"), in.Text))
}

// asked repeats a command, as code, so that nothing in it is live.
func asked(command, text string) string {
	text = strings.NewReplacer("`", "'", "\n", " ", "\r", " ").Replace(strings.TrimPrefix(text, "/"))
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "…"
	}
	return "`" + escaper.Replace(firstOf(command, "/orebot")+" "+text) + "`"
}

// onlyTo is the content of an ack for the eyes of the command's author, where the envelope takes one.
func onlyTo(f frame, text string) any {
	if !f.accepts || text == "" {
		return nil
	}
	return map[string]string{"response_type": "ephemeral", "text": text}
}

// ignore acknowledges an envelope at once and counts why nothing comes of it.
func (n *intake) ignore(f frame, why string, payload any) {
	n.s.cfg.Counters.Add(observe.Ignored, 1, Name, why)
	n.ackNow(f.envelope, payload)
}

func (n *intake) takeEvent(f frame) {
	in, why, err := translate(f.payload, n.me)
	switch {
	case err != nil:
		n.s.log.Debug("event dropped", observe.KeyError, err)
	case why == ignoredLimited:
		n.s.log.Warn("Slack drops events: more than 30,000 in an hour")
	case why == ignoredEvent:
		n.s.cfg.API.dms.addHome(f.payload)
		n.revoked = revokedBy(f.payload, n.me)
	case in.Place == "" && why == "":
		n.s.cfg.API.dms.add(channelOf(in.Address))
	}
	n.enqueue(f, in, why, "")
}

// enqueue hands a message over, or says why there is none. It never blocks: what there is no room for is dropped, un-acknowledged, and
// Slack sends it again; a slash command, which it doesn't send again, is refused.
func (n *intake) enqueue(f frame, in session.Inbound, why, answer string) {
	if why != "" {
		n.ignore(f, why, nil)
		return
	}
	m := message{in: in, from: f, size: int64(len(f.payload)), answer: answer}
	m.from.payload = nil
	if n.held.Add(m.size) > maxHeld {
		n.overrun(m)
		return
	}
	select {
	case n.queue <- m:
		n.full = n.full && len(n.queue) > maxQueue/2 // a queue that stays full is one streak
	default:
		n.overrun(m)
	}
}

// overrun notes that a message was dropped.
func (n *intake) overrun(m message) {
	n.held.Add(-m.size)
	if !n.full {
		n.s.log.Warn("more comes in than can be stored; Slack will send it again")
	}
	n.full = true
	n.sayLost(m)
}

// sayLost tells the author of a slash command that it was lost.
func (n *intake) sayLost(m message) {
	if m.in.Call == session.CallCommand {
		n.ackNow(m.from.envelope, onlyTo(m.from, notKeptText))
	}
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
	n.held.Add(-m.size)
	if r.Err != nil {
		n.sayLost(m)
		if !n.failed.Swap(true) {
			n.s.log.Warn("message not stored; Slack will send it again", observe.KeyEntry, m.in.Key, observe.KeyError, r.Err)
		}
		return
	}
	n.failed.Store(false)
	n.ackNow(m.from.envelope, onlyTo(m.from, m.answer))
}
