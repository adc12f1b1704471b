package e2e

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

// limitedTalk is a person who meets a limit in both places: what they say, and all that the bot then says to them.
type limitedTalk struct {
	name string
	say  []string // at once
	file string   // the content of a text file in place of words
	want []string // expressions; nothing else is said
}

// What a person may use is bounded, in words that say when to go on, once; the rest of it is refused in silence and counted.
// Reports 64 and 65.
func TestLimitsOfPeople(t *testing.T) {
	held := make(chan struct{})
	w := newWorld(t, options{answer: func(r ollama.Request) ollama.Reply {
		last := unlabelled(r.Last())
		if strings.HasPrefix(last, "hold") {
			<-held
		}
		return ollama.Say("re: ", strings.ReplaceAll(last, "\n", " "))
	}})
	w.limits = "user_per_minute = 100\nuser_waiting = 2\nmax_input_bytes = 1000\nmax_attachment_bytes = 5000"
	d := w.start().ready()
	talks := []limitedTalk{
		{name: "bytes", say: []string{strings.Repeat("1234567890", 120)}, want: []string{`That is 1,200 bytes; 1,000 is the limit\. Please send less\.`}},
		{name: "file", file: strings.Repeat("1234567890", 600), want: []string{"a.txt.? is too big for me; 4 KB is the limit\\."}},
		{name: "waiting", say: []string{"hold", "two", "three", "four", "five"},
			want: []string{`2 waiting is the limit; go on when one is answered\. .?[!/]stop.? withdraws\.`, "re: hold", "re: two"}},
	}
	who := map[string]person{}
	for _, l := range talks {
		who[l.name] = w.person(l.name)
		w.begin(l, who[l.name])
	}
	for _, l := range talks {
		if l.name == "waiting" {
			w.meets(l.name, who[l.name], l.want[:1])
			close(held)
		}
		w.meets(l.name, who[l.name], l.want)
	}
	w.refused(d, 1)
	d.stop()
}

// The day's limit is told once in a day, not again in another life. Report 82.
func TestLimitOfADay(t *testing.T) {
	w := newWorld(t, options{answer: func(r ollama.Request) ollama.Reply {
		return ollama.Reply{Chunks: []string{"re: ", unlabelled(r.Last())}, Prompt: 30_000}
	}})
	w.limits = "user_per_minute = 100\nuser_tokens_per_day = 20000"
	if left := untilTomorrow(); left < 2*time.Minute { // what was used today is forgotten then
		t.Logf("waits %s for another day of UTC", left)
		<-time.After(left)
	}
	d := w.start().ready()
	p := w.person("day")
	w.turns(p, "expensive", "re: expensive")
	w.turns(p, "two", "20,000 tokens a day is the limit; go on in ")
	w.begin(limitedTalk{say: []string{"three", "four"}}, p)
	w.refused(d, 2)
	w.turns(p, "/usage", "You, today: 30,0")
	eventually(t, "nothing is under way", w.idle)
	d.kill()
	d = w.start().ready()
	w.begin(limitedTalk{say: []string{"five"}}, p)
	w.refused(d, 1)
	w.turns(p, "/whoami", "telegram:")
	w.meets("day", p, []string{"re: expensive", `20,000 tokens a day is the limit; go on in \d+ (h|min|s)\b`, "You, today: 30,0", "telegram:"})
	d.stop()
}

// untilTomorrow is how long this day of UTC lasts.
func untilTomorrow() time.Duration {
	now := time.Now().UTC()
	return now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
}

// refused waits until a daemon has refused so many messages on each platform.
func (w *world) refused(d *daemon, n int) {
	w.t.Helper()
	for _, platform := range []string{"slack", "telegram"} {
		eventually(w.t, "all that is too much is counted as refused", func() bool {
			return d.figure(`orebot_messages_total{outcome="refused",platform="`+platform+`"}`) == float64(n)
		})
	}
}

// begin has a person say what they say, in both places.
func (w *world) begin(l limitedTalk, p person) {
	w.t.Helper()
	if l.file != "" {
		w.slack.Share(p.user, p.dm, "", []slack.SharedFile{{Name: "a.txt", MIME: "text/plain", Data: []byte(l.file)}})
		w.telegram.Say(p.bob, p.chat, "", telegram.Document(telegram.File{Name: "a.txt", MIME: "text/plain", Data: []byte(l.file)}))
	}
	for i, text := range l.say {
		w.slack.Say(p.user, p.dm, text)
		w.telegram.Say(p.bob, p.chat, text)
		if i == 0 && text == "hold" {
			eventually(w.t, "both are being answered", func() bool {
				n := 0
				for _, r := range w.ollama.Chats() {
					if unlabelled(r.Last()) == "hold" {
						n++
					}
				}
				return n == 2
			})
		}
	}
}

// turns has a person say something and waits until it is answered, in both places.
func (w *world) turns(p person, text, want string) {
	w.t.Helper()
	w.slack.Say(p.user, p.dm, strings.Replace(text, "/", "!", 1))
	w.telegram.Say(p.bob, p.chat, text)
	w.slackSees(want, func(lines []slack.Line) bool {
		return strings.Contains(strings.Join(said(lines, p.dm, ""), "\n"), strings.Replace(want, "telegram:", "slack:", 1))
	})
	w.telegramSees(want, sent(p.chat, 0, want))
}

// meets waits until a person was told so many things in both places, and compares them.
func (w *world) meets(name string, p person, want []string) {
	w.t.Helper()
	w.slackSees(name, func(lines []slack.Line) bool { return len(said(lines, p.dm, "")) >= len(want) })
	w.telegramSees(name, func(lines []telegram.Line) bool { return len(texts(lines, p.chat)) >= len(want) })
	for where, got := range map[string][]string{"Slack": said(w.slack.Transcript(), p.dm, ""), "Telegram": texts(w.telegram.Transcript(), p.chat)} {
		if len(got) != len(want) {
			w.t.Errorf("%s, %s: %d lines %q, want %d", name, where, len(got), got, len(want))
			continue
		}
		for i, line := range got {
			if where == "Slack" {
				line = strings.ReplaceAll(line, "slack:", "telegram:")
			}
			if !regexp.MustCompile(want[i]).MatchString(line) {
				w.t.Errorf("%s, %s: line %d is %q, want %q", name, where, i, line, want[i])
			}
		}
	}
}

// Who writes more than a minute allows is told once when to go on; the rest is refused in silence, and a command that runs beside a turn
// is free. All of it is written at once: so no machine is too slow for the minute. Report 65.
func TestLimitOfAMinute(t *testing.T) {
	held := make(chan struct{})
	w := newWorld(t, options{answer: func(r ollama.Request) ollama.Reply {
		<-held
		return echo(0)(r)
	}})
	w.limits, w.moreTOML = "user_per_minute = 6\nuser_waiting = 100", "[chat]\nqueue = \"fifo\"\n"
	d := w.start().ready()
	p := w.person("ana")
	say := strings.Fields("one two three four five six seven eight nine ten")
	w.begin(limitedTalk{say: say}, p)
	want := []string{`6 a minute is the limit; go on in \d+ s\.`}
	w.meets("minute", p, want)
	w.refused(d, 3)
	close(held)
	for _, text := range say[:6] {
		want = append(want, "re: "+text)
	}
	w.meets("minute", p, want)
	w.turns(p, "/help", "stop")
	w.meets("minute", p, append(want, "stop"))
	d.stop()
}
