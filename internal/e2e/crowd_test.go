package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

// round is a talk of five people in one place: who writes what while the first question is being answered.
type round struct {
	queue string
	turns [][]string // the questions of each answer that follows, as the model sees them, with the speakers' names
}

// Five people in one Slack thread and one Telegram group: each message carries its speaker to the model, what isn't for the bot is context
// of the next answer alone, messages of one author in a row are one question, or not, as `queue` says, and all of it in the order in
// which it was written. Answers on Telegram are replies to the message that they answer. Reports 62 and 68.
func TestFivePeople(t *testing.T) {
	for _, r := range []round{
		{"collect", [][]string{{"[bo]: bo 1", "bo 2"}, {"[cy]: cy 1"}, {"[bo]: bo 3"}, {"[di]: di 1", "di 2"}, {"[ed]: ed 1"}}},
		{"fifo", [][]string{{"[bo]: bo 1"}, {"[bo]: bo 2"}, {"[cy]: cy 1"}, {"[bo]: bo 3"}, {"[di]: di 1"}, {"[di]: di 2"}, {"[ed]: ed 1"}}},
	} {
		t.Run(r.queue, func(t *testing.T) {
			t.Parallel()
			five(t, r)
		})
	}
}

func five(t *testing.T, r round) {
	held := make(chan struct{})
	w := newWorld(t, options{answer: func(r ollama.Request) ollama.Reply {
		if strings.HasSuffix(r.Last(), "first") {
			<-held
		}
		last := unlabelled(r.Last())
		return ollama.Say("re: ", strings.ReplaceAll(last, "\n\n", " "))
	}})
	w.moreTOML = fmt.Sprintf("[chat]\nqueue = %q\n", r.queue)
	d := w.start().ready()
	names := []string{"al", "bo", "cy", "di", "ed"}
	users, bobs, sentBy := map[string]string{}, map[string]telegram.User{}, map[string]int{}
	channel := w.slack.AddChannel("general", "UBOT")
	group := w.telegram.AddSupergroup("G", false)
	for _, name := range names {
		users[name], bobs[name] = w.slack.AddUser(name), w.telegram.AddUser(name, name+"_user")
		w.slack.Join(channel, users[name])
	}
	root := w.slack.Say(users["al"], channel, "<@UBOT> first")
	sentBy["first"] = w.telegram.Say(bobs["al"], group, "@OreBot first")
	eventually(t, "both are being answered", func() bool { return len(w.ollama.Chats()) == 2 })
	for _, text := range []string{"bo 1", "bo 2", "cy 1", "bo 3", "aside of cy", "di 1", "di 2", "ed 1"} {
		who, mention, slackMention := text[:2], "@OreBot ", "<@UBOT> "
		if strings.HasPrefix(text, "aside") {
			who, mention, slackMention = "cy", "", ""
		}
		w.slack.Say(users[who], channel, slackMention+text, slack.InThread(root))
		sentBy[text] = w.telegram.Say(bobs[who], group, mention+text)
	}
	eventually(t, "all is accepted", func() bool { return w.queued() == 2*8 })
	close(held)
	w.slackSees("the last answer", posted(channel, root, "re: ed 1"))
	w.telegramSees("the last answer", sent(group, 0, "re: ed 1"))
	d.stop()
	var answers []string
	for _, turn := range append([][]string{{"first"}}, r.turns...) {
		answers = append(answers, "re: "+unlabelled(strings.Join(turn, " ")))
	}
	if got := said(w.slack.Transcript(), channel, root); !slices.Equal(got, answers) {
		t.Errorf("%s: Slack shows %q, want %q", r.queue, got, answers)
	}
	w.checkReplies(group, answers, sentBy)
	w.checkCrowd(r)
}

// checkReplies compares what a group was sent, and which messages it answers.
func (w *world) checkReplies(group int64, answers []string, sentBy map[string]int) {
	w.t.Helper()
	got := copies(w.telegram.Transcript(), group)
	if len(got) != len(answers) {
		w.t.Fatalf("Telegram shows %q, want %q", texts(w.telegram.Transcript(), group), answers)
	}
	for i, l := range got {
		words := strings.TrimPrefix(answers[i], "re: ")
		last := words
		if len(words) > 5 { // the reply is to the last of those that are answered together
			last = words[len(words)-4:]
		}
		if l.Text != answers[i] || l.ReplyTo != sentBy[words] && l.ReplyTo != sentBy[last] {
			w.t.Errorf("%q replies to %d, want %q to %d", l.Text, l.ReplyTo, answers[i], sentBy[last])
		}
	}
}

// checkCrowd compares the last prompt of each place with all that was said there.
func (w *world) checkCrowd(r round) {
	w.t.Helper()
	chats := slices.DeleteFunc(w.ollama.Chats(), func(c ollama.Request) bool { return !strings.HasSuffix(c.Last(), "ed 1") })
	if len(chats) != 2 {
		w.t.Fatalf("%d last prompts", len(chats))
	}
	for _, c := range chats {
		var got []string
		for _, m := range c.Chat.Messages[1:] {
			got = append(got, m.Role+" "+m.Content)
		}
		want := []string{"user [al]: first", "assistant re: first"}
		for _, turn := range r.turns {
			if turn[0] == "[di]: di 1" {
				want = append(want, "user [cy]: aside of cy")
			}
			question := strings.Join(turn, "\n\n")
			want = append(want, "user "+question, "assistant re: "+unlabelled(strings.Join(turn, " ")))
		}
		want = want[:len(want)-1]
		if !slices.Equal(got, want) {
			w.t.Errorf("%s: the model was shown\n%q, want\n%q", r.queue, got, want)
		}
	}
}
