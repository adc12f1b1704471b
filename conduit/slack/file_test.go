package slack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// novel answers in n numbered paragraphs of a thousand characters.
func novel(n int) func(string) string {
	return func(string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "Paragraph %d. %s\n\n", i, strings.Repeat("word ", 200))
		}
		return b.String()
	}
}

// inParts is inRig with max_parts = 3.
func inParts(t *testing.T, o simslack.Options, f func(t *testing.T, r *rig)) {
	t.Helper()
	inRigWith(t, o, func(r *rig) { r.conduit = func(c *Config) { c.MaxParts = 3 } }, f)
}

// paragraphs checks that what the bot shows in a thread, files included, is the novel, each paragraph once and in order.
func (r *rig) paragraphs(channel, thread string, n, messages, files int) {
	r.t.Helper()
	var all strings.Builder
	posts, found := 0, 0
	for _, m := range r.Thread(channel, thread) {
		if m.BotID == "" {
			continue
		}
		if posts++; len(m.Files) == 0 {
			all.WriteString(m.Text + "\n")
		}
		for _, id := range m.Files {
			found++
			all.Write(r.FileData(id))
		}
	}
	at := 0
	for i := range n {
		p := fmt.Sprintf("Paragraph %d.", i)
		if strings.Count(all.String(), p) != 1 || strings.Index(all.String(), p) < at {
			r.t.Errorf("%s %d times", p, strings.Count(all.String(), p))
		}
		at = strings.Index(all.String(), p)
	}
	if posts != messages || found != files {
		r.t.Errorf("%d messages with %d files, want %d with %d:\n%s", posts, found, messages, files, simslack.Script(r.Transcript()))
	}
}

// TestLongAnswerGoesOnAsAFile: behind three messages, with its size, in the thread, named after the turn; also where sharing takes its
// time, so that the next answer stands behind it. Facts A5.13, A8.10.
func TestLongAnswerGoesOnAsAFile(t *testing.T) {
	for _, late := range []time.Duration{0, 3 * time.Second} {
		inParts(t, simslack.Options{ShareAfter: late}, func(t *testing.T, r *rig) {
			ann := r.AddUser("ann")
			ch := r.AddChannel("dev", ann, "UBOT")
			r.model.say(novel(30))
			ts := r.Say(ann, ch, "@orebot go")
			time.Sleep(2 * time.Second)
			r.model.say(nil)
			r.Say(ann, ch, "and then", simslack.InThread(ts))
			time.Sleep(time.Minute)
			r.paragraphs(ch, ts, 30, 5, 1)
			got := r.Thread(ch, ts)
			last := got[len(got)-1]
			if last.Text != "re: and then" {
				t.Errorf("the next answer stands before the file: %q", last.Text)
			}
			for _, m := range got {
				if len(m.Files) > 0 && m.Text != "📄 My answer goes on in a file, 21 KB." {
					t.Errorf("announced as %q", m.Text)
				}
			}
			names := 0
			for _, l := range r.Transcript() {
				if l.Kind == simslack.File {
					names++
					if !strings.HasPrefix(l.Text, "answer-") || !strings.Contains(l.Text, ".2.md (") {
						t.Errorf("the file is %s", l.Text)
					}
				}
			}
			if names != 1 {
				t.Errorf("%d files", names)
			}
		})
	}
}

// TestFileMeetsTrouble: the file is there once, whatever its upload meets (O3 for files). Facts A8.10, O.3.
func TestFileMeetsTrouble(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		fault  fault.Fault
	}{
		"limited":             {"files.getUploadURLExternal", fault.Fault{Status: 429, Retry: 20 * time.Second}},
		"url 500":             {"files.getUploadURLExternal", fault.Fault{Status: 500}},
		"url cut":             {"files.getUploadURLExternal", fault.Fault{Cut: true}},
		"url hangs":           {"files.getUploadURLExternal", fault.Fault{Hang: true}},
		"bytes 500":           {"upload", fault.Fault{Status: 500}},
		"bytes cut":           {"upload", fault.Fault{Cut: true}},
		"bytes hang":          {"upload", fault.Fault{Hang: true}},
		"complete cut":        {"files.completeUploadExternal", fault.Fault{Cut: true}},
		"complete late":       {"files.completeUploadExternal", fault.Fault{CutDo: 4 * time.Second}},
		"complete hangs":      {"files.completeUploadExternal", fault.Fault{Hang: true}},
		"complete reset":      {"files.completeUploadExternal", fault.Fault{Reset: true}},
		"complete 502":        {"files.completeUploadExternal", fault.Fault{Status: 502, Body: "<html>"}},
		"complete limited":    {"files.completeUploadExternal", fault.Fault{Status: 429, Retry: 5 * time.Second}},
		"no error":            {"files.completeUploadExternal", fault.Fault{Status: 200, Body: `{"ok":false}`}},
		"url without error":   {"files.getUploadURLExternal", fault.Fault{Status: 200, Body: "{}"}},
		"internal error":      {"files.completeUploadExternal", refusal("internal_error")},
		"the look-up limited": {"conversations.replies", fault.Fault{Status: 429, Retry: 5 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			inParts(t, simslack.Options{}, func(t *testing.T, r *rig) {
				ann := r.AddUser("ann")
				ch := r.AddChannel("dev", ann, "UBOT")
				r.model.say(novel(12))
				r.Faults.Next(c.method, c.fault)
				ts := r.Say(ann, ch, "@orebot go")
				time.Sleep(10 * time.Minute)
				r.paragraphs(ch, ts, 12, 4, 1)
			})
		})
	}
}

// TestFilesRefused: the answer goes on in messages, and the operator is told once. Fact A7.2.
func TestFilesRefused(t *testing.T) {
	without := func(scope string) []string {
		var out []string
		for _, s := range simslack.DefaultScopes() {
			if s != scope {
				out = append(out, s)
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		o      simslack.Options
		faults map[string]fault.Fault
	}{
		"no scope":         {simslack.Options{Scopes: without("files:write")}, nil},
		"uploads disabled": {simslack.Options{}, map[string]fault.Fault{"files.getUploadURLExternal": refusal("file_uploads_disabled")}},
		"too large":        {simslack.Options{}, map[string]fault.Fault{"upload": {Status: 413}}},
		"not here":         {simslack.Options{}, map[string]fault.Fault{"files.completeUploadExternal": refusal("posting_to_channel_denied")}},
		"uploads fail":     {simslack.Options{}, map[string]fault.Fault{"upload": {Status: 502}}},
	} {
		t.Run(name, func(t *testing.T) {
			inParts(t, c.o, func(t *testing.T, r *rig) {
				ann := r.AddUser("ann")
				ch := r.AddChannel("dev", ann, "UBOT")
				r.model.say(novel(12))
				for range 2 {
					for method, f := range c.faults {
						r.Faults.Next(method, f, f, f, f, f)
					}
					ts := r.Say(ann, ch, "@orebot go")
					time.Sleep(10 * time.Minute)
					r.paragraphs(ch, ts, 12, 4, 0)
					r.Faults.Clear()
				}
				if n := r.logs.count("files can't be posted"); n != 1 {
					t.Errorf("the operator was told %d times", n)
				}
				if name == "no scope" && r.logs.count("needed files:write") == 0 {
					t.Errorf("the scope isn't named:\n%s", r.logs)
				}
			})
		})
	}
}

// TestExportIsAFile: a notice whose text is a file's content. Fact A8.10.
func TestExportIsAFile(t *testing.T) {
	it := conduit.Item{Kind: conduit.Notice, Source: "# All of it\n\n**text**", File: "conversation.md", Severity: loop.SeverityInfo,
		Turn: ledger.TurnID{Thread: ledger.ThreadID{1}, Seq: 9}}
	p, err := NewRenderer(3).Part(it, 0, conduit.Shape{})
	b, _ := p.Body.(body)
	if err != nil || p.Next != len(it.Source) || b.file.data != it.Source || b.file.title != "conversation.md" ||
		b.file.name != "conversation-"+it.Turn.String()+".md" || p.Text != "📄 Here is `conversation.md`, 21 bytes." {
		t.Errorf("%+v, %v", p, err)
	}
	for _, how := range []conduit.Shape{{Inline: true}, {Plain: true}} {
		p, err := NewRenderer(3).Part(it, 0, how)
		if b, _ := p.Body.(body); err != nil || b.file.name != "" || !strings.Contains(p.Text, "All of it") {
			t.Errorf("%+v: %+v, %v", how, p, err)
		}
	}
}

// TestRestOfAnAnswer: the file goes on where the messages ended, in the same block. Fact A5.13.
func TestRestOfAnAnswer(t *testing.T) {
	code := "Intro.\n\n```go\n" + strings.Repeat("x := 1 // and so on, and so on\n", 400) + "```\n\nEnd.\n"
	it := conduit.Item{Kind: conduit.Answer, Source: code, Turn: ledger.TurnID{Seq: 2}}
	r := NewRenderer(1)
	first, _ := r.Part(it, 0, conduit.Shape{})
	second, err := r.Part(it, first.Next, conduit.Shape{Posted: 1})
	b, _ := second.Body.(body)
	if err != nil || !strings.HasPrefix(b.file.data, "```go\nx := 1") || !strings.HasSuffix(b.file.data, "```\n\nEnd.\n") {
		t.Errorf("%q…, %v", b.file.data[:min(40, len(b.file.data))], err)
	}
	again, _ := r.Part(it, first.Next, conduit.Shape{Posted: 1, Repeat: true})
	if again.Next != second.Next || again.Text != repeatLabel+second.Text {
		t.Errorf("the repeat is %q", again.Text)
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int]string{0: "0 bytes", 999: "999 bytes", 1000: "1 KB", 1499: "1 KB", 12_600: "13 KB", 999_499: "999 KB", 999_500: "1.0 MB", 2_340_000: "2.3 MB"} {
		if got := sizeOf(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
