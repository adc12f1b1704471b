package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/fault"
	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
)

// An answer of which a person sees nothing is no answer: it must end in a notice, as an empty one does.
func TestAnAnswerThatShowsNothingIsNotSilence(t *testing.T) {
	for name, text := range map[string]string{"empty fence": "```\n```", "zero width": "\u200b\u200b\u2060"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, options{answer: func(ollama.Request) ollama.Reply { return ollama.Say(text) }})
			d := w.start().ready()
			p := w.person("ana")
			p.ask(w, "hello")
			eventually(t, "both messages came to an end", func() bool {
				n := 0.0
				for _, o := range []string{"answered", "noticed"} {
					n += d.figure(`orebot_messages_total{outcome="`+o+`",platform="slack"}`) + d.figure(`orebot_messages_total{outcome="`+o+`",platform="telegram"}`)
				}
				return n == 2
			})
			w.answered([]person{p})
			d.stop()
		})
	}
}

// A conversation whose history is dense in tokens goes on: older turns are left out, instead of every question being refused.
func TestADenseConversationGoesOn(t *testing.T) {
	w := newWorld(t, options{answer: func(ollama.Request) ollama.Reply { return ollama.Say("ok") }})
	w.start().ready()
	p := w.person("ana")
	var got []string
	for i := range 14 { // 3500 tokens each, of 32768
		w.slack.Say(p.user, p.dm, fmt.Sprint(i, strings.Repeat(" 4f9a", 700)))
		w.slackSees("an end", func(l []slack.Line) bool {
			got = slices.DeleteFunc(said(l, p.dm, ""), func(s string) bool { return strings.Contains(s, "Older messages no longer fit") })
			return len(got) == i+1
		})
	}
	if i := slices.IndexFunc(got, func(s string) bool { return s != "ok" }); i >= 0 {
		t.Errorf("from question %d on the bot says %q, though each question is a tenth of the window", i+1, got[i:])
	}
	if n := len(said(w.slack.Transcript(), p.dm, "")) - len(got); n > 1 {
		t.Errorf("people are told %d times that not everything fits", n)
	}
}

// A model that never stops talking must not take all memory.
func TestAnEndlessAnswerIsStopped(t *testing.T) {
	w := newWorld(t, options{})
	w.model.close()
	inner, left := w.ollama.Handler(), make(chan struct{}, 8)
	w.model = serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			inner.ServeHTTP(rw, r)
			return
		}
		line := []byte(`{"model":"test","message":{"role":"assistant","content":"` + strings.Repeat("word ", 400) + "\"},\"done\":false}\n")
		for r.Context().Err() == nil {
			if _, err := rw.Write(line); err != nil {
				break
			}
		}
		left <- struct{}{}
	}))
	d := w.start().ready()
	p := w.person("ana")
	w.slack.Say(p.user, p.dm, "go")
	deadline := time.After(patience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for most := 0.0; ; {
		if most = max(most, d.figure("process_resident_memory_bytes")); most > 250<<20 {
			t.Fatalf("%.0f MB resident, and the answer still goes on", most/1e6)
		}
		select {
		case <-left:
			return
		case <-deadline:
			t.Fatalf("nobody stops an endless answer; %.0f MB resident", most/1e6)
		case <-tick.C:
		}
	}
}

// An answer cut at the length limit says so (interface.md: "Stopped at the length limit; say 'go on'.").
// Report 73.
func TestACutAnswerSaysSo(t *testing.T) {
	w := newWorld(t, options{answer: func(ollama.Request) ollama.Reply {
		return ollama.Reply{Chunks: []string{"half a "}, DoneReason: "length"}
	}})
	d := w.start().ready()
	p := w.person("ana")
	w.slack.Say(p.user, p.dm, "go")
	w.slackSees("the answer", posted(p.dm, "", "half a"))
	w.slackSees("that it was cut", posted(p.dm, "", "length limit"))
	d.stop()
}

// When Slack's API fails, the operator isn't sent to look at Socket Mode: no connection was ever opened, so none was ended.
func TestSlackFailingIsNotCalledEndingConnections(t *testing.T) {
	w := newWorld(t, options{})
	w.slack.Faults.Next("apps.connections.open", slices.Repeat([]fault.Fault{{Status: 500}}, 5)...)
	w.start()
	if err := w.slack.WaitConnected(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(w.log(), "Slack ends every connection at once") {
		t.Errorf("the log says that Slack ends connections; it answered five opens with 500:\n%s", w.lastLog())
	}
}
