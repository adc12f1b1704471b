package session_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/cognitive"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// last returns the last line of a log.
func last(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

func TestAMessageBeyondAnEntryGetsALine(t *testing.T) {
	for name, body := range map[string]string{
		"a megabyte":             strings.Repeat("x", 1<<20),
		"just beyond":            strings.Repeat("x", session.MaxValueBytes-100),
		"NULs, six bytes each":   strings.Repeat("\x00", 100<<10),
		"quotes, two bytes each": strings.Repeat(`"`, 300<<10),
		"invalid UTF-8":          strings.Repeat("\xff", 200<<10),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := echo(0)
				b := start(t, mem, p)
				in := msg(dm, "slack:U1", body)
				b.accept(in)
				time.Sleep(time.Minute)
				synctest.Wait()
				b.ended(in, session.EndNoticed)
				if !strings.Contains(last(b.log(dm)), "more than I can read") || len(p.prompts()) != 0 {
					t.Errorf("log %q, %d prompts", b.log(dm), len(p.prompts()))
				}
				b.stopLife()
			})
		})
	}
}

func TestALargeMessageThatFitsIsAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) { return text("ok"), nil }})
		in := msg(dm, "slack:U1", strings.Repeat("x", session.MaxValueBytes-20<<10))
		b.accept(in)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		b.stopLife()
	})
}

// An attachment list of any length is no reason to never end.
func TestAMessageWithAMegabyteOfAttachmentsGetsALine(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0))
		in := msg(dm, "slack:U1", "look", func(in *session.Inbound) {
			in.Attachments = []session.Attachment{{ID: "F1", URL: strings.Repeat("u", 1<<20)}}
		})
		b.accept(in)
		synctest.Wait()
		b.ended(in, session.EndNoticed)
		b.stopLife()
	})
}

func TestAHostileMessageIsAnsweredOrIgnored(t *testing.T) {
	nul := "a\x00b"
	for _, c := range []struct {
		name    string
		change  func(*session.Inbound)
		ignored bool
	}{
		{"NUL in the text", func(in *session.Inbound) { in.Text = nul }, false},
		{"invalid UTF-8 in the text", func(in *session.Inbound) { in.Text = "a\xff\xfeb" }, false},
		{"a name of 100 kB", func(in *session.Inbound) { in.Author.Name = strings.Repeat("n", 100<<10) }, false},
		{"no message id", func(in *session.Inbound) { in.Message = "" }, false},
		{"no time", func(in *session.Inbound) { in.At = time.Time{} }, false},
		{"a time far ahead", func(in *session.Inbound) { in.At = time.Now().AddDate(100, 0, 0) }, false},
		{"key with NUL", func(in *session.Inbound) { in.Key = nul }, true},
		{"key with invalid UTF-8", func(in *session.Inbound) { in.Key = "\xff" }, true},
		{"key of 10 kB", func(in *session.Inbound) { in.Key = strings.Repeat("k", 10<<10) }, true},
		{"order with NUL", func(in *session.Inbound) { in.Order = nul }, true},
		{"order of 10 kB", func(in *session.Inbound) { in.Order = strings.Repeat("o", 10<<10) }, true},
		{"message id with NUL", func(in *session.Inbound) { in.Message = nul }, true},
		{"author with NUL", func(in *session.Inbound) { in.Author.ID = nul }, true},
		{"no author", func(in *session.Inbound) { in.Author.ID = "" }, true},
		{"address with a blank", func(in *session.Inbound) { in.Address = "slack:T1/D1 x" }, true},
		{"address with invalid UTF-8", func(in *session.Inbound) { in.Address = "slack:\xff" }, true},
		{"another platform", func(in *session.Inbound) { in.Address = "irc:x" }, true},
		{"a time that JSON can't hold", func(in *session.Inbound) { in.At = time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, echo(0))
				in := msg(dm, "slack:U1", "hi", c.change)
				r := b.accept(in)
				synctest.Wait()
				if (r.Ignored != "") != c.ignored {
					t.Errorf("receipt %+v, want ignored %v", r, c.ignored)
				}
				if !c.ignored {
					b.ended(in, session.EndAnswered)
				}
				b.stopLife()
			})
		})
	}
}

func TestABacklogBeyondABatchIsAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		n    int
		body string
	}{"many": {600, "x"}, "long": {150, strings.Repeat("x", 40_000)}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) {
					time.Sleep(time.Minute)
					return text("ok"), nil
				}}
				b := start(t, mem, p, func(cfg *session.Config) { cfg.MaxAge = 0 })
				var all []session.Inbound
				for range c.n {
					in := msg(dm, "slack:U1", c.body)
					all = append(all, in)
					b.accept(in)
				}
				time.Sleep(24 * time.Hour)
				synctest.Wait()
				for _, in := range all {
					b.ended(in, session.EndAnswered)
				}
				b.stopLife()
			})
		})
	}
}

func TestAnAnswerBeyondTheStoreEndsInALine(t *testing.T) {
	huge := strings.Repeat("y", 1<<20)
	for name, c := range map[string]struct {
		answer func(n int, last ledger.Turn) []artifact.Artifact
		change func(*session.Config)
	}{
		"answer": {func(int, ledger.Turn) []artifact.Artifact { return text(huge) }, func(*session.Config) {}},
		"tool call": {func(int, ledger.Turn) []artifact.Artifact {
			return []artifact.Artifact{artifact.ToolCall{ID: "c", Name: "n", Arguments: huge}}
		}, func(*session.Config) {}},
		"tool result": {func(_ int, last ledger.Turn) []artifact.Artifact {
			if last.Role == ledger.RoleTool {
				return text("done")
			}
			return []artifact.Artifact{artifact.ToolCall{ID: "c", Name: "n", Arguments: "{}"}}
		}, func(c *session.Config) {
			c.Pattern, c.Handlers = cognitive.ReAct{}, []loop.Handler{result(huge)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := &scripted{answer: func(_ context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
					time.Sleep(time.Second)
					if said(turns[len(turns)-1]) == "next" {
						return text("ok"), nil
					}
					return c.answer(n, turns[len(turns)-1]), nil
				}}
				b := start(t, mem, p, c.change)
				in := msg(dm, "slack:U1", "hi")
				b.accept(in)
				time.Sleep(time.Minute)
				synctest.Wait()
				b.ended(in, session.EndNoticed)
				if !strings.Contains(last(b.log(dm)), "more than I can keep") || len(p.prompts()) > 2 {
					t.Errorf("log ends in %.80q after %d prompts", last(b.log(dm)), len(p.prompts()))
				}
				next := msg(dm, "slack:U1", "next")
				b.accept(next)
				time.Sleep(time.Minute)
				synctest.Wait()
				b.ended(next, session.EndAnswered)
				b.stopLife()
			})
		})
	}
}

// result is a handler that answers every call with the same.
type result string

func (r result) Handle(ctx context.Context, a artifact.Artifact, e loop.Emitter) error {
	if call, ok := a.(artifact.ToolCall); ok {
		e.Emit(ctx, loop.TurnCompleteEvent{Turn: ledger.Turn{Role: ledger.RoleTool,
			Artifacts: []artifact.Artifact{artifact.ToolResult{ToolCallID: call.ID, Content: string(r)}}}})
	}
	return nil
}

// Nobody is left without a word because the model said nothing that shows.
func TestAnAnswerWithoutTextIsNone(t *testing.T) {
	for name, arts := range map[string][]artifact.Artifact{
		"nothing": nil, "blank": text(" \n"), "reasoning": {artifact.Reasoning{Content: "hm"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) { return arts, nil }})
				in := msg(dm, "slack:U1", "hi")
				b.accept(in)
				time.Sleep(time.Minute)
				synctest.Wait()
				b.ended(in, session.EndNoticed)
				equal(t, "log", b.log(dm)[:1], []string{"user hi"})
				b.stopLife()
			})
		})
	}
}
