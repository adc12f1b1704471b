package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orebot/internal/sim/fault"
	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

// picture is the beginning of a PNG, with a byte that tells one from another.
func picture(mark byte) []byte {
	return append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00"), append(make([]byte, 64), mark)...)
}

// sharing is a message with files, what the model is to be shown of it and what the chat is to be told.
type sharing struct {
	name   string
	text   string
	files  []slack.SharedFile
	shown  []string // parts of the prompt's last message, in this order
	images int
	told   []string // lines of the chat beside the answer
	silent bool     // nothing is left to answer
	fails  fault.Fault
	only   string // one platform; empty: both
}

const cantXLSX = "I can't read .xlsx; text, images and code work."

// sharings are what people share. Nobody may be left without an answer or a reason.
func sharings() []sharing {
	const mb = 1 << 20
	pic := slack.SharedFile{Name: "a.png", MIME: "image/png", Data: picture(1)}
	sheet := slack.SharedFile{Name: "b.xlsx", MIME: "application/vnd.ms-excel", Data: []byte("PK\x03\x04\x00\x00")}
	code := slack.SharedFile{Name: "c.md", MIME: "text/plain", Data: []byte("# Title\n```go\nfunc main() {}\n```\nafter")}
	fenced := "File c.md:\n\n````md\n# Title\n```go\nfunc main() {}\n```\nafter\n````"
	big := slack.SharedFile{Name: "big.txt", MIME: "text/plain", Data: []byte("x"), Size: 100 * mb}
	lies := slack.SharedFile{Name: "lies.png", MIME: "image/png", Data: picture(2), Size: 100, Pad: 100 * mb}
	liesText := slack.SharedFile{Name: "lies.txt", MIME: "text/plain", Data: []byte("text"), Size: 100, Pad: 100 * mb}
	short := slack.SharedFile{Name: "short.txt", MIME: "text/plain", Data: []byte("only a part"), Missing: 1000}
	named := slack.SharedFile{Name: "named.png", MIME: "image/png", Data: []byte("MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00")}
	words := slack.SharedFile{Name: "words.png", MIME: "image/png", Data: []byte("just words")}
	one := func(f slack.SharedFile) []slack.SharedFile { return []slack.SharedFile{f} }
	return []sharing{
		{name: "a picture", text: "what is this?", files: one(pic), shown: []string{"what is this?"}, images: 1},
		{name: "a picture alone", files: one(pic), images: 1},
		{name: "a text file", text: "read this", files: one(code), shown: []string{"read this", fenced}},
		{name: "a text file alone", files: one(code), shown: []string{fenced}},
		{name: "a sheet", text: "add this up", files: one(sheet), shown: []string{"add this up"}, told: []string{cantXLSX}},
		{name: "a sheet alone", files: one(sheet), told: []string{cantXLSX}, silent: true},
		{name: "several", text: "compare", files: []slack.SharedFile{pic, sheet, code}, shown: []string{"compare", fenced}, images: 1, told: []string{cantXLSX}},
		{name: "100 MB", text: "and this", files: one(big), shown: []string{"and this"}, told: []string{"`big.txt` is too big for me; 20 MB is the limit."}},
		{name: "more than was said", text: "and that", files: []slack.SharedFile{lies, liesText}, shown: []string{"and that"},
			told: []string{"`lies.png` is too big for me; 20 MB is the limit.", "`lies.txt` is too big for me; 20 MB is the limit."}, only: "slack"},
		{name: "more than Telegram said", text: "and that", files: []slack.SharedFile{lies}, shown: []string{"and that"},
			told: []string{"Telegram gives me files of up to 20 MB; that one is larger."}, only: "telegram"},
		{name: "less than was said", text: "the rest", files: one(short), shown: []string{"the rest"}, told: []string{"give me"}},
		{name: "a program named picture", text: "look", files: one(named), shown: []string{"look"}, told: []string{"`named.png` is neither text nor a picture that I can read."}},
		{name: "a text named picture", text: "look", files: one(words), shown: []string{"look", "File words.png:\n\n```png\njust words\n```"}},
		{name: "404", text: "gone?", files: one(code), fails: fault.Fault{Status: 404, Body: "<html>not found</html>"}, shown: []string{"gone?"}, told: []string{"any more"}},
		{name: "502", text: "broken?", files: one(code), fails: fault.Fault{Status: 502, Body: "<html>bad gateway</html>"}, shown: []string{"broken?"}, told: []string{"give me"}},
		{name: "a hang", text: "slow?", files: one(code), fails: fault.Fault{Hang: true}, shown: []string{"slow?"}, told: []string{"give me"}},
	}
}

// marked is the text with the number of its case.
func (s sharing) marked(i int) string {
	if s.text == "" {
		return ""
	}
	return fmt.Sprintf("%s (case %d)", s.text, i)
}

// share has a person share in both places.
func (s sharing) share(w *world, p person, i int) {
	w.t.Helper()
	if s.fails != (fault.Fault{}) {
		always := slices.Repeat([]fault.Fault{s.fails}, 100)
		w.slack.Faults.Next("files", always...)
		w.telegram.Faults.Next("file", always...)
	}
	if s.only != "telegram" {
		w.slack.Share(p.user, p.dm, s.marked(i), s.files)
	}
	if s.only == "slack" {
		return
	}
	var ids []int
	for n, f := range s.files {
		text, group := "", telegram.Field("has_media_spoiler", false)
		if n == 0 {
			text = s.marked(i)
		}
		if len(s.files) > 1 {
			group = telegram.Album(fmt.Sprint("album ", i))
		}
		file := telegram.File{Name: f.Name, MIME: f.MIME, Data: f.Data, Size: int64(f.Size), Pad: f.Pad, Miss: f.Missing}
		ids = append(ids, w.telegram.Say(p.bob, p.chat, text, telegram.Document(file), telegram.Held(), group))
	}
	w.telegram.Deliver(p.chat, ids...)
}

// over waits until the bot has said what it has to, and clears the faults.
func (s sharing) over(w *world, p person) {
	w.t.Helper()
	want := len(s.told)
	if !s.silent {
		want++
	}
	if s.only != "telegram" {
		w.slackSees(s.name, func(lines []slack.Line) bool {
			return linesIn(said(lines, p.dm, "")) >= want
		})
	}
	if s.only != "slack" {
		w.telegramSees(s.name, func(lines []telegram.Line) bool { return linesIn(texts(lines, p.chat)) >= want })
	}
	eventually(w.t, "nothing waits", w.idle)
	w.slack.Faults.Clear()
	w.telegram.Faults.Clear()
}

// linesIn counts the lines of posts.
func linesIn(posts []string) (n int) {
	for _, post := range posts {
		n += strings.Count(strings.TrimSpace(post), "\n") + 1
	}
	return n
}

// texts returns what the bot has sent to a chat.
func texts(lines []telegram.Line, chat int64) (out []string) {
	for _, l := range copies(lines, chat) {
		out = append(out, l.Text)
	}
	return out
}

// check compares what the model was shown and the chat was told, at one place.
func (s sharing) check(t *testing.T, where string, posts []string, asked []ollama.Request) {
	t.Helper()
	all := strings.ReplaceAll(strings.Join(posts, "\n"), "`", "") // Telegram shows them as code
	if n := strings.Count(all, "answered."); n != 1 && !s.silent || n != 0 && s.silent {
		t.Errorf("%s, %s: %d answers: %q", s.name, where, n, posts)
	}
	for _, line := range s.told {
		if strings.Count(all, strings.ReplaceAll(line, "`", "")) != 1 {
			t.Errorf("%s, %s: %q isn't told once: %q", s.name, where, line, posts)
		}
	}
	if n := linesIn(posts); n != len(s.told)+1 && !s.silent || s.silent && n != len(s.told) {
		t.Errorf("%s, %s: more is said than has to be: %q", s.name, where, posts)
	}
	if s.silent {
		return
	}
	if len(asked) != 1 {
		t.Fatalf("%s, %s: the model was asked %d times", s.name, where, len(asked))
	}
	last := asked[0].Chat.Messages[len(asked[0].Chat.Messages)-1]
	at := 0
	for _, part := range s.shown {
		i := strings.Index(last.Content[at:], part)
		if i < 0 {
			t.Fatalf("%s, %s: the model isn't shown %q behind %d of %q", s.name, where, part, at, last.Content)
		}
		at += i + len(part)
	}
	if len(last.Images) != s.images {
		t.Errorf("%s, %s: %d pictures, want %d", s.name, where, len(last.Images), s.images)
	}
}

// What people share reaches the model, or they are told why not, once, and their text is answered all the same; also where a platform
// lies about a file's size, breaks off, answers with a proxy's page or hangs. A hundred megabytes are never in memory.
func TestWhatPeopleShare(t *testing.T) {
	w := newWorld(t, options{vision: true, answer: func(ollama.Request) ollama.Reply { return ollama.Say("answered.") }})
	w.ollamaTOML, w.gather = `retry_for = "2s"`, "100ms"
	d := w.start().ready()
	before := w.peak(d)
	for i, s := range sharings() {
		p := w.person(fmt.Sprint("person", i))
		asked := len(w.ollama.Chats())
		s.share(w, p, i)
		s.over(w, p)
		chats := w.ollama.Chats()[asked:]
		bySlack, byTelegram := chats, chats
		if s.only == "" && !s.silent && len(chats) == 2 {
			bySlack, byTelegram = chats[:1], chats[1:]
		}
		if s.only != "telegram" {
			s.check(t, "Slack", said(w.slack.Transcript(), p.dm, ""), bySlack)
		}
		if s.only != "slack" {
			s.check(t, "Telegram", texts(w.telegram.Transcript(), p.chat), byTelegram)
		}
	}
	if now := w.peak(d); now > before+90 { // the daemon reads 20 MB of a file; of the largest there are a hundred
		t.Errorf("the daemon took up to %.0f MB, %.0f before anybody shared anything", now, before)
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if files, err := os.ReadDir(filepath.Join(w.state(), "blobs")); err != nil || len(files) != 1 {
		t.Errorf("files: %v, %v", files, err)
	}
}

// A model that can't see is shown no picture; the text is answered, and the chat is told, once for each message, which models can. A
// picture alone is told of, too. What is asked afterwards is answered as if nothing had been. Report 77.
func TestABlindModelSaysSo(t *testing.T) {
	const blind = "I couldn't see the image; models that can: a."
	w := newWorld(t, options{answer: func(ollama.Request) ollama.Reply { return ollama.Say("answered.") },
		models: []ollama.Model{{Name: "a", Context: 8192, Capabilities: []string{"completion", "vision"}}}})
	d := w.start().ready()
	p := w.person("ana")
	pic := []slack.SharedFile{{Name: "a.png", MIME: "image/png", Data: picture(1)}}
	for i, s := range []sharing{
		{name: "text and picture", text: "what is this?", files: pic, shown: []string{"what is this?"}, told: []string{blind}},
		{name: "a picture alone", files: pic, told: []string{blind}, silent: true},
		{name: "two", text: "compare", files: append(pic, slack.SharedFile{Name: "b.png", MIME: "image/png", Data: picture(2)}),
			shown: []string{"compare"}, told: []string{"I couldn't see the images; models that can: a."}},
		{name: "none", text: "go on", shown: []string{"go on"}},
	} {
		asked, inSlack, inTelegram := len(w.ollama.Chats()), len(said(w.slack.Transcript(), p.dm, "")), len(texts(w.telegram.Transcript(), p.chat))
		if s.files == nil {
			w.slack.Say(p.user, p.dm, s.marked(i))
			w.telegram.Say(p.bob, p.chat, s.marked(i))
		} else {
			s.share(w, p, i)
		}
		w.slackSees(s.name, func(lines []slack.Line) bool { return len(said(lines, p.dm, "")) > inSlack })
		w.telegramSees(s.name, func(lines []telegram.Line) bool { return len(texts(lines, p.chat)) > inTelegram })
		eventually(t, "nothing waits", w.idle)
		chats := w.ollama.Chats()[asked:]
		if n := len(chats); s.silent && n != 0 || !s.silent && n != 2 {
			t.Fatalf("%s: the model was asked %d times", s.name, n)
		}
		s.check(t, "Slack", said(w.slack.Transcript(), p.dm, "")[inSlack:], chats[:len(chats)/2])
		s.check(t, "Telegram", texts(w.telegram.Transcript(), p.chat)[inTelegram:], chats[len(chats)/2:])
	}
	d.stop()
}

// peak is the most memory that a daemon has had, in MB.
func (w *world) peak(d *daemon) (mb float64) {
	w.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		w.t.Skip("there is no /proc here that tells how much memory a process has")
	}
	for line := range strings.Lines(string(status)) {
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &mb); n == 1 {
			return mb / 1024
		}
	}
	return 0
}
