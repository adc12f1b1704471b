package e2e

import (
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/fault"
	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
)

// tells looks for the secrets of the tests in a text.
func (w *world) tells(where, text string) {
	w.t.Helper()
	for _, secret := range []string{slackBot, slackApp, telegramToken, "E2E-SECRET-TELEGRAM", ollamaKey, "ticket="} {
		if strings.Contains(text, secret) {
			w.t.Errorf("%s tells %s:\n%s", where, secret, text)
		}
	}
}

// looks asks everything that can be asked of a daemon.
func (w *world) looks(d *daemon) {
	w.t.Helper()
	for _, path := range []string{"/livez", "/readyz", "/readyz?format=json", "/metrics", "/status", "/nonsense"} {
		_, body := d.get(path)
		w.tells(path, body)
	}
	for _, args := range [][]string{{"status"}, {"status", "--json"}, {"queue"}, {"threads"}, {"usage"}, {"access"}, {"config", "show"}, {"check"}} {
		_, out := w.orebot(args...)
		w.tells("orebot "+strings.Join(args, " "), out)
	}
}

// Report 42: whatever goes wrong on the way to a platform or to the model server, no token is told by a log line (the world looks through
// them, and through the state), a metric, a subcommand, an answer, or what a conversation is exported to.
func TestNoTroubleTellsASecret(t *testing.T) {
	w := newWorld(t, options{slack: slack.Options{Retries: []time.Duration{time.Second, time.Second}}, answer: func(r ollama.Request) ollama.Reply {
		if strings.Contains(r.Last(), "echo") { // what a proxy may do: it repeats the headers
			return ollama.Reply{Raw: &ollama.Raw{Status: 500, Body: "<html>Authorization: " + r.Header.Get("Authorization")}}
		}
		return echo(0)(r)
	}})
	w.ollamaTOML = `retry_for = "1s"`
	odd := []fault.Fault{{Reset: true}, {Status: 500}, {Status: 502, Body: "<html>" + telegramToken}, {Cut: true}}
	d := w.start().ready()
	p := w.person("ana")
	p.ask(w, "hello")
	w.answered([]person{p})
	for _, m := range []string{"getUpdates", "sendMessage", "sendChatAction", "getMe"} {
		w.telegram.Faults.Next(m, odd[:3]...)
	}
	for _, m := range []string{"chat.postMessage", "apps.connections.open", "users.info"} {
		w.slack.Faults.Next(m, odd[0], odd[1], odd[3])
	}
	w.ollama.Faults().Next("/api/chat", odd[:3]...)
	w.slack.Cut()
	p.ask(w, "echo")
	w.slackSees("the notice", posted(p.dm, "", "hasn't answered for"))
	w.telegramSees("the notice", sent(p.chat, 0, "hasn't answered for"))
	w.looks(d)
	p.ask(w, "!export")
	w.telegram.Say(p.bob, p.chat, "/export")
	for _, l := range w.slack.Transcript() {
		w.tells("a post", l.String())
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	_, out := w.orebot("threads", "list")
	w.tells("threads", out)
	for line := range strings.Lines(out) {
		if id := strings.Fields(line); len(id) > 0 {
			_, out := w.orebot("threads", "export", id[0], "--format", "json")
			w.tells("an export", out)
		}
	}

	w.tgURL, w.slackURL, w.model.addr = "http://nobody.invalid", "http://nobody.invalid/api/", "nobody.invalid:11434"
	d = w.start()
	eventually(t, "/readyz names all three", func() bool {
		_, body := d.get("/readyz")
		return strings.Contains(body, "telegram: ") && strings.Contains(body, "slack: ") && strings.Contains(body, "nobody.invalid")
	})
	w.looks(d)
	d.stop()
}
