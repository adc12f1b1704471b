package play

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// during is a command that is given while a question is being answered.
type during struct {
	command string
	now     bool   // beside the turn; else in its place in the queue
	says    string // the bot's line, with its mark: "! text", "? text"; "<" for an answer
	twice   string // its line where another person has given the same just before; empty: the same
	ends    string // of the sum, beside the first question's; empty: "1 noticed"
}

// commands are those of the chat, as what is done at once and what waits for its place. To add one is to add a row.
func commands() []during {
	return []during{
		{command: "help", now: true, says: "! - `!help`: …"},
		{command: "commands", now: true, says: "! - `!help`: …"},
		{command: "status", now: true, says: "! - Model: `m`…\\n- Queue: one in progress…"},
		{command: "models", now: true, says: "! - `m`, 1.1 GB, 8,192 tokens (used here)\\n- `big`, 1.1 GB, 8,192 tokens"},
		{command: "usage", now: true, says: "? - This conversation: 0 tokens in 0 answers\\n…"},
		{command: "whoami", now: true, says: "? - You: `slack:…`…"},
		{command: "export", now: true, says: "! [conversation-2000-01-01.md] **Ana**, 2000-01-01 00:00\\n\\none…"},
		{command: "start", now: true, says: "! Hello! Write your question together with my name, or as a reply to me. `!help` says what else you can write."},
		{command: "frobnicate", now: true, says: "? I don't know `!frobnicate`. `!help` lists what you can write."},
		{command: "stop", now: true, says: "! Stopped. `!retry` asks again.", twice: "! Nothing is being answered here.", ends: "1 noticed, 1 withdrawn"},
		{command: "cancel", now: true, says: "! Stopped. `!retry` asks again.", twice: "! Nothing is being answered here.", ends: "1 noticed, 1 withdrawn"},
		{command: "new", says: "! A fresh conversation begins. `!undo` returns to the one before.", twice: "! This conversation is fresh already."},
		{command: "undo", says: "! Taken back: “one”", twice: "! There is nothing to take back."},
		{command: "retry", says: "< 1"},
		{command: "model", says: "! This conversation uses `m`. …"},
		{command: "model big", says: "! From the next message on, `big` answers here."},
		{command: "system", says: "! I have no instructions here."},
		{command: "system Be brief.", says: "! From the next message on I follow that. `!system reset` brings the default back."},
		{command: "system reset", says: "! The default instructions hold again."},
		{command: "think low", says: "! Thinking is `low` from the next message on, as far as the model can."},
		{command: "think show", says: "! From the next answer on I show the model's reasoning with it, folded."},
		{command: "compact", says: "! There is nothing older to summarise yet."},
		{command: "mute", says: "! I answer here only when called. `!follow` changes that."},
		{command: "follow", says: "! I answer here again without being called."},
		{command: "link", now: true, says: "? To join a chat to this conversation, within 10 minutes and once: write `/link …` to me in Telegram. …"},
		{command: "link 7Q4K-93AD", says: "? That code isn't valid. …"},
		{command: "link history 2", says: "? This chat isn't linked: all that was said stands above."},
		{command: "unlink", says: "! This chat isn't linked. `!link` does that."},
		{command: "forget", says: "! This deletes the conversation for good, …"},
		{command: "forget yes", says: "! There is nothing to confirm. …"},
	}
}

// script is a play in which ana's command comes during a turn; the line between is what happens before the model goes on, and twice
// lets an admin give the command too.
func (d during) script(between string, twice bool) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	said := func(text string) {
		if text == "< 1" {
			line("model: says \"1\"")
		}
		line("bot%s", text)
	}
	line("in: t1\nmodels: m, big\npeople: ana admin, ada admin\nlink: threads\n\nana> @bot one\nmodel: hangs\nana> @bot !%s", d.command)
	answers, sum := 1, d.ends
	finish := func() {
		if strings.HasSuffix(d.ends, "withdrawn") {
			line("model: is let go")
			answers = 0
			return
		}
		line("model: says \"1\"\nbot< 1")
	}
	if d.now {
		said(d.says)
	}
	if between != "" {
		line("%s", between)
	}
	second := d.says
	if d.twice != "" {
		second = d.twice
	}
	if twice {
		line("ada> @bot !%s", d.command)
		if d.now {
			said(second)
		}
	}
	finish()
	if !d.now {
		said(d.says)
		if twice {
			said(second)
		}
	}
	given := 1
	if twice {
		given = 2
	}
	switch {
	case strings.HasSuffix(d.says, "< 1"):
		answers += given
	case sum == "":
		sum = fmt.Sprintf("%d noticed", given)
	case twice:
		sum = strings.Replace(sum, "1 noticed", "2 noticed", 1)
	}
	if answers > 0 {
		sum = strings.TrimSuffix(fmt.Sprintf("%d answered, %s", answers, sum), ", ")
	}
	line("sum: %s", sum)
	return b.String()
}

// Each command during a running turn: at once or at its end, as the design lists them; also where its message is delivered again, where
// the process is killed before it is answered, and where somebody else gives the same at the same time.
func TestCommandsDuringATurn(t *testing.T) {
	for _, d := range commands() {
		for name, c := range map[string]struct {
			between string
			twice   bool
		}{
			"alone": {}, "again": {"again ana#2", false}, "twice": {"", true}, "killed": {"kill\nstart", false}, "restarted": {"restart", false},
			"killed, again": {"kill\nstart\nagain ana#2", false},
		} {
			if d.now && strings.HasPrefix(d.says, "! Stopped") && c.between != "" && !strings.HasPrefix(c.between, "again") {
				continue // the play "kill-stop" is about it
			}
			t.Run(d.command+", "+name, func(t *testing.T) {
				text := d.script(c.between, c.twice)
				s, err := read(text)
				if err != nil {
					t.Fatalf("%v in\n%s", err, text)
				}
				synctest.Test(t, func(t *testing.T) {
					if err := perform(t, s); err != nil {
						t.Errorf("%v in\n%s", err, text)
					}
				})
			})
		}
	}
}
