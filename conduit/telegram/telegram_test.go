package telegram

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/observe"
	"orebot/internal/secret"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/telegram"
)

func TestAPrivateMessageIsAnswered(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		time.Sleep(time.Second)
		b.Say(b.ada, b.chat, "hello")
		time.Sleep(time.Second)
		b.want(b.chat, "re: hello")
		if ready, reason := b.health.state(); !ready {
			t.Errorf("not ready: %s", reason)
		}
		before := time.Now()
		if err := l.stop(); err != nil || time.Since(before) > time.Second {
			t.Errorf("stopped after %v with %v", time.Since(before), err)
		}
	})
}

// silent fails unless the bot stays silent in a chat for a while.
func (b *bench) silent(chat int64) {
	b.t.Helper()
	n := len(b.texts(chat))
	time.Sleep(10 * time.Second)
	if got := b.texts(chat)[n:]; len(got) > 0 {
		b.t.Errorf("chat %d got %q", chat, got)
	}
}

// lines returns what the bot has sent to a chat, as the transcript shows it without the time.
func (b *bench) lines(chat int64) []string {
	var out []string
	for _, l := range b.Transcript() {
		if l.Chat == chat {
			_, s, _ := strings.Cut(l.String(), " ")
			out = append(out, s)
		}
	}
	return out
}

func (b *bench) wantLines(chat int64, want ...string) {
	b.t.Helper()
	if got := b.lines(chat); !slices.Equal(got, want) {
		b.t.Errorf("got  %q\nwant %q", got, want)
	}
}

// General, a topic's implicit reply, a mention in a topic.
// Facts A2.2, A2.5, E.1, E.2, E.3; reports 34, 36.
func TestForumTopics(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		defer func() { l.rest(0) }()
		b.model.answers(func(s string) string { return "re: " + s[strings.LastIndex(s, "\n")+1:] }) // without what is quoted
		forum := b.AddSupergroup("Forum", true)
		topic := b.AddTopic(forum, "Go", b.Bot())
		b.Say(b.ada, forum, "hi all", sim.Topic(topic)) // its implicit reply is to the bot's own service message
		b.silent(forum)
		asked := b.Say(b.ada, forum, "😀 @orebot hi", sim.Topic(topic))
		time.Sleep(time.Second)
		general := b.Say(b.ada, forum, "@OreBot start")
		time.Sleep(5 * time.Second)
		lines := b.Transcript()
		reply := b.Say(b.ada, forum, "b", sim.ReplyTo(lines[len(lines)-1].Message)) // with a thread id that is no topic
		time.Sleep(time.Second)
		b.wantLines(forum,
			fmt.Sprintf("send %d/%d [reply %d] re: 😀 hi", forum, topic, asked),
			fmt.Sprintf("send %d [reply %d] re: start", forum, general),
			fmt.Sprintf("send %d [reply %d] re: b", forum, reply))
	})
}

// What is meant for others, and a caption that is meant for the bot.
// Facts A2.12, A3.2, A3.4, A8.5, E.4, E.5; report 34.
func TestGroupsAreAnsweredWhenCalled(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		defer func() { l.rest(0) }()
		group := b.AddSupergroup("G", false)
		other := b.AddBot("Other", "OtherBot")
		for _, text := range []string{"/ask@OtherBot x", "@OreBotX hi", "mail a@OreBot.com", "lunch?", "@robert @orebot?", "/ask x"} {
			b.Say(b.ada, group, text)
		}
		b.Say(other, group, "@OreBot hi")
		b.Say(b.ada, b.chat, "/ask@OtherBot x")
		b.silent(group)
		b.silent(b.chat)
		b.Say(b.ada, group, "/ask@OREBOT what?", sim.Photo(sim.File{Name: "a.jpg", Data: []byte("x")}))
		time.Sleep(5 * time.Second)
		if got := b.model.prompts(); len(got) != 1 || !strings.HasPrefix(got[0], "what?\n") || len(b.Calls("getFile")) != 1 {
			t.Errorf("prompts %q", got)
		}
	})
}

// An anonymous administrator and a channel are known by the chat they write as; a channel's own forward is no question.
// Facts A2.11, A2.12, E.9.
func TestSendersThatAreChats(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		group := b.AddSupergroup("G", false)
		as := map[string]any{"id": group, "type": "supergroup", "title": "G"}
		b.Say(sim.AnonymousAdmin, group, "@OreBot one", sim.As(as))
		b.Say(sim.ServiceSender, group, "@OreBot two", sim.Field("is_automatic_forward", true))
		l.rest(5 * time.Second)
		if got := b.model.prompts(); !slices.Equal(got, []string{"one"}) {
			t.Errorf("prompts %q", got)
		}
		es, err := b.store.EntriesAt(t.Context(), place{chat: group}.address(), 10)
		if err != nil || len(es) != 1 || es[0].Inbound.Author.ID != idOf(group) {
			t.Errorf("entries %+v, %v", es, err)
		}
	})
}

// Edits and what isn't text ask no model; in private there is one line, in groups none.
// Facts A8.12, E.14, E.16.
func TestWhatIsNoText(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		defer func() { l.rest(0) }()
		group := b.AddGroup("G")
		q := b.Say(b.ada, b.chat, "hello")
		time.Sleep(time.Second)
		b.Edit(b.chat, q, "hello")
		b.Edit(b.chat, q, "hello?")
		b.silent(b.chat)
		for _, chat := range []int64{b.chat, group} {
			b.Say(b.ada, chat, "", sim.Field("voice", map[string]any{"file_id": "v", "duration": 3, "file_size": 30000000}))
			time.Sleep(5 * time.Second)
		}
		b.Service(group, b.ada, "new_chat_members", []any{map[string]any{"id": b.Bot().ID, "is_bot": true, "first_name": "Ore"}})
		b.Say(b.ada, group, "", sim.Field("dice", map[string]any{"emoji": "🎲", "value": 3}))
		b.silent(group)
		if got := b.texts(b.chat); len(got) != 2 || got[1] != unreadables["voice"] {
			t.Errorf("private: %q", got)
		}
		if got := b.model.prompts(); len(got) != 1 {
			t.Errorf("prompts %q", got)
		}
	})
}

// A start is a command, whose payload is passed on if it can be one.
// Facts A3.8, E.17.
func TestStartIsACommand(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		r := &recorder{}
		l := b.start(r.onto)
		b.Say(b.ada, b.chat, "/start aGVsbG8_-")
		b.Say(b.ada, b.chat, "/start "+strings.Repeat("a", 65))
		l.rest(5 * time.Second)
		if got := r.texts(); got != "/start aGVsbG8_-|/start" {
			t.Errorf("%q", got)
		}
	})
}

// What waited too long gets a line, and is confirmed.
// Facts A1.3, E.18.
func TestAnOldBacklog(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.Say(b.ada, b.chat, "hello", sim.Sent(time.Now().Add(-23*time.Hour)))
		b.start().rest(5 * time.Second)
		if got := b.texts(b.chat); len(got) != 1 || !strings.Contains(got[0], "23 h ago") || len(b.model.prompts()) != 0 || b.Pending() != 0 {
			t.Errorf("%q, prompts %q, %d wait", got, b.model.prompts(), b.Pending())
		}
	})
}

// answerOf starts a life whose model answers a question with text, lets d pass, and returns what Ada saw.
func (b *bench) answerOf(text string, d time.Duration) []string {
	b.t.Helper()
	b.model.answers(func(string) string { return text })
	l := b.start()
	b.Say(b.ada, b.chat, "question")
	l.rest(d)
	return b.texts(b.chat)
}

// long returns an answer of about n bytes in which no two lines are equal.
func long(n int) string {
	var s strings.Builder
	for i := 0; s.Len() < n; i++ {
		fmt.Fprintf(&s, "line %05d of the **answer**\n", i)
	}
	return s.String()
}

func numbers(text string) []string { return regexp.MustCompile(`\d{5}`).FindAllString(text, -1) }

// Nothing of a long answer is lost, and only its first part makes a sound.
// Facts A2.8; report 18.
func TestALongAnswerArrivesWhole(t *testing.T) {
	inBubble(t, sim.Options{Limits: sim.RealLimits()}, func(t *testing.T, b *bench) {
		b.paced = true
		src := long(20000)
		got := b.answerOf(src, time.Minute)
		if len(got) < 4 || !slices.Equal(numbers(strings.Join(got, "\n")), numbers(src)) {
			t.Errorf("%d parts, %d of %d lines", len(got), len(numbers(strings.Join(got, "\n"))), len(numbers(src)))
		}
		for i, line := range b.Transcript() {
			if line.Silent != (i > 0) || line.Dropped > 0 || line.ReplyTo != 0 {
				t.Errorf("part %d: %v", i, line)
			}
		}
	})
}

// Whatever befalls the second of three parts, all arrive in order.
// Facts A6.1, A6.18, A6.19, D.9, D.10, E.15; reports 10, 13, 14, 16, 20.
func TestPartsThroughTroubles(t *testing.T) {
	for name, c := range map[string]struct {
		fs      []fault.Fault
		repeats int
		gap     time.Duration
		plain   bool
	}{
		"429":    {fs: []fault.Fault{{}, sim.TooMany(26 * time.Second)}, gap: 26 * time.Second},
		"502":    {fs: []fault.Fault{{}, badGateway, badGateway}},
		"markup": {fs: []fault.Fault{{}, sim.Refusal(400, "Bad Request: can't parse entities: x")}, plain: true},
		"reset":  {fs: []fault.Fault{{}, {Reset: true}}, repeats: 1},
		"cut":    {fs: []fault.Fault{{}, {Cut: true}}, repeats: 1},
		"hang":   {fs: []fault.Fault{{}, {Hang: true}}, repeats: 1, gap: 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
				src := long(9000)
				b.Faults.Next("sendMessage", c.fs...)
				got := b.answerOf(src, 5*time.Minute)
				var kept []string
				repeats := 0
				for i, text := range got {
					if strings.HasPrefix(text, repeatLabel) {
						repeats++
						if text = strings.TrimPrefix(text, repeatLabel); i > 0 && got[i-1] == text {
							continue
						}
					}
					kept = append(kept, text)
				}
				if !slices.Equal(numbers(strings.Join(kept, "\n")), numbers(src)) || repeats != c.repeats {
					t.Errorf("%d lines of %d, %d repeats", len(numbers(strings.Join(kept, "\n"))), len(numbers(src)), repeats)
				}
				if n := b.figs.get(observe.Repeats, Name); int(n) != c.repeats {
					t.Errorf("%v repeats counted", n)
				}
				calls := b.Calls("sendMessage")
				if d := calls[2].At - calls[1].At; d < c.gap {
					t.Errorf("tried again after %v", d)
				}
				if plain := calls[2].Params["parse_mode"] == ""; plain != c.plain {
					t.Errorf("the second try is plain: %v", plain)
				}
			})
		})
	}
}

// A group that became a supergroup gets its answer there, once and without a reply to a message that isn't there.
// Facts A2.14, A6.6; report 35.
func TestAGroupThatMoved(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		group, to := b.AddGroup("G"), int64(0)
		b.model.answers(func(string) string { to = b.Migrate(group); return "here" })
		l := b.start()
		b.Say(b.ada, group, "@OreBot where?")
		l.rest(time.Minute)
		b.wantLines(group)
		b.wantLines(to, fmt.Sprintf("send %d here", to))
	})
}

// Where a refused post is the first to tell of the move, the answer is posted there at once, and replies to no message of the new chat
// that has the question's number by chance.
// Facts A2.14, A6.6; report 35.
func TestARefusedPostFollowsTheMove(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		group := b.AddGroup("G")
		asked := b.Say(b.ada, group, "@OreBot where?")
		to := b.Migrate(group)
		for range asked + 1 {
			b.Say(b.ada, to, "another")
		}
		r := rover{NewPoster(b.api), newMoves(b.store), newBarred()}
		it := conduit.Item{ReplyTo: decimal(int64(asked)), Asked: time.Now()}
		if _, err := r.Post(t.Context(), place{chat: group}.address(), it, part("here")); err != nil {
			t.Fatal(err)
		}
		b.wantLines(to, fmt.Sprintf("send %d here", to))
		calls := b.Calls("sendMessage")
		if len(calls) != 2 || calls[0].Params["reply_parameters"] == "" || calls[1].Params["reply_parameters"] != "" {
			t.Errorf("%+v", calls)
		}
	})
}

// Quit ends the intake and nothing else.
func TestQuitEndsTheIntake(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		quit, asked := make(chan struct{}), make(chan struct{})
		b.model.answers(func(string) string { close(asked); time.Sleep(10 * time.Second); return "late" })
		l := b.start(func(c *Config) { c.Quit = quit })
		b.Say(b.ada, b.chat, "hello")
		<-asked
		time.Sleep(time.Second)
		close(quit)
		polls := len(b.Polls())
		time.Sleep(30 * time.Second)
		b.want(b.chat, "late")
		b.Say(b.ada, b.chat, "too late")
		l.rest(time.Minute)
		if n := len(b.Polls()); n != polls || b.Pending() != 1 {
			t.Errorf("%d polls after the end, %d wait", n-polls, b.Pending())
		}
	})
}

// No trouble on the way makes a log line tell the token. The bench looks for it.
// Facts B.1, B.16; report 42.
func TestNoLogTellsTheToken(t *testing.T) {
	u := "http://sim/bot" + token + "/getUpdates?x=" + token
	for name, err := range map[string]error{
		"dns":  &net.DNSError{Err: "no such host for " + u, Name: "api.example"},
		"url":  &url.Error{Op: "Post", URL: u, Err: io.ErrUnexpectedEOF},
		"text": errors.New("proxy: can't reach " + u),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
				b.api = Dial(Account{Token: secret.New(token), APIURL: "http://sim", Transport: failing{err}})
				b.Say(b.ada, b.chat, "hello")
				b.start().rest(time.Minute)
				if b.logged("polling fails") != 1 || b.logged("bot unknown") != 1 {
					t.Errorf("%s", b.log.String())
				}
				for _, reason := range b.health.seen {
					noToken(t, reason)
				}
			})
		})
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	for _, cfg := range []Config{{}, {API: Dial(Account{})}, {API: Dial(Account{}), Sessions: refusing{}}} {
		if c, err := New(cfg); err == nil || c != nil || !strings.HasPrefix(err.Error(), "telegram: ") {
			t.Errorf("%v %v", c, err)
		}
	}
}
