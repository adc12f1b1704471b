package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"orebot/internal/sim/telegram"
)

// orebot runs a subcommand on the world's configuration and returns its exit code and output.
func (w *world) orebot(args ...string) (int, string) {
	w.t.Helper()
	t, ok := w.t.(*testing.T)
	if !ok {
		w.t.Fatal("only for tests")
	}
	return run(t, nil, append(args, "-c", w.config())...)
}

// must runs a subcommand that has to succeed, and say all of this.
func (w *world) must(args []string, want ...string) string {
	w.t.Helper()
	code, out := w.orebot(args...)
	if code != 0 {
		w.t.Fatalf("orebot %s: exit code %d:\n%s\nlog:\n%s", strings.Join(args, " "), code, out, w.lastLog())
	}
	for _, text := range want {
		if !strings.Contains(out, text) {
			w.t.Errorf("orebot %s doesn't say %q:\n%s", strings.Join(args, " "), text, out)
		}
	}
	return out
}

// codeIn waits for the code that a stranger gets in their chat.
func (w *world) codeIn(chat int64) string {
	w.t.Helper()
	code := regexp.MustCompile(`orebot access approve ([A-Z0-9]{4})`)
	for _, l := range w.telegramSees("a code", sent(chat, 0, "I don't know you yet")) {
		if m := code.FindStringSubmatch(l.Text); l.Chat == chat && m != nil {
			return m[1]
		}
	}
	w.t.Fatalf("no code in %v", w.telegram.Transcript())
	return ""
}

func TestAStrangerIsLetInByTheOperator(t *testing.T) {
	w := newWorld(t, options{})
	w.access = "pairing"
	d := w.start().ready()
	bob := w.telegram.AddUser("Bob", "bob")
	chat := w.telegram.PrivateChat(bob)
	w.telegram.Say(bob, chat, "hello?")
	code := w.codeIn(chat)
	for range 3 {
		w.telegram.Say(bob, chat, "hello??")
	}
	eventually(t, "all that is refused", func() bool { return w.telegram.Pending() == 0 && w.idle() })
	w.must([]string{"access", "list"}, "waits", "Bob (@bob)", "orebot access approve "+code)
	w.must([]string{"access", "approve", strings.ToLower(code)}, "Bob (@bob)", "may talk to the bot now")
	w.telegramSees("the welcome", sent(chat, 0, "You are in."))
	if n := len(w.ollama.Chats()); n != 0 {
		t.Errorf("a stranger cost %d model calls", n)
	}
	w.telegram.Say(bob, chat, "and now?")
	w.telegramSees("the answer", sent(chat, 0, "re: and now?"))
	if n := lines(w.telegram.Transcript(), chat, "I don't know you yet"); n != 1 {
		t.Errorf("the stranger was told %d times", n)
	}
	if code, out := w.orebot("access", "approve", code); code != 1 || !strings.Contains(out, "nobody waits with the code") {
		t.Errorf("approved twice: exit code %d, %s", code, out)
	}
	id := "telegram:" + idOf(chat)
	w.must([]string{"access", "revoke", id}, "may not talk to the bot any more")
	w.telegram.Say(bob, chat, "still there?")
	w.telegramSees("the refusal", sent(chat, 0, "not enabled for you any more"))
	d.stop()

	// On a stopped daemon's state, and for the next life.
	w.must([]string{"access", "allow", id}, "may talk to the bot now")
	out := w.must([]string{"access", "--json"})
	var list struct {
		Allowed []struct{ ID, Name, Handle, By string }
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Allowed) != 1 || list.Allowed[0].ID != id {
		t.Errorf("%v in %s", err, out)
	}
	w.start().ready()
	w.telegram.Say(bob, chat, "back again")
	w.telegramSees("the answer", sent(chat, 0, "re: back again"))
}

func lines(all []telegram.Line, chat int64, text string) (n int) {
	for _, l := range all {
		if l.Action == "send" && l.Chat == chat && strings.Contains(l.Text, text) {
			n++
		}
	}
	return n
}

func idOf(chat int64) string {
	b, _ := json.Marshal(chat) // a number
	return string(b)
}

// A daemon that was killed leaves its socket behind; the next one takes its place.
func TestTheAdminSocketOutlivesAKill(t *testing.T) {
	w := newWorld(t, options{})
	if code, out := w.orebot("queue"); code != 1 || !strings.Contains(out, "no daemon answers; tried /run/orebot/orebot.sock") ||
		!strings.Contains(out, filepath.Join(w.state(), "orebot.sock")) {
		t.Errorf("without a daemon: exit code %d, %s", code, out)
	}
	if code, out := w.orebot("access"); code != 1 || !strings.Contains(out, "there is no state in "+w.state()) {
		t.Errorf("without a state: exit code %d, %s", code, out)
	}
	d := w.start().ready()
	path := filepath.Join(w.state(), "orebot.sock")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	w.must([]string{"queue"}, "Nothing waits.")
	d.kill()
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("after kill -9: %v", err)
	}
	d = w.start().ready()
	w.must([]string{"queue", "list"}, "Nothing waits.")
	if code, out := w.orebot("queue", "drop"); code != 2 || !strings.Contains(out, "takes one id") {
		t.Errorf("exit code %d, %s", code, out)
	}
	d.stop()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after the end: %v", err)
	}
}

func TestTheOperatorDropsWhatHangs(t *testing.T) {
	w := newWorld(t, options{answer: echo(3600_000_000_000)})
	w.start().ready()
	ana := w.slack.AddUser("ana")
	dm := w.slack.OpenDM(ana)
	w.slack.Say(ana, dm, "hang")
	eventually(t, "the model is asked", func() bool { return len(w.ollama.Chats()) == 1 })
	out := w.must([]string{"queue", "--json"})
	var list struct {
		Items []struct{ ID, Kind, Why string }
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Items) != 1 || list.Items[0].Why != "being answered" {
		t.Fatalf("%v in %s", err, out)
	}
	w.must([]string{"queue", "drop", list.Items[0].ID}, "is given up")
	w.slackSees("the notice", posted(dm, "", "The operator withdrew this"))
	eventually(t, "nothing waits", func() bool { return strings.Contains(w.must([]string{"queue"}), "Nothing waits.") })
}

// A picture is kept as a file, and shown to a model that sees.
func TestAPictureReachesTheModel(t *testing.T) {
	w := newWorld(t, options{vision: true})
	w.start().ready()
	bob := w.telegram.AddUser("Bob", "bob")
	chat := w.telegram.PrivateChat(bob)
	png := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00"), make([]byte, 64)...)
	w.telegram.Say(bob, chat, "what is this?", telegram.Photo(telegram.File{Name: "p.png", MIME: "image/png", Data: png}))
	w.telegramSees("the answer", sent(chat, 0, "re: what is this?"))
	msgs := w.ollama.Chats()[0].Chat.Messages
	if last := msgs[len(msgs)-1]; len(last.Images) != 1 || string(last.Images[0]) != string(png) {
		t.Errorf("the model got %d pictures", len(last.Images))
	}
	if files, err := os.ReadDir(filepath.Join(w.state(), "blobs")); err != nil || len(files) != 1 {
		t.Errorf("files: %v, %v", files, err)
	}
}
