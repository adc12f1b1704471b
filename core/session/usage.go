package session

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// Tokens is what answers have cost.
type Tokens struct {
	In      int `json:"in,omitempty"`  // of prompts
	Out     int `json:"out,omitempty"` // of answers
	Answers int `json:"n,omitempty"`
}

// Plus adds up.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{In: t.In + o.In, Out: t.Out + o.Out, Answers: t.Answers + o.Answers}
}

// tokensOf is what a turn has cost.
func tokensOf(t ledger.Turn) (sum Tokens) {
	for _, a := range t.Artifacts {
		if u, ok := a.(artifact.Usage); ok {
			sum.In += u.PromptTokens
			sum.Out += u.CompletionTokens
		}
	}
	if t.Final() {
		sum.Answers = 1
	}
	return sum
}

// usageSpace holds, for each person, day and thread, what the answers have cost. Its keys are person, day and thread with a space
// between, so that no two threads write the same record, and a person's days stand together, in order.
const usageSpace = "usage"

const usageDay = "2006-01-02"

func usageKey(person string, day time.Time, thread ledger.ThreadID) string {
	return person + " " + day.UTC().Format(usageDay) + " " + thread.String()
}

// spent is a usage record as this worker knows it.
type spent struct {
	key  string
	rev  Revision
	cost Tokens
}

// charge adds to a Batch what a call of the model has cost the person for whom it was, and what earlier ones did whose answers weren't
// kept; their share of the thread's sum too. Each call is charged in the Batch that keeps its turn, so that the sums of people, days and
// threads agree whatever ends in between.
func (s *Stream) charge(b *Batch, person string, cost Tokens) error {
	owed := s.live.owed[person]
	cost = cost.Plus(owed)
	if cost == (Tokens{}) || person == "" {
		return nil
	}
	rec, err := s.account(usageKey(person, time.Now(), s.thread))
	if err != nil {
		return err
	}
	if cost.In+cost.Out == 0 && rec.cost == (Tokens{}) {
		return nil // nobody has counted anything
	}
	rec.cost = rec.cost.Plus(cost)
	value, err := json.Marshal(rec.cost)
	if err != nil {
		return err
	}
	b.Small = append(b.Small, SmallWrite{Space: usageSpace, Key: rec.key, Rev: rec.rev, Value: value})
	b.State.Tokens = b.State.Tokens.Plus(owed)
	rec.rev = b.ID
	s.live.spent = rec
	delete(s.live.owed, person)
	return nil
}

// owe keeps in mind, until the next charge, what a call has cost whose answer isn't kept.
func (s *Stream) owe(person string, t ledger.Turn) {
	cost := tokensOf(t)
	cost.Answers = 0
	if s.live == nil || cost == (Tokens{}) {
		return
	}
	if s.live.owed == nil {
		s.live.owed = map[string]Tokens{}
	}
	s.live.owed[person] = s.live.owed[person].Plus(cost)
}

// payer is for whom the turns of a job are.
func (j *job) payer() string {
	if j == nil || len(j.entries) == 0 {
		return ""
	}
	return j.first().Inbound.Author.ID
}

// payer is for whom the turns are that are appended now.
func (s *Stream) payer() string {
	if s.live == nil {
		return ""
	}
	return s.live.job.payer()
}

// lastAsker is for whom a summary is that nobody asked for: who asked the newest question that it helps to answer.
func (s *Stream) lastAsker() string {
	path := s.live.turns()
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Role == ledger.RoleUser && path[i].Author != "" {
			return path[i].Author
		}
	}
	return ""
}

// account returns a usage record, from the store where it isn't the one written last.
func (s *Stream) account(key string) (spent, error) {
	if s.live.spent.key == key {
		return s.live.spent, nil
	}
	value, rev, ok, err := s.m.cfg.Store.Small(context.Background(), usageSpace, key)
	if err != nil {
		return spent{}, &storeError{err}
	}
	rec := spent{key: key, rev: rev}
	if ok {
		_ = json.Unmarshal(value, &rec.cost) // an unreadable one begins anew
	}
	return rec, nil
}

// Usage is what a person's answers have cost.
type Usage struct {
	Today Tokens
	Month Tokens // the last 30 days, today included
}

// UsageOf adds up what a person's answers have cost until now, by the days of UTC.
func UsageOf(ctx context.Context, r Reader, person string, now time.Time) (u Usage, err error) {
	today := now.UTC().Format(usageDay)
	after := person + " " + now.UTC().AddDate(0, 0, -29).Format(usageDay)
	for {
		page, err := r.SmallList(ctx, usageSpace, after, 500)
		if err != nil {
			return u, err
		}
		for _, v := range page {
			day, ok := strings.CutPrefix(v.Key, person+" ")
			if !ok {
				return u, nil
			}
			var t Tokens
			_ = json.Unmarshal(v.Value, &t) // what can't be read counts nothing
			u.Month = u.Month.Plus(t)
			if strings.HasPrefix(day, today) {
				u.Today = u.Today.Plus(t)
			}
			after = v.Key
		}
		if len(page) < 500 {
			return u, nil
		}
	}
}
