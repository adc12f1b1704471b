package e2e

import (
	"fmt"
	"strings"
	"testing"

	"orebot/internal/sim/slack"
)

// by is somebody who gives a command in a conversation that another person has begun.
type by struct {
	name         string
	asked, admin bool // has had the last answer; administers the place
	guest        bool
	open         func(w *world, n int, b by) *seat
}

func people() []by {
	return []by{
		{name: "another member in Slack", open: bySlack}, {name: "who asked in Slack", asked: true, open: bySlack},
		{name: "an admin in Slack", admin: true, open: bySlack}, {name: "a guest in Slack", guest: true, open: bySlack},
		{name: "another member in Telegram", open: byTelegram}, {name: "who asked in Telegram", asked: true, open: byTelegram},
		{name: "an admin in Telegram", admin: true, open: byTelegram},
	}
}

// boss is the administrator of the tests in Slack, whom the configuration names.
const boss = "boss"

func bySlack(w *world, n int, b by) *seat {
	ana := w.slack.AddUser(fmt.Sprintf("ana%d", n))
	var other string
	switch {
	case b.admin:
		other = w.bosses[boss]
	case b.guest:
		other = w.slack.AddUser(fmt.Sprintf("guest%d", n), slack.Guest())
	default:
		other = w.slack.AddUser(fmt.Sprintf("other%d", n))
	}
	ch := w.slack.AddChannel(fmt.Sprintf("r%d", n), ana, other, "UBOT")
	root := ""
	s := slackSeat(w, other, ch, func() string { return root }, func(text string) { root = w.slack.Say(ana, ch, "@orebot "+text) })
	saw := s.saw
	s.saw = func() (out []string) { // without what ana writes
		for _, text := range saw() {
			if !strings.HasPrefix(text, "@orebot") {
				out = append(out, text)
			}
		}
		return out
	}
	s.write = func(text string) { w.slack.Say(other, ch, "@orebot "+text, slack.InThread(root)) }
	s.give = func(c string) { w.slack.Say(other, ch, "!"+c, slack.InThread(root)) }
	return s
}

func byTelegram(w *world, n int, b by) *seat {
	ada, other := w.telegram.AddUser(fmt.Sprintf("A%d", n), ""), w.telegram.AddUser(fmt.Sprintf("O%d", n), "")
	group := w.telegram.AddSupergroup(fmt.Sprintf("R%d", n), false)
	if b.admin {
		w.telegram.Promote(group, other, "administrator")
	}
	s := telegramSeat(w, other, group, 0)
	s.begin = func(text string) { w.telegram.Say(ada, group, "@OreBot "+text) }
	s.write = func(text string) { w.telegram.Say(other, group, "@OreBot "+text) }
	s.give = func(c string) { w.telegram.Say(other, group, "/"+named(c, "@OreBot")) }
	return s
}

// may is the interface's table: who may give a command in a conversation of several people that somebody else has begun; where they
// may not, it says what they are told.
func (b by) may(r row) (bool, string) {
	name, _, _ := strings.Cut(r.names, " ")
	switch {
	case b.guest:
		return false, "I only answer full members of this workspace. (ref …)"
	case name == "forget":
		return b.admin, noAdmin
	case name == "link":
		return b.admin, noLink
	case name == "retry":
		return b.admin || b.asked, "Only who asked, who began this conversation, or an admin can have it answered again."
	case strings.Contains(" new undo system compact mute follow export ", " "+name+" "), strings.Contains(" model think ", " "+name+" ") && r.args != "":
		return b.admin, "Only who began this conversation, or an admin, can do that."
	}
	return true, ""
}

// expect is the row as somebody else than who began the conversation gets it.
func (b by) expect(v venue, r row, given, who string) []string {
	ok, refusal := b.may(r)
	switch {
	case !ok:
		r.says, r.shared, r.mark, r.sharedMark, r.alone, r.button = refusal, "", told, "", true, ""
	case b.admin && strings.HasPrefix(r.names, "whoami"):
		r.shared += "\n• You are an admin here."
	case b.admin && r.names == "link":
		r.shared = "Only private chats can be linked here; a conversation of several people can't."
	case b.asked:
		r.says = strings.ReplaceAll(r.says, "hello", "mine")
	}
	r.admin = false
	if b.guest {
		r.mark = "⚠️"
	}
	return v.expected(r, given, who)
}

// Each command in a conversation of several people by who didn't begin it: on both platforms it does what the interface's table allows
// them, and else says in one line, to them alone where that can be, who may.
func TestWhoMayGiveWhichCommand(t *testing.T) {
	w := commandWorld(t)
	w.bosses = map[string]string{boss: w.slack.AddUser(boss)}
	w.moreTOML = fmt.Sprintf("[access]\nadmins = [\"slack:%s\"]\n", w.bosses[boss])
	w.start().ready()
	var cells []*cell
	for _, b := range people() {
		v := venue{prefix: "/"}
		if strings.HasSuffix(b.name, "Slack") {
			v.prefix = "!"
		}
		for _, r := range rows() {
			name, _, _ := strings.Cut(r.names, " ")
			if name == "help" || len(r.args) > 4000 || b.guest && name != "stop" && name != "status" && name != "forget" {
				continue
			}
			given := strings.TrimSuffix(name+" "+r.args, " ")
			s := b.open(w, len(cells), b)
			c := &cell{venue: b.name, given: given, seat: s, want: b.expect(v, r, given, s.who)}
			s.begin("hello")
			if b.asked {
				c.first = func() { s.write("mine") }
			}
			cells = append(cells, c)
		}
	}
	w.fill(cells, func(c *cell) { c.seat.give(c.given) })
}
