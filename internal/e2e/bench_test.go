package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

// operator makes the daemon log what an operator's does; the tests want more.
const operator = "OREBOT_LOG_LEVEL=info"

// percentile of sorted durations, in milliseconds.
func percentile(d []time.Duration, p int) float64 {
	return float64(d[min(len(d)-1, len(d)*p/100)].Microseconds()) / 1000
}

// disk measures what one small durable write costs here and now: the median of a few appends with fdatasync.
func disk(b testing.TB, dir string) time.Duration {
	b.Helper()
	f, err := os.Create(filepath.Join(dir, "disk"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var took []time.Duration
	for range 50 {
		begin := time.Now()
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// report gives the latency that messages had, and the disk's share in it by the daemon's own account.
func report(b *testing.B, d *daemon, took []time.Duration, before [2]float64) {
	b.Helper()
	slices.Sort(took)
	after := commits(d)
	n, sum := after[0]-before[0], after[1]-before[1]
	b.ReportMetric(percentile(took, 50), "p50-ms")
	b.ReportMetric(percentile(took, 95), "p95-ms")
	b.ReportMetric(n/float64(len(took)), "commits/op")
	b.ReportMetric(sum/n*1000, "commit-ms")
	b.ReportMetric(percentile(took, 50)-2*sum/n*1000, "p50-above-disk-ms")
	b.ReportMetric(percentile(took, 95)-2*sum/n*1000, "p95-above-disk-ms")
	b.ReportMetric(float64(disk(b, d.w.dir).Microseconds())/1000, "fsync-ms")
	b.ReportMetric(0, "ns/op")
}

// commits returns how many there were, and their seconds in all.
func commits(d *daemon) [2]float64 {
	return [2]float64{d.figure("orebot_store_commit_seconds_count"), d.figure("orebot_store_commit_seconds_sum")}
}

// BenchmarkSlack is one DM after the other, each in a conversation of its own, with a model that answers at once.
func BenchmarkSlack(b *testing.B) {
	w := newWorld(b, options{})
	d := w.start(operator).ready()
	var people []string
	for i := range b.N {
		people = append(people, w.slack.AddUser(fmt.Sprintf("user%d", i)))
	}
	before := commits(d)
	var took []time.Duration
	st := stages{}
	for i, u := range people {
		dm := w.slack.OpenDM(u)
		text := fmt.Sprintf("question %d.", i)
		begin := time.Now()
		w.slack.Say(u, dm, text)
		w.slackSees("the answer", lastSlack(text))
		took = append(took, time.Since(begin))
		st.add(begin, w.ollama.Chats(), time.Now())
		time.Sleep(quiet)
	}
	report(b, d, took, before)
	st.report(b)
}

// stages are the three ways of a message: to the model, within it, and back to the platform.
type stages map[string][]time.Duration

func (s stages) add(said time.Time, chats []ollama.Request, shown time.Time) {
	r := chats[len(chats)-1]
	s["to-model"] = append(s["to-model"], r.At.Sub(said))
	s["model"] = append(s["model"], r.Ended.Sub(r.At))
	s["to-chat"] = append(s["to-chat"], shown.Sub(r.Ended))
}

func (s stages) report(b *testing.B) {
	for name, d := range s {
		slices.Sort(d)
		b.ReportMetric(percentile(d, 50), name+"-p50-ms")
	}
}

// quiet lets the courier note what it has posted before the next message comes, as in a chat of people.
const quiet = 30 * time.Millisecond

// lastSlack looks at the newest lines only, so that long runs measure the daemon and not the test.
func lastSlack(text string) func([]slack.Line) bool {
	return func(lines []slack.Line) bool {
		for _, l := range lines[max(0, len(lines)-4):] {
			if l.User == "UBOT" && strings.Contains(l.Text, text) {
				return true
			}
		}
		return false
	}
}

// BenchmarkTelegram is one private message after the other, each in a conversation of its own.
func BenchmarkTelegram(b *testing.B) {
	w := newWorld(b, options{})
	d := w.start(operator).ready()
	var people []telegram.User
	for i := range b.N {
		people = append(people, w.telegram.AddUser(fmt.Sprintf("User%d", i), fmt.Sprintf("user%d", i)))
	}
	before := commits(d)
	var took []time.Duration
	st := stages{}
	for i, u := range people {
		text := fmt.Sprintf("question %d.", i)
		begin := time.Now()
		w.telegram.Say(u, w.telegram.PrivateChat(u), text)
		w.telegramSees("the answer", lastTelegram(text))
		took = append(took, time.Since(begin))
		st.add(begin, w.ollama.Chats(), time.Now())
		time.Sleep(quiet)
	}
	report(b, d, took, before)
	st.report(b)
}

// lastTelegram looks at the newest line only.
func lastTelegram(text string) func([]telegram.Line) bool {
	return func(lines []telegram.Line) bool {
		return len(lines) > 0 && strings.Contains(lines[len(lines)-1].Text, text)
	}
}

// BenchmarkLongChat is one chat that grows by two turns with each message: its cost must not grow with what lies beyond the prompt.
func BenchmarkLongChat(b *testing.B) {
	w := newWorld(b, options{})
	w.start(operator).ready()
	bob := w.telegram.AddUser("Bob", "bob")
	chat := w.telegram.PrivateChat(bob)
	var took []time.Duration
	for i := range b.N {
		text := fmt.Sprintf("question %d.", i)
		begin := time.Now()
		w.telegram.Say(bob, chat, text)
		w.telegramSees("the answer", lastTelegram(text))
		took = append(took, time.Since(begin))
		time.Sleep(quiet)
	}
	quarter := max(1, len(took)/4)
	for name, part := range map[string][]time.Duration{"first": took[:quarter], "last": took[len(took)-quarter:]} {
		slices.Sort(part)
		b.ReportMetric(percentile(part, 50), name+"-quarter-p50-ms")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkStart is the time from the start of the process to its first poll.
func BenchmarkStart(b *testing.B) {
	w := newWorld(b, options{})
	var took []time.Duration
	for range b.N {
		polls := len(w.telegram.Polls())
		begin := time.Now()
		d := w.start(operator)
		for len(w.telegram.Polls()) == polls {
			time.Sleep(time.Millisecond)
		}
		took = append(took, time.Since(begin))
		d.kill()
	}
	slices.Sort(took)
	b.ReportMetric(percentile(took, 50), "p50-ms")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdle is what the process holds a minute after twenty exchanges, and what it weighs on disk. Run it with -benchtime 1x.
func BenchmarkIdle(b *testing.B) {
	if testing.Short() {
		b.Skip("takes a minute")
	}
	w := newWorld(b, options{})
	d := w.start(operator).ready()
	ana := w.slack.AddUser("ana")
	dm := w.slack.OpenDM(ana)
	for i := range 20 {
		w.slack.Say(ana, dm, fmt.Sprintf("question %d.", i))
		w.slackSees("the answer", lastSlack(fmt.Sprintf("question %d.", i)))
	}
	time.Sleep(time.Minute)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			b.ReportMetric(kb/1024, "MB-resident")
		}
	}
	info, err := os.Stat(binary)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/(1<<20), "MB-binary")
	b.ReportMetric(0, "ns/op")
}
