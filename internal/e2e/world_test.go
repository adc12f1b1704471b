package e2e

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

// The tokens of the tests. None of them may ever be seen outside the configuration.
const (
	slackBot      = "xoxb-12345-e2e-SECRETBOT"
	slackApp      = "xapp-1-A1-e2e-SECRETAPP"
	telegramToken = "42:E2E-SECRET-TELEGRAM-TOKEN-0123456789"
	ollamaKey     = "e2e-SECRET-OLLAMA-KEY"
)

// world is the platforms, the model server and a place for the daemon's state.
type world struct {
	t          testing.TB
	slack      *slack.Server
	telegram   *telegram.Server
	ollama     *ollama.Server
	model      *port
	dir        string
	slackURL   string
	tgURL      string
	health     string            // host:port
	numCtx     int               // 0: plenty
	ollamaTOML string            // more of the [ollama] table
	moreHosts  string            // more of its hosts: `, "http://…"`
	moreTOML   string            // more tables
	slackTOML  string            // more of the [slack] table
	tgTOML     string            // more of the [telegram] table
	limits     string            // what stands in [limits]; empty: nobody meets one
	access     string            // of Telegram; empty: open
	gather     string            // how long Telegram's plain messages wait; empty: not at all
	level      string            // of the log; empty: debug
	grace      string            // for what is under way at a stop; empty: more than a busy machine needs
	bosses     map[string]string // administrators in Slack: name to id
	daemons    int
	logs       []string // the files that daemons wrote
}

// unlabelled takes the speaker's name off a message, which stands before it where several people may write.
func unlabelled(s string) string {
	if _, text, ok := strings.Cut(s, "]: "); ok && strings.HasPrefix(s, "[") {
		return text
	}
	return s
}

// echo answers with the newest message of the person, so that tests see what belongs to what.
func echo(delay time.Duration) func(ollama.Request) ollama.Reply {
	return func(r ollama.Request) ollama.Reply {
		reply := ollama.Say("re: ", unlabelled(r.Last()))
		reply.Delay = delay
		return reply
	}
}

type options struct {
	abilities []string // of the model, beside completion
	answer    func(ollama.Request) ollama.Reply
	slack     slack.Options
	telegram  telegram.Options
	vision    bool           // the model sees
	context   int            // what the model reads; 0: plenty
	models    []ollama.Model // more of them
}

func newWorld(t testing.TB, o options) *world {
	t.Helper()
	if o.answer == nil {
		o.answer = echo(0)
	}
	abilities := append([]string{"completion"}, o.abilities...)
	if o.vision {
		abilities = append(abilities, "vision")
	}
	o.slack.BotToken, o.slack.AppToken = slackBot, slackApp
	o.telegram.Token = telegramToken
	w := &world{
		t: t, dir: shortDir(t),
		slack:    slack.New(o.slack),
		telegram: telegram.New(o.telegram),
		ollama: ollama.New(ollama.Options{Models: append([]ollama.Model{{Name: "test", Context: cmp.Or(o.context, 1<<17), Capabilities: abilities}}, o.models...),
			Answer: o.answer, Parallel: 4, APIKey: ollamaKey}),
	}
	t.Cleanup(func() { w.slack.Close(); w.telegram.Close(); w.ollama.Close() })
	w.slackURL = "http://" + serve(t, w.slack.Handler()).addr + "/api/"
	w.tgURL = "http://" + serve(t, w.telegram.Handler()).addr
	w.model = serve(t, w.ollama.Handler())
	w.health = free(t)
	t.Cleanup(w.noSecrets)
	return w
}

// shortDir is a directory of the test's own, in which names of sockets aren't longer than systems take.
func shortDir(t testing.TB) string {
	t.Helper()
	if dir := t.TempDir(); len(dir) < 70 {
		return dir
	}
	dir, err := os.MkdirTemp("/tmp", "e2e")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// config writes the configuration file and returns its path.
func (w *world) config() string {
	w.t.Helper()
	text := fmt.Sprintf(`
state_dir = %q
shutdown_grace = %q
[log]
level = %q
format = "json"
[slack]
bot_token = %q
app_token = %q
api_url = %q
pace = "off"
%s
[telegram]
bot_token = %q
api_url = %q
access = %q
gather = %q
pace = "off"
%s
[ollama]
hosts = ["http://%s"%s]
api_key = %q
model = "test"
num_ctx = %d
%s
[limits]
%s
[http]
listen = %q
%s
`, w.state(), cmp.Or(w.grace, "1m"), cmp.Or(w.level, "debug"), slackBot, slackApp, w.slackURL, w.slackTOML, telegramToken, w.tgURL, cmp.Or(w.access, "open"), cmp.Or(w.gather, "0"), w.tgTOML, w.model.addr, w.moreHosts, ollamaKey, cmp.Or(w.numCtx, 32768), w.ollamaTOML,
		cmp.Or(w.limits, "user_per_minute = 100000\nuser_waiting = 100000"), w.health, w.moreTOML)
	path := filepath.Join(w.dir, "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) state() string { return filepath.Join(w.dir, "state") }

// noSecrets looks through everything that daemons wrote.
func (w *world) noSecrets() {
	files := append([]string{}, w.logs...)
	_ = filepath.Walk(w.state(), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			files = append(files, path)
		}
		return nil
	})
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			w.t.Error(err)
			continue
		}
		for _, secret := range []string{slackBot, slackApp, telegramToken, "E2E-SECRET-TELEGRAM", ollamaKey, "ticket="} {
			if at := strings.Index(string(data), secret); at >= 0 {
				w.t.Errorf("%s holds %q: …%s…", filepath.Base(path), secret, data[max(0, at-80):min(len(data), at+80)])
			}
		}
	}
}

// patience is how long a test waits for what must come. It is no promise: machines that test are slow and busy.
const patience = 5 * time.Minute

// allLogs returns everything that daemons logged.
func (w *world) allLogs() string {
	var out strings.Builder
	for _, path := range w.logs {
		data, err := os.ReadFile(path)
		if err != nil {
			w.t.Error(err)
		}
		out.Write(data)
	}
	return out.String()
}

// within is a context for one wait.
func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// slackSees waits until what people see in Slack fulfils ok.
func (w *world) slackSees(what string, ok func([]slack.Line) bool) []slack.Line {
	w.t.Helper()
	if err := w.slack.WaitFor(within(w.t, patience), ok); err != nil {
		w.t.Fatalf("Slack never showed %s; it showed:\n%s\nlog:\n%s", what, slack.Script(w.slack.Transcript()), w.lastLog())
	}
	return w.slack.Transcript()
}

// telegramSees waits until what people see in Telegram fulfils ok.
func (w *world) telegramSees(what string, ok func([]telegram.Line) bool) []telegram.Line {
	w.t.Helper()
	if err := w.telegram.WaitFor(within(w.t, patience), ok); err != nil {
		w.t.Fatalf("Telegram never showed %s; it showed:\n%v\nlog:\n%s", what, w.telegram.Transcript(), w.lastLog())
	}
	return w.telegram.Transcript()
}

// posted reports whether the bot has posted a text at a place in Slack.
func posted(channel, thread, text string) func([]slack.Line) bool {
	return func(lines []slack.Line) bool {
		for _, l := range lines {
			if l.Kind == slack.Post && l.User == "UBOT" && l.Channel == channel && l.Thread == thread && strings.Contains(l.Text, text) {
				return true
			}
		}
		return false
	}
}

// sent reports whether the bot has sent a text to a place in Telegram; "" stands for any, but for a sign.
func sent(chat int64, topic int, text string) func([]telegram.Line) bool {
	return func(lines []telegram.Line) bool {
		for _, l := range lines {
			if l.Action == "send" && l.Chat == chat && l.Topic == topic && strings.Contains(l.Text, text) && (text != "" || !isSign(l)) {
				return true
			}
		}
		return false
	}
}
