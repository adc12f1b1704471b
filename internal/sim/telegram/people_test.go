package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// last returns the last update's field of this kind as JSON.
func last(t *testing.T, r *rig, kind string) string {
	t.Helper()
	us := r.updates(t, "offset", "-1")
	if len(us) == 0 || us[0][kind] == nil {
		t.Fatalf("no %s but %v", kind, us)
	}
	raw, _ := json.Marshal(us[0][kind])
	return string(raw)
}

func wants(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		unwanted, not := strings.CutPrefix(p, "!")
		if strings.Contains(got, unwanted) == not {
			t.Errorf("%s\n wants %s", got, p)
		}
	}
}

func TestShapesOfMessages(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		ada := r.AddUser("Ada", "ada")
		forum := r.AddSupergroup("F", true)
		topic := r.AddTopic(forum, "t", r.Bot())
		wants(t, last(t, r, "message"), `"forum_topic_created":{`, `"is_topic_message":true`, `"message_thread_id":2`, `"id":42`)
		r.Say(ada, forum, "😀 @orebot hi", Topic(topic))
		wants(t, last(t, r, "message"), `"entities":[{"length":7,"offset":3,"type":"mention"}]`, `"is_topic_message":true`,
			`"reply_to_message":{`, `"forum_topic_created":{`, `"is_forum":true`)
		root := r.Say(ada, forum, "in General")
		wants(t, last(t, r, "message"), `!message_thread_id`, `!reply_to_message`)
		first := r.Say(ada, forum, "re", ReplyTo(root))
		wants(t, last(t, r, "message"), `"message_thread_id":4`, `!is_topic_message`, `"reply_to_message":{`)
		r.Say(ada, forum, "re re", ReplyTo(first))
		wants(t, last(t, r, "message"), `"message_thread_id":4`, `!is_topic_message`)
		r.Say(ada, forum, "hey Ore", TextMention("Ore", r.Bot()), Field("from", nil))
		wants(t, last(t, r, "message"), `"type":"text_mention","user":{`, `!"from"`)
		r.Say(ada, forum, "f", Forwarded(ada, time.Unix(5, 0)), Album("g1"), Quote("q"), Sent(time.Unix(9, 0)))
		wants(t, last(t, r, "message"), `"forward_origin":{"date":5`, `"media_group_id":"g1"`, `"quote":{`, `"date":9`)
		r.Say(ada, forum, "", Field("sticker", map[string]any{"file_id": "s"}))
		wants(t, last(t, r, "message"), `"sticker":{"file_id":"s"}`, `!"text"`)
		r.Edit(forum, first, "new")
		wants(t, last(t, r, "edited_message"), `"text":"new"`, `"edit_date":`)
		r.Say(AnonymousAdmin, forum, "anon", As(map[string]any{"id": forum}))
		wants(t, last(t, r, "message"), `"GroupAnonymousBot"`, `"sender_chat":{"id":-100`)
		r.InlineCallback(ada, "im1", "d")
		wants(t, last(t, r, "callback_query"), `"inline_message_id":"im1"`, `!"message":`)
		r.Say(ServiceSender, r.AddChannel("C"), "news")
		wants(t, last(t, r, "channel_post"), `"sender_chat":{`, `!"from"`)
	})
}

func TestHeldMessagesComeInAnyOrderAndTwice(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		ada := r.AddUser("Ada", "ada")
		chat := r.PrivateChat(ada)
		a := r.Say(ada, chat, "", Photo(File{Name: "a.jpg", Data: []byte("a")}), Album("g"), Held())
		b := r.Say(ada, chat, "caption", Photo(File{Name: "b.jpg", Data: []byte("b")}), Album("g"), Held())
		if r.Pending() != 0 {
			t.Error("held messages came")
		}
		r.Deliver(chat, b, a, b)
		var got []float64
		for _, u := range r.updates(t) {
			got = append(got, u["message"].(map[string]any)["message_id"].(float64))
		}
		if want := []float64{2, 1, 2}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		wants(t, string(r.JSON(chat, b)), `"caption":"caption"`, `"media_group_id":"g"`)
	})
}

func TestPrivacyMode(t *testing.T) {
	inBubble(t, Options{Privacy: true}, func(t *testing.T, r *rig) {
		ada, other := r.AddUser("Ada", "ada"), r.AddBot("Other", "OtherBot")
		group := r.AddGroup("G")
		heard := func(text string, opts ...Option) bool {
			before := r.Pending()
			r.Say(ada, group, text, opts...)
			return r.Pending() > before
		}
		check := func(want bool, text string, opts ...Option) {
			t.Helper()
			if heard(text, opts...) != want {
				t.Errorf("%q: heard is %v", text, !want)
			}
		}
		check(false, "hello")
		check(true, "/ask@OREBOT x")
		check(false, "/ask@OtherBot x")
		check(false, "/ask x")
		check(true, "hello @orebot")
		check(false, "@OreBotX a@OreBot.com")
		var m struct {
			ID int `json:"message_id"`
		}
		_ = json.Unmarshal(r.call(t, "sendMessage", "chat_id", str(group), "text", "a"), &m)
		check(true, "yes", ReplyTo(m.ID))
		check(true, "/ask x")
		r.Say(other, group, "me too")
		check(false, "/ask x")
		check(true, "via", ViaBot(r.Bot()))
		r.Service(group, ada, "new_chat_title", "H")
		wants(t, last(t, r, "message"), "new_chat_title")
		r.Promote(group, r.Bot(), "administrator")
		check(true, "hello")
		r.Promote(group, r.Bot(), "member")
		check(false, "hello")
		r.SetPrivacy(false)
		check(true, "hello")
	})
}

func TestBlockedKickedMigrated(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		ada := r.AddUser("Ada", "ada")
		private, group, super := r.PrivateChat(ada), r.AddGroup("G"), r.AddSupergroup("S", false)
		send := func(chat int64) []string { return []string{"chat_id", str(chat), "text", "a"} }
		r.Block(ada)
		wants(t, last(t, r, "my_chat_member"), `"new_chat_member":{"status":"kicked","until_date":0,"user":{`, `"old_chat_member":{"status":"member"`)
		r.refused(t, "Forbidden: bot was blocked by the user", "sendMessage", send(private)...)
		r.Unblock(ada)
		r.call(t, "sendMessage", send(private)...)
		r.Deactivate(ada)
		r.refused(t, "Forbidden: user is deactivated", "sendMessage", send(private)...)
		r.Kick(super, ada)
		r.refused(t, "Forbidden: bot was kicked from the supergroup chat", "sendChatAction", append(send(super), "action", "typing")...)
		before := r.Pending()
		if r.Say(ada, super, "anyone?"); r.Pending() != before {
			t.Error("a kicked bot hears")
		}
		r.Return(super, ada)
		r.Promote(super, r.Bot(), "restricted")
		r.refused(t, "Bad Request: not enough rights to send text messages to the chat", "sendMessage", send(super)...)
		r.Leave(super, ada)
		r.refused(t, "Forbidden: bot is not a member of the supergroup chat", "sendMessage", send(super)...)
		r.Promote(group, ada, "creator")
		to := r.Migrate(group)
		wants(t, last(t, r, "message"), `"migrate_from_chat_id":`+str(group), `"type":"supergroup"`)
		resp, err := r.try("sendMessage", send(group)...)
		if errText(err) != "Bad Request: group chat was upgraded to a supergroup chat" || resp.Parameters.MigrateToChatID != to {
			t.Errorf("%v %+v", err, resp)
		}
		r.call(t, "sendMessage", send(to)...)
		wants(t, string(r.call(t, "getChat", "chat_id", str(to))), `"title":"G"`, `"type":"supergroup"`)
		wants(t, string(r.call(t, "getChatMember", "chat_id", str(to), "user_id", str(ada.ID))), `"status":"creator"`)
		wants(t, string(r.call(t, "getChatAdministrators", "chat_id", str(to))), `"username":"ada"`)
		r.refused(t, "Bad Request: there are no administrators in the private chat", "getChatAdministrators", "chat_id", str(private))
	})
}

func TestDetectsWhatClientsMark(t *testing.T) {
	for text, want := range map[string]string{
		"README.md foo.py main.rs setup.sh x.zip a.go b.txt c.json":  "url:README.md url:foo.py url:main.rs url:setup.sh url:x.zip",
		"@orebot hi @OreBotX mail a@OreBot.com":                      "mention:@orebot mention:@OreBotX email:a@OreBot.com",
		"@ab @abc @abcd @a_b x@abcd":                                 "mention:@abcd",
		"/ask@OREBOT what? /ask—x a/b /x@yy //a <ask>/b /a/b":        "bot_command:/ask@OREBOT bot_command:/ask",
		"http://localhost:11434/api http://a.b.com/x?y=1, 1.2.3.4":   "url:http://a.b.com/x?y=1 url:1.2.3.4",
		"see (https://ex.com/a_(b)) example.org/path. user@ex.co.uk": "url:https://ex.com/a_(b) url:example.org/path email:user@ex.co.uk",
		"#tag $USD x#y":   "hashtag:#tag cashtag:$USD",
		"/ask\n@orebotик": "bot_command:/ask",
	} {
		var got []string
		for _, e := range detect(text) {
			got = append(got, e.Type+":"+e.Of(text))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestWaitForIsWoken(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		chat := str(r.PrivateChat(r.AddUser("Ada", "")))
		time.AfterFunc(3*time.Second, func() { _, _ = r.try("sendMessage", "chat_id", chat, "text", "a") })
		t0 := time.Now()
		err := r.WaitFor(t.Context(), func(ls []Line) bool { return len(ls) == 1 })
		if err != nil || since(t0) != 3*time.Second {
			t.Errorf("%v after %v", err, since(t0))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.WaitFor(ctx, func([]Line) bool { return false }); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if got := r.Chat(1001); len(got) != 1 || got[0].Text != "a" {
			t.Errorf("%+v", got)
		}
	})
}
