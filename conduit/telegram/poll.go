package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"orebot/conduit"
	"orebot/core/observe"
)

// Polling. The server lets a poll wait for 50 s at most (server: Client.h); the client must be more patient than that.
const (
	pollWait    = 50 * time.Second
	pollTimeout = pollWait + 20*time.Second
	// pollGap is the least time between the starts of two polls of which the first brought nothing new: fewer than three a second.
	pollGap = 350 * time.Millisecond
)

// pollKinds are the updates to get. The list is always sent: without one the server keeps that of whoever polled before.
const pollKinds = `["message","edited_message","callback_query","my_chat_member"]`

// poller gets updates. One goroutine owns it.
type poller struct {
	*Telegram
	offset   int64 // the first update that isn't confirmed; 0: not known
	failing  streak
	storing  streak
	rival    conflict
	answered buttons
	pressing presses
	gather   *gatherer
	newest   orders
}

func newPoller(t *Telegram) *poller {
	return &poller{
		Telegram: t,
		failing:  streak{wait: backoff{min: time.Second, max: 30 * time.Second}},
		storing:  streak{wait: backoff{min: time.Second, max: 30 * time.Second}},
		rival:    conflict{wait: backoff{min: 5 * time.Second, max: time.Minute}},
		answered: newButtons(t),
		pressing: presses{},
		gather:   newGatherer(t.cfg.Gather),
		newest:   orders{},
	}
}

// run polls until ctx ends. It returns an error only where the credentials are refused.
func (p *poller) run(ctx context.Context) error {
	defer p.answered.wait()
	for ctx.Err() == nil {
		began, was := time.Now(), p.offset
		wait, err := p.round(ctx)
		if err != nil {
			return err
		}
		if wait == 0 && p.offset == was {
			wait = pollGap - time.Since(began)
		}
		_ = conduit.Sleep(ctx, wait) // the loop's condition tells
	}
	return nil
}

// round is one poll, and what its updates need to be confirmed by the next one. It returns how long to wait after a failure.
func (p *poller) round(ctx context.Context) (wait time.Duration, err error) {
	batch, err := p.fetch(ctx)
	switch {
	case ctx.Err() != nil:
		return 0, nil
	case err != nil:
		return p.failed(ctx, asCall(err))
	}
	p.succeeded()
	if !p.identified(ctx) {
		return 0, nil
	}
	if err := p.take(ctx, batch); err != nil {
		return p.unstored(ctx, err), nil
	}
	p.storing.end()
	p.offset = following(batch, p.offset)
	return 0, nil
}

// patience is how long the server may wait with its answer. After a failure it is to answer at once: whether all is well again must
// be known soon, not when somebody writes.
func (p *poller) patience() time.Duration {
	if p.failing.n > 0 {
		return 0
	}
	return pollWait
}

// fetch asks for updates, and confirms those before the offset.
func (p *poller) fetch(ctx context.Context) ([]json.RawMessage, error) {
	params := tgbotapi.Params{
		"timeout":         decimal(int64(p.patience() / time.Second)),
		"limit":           "100",
		"allowed_updates": pollKinds,
	}
	params.AddNonZero64("offset", p.offset)
	raw, err := p.cfg.API.callFor(ctx, pollTimeout, "getUpdates", params)
	if err != nil {
		return nil, err
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(raw, &batch); err != nil {
		return nil, &callError{method: "getUpdates", sent: true, err: fmt.Errorf("the answer is no list: %w", err)}
	}
	if len(batch) > 0 && following(batch, p.offset) == 0 {
		return nil, &callError{method: "getUpdates", sent: true, err: errors.New("no update of the answer has an id")}
	}
	return batch, nil
}

// identified waits until it is known who the bot is: what a message means depends on that.
func (p *poller) identified(ctx context.Context) bool {
	select {
	case <-p.known:
		p.cfg.Health.Beat()
		return true
	case <-ctx.Done():
		return false
	}
}

// following returns the offset that confirms a batch: the id behind the last one. Ids may be lower than the offset was. An element
// whose id can't be read is taken to have the one after that before it.
func following(batch []json.RawMessage, offset int64) int64 {
	for _, raw := range batch {
		switch id := updateID(raw); {
		case id > 0:
			offset = id + 1
		case offset > 0:
			offset++
		}
	}
	return offset
}

// updateID reads an update's id; 0 is none.
func updateID(raw json.RawMessage) int64 {
	var u struct {
		ID int64 `json:"update_id"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return 0
	}
	return u.ID
}

// unstored notes that a batch isn't durable. The next poll brings it again.
func (p *poller) unstored(ctx context.Context, err error) time.Duration {
	if ctx.Err() != nil {
		return 0
	}
	if p.storing.begin() {
		p.log.Error("messages can't be stored", observe.KeyError, err)
	}
	return p.storing.wait.next()
}
