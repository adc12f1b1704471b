package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"orebot/core/loop"
	"orebot/core/words"
)

// spendsTooMuch ends messages of somebody who has used up the day's tokens; the first at each address is told, in this life or another.
func (s *Stream) spendsTooMuch(j *job) (over bool, err error) {
	n, in := s.m.cfg.Limits.TokensPerDay, j.first().Inbound
	if n <= 0 {
		return false, nil
	}
	now := time.Now().UTC()
	spent, err := spentToday(s.m.turns, s.m.cfg.Store, in.Author.ID, now)
	if err != nil || spent.In+spent.Out < n {
		return false, err
	}
	w, told, err := s.toldSpent(j, now)
	if err != nil {
		return false, err
	}
	if told {
		return true, s.endSilently(j, EndRefused)
	}
	s.m.tellLimit(in, limitTokens)
	tomorrow := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
	return true, s.notice(j, ending{how: EndNoticed, sev: loop.SeverityWarn, small: []SmallWrite{w},
		text: fmt.Sprintf("%s tokens a day is the limit; go on in %s.", words.Number(n), soon(tomorrow.Sub(now)))})
}

// spaceSpent holds when somebody was told at an address that the day's tokens are used up. It is kept for a day.
const (
	spaceSpent = "spent"
	spentKept  = 24 * time.Hour
)

// toldSpent looks up whether the author of a job was told here on this day of UTC, and prepares the note that they are, which goes with
// the line. No other worker writes it.
func (s *Stream) toldSpent(j *job, now time.Time) (SmallWrite, bool, error) {
	key := j.first().Inbound.Author.ID + " " + string(j.addr)
	v, rev, _, err := s.m.cfg.Store.Small(s.m.turns, spaceSpent, key)
	if err != nil {
		return SmallWrite{}, false, err
	}
	at, err := time.Parse(time.RFC3339, string(v))
	told := err == nil && at.UTC().Format(usageDay) == now.Format(usageDay)
	return SmallWrite{Space: spaceSpent, Key: key, Rev: rev, Value: []byte(now.Format(time.RFC3339))}, told, nil
}

// spentToday adds up what a person's answers have cost on this day of UTC.
func spentToday(ctx context.Context, r Reader, person string, now time.Time) (sum Tokens, err error) {
	prefix := person + " " + now.UTC().Format(usageDay) + " "
	for after := prefix; ; {
		page, err := r.SmallList(ctx, usageSpace, after, 500)
		if err != nil {
			return sum, err
		}
		for _, v := range page {
			if !strings.HasPrefix(v.Key, prefix) {
				return sum, nil
			}
			var t Tokens
			_ = json.Unmarshal(v.Value, &t) // what can't be read counts nothing
			sum, after = sum.Plus(t), v.Key
		}
		if len(page) < 500 {
			return sum, nil
		}
	}
}
