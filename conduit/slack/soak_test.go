package slack

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orebot/core/observe"
	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// soakFaults are what the methods meet, none of which is for good.
func soakFaults() map[string][]fault.Fault {
	any := []fault.Fault{
		{Status: 429, Retry: 2 * time.Second}, {Status: 429}, {Status: 429, Retry: 40 * time.Second}, {Status: 502, Body: "<html>bad gateway</html>"},
		{Status: 500}, {Reset: true}, {Cut: true}, {CutDo: 3 * time.Second}, {Hang: true}, refusal("ratelimited"), refusal("service_unavailable"),
		refusal("internal_error"), refusal("fatal_error"), {Status: 200, Body: `{"ok":false}`}, {Status: 200, Body: "{}"}, {Status: 200, Body: "<html>"},
	}
	return map[string][]fault.Fault{
		"chat.postMessage":             append(slices.Clone(any), refusal("msg_too_long"), refusal("message_limit_exceeded")),
		"conversations.replies":        any,
		"conversations.history":        any,
		"files.getUploadURLExternal":   any,
		"files.completeUploadExternal": any,
		"upload":                       {{Status: 500}, {Reset: true}, {Hang: true}},
		"apps.connections.open":        {{Status: 500}, {Status: 429, Retry: 5 * time.Second}, {Reset: true}},
	}
}

// soakAnswer answers "q17" with the words q17.0, q17.1 and so on: mostly a few, often some messages of them, at times a file too.
func soakAnswer(prompt string) string {
	n := map[byte]int{'3': 900, '5': 1500, '7': 3000}[prompt[len(prompt)-1]]
	if n == 0 {
		n = 5
	}
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s.%d ", prompt, i)
		if i%40 == 39 {
			b.WriteString("\n\n")
		}
	}
	return b.String()
}

var soakWord = regexp.MustCompile(`q\d+\.\d+`)

// soaker is one person in one conversation, who asks again once there is an answer.
type soaker struct {
	r             *rig
	user, channel string
	thread        string // empty in a DM
	next          func() int
	asked         []string
}

// talk asks until the time is over.
func (s *soaker) talk(r *rand.Rand, over time.Time) {
	for time.Now().Before(over) {
		q := fmt.Sprintf("q%d", s.next())
		var how []simslack.SayOption
		text := q
		if s.thread != "" {
			how, text = append(how, simslack.InThread(s.thread)), "@orebot "+q
		}
		s.asked = append(s.asked, q)
		s.r.Say(s.user, s.channel, text, how...)
		words := soakWord.FindAllString(soakAnswer(q), -1)
		for wait := 0; !s.shows(words[len(words)-1]) && wait < 600; wait++ {
			time.Sleep(3 * time.Second)
		}
		time.Sleep(time.Duration(r.IntN(60)) * time.Second)
	}
}

// words are what the bot shows in the conversation, in order, files included.
func (s *soaker) words() []string {
	var out []string
	for _, m := range s.r.Thread(s.channel, s.thread) {
		if m.BotID == "" {
			continue
		}
		text := m.Text
		for _, id := range m.Files {
			text += "\n" + string(s.r.FileData(id))
		}
		out = append(out, soakWord.FindAllString(text, -1)...)
	}
	return out
}

// shows looks for a word in what was said lately.
func (s *soaker) shows(word string) bool {
	list := s.r.Thread(s.channel, s.thread)
	for _, m := range list[max(0, len(list)-8):] {
		if m.BotID == "" {
			continue
		}
		text := m.Text
		for _, id := range m.Files {
			text += string(s.r.FileData(id))
		}
		if strings.Contains(text, word+" ") || strings.HasSuffix(text, word) {
			return true
		}
	}
	return false
}

// check compares what stands there with what was asked.
func (s *soaker) check() {
	s.r.t.Helper()
	var want []string
	for _, q := range s.asked {
		want = append(want, soakWord.FindAllString(soakAnswer(q), -1)...)
	}
	got := s.words()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			s.r.t.Errorf("%s/%s: %d words of %d; at %d %q, want %q", s.channel, s.thread, len(got), len(want), i,
				got[min(i, len(got)):min(i+3, len(got))], want[min(i, len(want)):min(i+3, len(want))])
			return
		}
	}
}

// TestSoak is an hour in which everything fails now and then, connections end and the process is started anew: in each conversation
// every answer is there once, whole, and in the order of the questions. SOAK is how many such hours there are. Facts A1.15, B.9.
func TestSoak(t *testing.T) {
	hours := uint64(3)
	if raced {
		hours = 1
	}
	if more, err := strconv.ParseUint(os.Getenv("SOAK"), 10, 16); err == nil {
		hours = more
	}
	for seed := range hours {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			prepare := func(r *rig) {
				r.conduit = func(c *Config) { c.MaxParts = 3 }
				r.config = func(c *session.Config) { c.OneByOne = true }
			}
			inRigWith(t, simslack.Options{ShareAfter: 2 * time.Second, Seed: seed, Resend: true}, prepare, func(t *testing.T, r *rig) { soak(t, r, seed) })
		})
	}
}

func soak(t *testing.T, r *rig, seed uint64) {
	r.model.say(soakAnswer)
	r.model.think(700 * time.Millisecond)
	over := time.Now().Add(time.Hour)
	crowd := r.crowd()
	var wg sync.WaitGroup
	for i, s := range crowd {
		wg.Go(func() { s.talk(rand.New(rand.NewPCG(seed, uint64(i))), over) })
	}
	havoc(r, rand.New(rand.NewPCG(seed, 99)), over)
	r.Faults.Clear()
	wg.Wait()
	time.Sleep(10 * time.Minute)
	questions := 0
	for _, s := range crowd {
		s.check()
		questions += len(s.asked)
	}
	if n := r.counts.get(observe.Repeats, Name); questions < 60 || n != 0 {
		t.Errorf("%d questions, %v labelled repeats", questions, n)
	}
}

// crowd is who talks: two in DMs, three in threads of one channel.
func (r *rig) crowd() []*soaker {
	n := 0
	var mu sync.Mutex
	next := func() int {
		mu.Lock()
		defer mu.Unlock()
		n++
		return n
	}
	var out []*soaker
	ch := ""
	for i := range 5 {
		u := r.AddUser(fmt.Sprint("user", i))
		s := &soaker{r: r, user: u, channel: r.OpenDM(u), next: next}
		if i >= 2 {
			if ch == "" {
				ch = r.AddChannel("dev", u, "UBOT")
			}
			r.Join(ch, u)
			s.channel, s.thread = ch, r.Say(u, ch, "something else")
		}
		out = append(out, s)
	}
	return out
}

// havoc lets things fail until the time is over.
func havoc(r *rig, rnd *rand.Rand, over time.Time) {
	faults := soakFaults()
	var methods []string
	for m := range faults {
		methods = append(methods, m)
	}
	slices.Sort(methods)
	for n := 0; time.Now().Before(over); n++ {
		time.Sleep(time.Duration(rnd.IntN(20_000)) * time.Millisecond)
		method := methods[rnd.IntN(len(methods))]
		if rnd.IntN(2) == 0 {
			method = "chat.postMessage"
		}
		list := faults[method]
		r.Faults.Next(method, list[rnd.IntN(len(list))])
		switch rnd.IntN(40) {
		case 0:
			r.Cut()
		case 1:
			r.Disconnect(simslack.RefreshRequested)
		case 2:
			r.stop()
			<-r.done
			r.start()
		}
	}
}
