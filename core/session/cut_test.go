package session_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

const noteServer = "The model server read only a part of this conversation; I send it less from now on."

// A provider that finds out that its server cut a prompt is believed: the chat is told in one line, once, in the next life too, and the
// prompts get shorter. A prompt that filled the window was estimated too low; else the window is smaller than it was said to be.
func TestWhatTheProviderSaysOfACut(t *testing.T) {
	for name, c := range map[string]cutter{
		"fills the window":   {factor: 3, most: fitWindow, reads: fitWindow},
		"half of the window": {factor: 1, most: fitWindow / 2, reads: fitWindow / 2},
		"next to nothing":    {factor: 1, most: fitWindow / 2, reads: 40}, // bytes may mislead: no more than half is given up at once
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) { c.talk(t, mem) })
		})
	}
}

// cutter is a server that counts so many tokens for each of tokensIn, and says that it has read only some where there are more.
type cutter struct{ factor, most, reads int }

func (c cutter) talk(t *testing.T, mem *storetest.Memory) {
	p := newTalker(1 << 20)
	say := p.answer
	cuts := 0
	p.answer = func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
		arts, err := say(ctx, n, turns)
		u, ok := arts[len(arts)-1].(artifact.Usage)
		if !ok {
			return arts, err
		}
		if u.PromptTokens *= c.factor; u.PromptTokens > c.most {
			cuts++
			provider.Report(ctx, provider.Progress{Model: "m", Cut: &provider.Cut{Bytes: u.PromptTokens, Tokens: c.reads, Window: fitWindow}})
			u.PromptTokens = c.reads
		}
		arts[len(arts)-1] = u
		return arts, err
	}
	b := start(t, mem, &p.scripted, fitting, func(c *session.Config) { c.CompactAt = 0 })
	for i := range 30 {
		q := question(i)
		if i == 1 {
			q += strings.Repeat("lorem ", 350) // while little has been learned yet
		}
		b.ask(msg(dm, "slack:U1", q), 0)
		if i == 15 {
			b.stopLife()
			b = start(t, mem, &p.scripted, fitting, func(c *session.Config) { c.CompactAt = 0 })
		}
	}
	synctest.Wait()
	if cuts == 0 || cuts > 4 {
		t.Errorf("%d prompts of 30 were cut", cuts)
	}
	equal(t, "notes", b.notes(dm), []string{noteServer, "Older messages no longer fit."})
	b.stopLife()
}
