package play

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/provider"
	"orebot/core/transform/budget"
)

// direct lets the model do what a line says.
func (st *stage) direct(l line) error {
	if done, err := st.state(l.rest); done {
		return err
	}
	c, err := st.awaitCall()
	if err != nil {
		return err
	}
	if err := st.silent(); err != nil {
		return err
	}
	if l.rest == "hangs" {
		return nil
	}
	if want, ok := strings.CutPrefix(l.rest, "reads "); ok {
		if got := c.read(); !matches(want, got) {
			return fmt.Errorf("it reads: %s", strings.ReplaceAll(got, "\n", `\n`))
		}
		return nil
	}
	if want, ok := strings.CutPrefix(l.rest, "asks "); ok {
		if got := strings.TrimSpace(st.model.name(c.spec) + " " + c.spec.Think); got != want {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	}
	r, err := replyOf(l.rest)
	if err != nil {
		return err
	}
	if st.s.header["tokens"] != "" {
		r.count(c)
	}
	c.begun = c.begun || len(r.arts) > 0
	c.lines <- r
	synctest.Wait()
	return nil
}

// count makes a reply say how long the prompt was, where the play has a window for it.
func (r *reply) count(c *call) {
	for i, a := range r.arts {
		if u, ok := a.(artifact.Usage); ok {
			u.PromptTokens = budget.EstimateAll(c.turns)
			u.TotalTokens = u.PromptTokens + u.CompletionTokens
			r.arts[i] = u
		}
	}
}

// state handles the lines that are not about one call.
func (st *stage) state(rest string) (done bool, err error) {
	switch {
	case rest == "is let go":
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if !st.model.fallen() {
			return true, errors.New("nobody has given a call up")
		}
	case rest == "is idle":
		synctest.Wait()
		if n := st.model.waiting(); n > 0 {
			return true, fmt.Errorf("%d calls wait", n)
		}
	case rest == "is back":
		st.model.setDown(provider.KindUnknown)
	case strings.HasPrefix(rest, "is down "):
		k, ok := kindOf(strings.TrimPrefix(rest, "is down "))
		if !ok {
			return true, errors.New("no such kind of failure")
		}
		st.model.setDown(k)
	default:
		return false, nil
	}
	return true, nil
}

// awaitCall returns the call that waits longest, once there is one.
func (st *stage) awaitCall() (*call, error) {
	end := time.NewTimer(patience)
	defer end.Stop()
	for {
		if c := st.model.first(); c != nil {
			return c, nil
		}
		select {
		case <-st.model.came:
		case <-end.C:
			if err := st.silent(); err != nil {
				return nil, fmt.Errorf("nobody asks the model, and %w", err)
			}
			return nil, errors.New("nobody asks the model")
		}
	}
}

// replyOf reads what the model does with a call.
func replyOf(rest string) (reply, error) {
	word, more, _ := strings.Cut(rest, " ")
	texts, _, _ := quotes(more)
	var r reply
	for _, s := range texts {
		r.arts = append(r.arts, artifact.TextDelta{Content: s})
	}
	switch {
	case word == "says" && more == "nothing":
		r.err = &provider.Error{Kind: provider.KindEmpty}
	case word == "says" && len(texts) > 0:
		r.arts = append(r.arts, artifact.Usage{PromptTokens: 10, CompletionTokens: 5, TotalTokens: 15})
	case word == "thinks" && len(texts) == 2:
		r.arts = []artifact.Artifact{artifact.ReasoningDelta{Content: texts[0]}, artifact.TextDelta{Content: texts[1]},
			artifact.Usage{PromptTokens: 10, CompletionTokens: 5, TotalTokens: 15}}
	case word == "begins" && len(texts) > 0:
		r.more = true
	case word == "cuts" && len(texts) > 0:
		r.err = &provider.Error{Kind: provider.KindIncomplete, Partial: true}
	case word == "stops" && len(texts) > 0:
		r.arts = append(r.arts, artifact.Usage{PromptTokens: 10, CompletionTokens: 5, TotalTokens: 15}, artifact.Finish{Reason: "length"})
	case word == "calls":
		name, args, _ := strings.Cut(more, " ")
		r.arts = []artifact.Artifact{artifact.ToolCall{ID: "1", Name: name, Arguments: args}}
	case word == "panics":
		r.bang = true
	case word == "fails" && more == "oddly":
		r.err = errors.New("play: something odd")
	case word == "fails":
		name, installed, _ := strings.Cut(more, ", installed ")
		k, ok := kindOf(name)
		if !ok {
			return r, fmt.Errorf("no such kind of failure: %q", more)
		}
		r.err = &provider.Error{Kind: k, Installed: strings.Fields(installed)}
	default:
		return r, errors.New("the model can't do that")
	}
	return r, nil
}

// tooling lets the tool do what a line says.
func (st *stage) tooling(l line) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if l.rest == "is let go" {
		select {
		case <-st.dice.freed:
			return nil
		case <-ctx.Done():
			return errors.New("nobody has given a call of the tool up")
		}
	}
	if l.rest == "hangs" {
		select {
		case <-st.dice.inUse:
			return nil
		case <-ctx.Done():
			return errors.New("nobody uses the tool")
		}
	}
	texts, word, _ := quotes(l.rest)
	if word != "answers" || len(texts) != 1 {
		return errors.New("a tool can't do that")
	}
	select {
	case st.dice.lines <- texts[0]:
		select {
		case <-st.dice.inUse:
		default:
		}
		synctest.Wait()
		return nil
	case <-ctx.Done():
		return errors.New("nobody uses the tool")
	}
}
