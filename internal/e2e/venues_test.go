package e2e

import (
	"fmt"
	"strings"

	"orebot/internal/sim/slack"
	"orebot/internal/sim/telegram"
)

// venue is a kind of place at which people write commands.
type venue struct {
	name    string
	prefix  string // how commands are written there, and named in what the bot says
	private bool
	whisper bool // what answers a command is seen by its author alone
	apart   bool // no conversation is meant there
	open    func(w *world, n int) *seat
}

// seat is one conversation at a venue, begun by one person. The n-th seat has people and places of its own.
type seat struct {
	who   string               // as whoami names them
	begin func(text string)    // asks the first question; nil: none is asked
	write func(text string)    // writes more, in the way that calls the bot there
	give  func(command string) // gives a command, without its prefix
	saw   func() []string      // what the bot has said there since the seat was opened
}

// venues are all the kinds of places.
func venues() []venue {
	return []venue{
		{name: "a DM of Slack", prefix: "!", private: true, open: slackDM},
		{name: "a thread of a DM", prefix: "!", private: true, open: slackDMThread},
		{name: "a thread of a channel", prefix: "!", open: slackThread},
		{name: "a mention in a thread", prefix: "!", open: slackMention},
		{name: "a slash command in a DM", prefix: "!", private: true, whisper: true, open: slackSlashDM},
		{name: "a slash command in a channel", prefix: "!", whisper: true, apart: true, open: slackSlash},
		{name: "a private chat of Telegram", prefix: "/", private: true, open: telegramChat("/", "")},
		{name: "a private chat, by an exclamation mark", prefix: "/", private: true, open: telegramChat("!", "")},
		{name: "a caption", prefix: "/", private: true, open: telegramCaption},
		{name: "a mention in a group", prefix: "/", open: telegramGroup("@OreBot /", "")},
		{name: "a command of a group", prefix: "/", open: telegramGroup("/", "@OreBot")},
		{name: "a topic of a forum", prefix: "/", open: telegramTopic},
	}
}

// slackSeat is a seat in Slack; thread is called once the first question is asked.
func slackSeat(w *world, user, channel string, thread func() string, say func(text string)) *seat {
	from := len(w.slack.Transcript())
	return &seat{who: "slack:" + user, begin: say, write: say, saw: func() (out []string) {
		for _, l := range w.slack.Transcript()[from:] {
			switch {
			case l.Channel != channel || l.User == user:
			case l.Kind == slack.Ephemeral && l.To == user:
				out = append(out, "(to you alone) "+l.Text)
			case (l.Kind == slack.Post || l.Kind == slack.File) && l.Thread == thread() && l.Kind == slack.File:
				out = append(out, "[file] "+l.Text)
			case l.Kind == slack.Post && l.Thread == thread() && l.Text != "":
				out = append(out, l.Text)
			}
		}
		return out
	}}
}

func slackDM(w *world, n int) *seat {
	user := w.slack.AddUser(fmt.Sprintf("dm%d", n))
	dm := w.slack.OpenDM(user)
	s := slackSeat(w, user, dm, func() string { return "" }, func(text string) { w.slack.Say(user, dm, text) })
	s.give = func(c string) { w.slack.Say(user, dm, "!"+c) }
	return s
}

func slackDMThread(w *world, n int) *seat {
	user := w.slack.AddUser(fmt.Sprintf("dmt%d", n))
	dm := w.slack.OpenDM(user)
	root := w.slack.Say(user, dm, "above")
	s := slackSeat(w, user, dm, func() string { return root }, func(text string) { w.slack.Say(user, dm, text, slack.InThread(root)) })
	s.give = func(c string) { w.slack.Say(user, dm, "!"+c, slack.InThread(root)) }
	return s
}

// slackChannel is a seat in a thread of a channel, which a mention opens.
func slackChannel(w *world, name, lead string, n int) *seat {
	user := w.slack.AddUser(fmt.Sprintf("%s%d", name, n))
	ch := w.slack.AddChannel(fmt.Sprintf("c-%s%d", name, n), user, "UBOT")
	root := ""
	s := slackSeat(w, user, ch, func() string { return root }, func(text string) { root = w.slack.Say(user, ch, "@orebot "+text) })
	s.give = func(c string) { w.slack.Say(user, ch, lead+"!"+c, slack.InThread(root)) }
	s.write = func(text string) { w.slack.Say(user, ch, lead+text, slack.InThread(root)) }
	return s
}

func slackThread(w *world, n int) *seat { return slackChannel(w, "thread", "", n) }

func slackMention(w *world, n int) *seat { return slackChannel(w, "mention", "@orebot ", n) }

func slackSlashDM(w *world, n int) *seat {
	s := slackDM(w, 10000+n)
	user := strings.TrimPrefix(s.who, "slack:")
	s.give = func(c string) { w.slack.Slash(user, w.slack.OpenDM(user), c) }
	return s
}

func slackSlash(w *world, n int) *seat {
	user := w.slack.AddUser(fmt.Sprintf("slash%d", n))
	ch := w.slack.AddChannel(fmt.Sprintf("slash%d", n), user, "UBOT")
	s := slackSeat(w, user, ch, func() string { return "" }, nil)
	s.give = func(c string) { w.slack.Slash(user, ch, c) }
	return s
}

// telegramSeat is a seat in Telegram.
func telegramSeat(w *world, user telegram.User, chat int64, topic int) *seat {
	from := len(w.telegram.Transcript())
	return &seat{who: fmt.Sprintf("telegram:%d", user.ID), saw: func() (out []string) {
		for _, l := range w.telegram.Transcript()[from:] {
			switch {
			case l.Chat != chat || l.Topic != topic:
			case l.Action == "document":
				out = append(out, "[file] "+l.File.Name)
			case l.Action == "send" && !isSign(l):
				out = append(out, l.Text)
			}
		}
		return out
	}}
}

// named puts a bot's name behind a command's.
func named(command, bot string) string {
	name, rest, _ := strings.Cut(command, " ")
	return strings.TrimSpace(name + bot + " " + rest)
}

func telegramChat(lead, bot string) func(*world, int) *seat {
	return func(w *world, n int) *seat {
		user := w.telegram.AddUser(fmt.Sprintf("P%d", n), "")
		chat := w.telegram.PrivateChat(user)
		s := telegramSeat(w, user, chat, 0)
		s.begin = func(text string) { w.telegram.Say(user, chat, text) }
		s.write = s.begin
		s.give = func(c string) { w.telegram.Say(user, chat, lead+named(c, bot)) }
		return s
	}
}

func telegramCaption(w *world, n int) *seat {
	user := w.telegram.AddUser(fmt.Sprintf("C%d", n), "")
	chat := w.telegram.PrivateChat(user)
	s := telegramSeat(w, user, chat, 0)
	s.begin = func(text string) { w.telegram.Say(user, chat, text) }
	s.write = s.begin
	s.give = func(c string) {
		w.telegram.Say(user, chat, "/"+c, telegram.Document(telegram.File{Name: "a.txt", MIME: "text/plain", Data: []byte("in the file")}))
	}
	return s
}

func telegramGroup(lead, bot string) func(*world, int) *seat {
	return func(w *world, n int) *seat {
		user := w.telegram.AddUser(fmt.Sprintf("G%d", n), "")
		group := w.telegram.AddSupergroup(fmt.Sprintf("G%d", n), false)
		s := telegramSeat(w, user, group, 0)
		s.begin = func(text string) { w.telegram.Say(user, group, "@OreBot "+text) }
		s.write = s.begin
		s.give = func(c string) { w.telegram.Say(user, group, lead+named(c, bot)) }
		return s
	}
}

func telegramTopic(w *world, n int) *seat {
	user := w.telegram.AddUser(fmt.Sprintf("T%d", n), "")
	group := w.telegram.AddSupergroup(fmt.Sprintf("F%d", n), true)
	topic := w.telegram.AddTopic(group, "Go")
	s := telegramSeat(w, user, group, topic)
	s.begin = func(text string) { w.telegram.Say(user, group, "@OreBot "+text, telegram.Topic(topic)) }
	s.write = s.begin
	s.give = func(c string) { w.telegram.Say(user, group, "/"+named(c, "@OreBot"), telegram.Topic(topic)) }
	return s
}
