package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/telegram"
)

// shown returns the bot's messages in a chat as people see them: topic, what it replies to, text.
func (w *world) shown(chat int64) (out []string) {
	for _, l := range copies(w.telegram.Transcript(), chat) {
		out = append(out, fmt.Sprintf("%d [%d] %s", l.Topic, l.ReplyTo, l.Text))
	}
	return out
}

// lastLine answers a question that has others quoted above it; one that is lost, never.
func lastLine(r ollama.Request) ollama.Reply {
	text := unlabelled(r.Last())
	reply := ollama.Say("re: ", text[strings.LastIndexByte(text, '\n')+1:])
	if strings.Contains(text, "lost") {
		reply.Delay = time.Hour
	}
	return reply
}

// General, a topic of a forum, a topic of a private chat and the chat itself are conversations of
// their own, answered where they are held; a chain of replies in General has a thread id that is no topic.
// Facts A2.2, A2.3, A2.4, A2.6, E.1, E.2, E.3; reports 34, 36.
func TestTelegramsPlacesAreApart(t *testing.T) {
	w := newWorld(t, options{answer: lastLine, telegram: telegram.Options{Topics: true}})
	d := w.start().ready()
	bob := w.telegram.AddUser("Bob", "bob")
	chat, forum := w.telegram.PrivateChat(bob), w.telegram.AddSupergroup("Forum", true)
	topic, mine := w.telegram.AddTopic(forum, "Go", w.telegram.Bot()), w.telegram.AddTopic(chat, "Notes")
	w.telegram.Say(bob, forum, "not for the bot", telegram.Topic(topic))
	one := w.telegram.Say(bob, forum, "@OreBot in General")
	two := w.telegram.Say(bob, forum, "😀 @orebot in Go", telegram.Topic(topic))
	w.telegram.Say(bob, chat, "in the chat")
	w.telegram.Say(bob, chat, "in Notes", telegram.Topic(mine))
	lines := w.telegramSees("General's answer", sent(forum, 0, "in General"))
	w.telegramSees("the topic's answer", sent(forum, topic, "in Go"))
	w.telegramSees("the chat's answer", sent(chat, 0, "in the chat"))
	w.telegramSees("the private topic's answer", sent(chat, mine, "in Notes"))
	answer := lines[slices.IndexFunc(lines, func(l telegram.Line) bool { return l.Action == "send" && l.Chat == forum && l.Topic == 0 })]
	three := w.telegram.Say(bob, forum, "and why?", telegram.ReplyTo(answer.Message))
	w.telegramSees("the answer to a reply in General", sent(forum, 0, "and why?"))
	d.stop()
	got := w.shown(forum)
	want := []string{fmt.Sprintf("0 [%d] re: in General", one), fmt.Sprintf("%d [%d] re: 😀 in Go", topic, two), fmt.Sprintf("0 [%d] re: and why?", three)}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the forum shows %q, want %q", got, want)
	}
	for _, c := range w.ollama.Chats() {
		var all string
		for _, m := range c.Chat.Messages {
			all += m.Content + "\n"
		}
		if n := strings.Count(all, "in General") + 10*strings.Count(all, "in Go") + 100*strings.Count(all, "in the chat") + 1000*strings.Count(all, "in Notes"); n > 9 && n%10 != 0 {
			t.Errorf("one conversation is shown another's words:\n%s", all)
		}
	}
}

// A group that becomes a supergroup while its question is being answered gets the answer there, once; the
// conversation goes on.
// Facts A2.14, E.7; reports 35, 83.
func TestAGroupMovesInMidAnswer(t *testing.T) {
	gate := make(chan struct{})
	w := newWorld(t, options{answer: func(r ollama.Request) ollama.Reply { <-gate; return lastLine(r) }})
	d := w.start().ready()
	bob := w.telegram.AddUser("Bob", "bob")
	group := w.telegram.AddGroup("G")
	w.telegram.Say(bob, group, "@OreBot before")
	eventually(t, "the model is asked", func() bool { return len(w.ollama.Chats()) == 1 })
	moved := w.telegram.Migrate(group)
	close(gate)
	w.telegramSees("the answer", sent(moved, 0, "re: before"))
	eventually(t, "nothing waits", w.idle)
	d.kill()
	d = w.start().ready()
	w.telegram.Say(bob, moved, "@OreBot behind")
	w.telegramSees("the next answer", sent(moved, 0, "re: behind"))
	d.stop()
	chats := w.ollama.Chats()
	if msgs := chats[len(chats)-1].Chat.Messages; len(msgs) < 3 || !strings.Contains(fmt.Sprint(msgs), "re: before") {
		t.Errorf("the conversation didn't move along: %v", msgs)
	}
	if n := len(w.shown(group)) + lines(w.telegram.Transcript(), moved, "re: before"); n != 1 {
		t.Errorf("%q, %q", w.shown(group), w.shown(moved))
	}
}

// Who blocks the bot or throws it out gets nothing, what is being done there stops, whoever had asked, and all is well again afterwards.
// Facts A6.13, E.8; report 38.
func TestTelegramShutsTheBotOutAndIn(t *testing.T) {
	w := newWorld(t, options{answer: lastLine})
	d := w.start().ready()
	bob, cy, dan := w.telegram.AddUser("Bob", "bob"), w.telegram.AddUser("Cy", "cy"), w.telegram.AddUser("Dan", "dan")
	chat, group := w.telegram.PrivateChat(bob), w.telegram.AddSupergroup("G", false)
	w.telegram.Promote(group, cy, "administrator")
	w.telegram.Say(bob, chat, "lost")
	w.telegram.Say(bob, group, "@OreBot lost too")
	eventually(t, "the model is asked", func() bool { return len(w.ollama.Chats()) == 2 })
	w.telegram.Say(dan, group, "@OreBot lost as well")
	eventually(t, "a question waits", func() bool { return w.queued() == 3 })
	w.telegram.Block(bob)
	w.telegram.Kick(group, cy)
	eventually(t, "nothing waits", w.idle)
	for _, c := range w.telegram.Calls("sendMessage") {
		if text := c.Params["text"]; !signText(text) { // a slow machine's questions may have waited so long before
			t.Errorf("it still speaks: %q", text)
		}
	}
	d.kill()
	d = w.start().ready()
	w.telegram.Unblock(bob)
	w.telegram.Promote(group, w.telegram.Bot(), "member")
	w.telegram.Say(bob, chat, "again")
	w.telegram.Say(bob, group, "@OreBot again")
	w.telegramSees("the answer", sent(chat, 0, "re: again"))
	w.telegramSees("the group's answer", sent(group, 0, "re: again"))
	d.stop()
}

// An album, a comment with its forwards and a text that the client cut are one turn each, where the parts are stored within the time that
// they have.
// Facts A2.13, E.6; report 39.
func TestOneActIsOneTurn(t *testing.T) {
	w := newWorld(t, options{vision: true, answer: func(ollama.Request) ollama.Reply { return ollama.Say("seen.") }})
	w.gather = "2s" // busy disks need longer than the default
	d := w.start().ready()
	png := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00"), make([]byte, 64)...)
	long := strings.Repeat("many words ", 700)
	for name, act := range map[string]struct {
		send func(u telegram.User, chat int64) (messages []int) // which the bot gets at once
		want []string                                           // in this order, in the last message of the prompt
		pics int
	}{
		"album": {func(u telegram.User, chat int64) (ids []int) {
			for i := range 3 {
				ids = append(ids, w.telegram.Say(u, chat, []string{"", "which is best?", ""}[i], telegram.Album("g"+u.Username), telegram.Photo(telegram.File{Name: fmt.Sprint(i, ".png"), MIME: "image/png", Data: append(png, byte(i))}), telegram.Held()))
			}
			return ids
		}, []string{"which is best?"}, 3},
		"forwards": {func(u telegram.User, chat int64) (ids []int) {
			other := w.telegram.AddUser("Cy", "cy"+u.Username)
			return []int{w.telegram.Say(u, chat, "sum this up", telegram.Held()),
				w.telegram.Say(u, chat, "first words", telegram.Forwarded(other, time.Now()), telegram.Held()),
				w.telegram.Say(u, chat, "second words", telegram.Forwarded(other, time.Now()), telegram.Held())}
		}, []string{"first words", "second words", "sum this up"}, 0},
		"paste": {func(u telegram.User, chat int64) (ids []int) {
			return []int{w.telegram.Say(u, chat, long[:4096], telegram.Held()), w.telegram.Say(u, chat, long[4096:], telegram.Held())}
		}, []string{long[:7700]}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			u := w.telegram.AddUser(name, name+"_user")
			chat := w.telegram.PrivateChat(u)
			before := len(w.ollama.Chats())
			w.telegram.Deliver(chat, act.send(u, chat)...)
			w.telegramSees("the answer", sent(chat, 0, "seen."))
			eventually(t, "nothing waits", w.idle)
			chats := w.ollama.Chats()[before:]
			if len(chats) != 1 || len(w.shown(chat)) != 1 {
				t.Fatalf("%d turns, %q", len(chats), w.shown(chat))
			}
			msgs := chats[0].Chat.Messages
			last := msgs[len(msgs)-1]
			at := 0
			for _, want := range act.want {
				i := strings.Index(last.Content[at:], want)
				if i < 0 {
					t.Fatalf("no %.40q behind %d in %q", want, at, last.Content)
				}
				at += i + len(want)
			}
			if len(last.Images) != act.pics {
				t.Errorf("%d pictures", len(last.Images))
			}
		})
	}
	d.stop()
}
