package telegram

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/core/session"
)

// said is a message of a test of the gatherer: who says what, and when, in milliseconds.
type said struct {
	who  int64
	text string
	ms   int64
	how  func(*message)
}

func forwarded(m *message) { m.Forward = &origin{Hidden: "Eve"} }
func replying(m *message)  { m.ReplyTo = &replied{ID: 1, words: words{Text: "x"}} }
func pictured(m *message)  { m.Caption, m.Text, m.Photo = m.Text, "", []file{{ID: "p"}} }
func inAlbum(m *message)   { pictured(m); m.Album = "a1" }
func inGroup(m *message)   { m.Chat = chat{ID: -5, Type: "group"} }
func mentioned(m *message) {
	inGroup(m)
	m.Text = "@OreBot " + m.Text
	m.Entities = []entity{{"mention", 0, 7, nil}}
}
func groupForward(m *message) { inGroup(m); forwarded(m) }

// inTopic puts a message into a topic that the bot made, where what replies to nothing replies to its making.
func inTopic(m *message) {
	m.Chat, m.Thread, m.IsTopic = chat{ID: -1005, Type: "supergroup"}, 33, true
	m.ReplyTo = &replied{ID: 33, From: &user{ID: ore.ID}, TopicCreated: []byte(`{"name":"t"}`)}
}
func mentionedInTopic(m *message) { mentioned(m); inTopic(m) }
func topicForward(m *message)     { inTopic(m); forwarded(m) }
func toBot(m *message) {
	inGroup(m)
	m.ReplyTo = &replied{ID: 1, From: &user{ID: ore.ID}, words: words{Text: "x"}}
}
func asked(m *message) {
	inGroup(m)
	m.Text = "/ask@OreBot " + m.Text
	m.Entities = []entity{{"bot_command", 0, 11, nil}}
}

// gather makes the inbounds of a row of messages.
func gather(t *testing.T, row []said) []session.Inbound {
	g := newGatherer(commentWait)
	start := time.Unix(1700000000, 0)
	var out []session.Inbound
	for i, s := range row {
		now := start.Add(time.Duration(s.ms) * time.Millisecond)
		m := message{ID: int64(i + 1), From: &user{ID: s.who, FirstName: "A"}, Chat: chat{ID: 7}, Date: now.Unix(), words: words{Text: s.text}}
		if s.how != nil {
			s.how(&m)
		}
		ev, err := m.event(ore)
		if err != nil || ev.ignored != "" {
			t.Fatalf("%+v: %v %s", s, err, ev.ignored)
		}
		in := ev.inbound
		g.join(&in, ev.piece, now)
		out = append(out, in)
	}
	return out
}

// commentWait is how long a message waits in these tests that nothing tells from a comment with forwards behind it: the default.
const commentWait = 300 * time.Millisecond

// A comment with its forwards, an album, a long paste cut by the client are one turn each.
// Facts A2.13; report 39.
func TestGather(t *testing.T) {
	full := strings.Repeat("x", maxUnits)
	emoji := strings.Repeat("😀", maxUnits/2)
	torn := strings.Repeat("x", maxUnits-1)
	long := strings.Repeat("x", longUnits+1)
	for name, c := range map[string]struct {
		row  []said
		want string // the message that begins each one's group, "-" for none; then +: goes on without a gap
	}{
		"alone":                            {[]said{{7, "hello", 0, nil}}, "1"},
		"two questions":                    {[]said{{7, "hello", 0, nil}, {7, "what?", 300, nil}}, "1 2"},
		"comment, forwards":                {[]said{{7, "see", 0, nil}, {7, "f", 100, forwarded}, {7, "g", 200, forwarded}}, "1 1 1"},
		"comment, forward a second later":  {[]said{{7, "see", 900, nil}, {7, "f", 1300, forwarded}}, "1 1"},
		"comment, forward much later":      {[]said{{7, "see", 0, nil}, {7, "f", 4000, forwarded}}, "1 2"},
		"forwards, comment":                {[]said{{7, "f", 0, forwarded}, {7, "g", 100, forwarded}, {7, "see", 900, nil}}, "1 1 1"},
		"forwards, comment, question":      {[]said{{7, "f", 0, forwarded}, {7, "see", 500, nil}, {7, "and?", 800, nil}}, "1 1 3"},
		"forwards of another":              {[]said{{7, "see", 0, nil}, {8, "f", 100, forwarded}}, "1 2"},
		"reply, forward":                   {[]said{{7, "see", 0, replying}, {7, "f", 100, forwarded}}, "- 2"},
		"command, forward":                 {[]said{{7, "/stop", 0, nil}, {7, "f", 100, forwarded}}, "- 2"},
		"stop":                             {[]said{{7, "Stop", 0, nil}}, "-"},
		"picture":                          {[]said{{7, "see", 0, pictured}}, "-"},
		"album":                            {[]said{{7, "", 0, inAlbum}, {7, "cap", 10, inAlbum}, {7, "", 9000, inAlbum}}, "a a a"},
		"album in a group":                 {[]said{{7, "", 0, func(m *message) { inAlbum(m); inGroup(m) }}}, "a"},
		"cut paste":                        {[]said{{7, full, 0, nil}, {7, full, 200, nil}, {7, "rest", 400, nil}}, "1 1+ 1+"},
		"cut paste of emoji":               {[]said{{7, emoji, 0, nil}, {7, "rest", 200, nil}}, "1 1+"},
		"cut before an emoji":              {[]said{{7, torn, 0, nil}, {7, "😀 rest", 200, nil}}, "1 1+"},
		"cut before a letter":              {[]said{{7, torn, 0, nil}, {7, "rest", 200, nil}}, "1 1"},
		"cut at a good place":              {[]said{{7, long, 0, nil}, {7, "rest", 200, nil}}, "1 1"},
		"cut, then a question":             {[]said{{7, full, 0, nil}, {7, "rest", 200, nil}, {7, "so?", 700, nil}}, "1 1+ 3"},
		"full, then a question much later": {[]said{{7, full, 0, nil}, {7, "so?", 5000, nil}}, "1 2"},
		"full, then a command":             {[]said{{7, full, 0, nil}, {7, "/stop", 200, nil}}, "1 -"},
		"mention, forwards in a group":     {[]said{{7, "see", 0, mentioned}, {7, "f", 100, groupForward}}, "1 1"},
		"bare mention, forwards":           {[]said{{7, "", 0, mentioned}, {7, "f", 100, groupForward}, {7, "g", 1300, groupForward}}, "1 1 1"},
		"comment, forwards at last":        {[]said{{7, "see", 0, nil}, {7, "f", 1400, forwarded}, {7, "g", 2800, forwarded}}, "1 1 1"},
		"comment, forward too late":        {[]said{{7, "see", 0, nil}, {7, "f", 1600, forwarded}}, "1 2"},
		"forwards in a group":              {[]said{{7, "f", 0, groupForward}, {7, "see", 100, mentioned}}, "- 2"},
		"talk in a group":                  {[]said{{7, "see", 0, inGroup}, {7, "f", 100, groupForward}}, "- -"},
		"mention in a topic, forwards":     {[]said{{7, "see", 0, mentionedInTopic}, {7, "f", 100, topicForward}}, "1 1"},
		"cut paste in a topic":             {[]said{{7, strings.Repeat("y", maxUnits-8), 0, mentionedInTopic}, {7, "rest", 99, inTopic}}, "1 1+"},
		"cut reply":                        {[]said{{7, full, 0, toBot}, {7, full, 99, inGroup}, {7, "rest", 99, inGroup}}, "1 1+ 1+"},
		"cut reply, each a reply":          {[]said{{7, full, 0, toBot}, {7, "rest", 99, toBot}}, "1 1+"},
		"cut, then a reply":                {[]said{{7, full, 0, nil}, {7, "so?", 99, replying}}, "1 -"},
		"reply to somebody, talk":          {[]said{{7, full, 0, func(m *message) { inGroup(m); replying(m) }}, {7, "rest", 99, inGroup}}, "- -"},
		"cut behind ask":                   {[]said{{7, strings.Repeat("y", maxUnits-12), 0, asked}, {7, "rest", 99, inGroup}}, "1 1+"},
		"mention with a cut paste":         {[]said{{7, strings.Repeat("y", maxUnits-8), 0, mentioned}, {7, "rest", 99, inGroup}}, "1 1+"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			list := gather(t, c.row)
			for _, in := range list {
				got = append(got, groupName(in))
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%s, want %s", s, c.want)
			}
			for i, in := range list {
				if in.Group != "" && list[0].Call != session.CallAmbient && in.Call == session.CallAmbient {
					t.Errorf("message %d doesn't call the bot as its act does", i+1)
				}
			}
		})
	}
}

// groupName is the number of the message that begins a group.
func groupName(in session.Inbound) string {
	s := "-"
	switch kind, key, _ := strings.Cut(in.Group, "/"); {
	case kind == "album":
		s = "a"
	case in.Group != "":
		s = key[strings.LastIndex(key, "/")+1:]
	}
	if in.Continues {
		s += "+"
	}
	return s
}

// The comment is read last, whether it came first or last, and nothing else comes between.
// Facts A2.9.
func TestCommentsAreReadLast(t *testing.T) {
	for name, row := range map[string][]said{
		"comment first": {{8, "before", 0, nil}, {7, "see", 10, nil}, {7, "f", 20, forwarded}, {8, "beside", 25, nil}, {7, "g", 30, forwarded}},
		"comment last":  {{8, "before", 0, nil}, {7, "f", 10, forwarded}, {7, "g", 20, forwarded}, {7, "see", 30, nil}, {8, "beside", 35, nil}},
	} {
		list := gather(t, row)
		slices.SortFunc(list, func(a, b session.Inbound) int { return strings.Compare(a.Order, b.Order) })
		var got []string
		for _, in := range list {
			if got = append(got, in.Text); len(in.Quotes) > 0 {
				got[len(got)-1] = in.Quotes[0].Text
			}
		}
		if s := strings.Join(got, " "); s != "before f g see beside" {
			t.Errorf("%s: %s", name, s)
		}
	}
}

// A Group settles from when its message was received, whatever the date of the message is.
func TestHowLongGroupsSettle(t *testing.T) {
	for _, c := range []struct {
		s    said
		want time.Duration
	}{
		{said{7, "see", 700, nil}, 700*time.Millisecond + commentWait},
		{said{7, "f", 700, forwarded}, 700*time.Millisecond + restWait},
		{said{7, "", 0, inAlbum}, restWait},
		{said{7, strings.Repeat("x", maxUnits), 0, nil}, restWait},
		{said{7, "/stop", 0, nil}, 0},
		{said{7, "see", 0, func(m *message) { m.Date = 0 }}, commentWait},
		{said{7, "see", 0, func(m *message) { m.Date -= 3600 }}, commentWait},
		{said{7, "see", 0, func(m *message) { m.Date += 5 }}, commentWait}, // a clock that is slow
	} {
		if got := gather(t, []said{c.s})[0].SettleFor; got != c.want {
			t.Errorf("%q: %v, want %v", c.s.text, got, c.want)
		}
	}
	row := gather(t, []said{{7, "f", 0, forwarded}, {7, "see", 0, nil}})
	if row[1].SettleFor != 0 {
		t.Errorf("what ends an act waits %v", row[1].SettleFor)
	}
}

// What is remembered of authors is bounded.
func TestActsAreForgotten(t *testing.T) {
	g := newGatherer(commentWait)
	now := time.Unix(1700000000, 0)
	for i := range 3 * maxActs {
		in := session.Inbound{Address: place{chat: int64(i + 1)}.address(), Key: fmt.Sprint(i), Author: session.Author{ID: "a"}, Call: session.CallDirect}
		g.join(&in, piece{comment: true}, now.Add(time.Duration(i)*10*time.Millisecond))
		if len(g.acts) > maxActs || in.Group == "" {
			t.Fatalf("%d acts, %+v", len(g.acts), in)
		}
	}
	if len(g.acts) > maxActs {
		t.Errorf("%d acts", len(g.acts))
	}
}

// The wait can be turned off for plain messages, which forwards join all the same; what is surely a part still waits.
func TestNoWaitForComments(t *testing.T) {
	for text, want := range map[string]time.Duration{"hello": 0, strings.Repeat("x", maxUnits): 700*time.Millisecond + restWait} {
		g, now := newGatherer(0), time.Unix(1700000000, 0)
		in := session.Inbound{Address: "telegram:7", Key: "7/1", Author: session.Author{ID: "a"}, Call: session.CallDirect, At: now}
		f := in
		f.Key = "7/2"
		g.join(&in, piece{comment: true, units: len(text)}, now.Add(700*time.Millisecond))
		g.join(&f, piece{forward: true}, now.Add(2*time.Second))
		if in.SettleFor != want || in.Group == "" || f.Group != in.Group {
			t.Errorf("%d units: waits %v, groups %q, %q", len(text), in.SettleFor, in.Group, f.Group)
		}
	}
}
