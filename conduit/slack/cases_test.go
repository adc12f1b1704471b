package slack

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"
	"time"

	"orebot/core/observe"
	"orebot/core/session"
	simslack "orebot/internal/sim/slack"
)

// casesFile holds frames as they come over the socket, a case a line. It stands beside the project.
const casesFile = "../../../shared/cases/slack-inbound.jsonl"

type inboundCase struct {
	Name   string            `json:"name"`
	Frames []json.RawMessage `json:"frames"`
}

func readCases(t *testing.T) []inboundCase {
	t.Helper()
	f, err := os.Open(casesFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s isn't here", casesFile)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []inboundCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c inboundCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// outcome is what becomes of a case.
type outcome struct {
	prompts []string
	posts   []string
	ignored string
	also    func(*rig)
}

const question = "what is 2 < 3 && 4?"

// outcomes are by the number in a case's name.
func outcomes() map[string]outcome {
	once := outcome{prompts: []string{question}, posts: []string{"C1/1795982400.000100: re: " + question}}
	hi := outcome{prompts: []string{"hi"}, posts: []string{"D1: re: hi"}}
	return map[string]outcome{
		"01": once, "02": once, "03": once,
		"04": {prompts: []string{question}, posts: []string{"D1: re: " + question}},
		"06": {ignored: ignoredOwn},
		"07": {ignored: ignoredEdit},
		"08": {prompts: []string{"new text"}, posts: []string{"D1: re: new text"}, also: (*rig).edited},
		"10": {ignored: session.IgnoredAmbient},
		"11": {prompts: []string{"also here"}, posts: []string{"C1/1795982400.000100: re: also here"}},
		"12": {posts: []string{"D1: ℹ️ I can't read files yet; please paste the text."}, also: (*rig).filesTold},
		"14": {ignored: ignoredEvent},
		"15": hi,
		"17": {posts: []string{"C1/1795982413.000100 to U9EXT: ⚠️ I only answer people of this workspace. (ref …)"}},
		"19": {posts: []string{"C1/1795982415.000100: ℹ️ Hello! Write your question together with my name, or as a reply to me."}},
		"20": {prompts: []string{"/status & more"}, also: (*rig).commandTaken},
		"21": {also: (*rig).disconnected},
		"23": {ignored: ignoredLimited, also: func(r *rig) {
			if n := r.logs.count("Slack drops events"); n != 1 {
				r.t.Errorf("%d warnings", n)
			}
		}},
	}
}

// edited checks that an edit is a signal about its message. That one never came, so that the edit stands in for it.
func (r *rig) edited() {
	r.t.Helper()
	got := r.inbounds()
	if len(got) != 1 || got[0].Signal != session.SignalEdit || got[0].Text != "new text" || got[0].Target != "1795982403.500000" ||
		got[0].TargetKey != "T1/D1/1795982403.500000" || got[0].Key != "T1/D1/1795982403.500000/edit/1795982404.000000" {
		r.t.Errorf("took in %+v", got)
	}
}

// filesTold checks that every file is named, and that only the one that Slack keeps has an address.
func (r *rig) filesTold() {
	r.t.Helper()
	got := r.inbounds()
	want := []session.Attachment{
		{ID: "F1", Name: "a.png", MIME: "image/png", Size: 10, URL: "https://files.slack.com/files-pri/T1-F1/download/a.png"},
		{ID: "F2"}, {ID: "F3"}, {ID: "F4", Name: "doc"},
	}
	if len(got) != 1 || !slices.Equal(got[0].Attachments, want) {
		r.t.Errorf("took in %+v", got)
	}
}

// commandTaken checks that a slash command is acknowledged with a small answer for its author alone, and that what comes later can go
// through its response URL.
func (r *rig) commandTaken() {
	r.t.Helper()
	d, got := r.Deliveries(), r.inbounds()
	var ack struct {
		Type string `json:"response_type"`
		Text string `json:"text"`
	}
	if len(d) != 1 || json.Unmarshal(d[0].Payload, &ack) != nil || ack.Type != "ephemeral" || ack.Text != "`/orebot status &amp; more`" {
		r.t.Errorf("deliveries %+v", d)
	}
	if len(got) != 1 || got[0].ReplyURL != "http://127.0.0.1/resp" || got[0].Call != session.CallCommand || got[0].Place != "slack:C_NOT_MEMBER" ||
		got[0].Address != "slack:T1/C_NOT_MEMBER" || got[0].Key != "T1/slash/1.2.3" || got[0].Author.ID != "slack:U1" {
		r.t.Errorf("took in %+v", got)
	}
}

// disconnected checks that each of the four reasons led to another connection.
func (r *rig) disconnected() {
	r.t.Helper()
	if n := len(r.ConnectionOpens()); n < 4 || n > 5 {
		r.t.Errorf("%d connections after four disconnects", n)
	}
	if n := r.counts.get(observe.Reconnects, Name); n != float64(len(r.ConnectionOpens())-1) {
		r.t.Errorf("%v reconnects counted", n)
	}
}

// TestInboundCases: facts A1.12, A1.13, A1.14, A1.16, A2.1, A2.6, A2.7, A2.9, A2.11, A2.17, A3.2, A3.4, B.1, B.15, D.1.
func TestInboundCases(t *testing.T) {
	wanted := outcomes()
	for _, c := range readCases(t) {
		number := c.Name[:2]
		want, ok := wanted[number]
		if !ok {
			t.Errorf("case %s: nobody says what becomes of it", c.Name)
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			inRig(t, simslack.Options{}, func(t *testing.T, r *rig) { r.play(c, want) })
		})
	}
}

// play sends a case's frames and checks what became of them, and that the next message is answered.
func (r *rig) play(c inboundCase, want outcome) {
	r.AddUser("al") // U1
	for _, f := range c.Frames {
		if err := r.WaitConnected(r.t.Context()); err != nil {
			r.t.Fatal(err)
		}
		if err := r.Push(f); err != nil {
			r.t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
	}
	time.Sleep(10 * time.Second)
	r.wantPrompts(want.prompts...)
	r.wantPosts(want.posts...)
	r.allAcked(time.Second)
	if want.ignored != "" && r.counts.get(observe.Ignored, Name, want.ignored) != 1 {
		r.t.Errorf("not counted as ignored for %q: %v", want.ignored, r.counts.n)
	}
	if want.also != nil {
		want.also(r)
	}
	r.answersNext()
}

// answersNext checks that somebody new is answered.
func (r *rig) answersNext() {
	r.t.Helper()
	bea := r.AddUser("bea")
	dm := r.OpenDM(bea)
	before := len(r.posts())
	if r.Say(bea, dm, "still there?") == "" {
		r.t.Fatal("nothing could be said")
	}
	time.Sleep(20 * time.Second)
	if got := r.posts(); len(got) != before+1 || got[before] != dm+": re: still there?" {
		r.t.Errorf("the next message: %q", got[before:])
	}
}
