package telegram

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/session"
	"orebot/internal/secret"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/telegram"
)

// TestEveryRefusalHasItsClass goes through the table of errors in the facts, A6, row by row.
// Facts A6.1, A6.2, A6.3, A6.4, A6.5, A6.8, A6.12, A6.13, A6.20.
func TestEveryRefusalHasItsClass(t *testing.T) {
	for _, c := range []struct {
		code int
		text string
		want conduit.Class
	}{
		{400, "Bad Request: can't parse entities: Unsupported start tag \"x\" at byte offset 0", conduit.Malformed},
		{400, "Bad Request: can't parse MessageEntity: Can't find field \"type\"", conduit.Malformed},
		{400, "Bad Request: Entity URL 'http://localhost' is invalid: Wrong HTTP URL", conduit.Malformed},
		{400, "Bad Request: ENTITIES_TOO_LONG", conduit.Malformed},
		{400, "Bad Request: message is too long", conduit.TooBig},
		{400, "Bad Request: text is too long", conduit.TooBig},
		{400, "Bad Request: message caption is too long", conduit.TooBig},
		{413, "Request Entity Too Large", conduit.TooBig},
		{400, "Bad Request: message text is empty", conduit.Malformed},
		{400, "Bad Request: text must be non-empty", conduit.Malformed},
		{400, "Bad Request: chat not found", conduit.Gone},
		{400, "Bad Request: chat_id is empty", conduit.Gone},
		{400, "Bad Request: private chat not found", conduit.Gone},
		{400, "Bad Request: TOPIC_CLOSED", conduit.Gone},
		{400, "Bad Request: TOPIC_DELETED", conduit.Gone},
		{400, "Bad Request: not enough rights to send text messages to the chat", conduit.Gone},
		{400, "Bad Request: have no write access to the chat", conduit.Gone},
		{400, "Bad Request: CHAT_WRITE_FORBIDDEN", conduit.Gone},
		{400, "Bad Request: CHAT_RESTRICTED", conduit.Gone},
		{400, "Bad Request: message thread not found", conduit.Gone},
		{400, "Bad Request: have no rights to send a message", conduit.Gone},
		{400, "Bad Request: need administrator rights in the channel chat", conduit.Gone},
		{400, "Bad Request: the group chat was deleted", conduit.Gone},
		{400, "Bad Request: CHAT_SEND_PLAIN_FORBIDDEN", conduit.Gone},
		{400, "Bad Request: CHAT_GUEST_SEND_FORBIDDEN", conduit.Gone},
		{400, "Bad Request: CHAT_ADMIN_REQUIRED", conduit.Gone},
		{400, "Bad Request: CHAT_FORBIDDEN", conduit.Gone},
		{400, "Bad Request: CHANNEL_PRIVATE", conduit.Gone},
		{400, "Bad Request: USER_BANNED_IN_CHANNEL", conduit.Gone},
		{400, "Bad Request: USER_IS_BLOCKED", conduit.Gone},
		{400, "Bad Request: YOU_BLOCKED_USER", conduit.Gone},
		{400, "Bad Request: INPUT_USER_DEACTIVATED", conduit.Gone},
		{400, "Bad Request: CHAT_ID_INVALID", conduit.Gone},
		{400, "Bad Request: CHAT_SEND_DOCS_FORBIDDEN", conduit.Malformed}, // a file becomes messages
		{400, "Bad Request: not enough rights to send documents to the chat", conduit.Malformed},
		{400, "Bad Request: something new", conduit.Malformed},
		{401, "Unauthorized", conduit.Retry}, // once; see TestRefusedCredentials
		{421, "Misdirected Request: unallowed token specified", conduit.Retry},
		{404, "Not Found", conduit.Dead},
		{404, "Not Found: method not found", conduit.Retry},
		{403, "Forbidden: bot was blocked by the user", conduit.Gone},
		{403, "Forbidden: user is deactivated", conduit.Gone},
		{403, "Forbidden: bot was kicked from the supergroup chat", conduit.Gone},
		{403, "Forbidden: bot is not a member of the channel chat", conduit.Gone},
		{403, "Forbidden: the group chat was deleted", conduit.Gone},
		{403, "Forbidden: bot can't initiate conversation with a user", conduit.Gone},
		{403, "Forbidden: bot can't send messages to bots", conduit.Gone},
		{403, "Forbidden: bot was kicked from the group chat", conduit.Gone},
		{403, "Forbidden: bot was kicked from the channel chat", conduit.Gone},
		{403, "Forbidden: bot is not a member of the supergroup chat", conduit.Gone},
		{403, "Forbidden: the bot can't send messages to the bot", conduit.Gone},
		{409, "Conflict: terminated by other getUpdates request", conduit.Retry},
		{500, "Internal Server Error: restart", conduit.Retry},
		{502, "Bad Gateway", conduit.Retry},
		{503, "Service Unavailable", conduit.Retry},
		{504, "Gateway Timeout", conduit.Unknown},
	} {
		api := dialTo(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.code)
			_, _ = fmt.Fprintf(w, `{"ok":false,"error_code":%d,"description":%q}`, c.code, c.text)
		})
		// the thread belongs to a group: a private chat tries without it
		if got := postTo(t, api, "telegram:-7/3", part("x")); got.Class != c.want || !strings.Contains(got.Error(), "telegram:-7/3") {
			t.Errorf("%d %s: %v, want %v", c.code, c.text, got, c.want)
		}
	}
}

func part(text string) conduit.Part {
	return conduit.Part{Body: body{text: text, html: true, first: true}}
}

// post posts to a private chat and returns what went wrong.
func post(t *testing.T, api *API, p conduit.Part) *conduit.Error {
	t.Helper()
	return postTo(t, api, "telegram:7", p)
}

func postTo(t *testing.T, api *API, a session.Address, p conduit.Part) *conduit.Error {
	t.Helper()
	_, err := NewPoster(api).Post(t.Context(), a, conduit.Item{}, p)
	var e *conduit.Error
	if !errors.As(err, &e) {
		t.Fatalf("posted: %v", err)
	}
	noToken(t, err.Error())
	return e
}

// Facts A6.6, A6.17, B.7.
func TestRefusalsWithParameters(t *testing.T) {
	answer := `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 26","parameters":{"retry_after":26}}`
	api := dialTo(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, answer) })
	for _, p := range []conduit.Part{part("x"), {Body: body{file: "a.md", data: "x"}}} {
		if e := post(t, api, p); e.Class != conduit.RetryAfter || e.After != 26*time.Second {
			t.Errorf("429: %v after %v", e, e.After)
		}
	}
	if left := api.pauses.Left("7"); left < 25*time.Second {
		t.Errorf("the chat waits %v", left)
	}
	answer = `{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-1005}}`
	if e := post(t, api, part("x")); e.Class != conduit.Moved || e.To != "telegram:-1005" {
		t.Errorf("migration: %v to %v", e, e.To)
	}
}

// What may have arrived is unknown; what can't have is tried again.
// Facts A6.19; report 10.
func TestWhatMayHaveArrivedIsUnknown(t *testing.T) {
	cut := dialTo(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	slow := Dial(Account{Token: secret.New(token), APIURL: "http://sim", Transport: mute{}, Timeout: 20 * time.Millisecond})
	odd := dialTo(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>") })
	bare := dialTo(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{"ok":true,"result":true}`) })
	proxy := dialTo(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	gate := dialTo(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGatewayTimeout) })
	refused := Dial(Account{Token: secret.New(token), APIURL: "http://127.0.0.1:1"})
	for name, c := range map[string]struct {
		api  *API
		want conduit.Class
	}{
		"cut": {cut, conduit.Unknown}, "slow": {slow, conduit.Unknown}, "odd": {odd, conduit.Unknown},
		"bare": {bare, conduit.Unknown},
		"gate": {gate, conduit.Unknown}, "proxy": {proxy, conduit.Retry}, "refused": {refused, conduit.Retry},
	} {
		if e := post(t, c.api, part("x")); e.Class != c.want {
			t.Errorf("%s: %v, want %v", name, e, c.want)
		}
	}
}

func TestPartsOfOthersAreRefused(t *testing.T) {
	api := Dial(Account{Token: secret.New(token), APIURL: "http://127.0.0.1:1"})
	if e := post(t, api, conduit.Part{Body: "x"}); e.Class != conduit.Malformed {
		t.Errorf("%v", e)
	}
	_, err := NewPoster(api).Post(t.Context(), "slack:T1/C1", conduit.Item{}, part("x"))
	var e *conduit.Error
	if !errors.As(err, &e) || e.Class != conduit.Gone {
		t.Errorf("%v", err)
	}
}

func TestRefusedCredentials(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.Revoke()
		p := NewPoster(b.api)
		at := place{chat: b.chat}.address()
		var got []conduit.Class
		for range 5 {
			_, err := p.Post(t.Context(), at, conduit.Item{}, part("x"))
			var e *conduit.Error
			errors.As(err, &e)
			got = append(got, e.Class)
			time.Sleep(600 * time.Millisecond) // the second one is too close to the first to count
		}
		want := []conduit.Class{conduit.Retry, conduit.Retry, conduit.Retry, conduit.Retry, conduit.Dead}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// A topic, a topic that is lost, one that is closed; replies in groups on the first part only.
// Facts A2.3, A2.7, A2.8, A5.1, A6.7, A6.8, B.9; report 36.
func TestWhereAPartGoes(t *testing.T) {
	inBubble(t, sim.Options{Topics: true}, func(t *testing.T, b *bench) {
		first := b.AddTopic(b.chat, "Notes") // its id is that of General in a forum
		forum := b.AddSupergroup("Forum", true)
		topic := b.AddTopic(forum, "Go", b.Bot())
		closed := b.AddTopic(forum, "Old")
		b.CloseTopic(forum, closed)
		asked := b.Say(b.ada, forum, "question", sim.Topic(topic))
		later := conduit.Part{Body: body{text: "<b>two</b>", html: true, silent: true}}
		for _, c := range []struct {
			at    place
			reply int
			part  conduit.Part
			want  string
			class conduit.Class
		}{
			{place{b.chat, 0}, asked, part("<b>one</b>"), "send 1001 one", 0},
			{place{b.chat, 0}, asked, later, "send 1001 [silent] two", 0},
			{place{b.chat, 0}, asked, part("see https://ex.com/a"), "send 1001 see https://ex.com/a", 0},
			{place{forum, int64(topic)}, asked, part("a &lt; b"), fmt.Sprintf("send %d/%d [reply %d] a < b", forum, topic, asked), 0},
			{place{forum, int64(topic)}, asked, later, fmt.Sprintf("send %d/%d [silent] two", forum, topic), 0},
			{place{forum, 0}, 0, part("general"), fmt.Sprintf("send %d general", forum), 0},
			{place{forum, general}, 0, part("general"), fmt.Sprintf("send %d general", forum), 0},
			{place{forum, 999}, 0, part("lost"), "", conduit.Gone},
			{place{b.chat, 999}, 0, part("lost"), "send 1001 lost", 0},
			{place{b.chat, int64(first)}, 0, part("first"), "send 1001/1 first", 0},
			{place{forum, int64(closed)}, 0, part("late"), "", conduit.Gone},
			{place{forum, int64(topic)}, 5555, part("reply to nothing"), fmt.Sprintf("send %d/%d reply to nothing", forum, topic), 0},
			{place{b.chat, 0}, 0, conduit.Part{Body: body{text: "<b>plain", first: true}}, "send 1001 <b>plain", 0},
		} {
			n := len(b.Transcript())
			it := conduit.Item{}
			if c.reply != 0 {
				it.ReplyTo = decimal(int64(c.reply))
			}
			ids, err := NewPoster(b.api).Post(t.Context(), c.at.address(), it, c.part)
			if c.want == "" {
				var e *conduit.Error
				if !errors.As(err, &e) || e.Class != c.class {
					t.Errorf("%v: %v, want %v", c.at, err, c.class)
				}
				continue
			}
			lines := b.Transcript()[n:]
			if err != nil || len(lines) != 1 || lines[0].Preview || len(ids) != 1 || ids[0] != decimal(int64(lines[0].Message)) {
				t.Errorf("%v: %v %v %v", c.at, lines, ids, err)
				continue
			}
			if got := lines[0].String(); strings.TrimPrefix(got, lines[0].At.String()+" ") != c.want {
				t.Errorf("%v: %q, want %q", c.at, got, c.want)
			}
		}
	})
}

// Facts A2.7, A6.9.
func TestAReplyThatIsNotFoundIsLeftOut(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		group := b.AddGroup("G")
		b.Faults.Next("sendMessage", sim.Refusal(400, "Bad Request: message to be replied not found"))
		_, err := NewPoster(b.api).Post(t.Context(), place{chat: group}.address(), conduit.Item{ReplyTo: "5"}, part("x"))
		if err != nil || len(b.texts(group)) != 1 {
			t.Errorf("%v %v", err, b.texts(group))
		}
		calls := b.Calls("sendMessage")
		if len(calls) != 2 || calls[0].Params["reply_parameters"] == "" || calls[1].Params["reply_parameters"] != "" {
			t.Errorf("%+v", calls)
		}
	})
}

// A private chat's topic that Telegram doesn't find may take the message with it that is replied to. In a forum the answer
// doesn't fall among other people.
// Facts A2.6, A6.7; report 36.
func TestATopicThatIsLost(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		forum := b.AddSupergroup("Forum", true)
		b.Faults.Next("sendMessage", sim.Refusal(400, "Bad Request: message thread not found"))
		_, err := NewPoster(b.api).Post(t.Context(), place{b.chat, 9}.address(), conduit.Item{}, part("x"))
		if calls := b.Calls("sendMessage"); err != nil || len(calls) != 2 || calls[1].Params["message_thread_id"] != "" {
			t.Errorf("%v %v", err, calls)
		}
		_, err = NewPoster(b.api).Post(t.Context(), place{forum, 9}.address(), conduit.Item{}, part("x"))
		var e *conduit.Error
		if !errors.As(err, &e) || e.Class != conduit.Gone || len(b.texts(forum)) != 0 || len(b.Calls("sendMessage")) != 3 {
			t.Errorf("%v %v", err, b.Calls("sendMessage"))
		}
	})
}

// Who is gone without a word gets one attempt.
// Facts A6.13; report 38.
func TestAGoneChatGetsOneAttempt(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		b.Faults.Next("sendMessage", fault.Fault{Status: 502, Body: "<html>"})
		b.Say(b.ada, b.chat, "hello")
		time.Sleep(100 * time.Millisecond)
		b.Deactivate(b.ada)
		l.rest(10 * time.Minute)
		if n := len(b.Calls("sendMessage")); n != 2 {
			t.Errorf("%d calls", n)
		}
		e, ok, err := b.store.Entry(t.Context(), session.EntryID{Address: place{chat: b.chat}.address(), Key: keyOf(b.chat, 1)})
		if err != nil || !ok || e.End != session.EndUndeliverable {
			t.Errorf("entry %v %v: %v", e.End, ok, err)
		}
	})
}

// Facts A7.1.
func TestPacesOfPlaces(t *testing.T) {
	if (Config{}).pacer() != nil {
		t.Error("what isn't paced has a pacer")
	}
	key, rate := paceOf("telegram:7/33")
	other, _ := paceOf("telegram:7")
	if key != other || rate != privatePosts {
		t.Errorf("%q %q %v", key, other, rate)
	}
	if _, rate := paceOf("telegram:-7"); rate != groupPosts {
		t.Errorf("%v", rate)
	}
}
