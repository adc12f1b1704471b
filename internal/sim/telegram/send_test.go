package telegram

import (
	"strings"
	"testing"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

func TestSendRefusesAsTelegramDoes(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		ada, bob := r.AddUser("Ada", "ada"), r.AddUser("Bob", "")
		chat := str(r.PrivateChat(ada))
		links := strings.Repeat(`<a href="https://ex.com/`+strings.Repeat("x", 200)+`">y</a> `, 60)
		for _, c := range []struct{ want, chat, text, more string }{
			{"Bad Request: message text is empty", chat, "", ""},
			{"Bad Request: text must be non-empty", chat, " \n\t", ""},
			{"Bad Request: text must be non-empty", chat, "<b> </b>", "HTML"},
			{"Bad Request: text is too long", chat, strings.Repeat("a", 32769), ""},
			{"Bad Request: message is too long", chat, strings.Repeat("a", 4097), ""},
			{"Bad Request: message is too long", chat, strings.Repeat("😀", 4097), "HTML"},
			{"Bad Request: ENTITIES_TOO_LONG", chat, links, "HTML"},
			{"Bad Request: unsupported parse_mode", chat, "a", "XML"},
			{"Bad Request: can't parse entities: Unsupported start tag \"think\" at byte offset 0", chat, "<think>", "html"},
			{"Bad Request: chat_id is empty", "", "a", ""},
			{"Bad Request: chat not found", "99", "a", ""},
			{"Forbidden: bot can't initiate conversation with a user", str(bob.ID), "a", ""},
			{"Forbidden: the bot can't send messages to itself", "42", "a", ""},
			{"Forbidden: bot can't send messages to bots", str(r.AddBot("Other", "OtherBot").ID), "a", ""},
		} {
			r.refused(t, c.want, "sendMessage", "chat_id", c.chat, "text", c.text, "parse_mode", c.more)
		}
		r.call(t, "sendMessage", "chat_id", chat, "text", strings.Repeat("😀", 4096))
		r.call(t, "sendMessage", "chat_id", chat, "text", "<b>"+strings.Repeat("&lt;", 4096)+"</b>", "parse_mode", "HTML")
		if n := len(r.Transcript()); n != 2 {
			t.Errorf("%d lines", n)
		}
		if n := r.Refused()["Bad Request: message is too long"]; n != 2 {
			t.Errorf("%d refusals counted", n)
		}
		if c := r.Calls("sendMessage")[0]; c.Error != "Bad Request: message text is empty" || c.Params["chat_id"] != chat {
			t.Errorf("call %+v", c)
		}
	})
}

func TestEntitiesBeyondTheHundredthAreDropped(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		chat := str(r.PrivateChat(r.AddUser("Ada", "")))
		r.call(t, "sendMessage", "chat_id", chat, "text", strings.Repeat("<b>x</b> ", 150), "parse_mode", "HTML")
		if l := r.Transcript()[0]; len(l.Entities) != 100 || l.Dropped != 50 {
			t.Errorf("%d shown, %d dropped", len(l.Entities), l.Dropped)
		}
	})
}

func TestEntitiesGivenAsAList(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		chat := str(r.PrivateChat(r.AddUser("Ada", "")))
		send := func(list string) []string { return []string{"chat_id", chat, "text", "abc", "entities", list} }
		r.call(t, "sendMessage", send(`[{"type":"bold","offset":1,"length":2}]`)...)
		r.refused(t, "Bad Request: entity URL 'http://localhost/' is invalid: Wrong HTTP URL", "sendMessage",
			send(`[{"type":"text_link","offset":0,"length":1,"url":"http://localhost/"}]`)...)
		r.refused(t, "Bad Request: entity beginning at UTF-16 offset 2 ends after the end of the text at UTF-16 offset 9",
			"sendMessage", send(`[{"type":"bold","offset":2,"length":7}]`)...)
		if got := flat(r.Transcript()[0].Entities); len(got) != 1 || got[0] != "bold 1 2 " {
			t.Errorf("%q", got)
		}
	})
}

func TestRepliesAndTopics(t *testing.T) {
	inBubble(t, Options{Topics: true}, func(t *testing.T, r *rig) {
		ada := r.AddUser("Ada", "")
		forum, plain, group := r.AddSupergroup("F", true), r.AddSupergroup("P", false), r.AddGroup("G")
		private := r.PrivateChat(ada)
		topic, closed, mine := r.AddTopic(forum, "t"), r.AddTopic(forum, "c"), r.AddTopic(private, "p")
		r.CloseTopic(forum, closed)
		inTopic, inGeneral := r.Say(ada, forum, "a", Topic(topic)), r.Say(ada, forum, "b")
		answer := r.Say(ada, forum, "c", ReplyTo(inGeneral))
		const lost = "Bad Request: message thread not found"
		send := func(chat int64, more ...string) []string {
			return append([]string{"chat_id", str(chat), "text", "x"}, more...)
		}
		for _, c := range []struct {
			want string
			args []string
		}{
			{lost, send(forum, "message_thread_id", "1")},
			{lost, send(forum, "message_thread_id", "999")},
			{lost, send(forum, "message_thread_id", str(int64(inGeneral)))}, // the root of a chain of replies
			{lost, send(private, "message_thread_id", "999")},
			{"Bad Request: TOPIC_CLOSED", send(forum, "message_thread_id", str(int64(closed)))},
			{"Bad Request: message to be replied not found", send(forum, "reply_to_message_id", "999")},
			{"Bad Request: QUOTE_TEXT_INVALID", send(forum, "reply_parameters", `{"message_id":`+str(int64(answer))+`,"quote":"z"}`)},
			{"Bad Request: can't parse reply parameters JSON object", send(forum, "reply_parameters", `[`)},
		} {
			r.refused(t, c.want, "sendMessage", c.args...)
		}
		r.call(t, "sendMessage", send(plain, "message_thread_id", "1")...)
		r.call(t, "sendMessage", send(group)...)
		r.call(t, "sendMessage", send(private, "message_thread_id", str(int64(mine)))...)
		r.call(t, "sendMessage", send(forum, "reply_parameters", `{"message_id":999,"allow_sending_without_reply":true}`)...)
		r.call(t, "sendMessage", send(forum, "reply_to_message_id", str(int64(inTopic)))...) // joins the topic
		got := r.call(t, "sendMessage", send(forum, "reply_parameters", `{"message_id":`+str(int64(answer))+`}`)...)
		if want := `"message_thread_id":` + str(int64(inGeneral)); !strings.Contains(string(got), want) {
			t.Errorf("a reply in General has the root's thread id: %s", got)
		}
		want := "0s send " + str(plain) + " x\n0s send " + str(group) + " x\n0s send 1001/1 x\n0s send " + str(forum) +
			" x\n0s send " + str(forum) + "/2 [reply 4] x\n0s send " + str(forum) + " [reply 6] x\n"
		if got := r.Script(); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

func TestEditDeleteReactActAnswer(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		ada := r.AddUser("Ada", "")
		id := r.PrivateChat(ada)
		chat, q := str(id), str(int64(r.Say(ada, id, "hi")))
		sent, err := r.bot.Send(tgbotapi.NewMessage(id, "one"))
		if err != nil {
			t.Fatal(err)
		}
		m := str(int64(sent.MessageID))
		time.Sleep(1200 * time.Millisecond)
		r.call(t, "sendChatAction", "chat_id", chat, "action", "typing")
		r.call(t, "setMessageReaction", "chat_id", chat, "message_id", q, "reaction", `[{"type":"emoji","emoji":"👀"}]`)
		r.call(t, "setMessageReaction", "chat_id", chat, "message_id", q, "reaction", `[]`)
		r.call(t, "editMessageText", "chat_id", chat, "message_id", m, "text", "two\nlines", "reply_markup",
			`{"inline_keyboard":[[{"text":"Stop","callback_data":"stop"}]]}`)
		r.refused(t, "Bad Request: "+notModified, "editMessageText", "chat_id", chat, "message_id", m, "text", "two\nlines ",
			"reply_markup", `{"inline_keyboard":[[{"text":"Stop","callback_data":"stop"}]]}`)
		r.refused(t, "Bad Request: message to edit not found", "editMessageText", "chat_id", chat, "message_id", "99", "text", "x")
		r.refused(t, "Bad Request: message can't be edited", "editMessageText", "chat_id", chat, "message_id", q, "text", "x")
		r.refused(t, "Bad Request: REACTION_INVALID", "setMessageReaction", "chat_id", chat, "message_id", q, "reaction", `[{"type":"emoji","emoji":"✅"}]`)
		r.refused(t, "Bad Request: message to react not found", "setMessageReaction", "chat_id", chat, "message_id", "99")
		r.refused(t, "Bad Request: wrong parameter action in request", "sendChatAction", "chat_id", chat, "action", "dance")
		press := r.Callback(ada, id, sent.MessageID, "stop")
		r.call(t, "answerCallbackQuery", "callback_query_id", press, "text", "ok")
		const late = "Bad Request: query is too old and response timeout expired or query ID is invalid"
		r.refused(t, late, "answerCallbackQuery", "callback_query_id", press)
		r.call(t, "deleteMessage", "chat_id", chat, "message_id", m)
		r.refused(t, "Bad Request: message to delete not found", "deleteMessage", "chat_id", chat, "message_id", m)
		press = r.Callback(ada, id, sent.MessageID, "stop") // of a message that is gone
		if us := r.updates(t, "offset", "-1"); us[0]["callback_query"].(map[string]any)["message"].(map[string]any)["date"] != 0.0 {
			t.Errorf("%v", us)
		}
		time.Sleep(3 * time.Minute)
		r.refused(t, late, "answerCallbackQuery", "callback_query_id", press)
		want := "0s send 1001 one\n1.2s action 1001 typing\n1.2s react 1001 [message 1] 👀\n1.2s react 1001 [message 1]\n" +
			"1.2s edit 1001 [message 2] two\\nlines\n1.2s answer 1001 ok\n1.2s delete 1001 [message 2]\n"
		if got := r.Script(); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

func TestDocumentsAndFiles(t *testing.T) {
	r := onLoopback(t, Options{})
	ada := r.AddUser("Ada", "")
	id := r.PrivateChat(ada)
	doc := tgbotapi.NewDocument(id, tgbotapi.FileBytes{Name: "answer-1.md", Bytes: []byte("# long")})
	doc.Caption, doc.ParseMode, doc.DisableNotification = "<b>the rest</b>", "HTML", true
	if _, err := r.bot.Send(doc); err != nil {
		t.Fatal(err)
	}
	l := r.Transcript()[0]
	if !strings.HasSuffix(l.String(), "document 1001 [silent] <answer-1.md> the rest") || string(l.File.Data) != "# long" {
		t.Errorf("%s", l)
	}
	doc.Caption = strings.Repeat("a", 1025)
	if _, err := r.bot.Send(doc); errText(err) != "Bad Request: message caption is too long" {
		t.Error(err)
	}
	r.Say(ada, id, "/ask@OREBOT what?", Photo(File{Data: []byte("jpeg"), Name: "x.jpg"}))
	r.Say(ada, id, "", Document(File{Name: "big.bin", Size: 30000000}))
	var msgs []*tgbotapi.Message
	us, err := r.bot.GetUpdates(tgbotapi.UpdateConfig{})
	if err != nil || len(us) != 2 {
		t.Fatalf("%v %v", us, err)
	}
	for _, u := range us {
		msgs = append(msgs, u.Message)
	}
	if e := msgs[0].CaptionEntities; len(e) != 1 || e[0].Type != "bot_command" || e[0].Length != 11 || len(msgs[0].Photo) != 2 {
		t.Errorf("%+v", msgs[0])
	}
	f, err := r.bot.GetFile(tgbotapi.FileConfig{FileID: msgs[0].Photo[1].FileID})
	if err != nil {
		t.Fatal(err)
	}
	if status, body := get(t, r, "/file/bot"+r.Token()+"/"+f.FilePath); status != 200 || body != "jpeg" {
		t.Errorf("%d %s", status, body)
	}
	r.refused(t, "Bad Request: file is too big", "getFile", "file_id", msgs[1].Document.FileID)
	r.refused(t, "Bad Request: wrong file_id or the file is temporarily unavailable", "getFile", "file_id", "x")
}

func TestLimits(t *testing.T) {
	inBubble(t, Options{Limits: RealLimits()}, func(t *testing.T, r *rig) {
		chat := str(r.PrivateChat(r.AddUser("Ada", "")))
		for range 3 {
			r.call(t, "sendMessage", "chat_id", chat, "text", "a")
		}
		time.Sleep(500 * time.Millisecond)
		resp, err := r.try("sendMessage", "chat_id", chat, "text", "a")
		if errText(err) != "Too Many Requests: retry after 3" || resp.Parameters.RetryAfter != 3 {
			t.Errorf("%v %+v", err, resp)
		}
		time.Sleep(2500 * time.Millisecond)
		r.call(t, "sendMessage", "chat_id", chat, "text", "a")
		group := str(r.AddGroup("G"))
		for range 20 {
			r.call(t, "sendMessage", "chat_id", group, "text", "a")
			time.Sleep(time.Second)
		}
		r.refused(t, "Too Many Requests: retry after 40", "sendMessage", "chat_id", group, "text", "a")
	})
}

func TestJSONBodiesAndButtons(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		chat := str(r.PrivateChat(r.AddUser("Ada", "")))
		body := `{"chat_id":` + chat + `,"text":"see ex.com","link_preview_options":{"is_disabled":true},"disable_notification":true}`
		resp, err := r.http.Post(r.base+"/bot"+r.Token()+"/sendMessage", "application/json", strings.NewReader(body))
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v %v", resp, err)
		}
		resp.Body.Close()
		r.call(t, "sendMessage", "chat_id", chat, "text", "see ex.com")
		ls := r.Transcript()
		if ls[0].Preview || !ls[0].Silent || !ls[1].Preview || ls[1].Silent {
			t.Errorf("%+v", ls)
		}
		r.refused(t, "Bad Request: BUTTON_DATA_INVALID", "sendMessage", "chat_id", chat, "text", "a", "reply_markup",
			`{"inline_keyboard":[[{"text":"x","callback_data":"`+strings.Repeat("d", 65)+`"}]]}`)
	})
}

func TestCommands(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		r.call(t, "setMyCommands", "commands", `[{"command":"help","description":"What I can do"}]`, "scope", `{"type":"all_private_chats"}`)
		if got := string(r.call(t, "getMyCommands", "scope", `{"type":"all_private_chats"}`)); got != `[{"command":"help","description":"What I can do"}]` {
			t.Errorf("%s", got)
		}
		if got := string(r.call(t, "getMyCommands")); got != `[]` {
			t.Errorf("%s", got)
		}
		r.refused(t, "Bad Request: BOT_COMMAND_INVALID", "setMyCommands", "commands", `[{"command":"Help","description":"x"}]`)
		r.refused(t, "Bad Request: command length must not exceed 32", "setMyCommands", "commands",
			`[{"command":"`+strings.Repeat("a", 33)+`","description":"x"}]`)
	})
}
