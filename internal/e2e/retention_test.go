package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

// kept returns which pictures are on disk, by their marks.
func (w *world) kept() (marks string) {
	w.t.Helper()
	_ = filepath.Walk(filepath.Join(w.state(), "blobs"), func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil && len(data) > 0 {
			marks += string(data[len(data)-1])
		}
		return nil
	})
	return marks
}

// age makes the pictures on disk two hours old, as those of a daemon that has run so long.
func (w *world) age() {
	w.t.Helper()
	old := time.Now().Add(-2 * time.Hour)
	err := filepath.Walk(filepath.Join(w.state(), "blobs"), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			err = os.Chtimes(path, old, old)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// holds waits until the pictures on disk are these.
func (w *world) holds(marks string) {
	w.t.Helper()
	eventually(w.t, "the pictures on disk are "+marks, func() bool {
		got := w.kept()
		return len(got) == len(marks) && strings.Trim(got, marks) == ""
	})
}

// What is deleted is gone from the disk, its pictures too: those of a conversation that is forgotten, others' stay, and of those that
// nobody has used for `session.retention`, on both platforms. A picture that was put there within the hour is kept: a question that names
// it may be on its way. Whoever writes again begins anew.
func TestWhatIsDeletedIsGoneFromTheDisk(t *testing.T) {
	w := newWorld(t, options{vision: true, answer: func(r ollama.Request) ollama.Reply { return ollama.Say("re: ", r.Last()) }})
	d := w.start().ready()
	ana, bea := w.person("ana"), w.person("bea")
	share := func(p person, mark byte, slackToo, telegramToo bool) {
		t.Helper()
		if slackToo {
			w.slack.Share(p.user, p.dm, "ZEBRA "+string(mark), []slack.SharedFile{{Name: "a.png", MIME: "image/png", Data: picture(mark)}})
			w.slackSees("the answer", posted(p.dm, "", "re: ZEBRA "+string(mark)))
		}
		if telegramToo {
			w.telegram.Say(p.bob, p.chat, "ZEBRA "+string(mark), telegram.Photo(telegram.File{Name: "a.png", MIME: "image/png", Data: picture(mark)}))
			w.telegramSees("the answer", sent(p.chat, 0, "re: ZEBRA "+string(mark)))
		}
	}
	share(ana, 'a', true, false)
	share(ana, 'b', true, false)
	share(ana, 'x', true, true) // in two conversations
	share(bea, 'c', false, true)
	share(bea, 'd', true, false)
	d.stop()
	w.age()
	if w.holds("abcdx"); w.stored("ZEBRA") < 12 {
		t.Fatalf("%d records", w.stored("ZEBRA"))
	}

	d = w.start().ready()
	w.slack.Say(ana.user, ana.dm, "!forget")
	w.slack.Say(ana.user, ana.dm, "!forget yes")
	w.slackSees("that it is done", posted(ana.dm, "", "Forgotten."))
	w.holds("cdx")
	share(ana, 'e', true, false)
	d.stop()

	w.moreTOML = "[session]\nretention = \"2s\"\n"
	d = w.start().ready()
	w.deleted(1 + 4)
	w.holds("e")
	w.slack.Say(bea.user, bea.dm, "hello again")
	w.slackSees("an answer", posted(bea.dm, "", "re: hello again"))
	w.telegram.Say(bea.bob, bea.chat, "hello again")
	w.telegramSees("an answer", sent(bea.chat, 0, "re: hello again"))
	if code := d.stop(); code != 0 || w.stored("ZEBRA") != 0 {
		t.Errorf("exit code %d; %d records hold what was deleted", code, w.stored("ZEBRA"))
	}
	for _, r := range w.ollama.Chats() {
		if strings.Contains(r.Last(), "hello again") && strings.Contains(string(r.Raw), "ZEBRA") {
			t.Errorf("the fresh conversation isn't: %s", r.Raw)
		}
	}
}
