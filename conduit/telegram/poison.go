package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"orebot/core/observe"
	"orebot/core/session"
)

// SpacePoison is where updates that can't be read or stored are kept, by time and update id: each is a Poisoned in JSON.
const SpacePoison = "poison"

// Limits of what is set aside: the newest ones, with so many bytes of each.
const (
	maxPoison      = 100
	maxPoisonBytes = 16 << 10
)

// Poisoned is an update that was set aside.
type Poisoned struct {
	At     time.Time `json:"at"`
	Update int64     `json:"update,omitempty"` // its id; 0: it has none
	Error  string    `json:"error"`
	Raw    string    `json:"raw"` // as it came, or as much of it as is kept
}

// setAside keeps an update that can't be read, so that an operator may look at it: what it says may be a person's, and isn't logged. It
// must be durable before it is confirmed.
func (p *poller) setAside(ctx context.Context, raw json.RawMessage, cause error) error {
	bad := Poisoned{At: time.Now().UTC(), Update: updateID(raw), Error: p.cfg.API.client.Redactor.Redact(cause.Error()), Raw: clip(raw)}
	p.log.Warn("update set aside", observe.KeyEntry, "update "+decimal(bad.Update), observe.KeyError, bad.Error)
	b, err := p.poisoned(ctx, bad)
	if err == nil && b.ID != (session.BatchID{}) {
		_, err = session.CommitWait(ctx, p.cfg.Store, b)
	}
	if err != nil {
		return fmt.Errorf("telegram: update %d set aside: %w", bad.Update, err)
	}
	return nil
}

// poisoned is the Batch that keeps an update and drops the oldest ones beyond the limit. It is empty where the update is kept already:
// a crash may have come between that and its confirmation.
func (p *poller) poisoned(ctx context.Context, bad Poisoned) (session.Batch, error) {
	kept, err := p.cfg.Store.SmallList(ctx, SpacePoison, "", 2*maxPoison)
	if err != nil {
		return session.Batch{}, err
	}
	for _, v := range kept {
		var old Poisoned
		if json.Unmarshal(v.Value, &old) == nil && old.Update == bad.Update && old.Raw == bad.Raw && bad.At.Sub(old.At) < 24*time.Hour {
			return session.Batch{}, nil
		}
	}
	value, err := json.Marshal(bad)
	if err != nil {
		return session.Batch{}, err
	}
	b := session.Batch{ID: session.NewBatchID()}
	for _, v := range kept[:max(0, len(kept)-maxPoison+1)] {
		b.Small = append(b.Small, session.SmallWrite{Space: SpacePoison, Key: v.Key, Rev: v.Rev})
	}
	key := fmt.Sprintf("%s/%010d", bad.At.Format("20060102T150405.000000000Z"), bad.Update)
	b.Small = append(b.Small, session.SmallWrite{Space: SpacePoison, Key: key, Value: value})
	return b, nil
}

// clip bounds what is kept of an update.
func clip(raw []byte) string {
	if len(raw) > maxPoisonBytes {
		raw = raw[:maxPoisonBytes]
	}
	return strings.ToValidUTF8(string(raw), "\ufffd")
}
