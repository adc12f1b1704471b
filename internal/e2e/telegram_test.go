package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/fault"
	"orebot/internal/sim/telegram"
)

// The menus are registered once, ten commands in private and four in groups, and a command of the group's menu needs no name there.
// Facts A3.6, A3.9.
func TestTelegramsMenus(t *testing.T) {
	w := newWorld(t, options{})
	d := w.start().ready()
	bob, group := w.telegram.AddUser("Bob", "bob"), w.telegram.AddSupergroup("G", false)
	w.telegram.Say(bob, group, "/help")
	w.telegramSees("the help", sent(group, 0, "/retry"))
	eventually(t, "both menus are set", func() bool { return len(w.telegram.Calls("setMyCommands")) == 2 }) // beside the answers
	sizes := map[string]int{}
	for _, c := range w.telegram.Calls("setMyCommands") {
		var list []struct{ Command, Description string }
		if err := json.Unmarshal([]byte(c.Params["commands"]), &list); err != nil || c.Error != "" {
			t.Errorf("%v %s", err, c.Error)
		}
		sizes[c.Params["scope"]] += len(list)
	}
	if sizes[`{"type":"all_private_chats"}`] != 10 || sizes[`{"type":"all_group_chats"}`] != 4 || len(sizes) != 2 {
		t.Errorf("%v", sizes)
	}
	d.stop()
	w.start().ready()
	eventually(t, "the next life has looked", func() bool { return len(w.telegram.Calls("getMyCommands")) == 4 })
	w.telegram.Say(bob, group, "/help")
	w.telegramSees("the help of the next life", func(all []telegram.Line) bool { return lines(all, group, "/retry") == 2 })
	if n := len(w.telegram.Calls("setMyCommands")); n != 2 {
		t.Errorf("set %d times", n)
	}
}

// A long poll in flight doesn't hold up the end: it comes at once, not when the grace or the poll is over.
// Facts B.3.
func TestTelegramsPollEndsWithTheDaemon(t *testing.T) {
	w := newWorld(t, options{})
	d := w.start().ready()
	bob := w.telegram.AddUser("Bob", "bob")
	w.telegram.Say(bob, w.telegram.PrivateChat(bob), "hi")
	w.telegramSees("the answer", sent(bob.ID, 0, "re: hi"))
	eventually(t, "the next poll waits", func() bool { return w.telegram.Confirmed() > 0 })
	begin := time.Now()
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %s:\n%s", took, w.lastLog())
	}
}

// A token that is revoked shows in /readyz with the first poll that is refused; Slack goes on.
// Facts A6.15; report 9.
func TestARevokedTokenShowsAtOnce(t *testing.T) {
	w := newWorld(t, options{})
	d := w.start().ready()
	bob := w.telegram.AddUser("Bob", "bob")
	w.telegram.Revoke()
	w.telegram.Say(bob, w.telegram.PrivateChat(bob), "ends the poll that waits")
	polls := len(w.telegram.Calls("getUpdates"))
	eventually(t, "/readyz names Telegram", func() bool {
		code, body := d.get("/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(body, "telegram: Telegram refuses the bot token")
	})
	if n := len(w.telegram.Calls("getUpdates")) - polls; n > 2 {
		t.Errorf("only after %d polls", n)
	}
	ana := w.slack.AddUser("ana")
	dm := w.slack.OpenDM(ana)
	w.slack.Say(ana, dm, "hello")
	w.slackSees("the answer", posted(dm, "", "re: hello"))
	eventually(t, "it is said once", func() bool { return strings.Count(w.log(), "platform refused credentials") == 1 })
}

// idle reports whether nothing waits, to be answered or to be delivered.
func (w *world) idle() bool { return w.queued() == 0 }

// queued counts what waits, to be answered or to be delivered.
func (w *world) queued() (n int) {
	var list struct {
		Items []struct{ Kind string }
	}
	out := w.must([]string{"queue", "--json"})
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		w.t.Fatalf("%v in %s", err, out)
	}
	for _, it := range list.Items {
		if it.Kind != "update" {
			n++
		}
	}
	return n
}

// odd are messages that people can't write, or that only who is up to no good writes. What is said must come to an end, or be set aside;
// nothing after it may be held up.
func odd(chat int64) []string {
	message := func(id int, fields string) string {
		return fmt.Sprintf(`{"message":{"message_id":%d,"date":%d,"from":{"id":%d,"first_name":"E"},"chat":{"id":%d,"type":"private"},%s}}`,
			id, time.Now().Unix(), chat, chat, fields)
	}
	big := strings.Repeat("caption ", 1<<17)
	return []string{
		message(9001, `"photo":[{"file_id":"x","width":1}],"caption":"`+big+`"`),
		message(9002, `"text":"\u202e\u2066 right to left \u2069 \u202c"`),
		message(9003, `"text":"a\u0000b\u0001\u001b[31m"`),
		message(9004, `"text":"lone \ud800 and \udc00 surrogates"`),
		message(9005, `"text":"x","entities":[{"type":"mention","offset":9223372036854775807,"length":9223372036854775807}]`),
		message(9006, `"text":"/start `+strings.Repeat("A", 65)+`","entities":[{"type":"bot_command","offset":0,"length":6}]`),
		message(9007, `"text":"`+strings.Repeat(`\u0301`, 4096)+`"`),
		message(2147483648, `"text":"an id beyond 31 bits"`),
		message(9008, `"text":"deep","reply_to_message":`+strings.Repeat(`{"message_id":1,"reply_to_message":`, 5000)+`{}`+strings.Repeat(`}`, 5000)),
		message(9009, `"document":{"file_id":"../../etc/passwd","file_name":"../../../a\u0000b.txt","mime_type":"text/plain","file_size":-5}`),
		message(9010, `"text":"old","date":-1`),
		message(9011, `"text":"far","date":99999999999999`),
		message(9012, `"text":"named","from":{"id":`+fmt.Sprint(chat)+`,"first_name":"`+strings.Repeat("N", 100_000)+`"}`),
		message(9013, `"text":"","rich_message":{"a":1}`),
		message(9014, `"text":"album","media_group_id":"`+strings.Repeat("g", 10_000)+`"`),
		`{"message":{"message_id":1,"date":1,"from":{"id":9223372036854775807,"first_name":"max"},"chat":{"id":9223372036854775807,"type":"private"},"text":"a huge id"}}`,
		`{"message":{"message_id":1,"date":1,"from":{"id":1e300},"chat":{"id":1e300},"text":"no number"}}`,
		`{"callback_query":{"id":"` + strings.Repeat("q", 5000) + `","from":{"id":1},"data":"c:retry"}}`,
		`{"callback_query":{"id":"8","from":{"id":` + fmt.Sprint(chat) + `,"first_name":"E"},"message":{"message_id":9,"chat":{"id":` + fmt.Sprint(chat) + `,"type":"private"},"date":0},"data":"c:new"}}`,
		`{"my_chat_member":{"chat":{"id":-9,"type":"group"},"from":{"id":0},"date":0,"old_chat_member":{},"new_chat_member":{"status":"member"}}}`,
		`{"edited_message":{"message_id":1,"date":1,"edit_date":-7,"from":{"id":` + fmt.Sprint(chat) + `},"chat":{"id":` + fmt.Sprint(chat) + `},"text":"never seen"}}`,
	}
}

// Hostile updates hold up nobody, cost no token and tell no log what people wrote.
// Facts A2.1, A8.6.
func TestHostileUpdates(t *testing.T) {
	w := newWorld(t, options{})
	w.level = "info"
	d := w.start().ready()
	eve, bob := w.telegram.AddUser("Eve", "eve"), w.telegram.AddUser("Bob", "bob")
	evil, chat := w.telegram.PrivateChat(eve), w.telegram.PrivateChat(bob)
	for i, u := range odd(evil) {
		w.telegram.Push(u)
		w.telegram.Say(bob, chat, fmt.Sprintf("SECRETTEXT %02d", i))
	}
	w.telegramSees("the last answer", sent(chat, 0, fmt.Sprintf("SECRETTEXT %02d", len(odd(evil))-1)))
	eventually(t, "every update is confirmed", func() bool { return w.telegram.Pending() == 0 })
	eventually(t, "all came to an end", w.idle)
	for range 2 { // and once more, after a kill
		d.kill()
		d = w.start().ready()
	}
	w.telegram.Say(bob, chat, "and now?")
	w.telegramSees("the answer", sent(chat, 0, "re: and now?"))
	d.stop()
	for _, text := range []string{"SECRETTEXT", "right to left", "surrogates", "caption caption", "NNNN", "an id beyond", "never seen"} {
		if strings.Contains(w.allLogs(), text) {
			t.Errorf("the log tells %q", text)
		}
	}
}

// Every method that the bot calls meets trouble after trouble; each message comes to its end all the same.
func TestTroubleWithEachMethod(t *testing.T) {
	w := newWorld(t, options{})
	kinds := []fault.Fault{telegram.TooMany(time.Second), {Status: 502, Body: "<html>bad</html>"}, {Reset: true}, {Cut: true}, {Status: 200, Body: "<html>"},
		{Status: 200}, {Status: 504}}
	for i, m := range []string{"getMe", "getUpdates", "getMyCommands", "setMyCommands", "sendMessage", "sendDocument", "sendChatAction", "getFile",
		"answerCallbackQuery", "getChatAdministrators", "deleteMessage", "setMessageReaction"} {
		for k := range 4 {
			w.telegram.Faults.Next(m, kinds[(i+k)%len(kinds)])
		}
	}
	d := w.start()
	bob, group := w.telegram.AddUser("Bob", "bob"), w.telegram.AddSupergroup("G", true)
	chat, topic := w.telegram.PrivateChat(bob), w.telegram.AddTopic(group, "Go")
	for i := range 8 {
		w.telegram.Say(bob, chat, fmt.Sprintf("p%02d.", i))
		w.telegram.Say(bob, group, fmt.Sprintf("@OreBot g%02d.", i))
		w.telegram.Say(bob, group, fmt.Sprintf("@OreBot t%02d.", i), telegram.Topic(topic))
	}
	edited := w.telegram.Say(bob, chat, "first words")
	w.telegram.Edit(chat, edited, "other words")
	w.telegram.Callback(bob, chat, edited, "c:status")
	w.telegram.Say(bob, chat, "read this", telegram.Document(telegram.File{Name: "a.txt", MIME: "text/plain", Data: []byte("in the file")}))
	w.telegram.Say(bob, chat, "/export")
	w.telegram.Say(bob, chat, "the end")
	w.telegramSees("the last answer", sent(chat, 0, "the end"))
	w.telegramSees("the group's", sent(group, 0, "g07."))
	w.telegramSees("the topic's", sent(group, topic, "t07."))
	eventually(t, "all came to an end", w.idle)
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, prefix := range []string{"p", "g", "t"} {
		var all strings.Builder
		for _, l := range w.telegram.Transcript() {
			if l.Action == "send" && !isSign(l) && !strings.Contains(l.Text, repeatLabel) {
				all.WriteString(l.Text)
			}
		}
		for i := range 8 {
			if n := strings.Count(all.String(), fmt.Sprintf("%s%02d.", prefix, i)); n > 1 {
				t.Errorf("%s%02d is shown %d times without a label", prefix, i, n)
			}
		}
	}
}
