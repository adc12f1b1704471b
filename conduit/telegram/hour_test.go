package telegram

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/telegram"
)

// hour is an hour in which everything goes wrong now and then.
type hour struct {
	*bench
	t     *testing.T
	rnd   *rand.Rand
	asked map[place][]int // questions by number, in the order in which they were put
	n     int
}

var question = regexp.MustCompile(`\bq(\d+)\b`)

// linesOf is how many lines the answer to a question has: some answers are one message, some several, some end in a file.
func linesOf(q int) int { return []int{1, 20, 3, 500, 2, 900, 1, 40}[q%8] }

// tokensOf is the answer to a question, line by line. It has no markup, so that it is the same as plain text.
func tokensOf(q int) []string {
	out := make([]string, linesOf(q))
	for i := range out {
		out[i] = fmt.Sprintf("answer %d line %d.", q, i)
	}
	return out
}

// An hour of simulated time at Telegram's limits with random faults, between the bot and people in private, in groups and in topics:
// each place gets its answers whole and in exact order, and nothing twice but what says that it may be a repeat.
// Facts A7.1.
func TestAnHourOfTrouble(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, sim.Options{Limits: sim.RealLimits(), Topics: true}, func(t *testing.T, b *bench) {
				h := &hour{bench: b, t: t, rnd: rand.New(rand.NewPCG(seed, 7)), asked: map[place][]int{}}
				h.run()
				h.check()
			})
		})
	}
}

func (h *hour) run() {
	h.paced = true
	h.model.answers(func(prompt string) string {
		var out []string
		for _, m := range question.FindAllStringSubmatch(prompt, -1) {
			q, _ := strconv.Atoi(m[1])
			out = append(out, tokensOf(q)...)
		}
		return strings.Join(out, "\n\n")
	})
	group, forum := h.AddGroup("G"), h.AddSupergroup("F", true)
	one, two := h.AddTopic(forum, "one"), h.AddTopic(forum, "two")
	bob := h.AddUser("Bob", "bob")
	places := []place{{h.chat, 0}, {h.PrivateChat(bob), 0}, {group, 0}, {forum, 0}, {forum, int64(one)}, {forum, int64(two)}}
	people := map[place]sim.User{places[0]: h.ada, places[1]: bob}
	l := h.start(func(c *Config) { c.MaxParts = 2 })
	for began := time.Now(); time.Since(began) < time.Hour; {
		time.Sleep(time.Duration(h.rnd.IntN(30)) * time.Second)
		p := places[h.rnd.IntN(len(places))]
		who, ok := people[p]
		if !ok {
			who = h.ada
		}
		h.ask(who, p)
		if h.rnd.IntN(2) == 0 {
			h.trouble()
		}
		if h.rnd.IntN(40) == 0 {
			l.rest(0)
			l = h.start(func(c *Config) { c.MaxParts = 2 })
		}
	}
	l.rest(20 * time.Minute)
}

func (h *hour) ask(who sim.User, p place) {
	h.n++
	h.asked[p] = append(h.asked[p], h.n)
	text := fmt.Sprintf("q%d", h.n)
	if !p.private() {
		text = "@OreBot " + text
	}
	h.Say(who, p.chat, text, sim.Topic(int(p.topic)))
}

// trouble lets one of the next calls fail.
func (h *hour) trouble() {
	method := []string{"sendMessage", "sendMessage", "sendMessage", "sendDocument", "getUpdates"}[h.rnd.IntN(5)]
	h.Faults.Next(method, []fault.Fault{
		badGateway, sim.Refusal(500, "Internal Server Error: restart"), sim.TooMany(time.Duration(1+h.rnd.IntN(20)) * time.Second),
		{Cut: true}, {CutDo: 2 * time.Second}, {Reset: true}, {Hang: true}, {Status: 504, Body: "<html>"},
	}[h.rnd.IntN(8)])
	if method != "getUpdates" && h.rnd.IntN(5) == 0 {
		h.Faults.Next(method, sim.Refusal(400, "Bad Request: can't parse entities: Unsupported start tag"))
	}
}

// check compares what each place saw with what it asked.
func (h *hour) check() {
	h.t.Helper()
	repeats, missing := 0, 0
	for p, questions := range h.asked {
		var want []string
		for _, q := range questions {
			want = append(want, tokensOf(q)...)
		}
		s := seen{t: h.t, p: p, want: want}
		for _, l := range h.Transcript() {
			if l.Chat == p.chat && int64(l.Topic) == p.topic && (l.Action == "send" || l.Action == "document") {
				s.message(l)
			}
		}
		if s.at != len(want) && !s.gap {
			h.t.Errorf("%v saw %d of %d lines\n%s", p, s.at, len(want), strings.Join(s.log, "\n"))
		}
		repeats, missing = repeats+s.repeats, missing+s.missing
	}
	if len(h.asked) != 6 || h.n < 150 || repeats == 0 || missing > h.n/20 {
		h.t.Errorf("%d places, %d questions, %d repeats, %d missing", len(h.asked), h.n, repeats, missing)
	}
	h.t.Logf("%d questions, %d lines, %d repeats, %d missing, refused %v", h.n, len(h.Transcript()), repeats, missing, h.Refused())
}

// seen goes through what a place saw.
type seen struct {
	t                *testing.T
	p                place
	want             []string
	at, before       int // how much of want was seen, and before the last message
	gap              bool
	repeats, missing int
	log              []string
}

var answerLine = regexp.MustCompile(`answer \d+ line \d+\.`)

func (s *seen) message(l sim.Line) {
	s.log = append(s.log, l.String()[:min(len(l.String()), 80)])
	text := l.Text
	label := strings.HasPrefix(text, strings.TrimSpace(repeatLabel))
	if label {
		s.repeats++
	}
	if strings.Contains(text, "Part of my answer may be missing.") {
		s.missing++
		s.gap = true
		return
	}
	if l.File != nil {
		text += string(l.File.Data)
	}
	lines := answerLine.FindAllString(text, -1)
	if s.gap {
		s.jump(lines)
	}
	from := s.at
	if label && len(lines) > 0 && s.before < s.at && lines[0] == s.want[s.before] {
		from = s.before
	}
	for i, line := range lines {
		if from+i >= len(s.want) || s.want[from+i] != line {
			s.t.Fatalf("%v: %q follows %q\n%s", s.p, line, s.want[max(0, from+i-1)], strings.Join(s.log, "\n"))
		}
	}
	s.before, s.at = from, from+len(lines)
}

// jump goes on where a message does that follows one which may be missing.
func (s *seen) jump(lines []string) {
	for i := s.at; i < len(s.want) && len(lines) > 0; i++ {
		if s.want[i] == lines[0] {
			s.at, s.before, s.gap = i, i, false
			return
		}
	}
}
