package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
	"golang.org/x/sync/errgroup"

	"orebot/conduit"
	"orebot/core/observe"
	"orebot/core/session"
)

// incoming is a message to accept, and the update that it came with.
type incoming struct {
	session.Inbound
	raw json.RawMessage
}

// take accepts the messages of a batch, in order, and waits until each is durable. An error says that one isn't.
func (p *poller) take(ctx context.Context, batch []json.RawMessage) error {
	if err := p.moves.load(ctx); err != nil {
		return err
	}
	list, err := p.incoming(ctx, batch)
	if err != nil {
		return err
	}
	results := make(chan outcome, len(list))
	for _, in := range list {
		p.cfg.Sessions.Accept(ctx, in.Inbound, func(r session.Receipt) { results <- outcome{in, r.Err} })
	}
	return p.collect(ctx, results, len(list))
}

// incoming reads a batch, does what isn't a message's, and returns the messages. An error is the store's.
func (p *poller) incoming(ctx context.Context, batch []json.RawMessage) ([]incoming, error) {
	var out []incoming
	events, err := p.translated(ctx, batch)
	for i, ev := range events {
		if err != nil {
			break
		}
		if ev.callback != "" {
			p.answered.answer(ctx, ev.callback, ev.said)
			ev = p.pressing.once(ev, time.Now())
		}
		var more []session.Inbound
		if more, err = p.apply(ctx, ev); err == nil && ev.ignored != "" {
			p.cfg.Counters.Add(observe.Ignored, 1, Name, ev.ignored)
		}
		for _, in := range more {
			out = append(out, incoming{in, batch[i]})
		}
	}
	return out, err
}

// translated makes events of a batch. What can't be read is set aside.
func (p *poller) translated(ctx context.Context, batch []json.RawMessage) ([]event, error) {
	events := make([]event, len(batch))
	for i, raw := range batch {
		ev, err := translate(raw, p.me)
		if err != nil {
			if err := p.setAside(ctx, raw, err); err != nil {
				return nil, err
			}
			ev = event{ignored: ignoredPoison}
		}
		events[i] = ev
	}
	callAlbums(events)
	return events, nil
}

// callAlbums lets an album call the bot as a whole: one of its messages has the caption, and may not come first.
func callAlbums(events []event) {
	calls := map[string]session.Call{}
	for _, ev := range events {
		if a := ev.piece.album; a != "" && ev.inbound.Call != session.CallAmbient && !ev.inbound.Elsewhere {
			calls[a] = ev.inbound.Call
		}
	}
	for i := range events {
		if in := &events[i].inbound; in.Call == session.CallAmbient {
			in.Call = calls[events[i].piece.album]
		}
	}
}

// apply does what an event asks of the conduit, and returns the messages that it brings.
func (p *poller) apply(ctx context.Context, ev event) ([]session.Inbound, error) {
	switch {
	case ev.moved != nil:
		p.log.Info("group became a supergroup", observe.KeyAddress, idOf(ev.moved.from), observe.KeyState, idOf(ev.moved.to))
		return nil, p.moves.note(ctx, ev.moved.from, ev.moved.to, dated(ev.moved.date))
	case ev.standing != nil:
		return p.stand(ctx, *ev.standing)
	case ev.ignored != "":
		return nil, nil
	}
	in := ev.inbound
	if in.Signal == session.SignalButton {
		p.pressed(&in, ev.where)
	} else {
		p.newest.note(ev.where.chat, in.Order)
	}
	p.moves.settle(&in, ev.where, p.cfg.decided)
	if in.Signal == session.SignalNone {
		p.gather.join(&in, ev.piece, time.Now())
	}
	return []session.Inbound{in}, nil
}

// pressed says when a button was pressed, which its event doesn't: now, behind what was last written in the chat.
func (p *poller) pressed(in *session.Inbound, where place) {
	in.At = time.Now().UTC().Truncate(time.Second)
	in.Order = max(in.Order, p.newest[where.chat]) + "/press"
}

// orders holds the order of the newest message of each chat.
type orders map[int64]string

// maxOrders is how many chats are remembered. A chat that was forgotten is known again with its next message.
const maxOrders = 10000

func (o orders) note(chat int64, order string) {
	if len(o) >= maxOrders {
		clear(o)
	}
	o[chat] = max(o[chat], order)
}

// outcome is what became of a message.
type outcome struct {
	incoming
	err error
}

// collect waits for n outcomes and returns the first error among them. A message that can never be stored isn't asked for again: it
// would hold up all behind it.
func (p *poller) collect(ctx context.Context, results <-chan outcome, n int) error {
	var first error
	for range n {
		select {
		case o := <-results:
			if o.err != nil && permanent(o.err) {
				o.err = p.unstorable(ctx, o)
			}
			if first == nil {
				first = o.err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return first
}

// permanent reports whether a message can never be stored.
func permanent(err error) bool {
	var corrupt *session.CorruptError
	return errors.Is(err, session.ErrTooLarge) || errors.As(err, &corrupt)
}

func (p *poller) unstorable(ctx context.Context, o outcome) error {
	p.log.Error("message can't be stored", observe.KeyEntry, o.ID().String(), observe.KeyError, o.err)
	p.cfg.Counters.Add(observe.Ignored, 1, Name, ignoredPoison)
	return p.setAside(ctx, o.raw, o.err)
}

// maxPresses is how many presses are answered at once: those of a whole batch. pressTries is how often one is tried to be answered.
const (
	maxPresses = 100
	pressTries = 4
)

// buttons answers presses, so that the button stops spinning, beside the polling. It never holds that up: when too many are on their
// way, the next ones are left to Telegram, which gives them up after 150 s.
type buttons struct {
	*Telegram
	g *errgroup.Group
}

func newButtons(t *Telegram) buttons {
	b := buttons{Telegram: t, g: &errgroup.Group{}}
	b.g.SetLimit(maxPresses)
	return b
}

// answer answers one press, beside everything else, with a line for who pressed or with none.
func (b buttons) answer(ctx context.Context, id, text string) {
	params := tgbotapi.Params{"callback_query_id": id}
	params.AddNonEmpty("text", text)
	b.g.TryGo(func() error {
		wait := backoff{min: time.Second, max: time.Minute}
		for try := 1; ; try++ {
			_, err := b.cfg.API.call(ctx, "answerCallbackQuery", params)
			if err == nil {
				return nil
			}
			e := asCall(err)
			if e.final() || try == pressTries || conduit.Sleep(ctx, max(wait.next(), e.wait())) != nil {
				b.log.Debug("button not answered", observe.KeyError, err)
				return nil
			}
		}
	})
}

func (b buttons) wait() { _ = b.g.Wait() } // no press ends in an error
