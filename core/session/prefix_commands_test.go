package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/cognitive"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/session"
	"orebot/core/session/storetest"
	"orebot/core/transform/attribution"
	"orebot/core/transform/budget"
	"orebot/core/transform/systemprompt"
)

// leading is what stands in front of a prompt: the instructions and the summary.
func leading(turns []ledger.Turn) string {
	i := slices.IndexFunc(turns, func(t ledger.Turn) bool { return t.Role != ledger.RoleSystem })
	return whole(turns[:i])
}

// Over a hundred questions of three people, two of one name, with pictures, tools, quotes, what is heard, and commands in between, also
// across restarts, a prompt goes on byte for byte where the one before ended, unless its instructions were changed by `system` or a
// summary was made. `model`, `think`, and what only asks, change nothing of it.
func TestOnlyCommandsAndSummariesChangeThePrefix(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := newTalker(8000)
		calling(p, 2)
		setup := []func(*session.Config){fetching(files{"a.png": png}), commanded(mem), func(c *session.Config) {
			c.Spec.NumCtx, c.CompactAt = 8000, 0.75
			c.Pattern, c.Handlers = cognitive.ReAct{MaxRounds: 8}, []loop.Handler{bigTools(100)}
			c.Transform = []loop.Transform{attribution.Speakers{}, systemprompt.Prompt(instructions), budget.Budget{}}
		}}
		b := start(t, mem, &p.scripted, setup...)
		commands := map[int]string{30: "!model big:7b", 45: "!status", 50: "!system You are a pirate.", 60: "!usage", 70: "!think high",
			75: "!model", 80: "!system reset", 90: "!help"}
		for i := range 100 {
			if c := commands[i]; c != "" {
				b.writes(c, "Al", session.CallMention)
			}
			if i == 40 {
				b.stopLife()
				b = start(t, mem, &p.scripted, setup...)
			}
			b.roomAsks(i)
		}
		breaks, system := 0, 0
		for i := 1; i < len(p.asks); i++ {
			before, now := p.asks[i-1], p.asks[i]
			if strings.HasPrefix(whole(now), whole(before)) {
				continue
			}
			breaks++
			if said(before[0]) != said(now[0]) {
				system++
			}
			if leading(before) == leading(now) {
				t.Errorf("prompt %d doesn't go on where the one before ended", i)
			}
		}
		if n := len(b.summaries(room)); system != 2 || n == 0 || breaks > n+2 {
			t.Errorf("%d breaks of %d prompts, %d by instructions, %d summaries", breaks, len(p.asks), system, n)
		}
		if got := b.notes(room); len(got) != len(commands)+1 {
			t.Errorf("notes %q", got)
		}
		for _, word := range []string{"picture blob:", "result noon", "[bo (slack:U3)]:", "aside 97", "pirate", "an older message"} {
			if !slices.ContainsFunc(p.asks, func(turns []ledger.Turn) bool { return strings.Contains(whole(turns), word) }) {
				t.Errorf("no prompt says %q", word)
			}
		}
		for _, turns := range p.asks {
			if got := unpaired(turns); len(got) > 0 {
				t.Errorf("a prompt has %v", got)
			}
		}
		b.stopLife()
	})
}

func instructions(ctx context.Context) (string, error) {
	if s, ok := session.SystemFrom(ctx); ok {
		return s, nil
	}
	return "Be brief.", nil
}

// writes lets one of the room's people write something, and waits for what follows.
func (b *bench) writes(what, who string, call session.Call, change ...func(*session.Inbound)) session.Inbound {
	b.t.Helper()
	ids := map[string]string{"Al": "slack:U1", "Bo": "slack:U2", "bo": "slack:U3"}
	in := msg(room, ids[who], what, append([]func(*session.Inbound){inRoom(call, who)}, change...)...)
	b.accept(in)
	synctest.Wait()
	time.Sleep(time.Minute)
	synctest.Wait()
	return in
}

// roomAsks is the i-th question of the room, with what was said before it.
func (b *bench) roomAsks(i int) {
	b.t.Helper()
	if i%5 == 2 {
		b.writes(fmt.Sprintf("aside %d", i), "bo", session.CallAmbient)
	}
	what, change := question(i), func(in *session.Inbound) {
		if i%4 == 1 {
			in.Quotes = []session.Quote{{Author: "Al", Text: "an older message"}}
		}
	}
	if i%7 == 3 {
		what += " what time is it?"
	}
	files := func(*session.Inbound) {}
	if i%6 == 4 {
		files = attaching("a.png")
	}
	in := b.writes(what, []string{"Al", "Bo", "bo"}[i/3%3], session.CallMention, change, files)
	b.ended(in, session.EndAnswered)
}
