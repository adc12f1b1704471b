package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
)

// atOnce is how soon a stop reaches the model server, beside the two commits that make it durable and take it up. Machines that test are
// busy: one of many tries has to be so quick.
const atOnce = 100 * time.Millisecond

// stopped lets a person ask, waits until the server is at it, stops it, and returns how long the server learned nothing of that.
func (w *world) stopped(p person, question string, at func(ollama.Request) bool) time.Duration {
	w.t.Helper()
	before := len(w.ollama.Chats())
	theirs := func(rs []ollama.Request) (r ollama.Request, ok bool) {
		n := 0
		for _, r := range rs {
			if r.Path != "/api/chat" {
				continue
			}
			if n++; n > before && strings.Contains(r.Last(), question) {
				return r, true
			}
		}
		return r, false
	}
	wait := func(what string, ok func(ollama.Request) bool) (got ollama.Request) {
		w.t.Helper()
		err := w.ollama.WaitFor(within(w.t, patience), func(rs []ollama.Request) bool {
			r, found := theirs(rs)
			got = r
			return found && ok(r)
		})
		if err != nil {
			w.t.Fatalf("%s: the server never %s; log:\n%s", question, what, w.lastLog())
		}
		return got
	}
	w.slack.Say(p.user, p.dm, question)
	wait("was asked", at)
	begin := time.Now()
	w.slack.Say(p.user, p.dm, "!stop")
	return wait("was left alone", func(r ollama.Request) bool { return !r.Left.IsZero() }).Left.Sub(begin)
}

// endless is an answer that goes on for half a minute at least, and doesn't repeat itself: that would end it, too.
func endless() (chunks []string) {
	for i := range 30_000 {
		chunks = append(chunks, fmt.Sprintf("partial word %d ", i))
	}
	return chunks
}

// Report 66: stop reaches the server at once, whether it hangs before its headers, behind them, while it loads, or in the middle of an
// answer that never ends. What was said by then is shown to nobody and isn't in the next prompt.
func TestStopReachesTheServer(t *testing.T) {
	replies := map[string]ollama.Reply{
		"no headers": {Delay: time.Hour},
		"no line":    {Delay: time.Hour, Headers: true},
		"loads":      {Load: time.Hour},
		"talks":      {Chunks: []string{"partial words ", "and ", "more, "}, Between: time.Hour},
		"no end":     {Chunks: endless(), Between: time.Millisecond},
	}
	w := newWorld(t, options{answer: func(r ollama.Request) ollama.Reply {
		for name, reply := range replies {
			if strings.HasPrefix(r.Last(), name) {
				return reply
			}
		}
		return ollama.Say("well")
	}})
	d := w.start().ready()
	quick := atOnce + 4*disk(t, w.dir)
	for name, reply := range replies {
		p := w.person(name)
		begun := func(r ollama.Request) bool { return r.Lines >= min(1, len(reply.Chunks)) }
		best := time.Hour
		tries := 0
		for ; tries < 30 && best > quick; tries++ {
			best = min(best, w.stopped(p, fmt.Sprint(name, " ", tries), begun))
		}
		if best > quick {
			t.Errorf("%s: a stop needs %v, more than %v", name, best, quick)
		}
		w.slack.Say(p.user, p.dm, "and now?")
		w.slackSees("the next answer", posted(p.dm, "", "well"))
		w.slackSees("what was stopped", func(lines []slack.Line) bool {
			return strings.Count(strings.Join(said(lines, p.dm, ""), "\n"), "Stopped.") == tries
		})
	}
	d.stop()
	if all := slack.Script(w.slack.Transcript()); strings.Contains(all, "partial") {
		t.Errorf("people were shown a partial answer:\n%s", all)
	}
	for _, r := range w.ollama.Chats() {
		if strings.Contains(string(r.Raw), "partial") {
			t.Errorf("a partial answer is in a prompt: %s", r.Raw)
		}
	}
}

// Report 66: who waits in line is let go at once too, and the server is never asked for them; a tool that hangs is told to stop.
func TestStopInTheLineAndDuringATool(t *testing.T) {
	w := newWorld(t, options{abilities: []string{"tools"}, answer: func(r ollama.Request) ollama.Reply {
		if strings.Contains(r.Last(), "wait for it") {
			return usesTool("slow__wait")(r)
		}
		return ollama.Reply{Delay: time.Hour}
	}})
	w.ollamaTOML = "max_concurrent = 1"
	calls := filepath.Join(w.dir, "calls")
	w.moreTOML = fmt.Sprintf("[[mcp]]\nname = \"slow\"\ncommand = [%q]\nenv = {%s = %q}\n", self(t), slowTool, calls)
	d := w.start().ready()
	eventually(t, "the server is there", func() bool { return strings.Contains(w.log(), "mcp server is there") })
	ana, ben := w.person("ana"), w.person("ben")
	w.slack.Say(ana.user, ana.dm, "wait for it")
	eventually(t, "the tool runs", func() bool { return len(read(calls)) == 1 })
	w.slack.Say(ana.user, ana.dm, "!stop")
	w.slackSees("the stop of the tool", posted(ana.dm, "", "Stopped."))
	w.slack.Say(ana.user, ana.dm, "think long")
	eventually(t, "the server is at it", func() bool { return len(w.ollama.Chats()) == 2 })
	w.slack.Say(ben.user, ben.dm, "and me")
	eventually(t, "both wait", func() bool { return strings.Count(w.must([]string{"queue"}), "being answered") == 2 })
	w.slack.Say(ben.user, ben.dm, "!stop")
	w.slackSees("the stop in the line", posted(ben.dm, "", "Stopped."))
	w.slack.Say(ana.user, ana.dm, "!stop")
	w.slackSees("the stop of the call", func(lines []slack.Line) bool { return len(said(lines, ana.dm, "")) == 2 })
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := len(w.ollama.Chats()); n != 2 {
		t.Errorf("the server was asked %d times, want 2", n)
	}
}
