package telegram

import (
	"context"
	"encoding/json"
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
		p.cfg.Sessions.Accept(ctx, ev.inbound, func(r session.Receipt) { results <- r.Err })
	}
	return collect(ctx, results, waiting)
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

// buttons answers presses, so that the button stops spinning, a few at a time and beside the polling.
type buttons struct {
	*Telegram
	g *errgroup.Group
}

func newButtons(t *Telegram) buttons {
	b := buttons{Telegram: t, g: &errgroup.Group{}}
	b.g.SetLimit(4)
	return b
}

// answer answers one press. A refusal is of no interest: the query may be too old.
func (b buttons) answer(ctx context.Context, id string) {
	b.g.Go(func() error {
		if _, err := b.cfg.API.call(ctx, "answerCallbackQuery", tgbotapi.Params{"callback_query_id": id}); err != nil {
			b.log.Debug("button not answered", observe.KeyError, err)
		}
		return nil
	})
}

func (b buttons) wait() { _ = b.g.Wait() } // no press ends in an error
