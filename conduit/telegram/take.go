package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
	"golang.org/x/sync/errgroup"

	"orebot/core/observe"
	"orebot/core/session"
)

// take accepts the messages of a batch, in order, and waits until each is durable. An error says that one isn't.
func (p *poller) take(ctx context.Context, batch []json.RawMessage) error {
	results := make(chan error, len(batch))
	waiting := 0
	for _, raw := range batch {
		ev, err := translate(raw, p.me)
		if err != nil {
			p.setAside(raw, err)
			ev.ignored = ignoredPoison
		}
		if ev.callback != "" {
			p.answered.answer(ctx, ev.callback)
		}
		if ev.ignored != "" {
			p.cfg.Counters.Add(observe.Ignored, 1, Name, ev.ignored)
			continue
		}
		waiting++
		p.cfg.Sessions.Accept(ctx, ev.inbound, func(r session.Receipt) { results <- p.settled(ev.inbound, r.Err) })
	}
	return collect(ctx, results, waiting)
}

// settled returns why a message isn't durable. One that never can be isn't asked for again: it would hold up all behind it.
func (p *poller) settled(in session.Inbound, err error) error {
	var corrupt *session.CorruptError
	if !errors.Is(err, session.ErrTooLarge) && !errors.As(err, &corrupt) {
		return err
	}
	p.log.Error("message can't be stored", observe.KeyEntry, in.ID().String(), observe.KeyError, err)
	p.cfg.Counters.Add(observe.Ignored, 1, Name, ignoredPoison)
	return nil
}

// collect waits for n results and returns the first error among them.
func collect(ctx context.Context, results <-chan error, n int) error {
	var first error
	for range n {
		select {
		case err := <-results:
			if first == nil {
				first = err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return first
}

// setAside notes an update that can't be read. Its text may be a person's.
func (p *poller) setAside(raw json.RawMessage, err error) {
	p.log.Warn("update can't be read", observe.KeyEntry, "update "+strconv.FormatInt(updateID(raw), 10), observe.KeyError, err)
	p.log.Debug("update can't be read", observe.KeyText, string(raw))
}

// maxPresses is how many presses are answered at once.
const maxPresses = 32

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

// answer answers one press. A refusal is of no interest: the query may be too old.
func (b buttons) answer(ctx context.Context, id string) {
	b.g.TryGo(func() error {
		if _, err := b.cfg.API.call(ctx, "answerCallbackQuery", tgbotapi.Params{"callback_query_id": id}); err != nil {
			b.log.Debug("button not answered", observe.KeyError, err)
		}
		return nil
	})
}

func (b buttons) wait() { _ = b.g.Wait() } // no press ends in an error
