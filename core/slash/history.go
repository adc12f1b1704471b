package slash

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"orebot/core/loop"
	"orebot/core/session"
)

const (
	historyLeast = 5     // turns, where no number is given
	historyMost  = 50    // turns
	historyShort = 6_000 // bytes that are shown as a message; more is a file
)

// history shows the last turns of a conversation that is linked: its questions and answers, wherever they were written.
func (c *Commands) history(ctx context.Context, cmd session.Command, v session.View, args string) (session.Effect, error) {
	n := historyLeast
	if args != "" {
		got, err := strconv.Atoi(args)
		if err != nil || got < 1 {
			return quiet("Write how many turns: `%slink history 5`.", cmd.Prefix), nil
		}
		n = min(got, historyMost)
	}
	if len(v.State.Addresses) < 2 {
		return quiet("This chat isn't linked: all that was said stands above."), nil
	}
	who := &names{log: c.cfg.Log, of: map[string]string{}}
	var pieces []passage
	for i := len(v.Path) - 1; i >= 0 && len(pieces) < n; i-- {
		t := v.Path[i]
		p, ok := piece(session.LogRecord{Turn: &t}, v.Address)
		if !ok || strings.TrimSpace(p.text) == "" {
			continue
		}
		if err := who.learn(ctx, &t); err != nil {
			return session.Effect{}, err
		}
		pieces = append([]passage{p}, pieces...)
	}
	return shownHistory(who, pieces), nil
}

// shownHistory makes a message of passages, or a file where they are long.
func shownHistory(who *names, pieces []passage) session.Effect {
	if len(pieces) == 0 {
		return said("Nothing was said here yet.")
	}
	text := fit(who.in(pieces))
	if len(text) <= historyShort {
		return said(text)
	}
	name := fmt.Sprintf("the-last-%d-turns.md", len(pieces))
	return session.Effect{Reply: session.Reply{Severity: loop.SeverityInfo, Text: text, File: name}}
}
