package play

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orebot/core/session"
)

// cast is what people have written.
type cast struct {
	mu     sync.Mutex
	number map[string]int // messages by person
	sent   []spoken
	order  int
}

// spoken is a message of a person.
type spoken struct {
	name string // "ana#1"
	in   session.Inbound
	fate string // what the play says becomes of it: "", "heard", "ignored", "duplicate"
}

// called returns a message's name in the play, by its id on the platform.
func (c *cast) called(message string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.sent, func(s spoken) bool { return s.in.Message == message }); i >= 0 {
		return c.sent[i].name
	}
	return message
}

func (c *cast) find(name string) (spoken, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.sent, func(s spoken) bool { return s.name == name }); i >= 0 {
		return c.sent[i], nil
	}
	return spoken{}, fmt.Errorf("nobody has written %s", name)
}

func (c *cast) add(who string, in session.Inbound, fate string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.number == nil {
		c.number = map[string]int{}
	}
	c.number[who]++
	c.sent = append(c.sent, spoken{fmt.Sprintf("%s#%d", who, c.number[who]), in, fate})
}

func (c *cast) next() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.order++
	return fmt.Sprintf("%06d", c.order)
}

// now is behind everything that people have written so far.
func (c *cast) now() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("%06d", c.order)
}

// address returns that of a place, and the channel it belongs to: none for a place whose name begins with dm. All are Slack's but for dmtg, a
// private chat on Telegram, and tgroup, a group there.
func (st *stage) address(place string) (session.Address, string) {
	if place == "" {
		place = st.s.header["in"]
	}
	if place == "" {
		place = "dm"
	}
	switch place {
	case "dmtg":
		return "telegram:8", ""
	case "tgroup":
		return "telegram:-100", "telegram:-100"
	}
	if strings.HasPrefix(place, "dm") {
		return session.Address("slack:T1/" + place), ""
	}
	return session.Address("slack:T1/C1/" + place), "slack:C1"
}

// message is what a person's line says.
func (st *stage) message(l line) (in session.Inbound, fate string, err error) {
	in.Address, in.Place = st.address(l.place)
	in.Author = person(l.who)
	if a, ok := st.people[l.who]; ok {
		in.Author = a
	}
	in.Author.ID = in.Address.Conduit() + ":" + l.who
	in.Order = st.cast.next()
	in.Key, in.Message, in.At = "k"+in.Order, "m"+in.Order, time.Now()
	st.word(&in, l.rest)
	for _, n := range l.notes {
		if err := st.noteOn(&in, &fate, n); err != nil {
			return in, "", err
		}
	}
	return in, fate, nil
}

// word gives a message its text, and says how that calls the bot.
func (st *stage) word(in *session.Inbound, text string) {
	in.Text, in.Call, in.Elsewhere = text, session.CallAmbient, false
	if in.Place == "" {
		in.Call = session.CallDirect
	}
	if rest, ok := strings.CutPrefix(text, "@bot"); ok {
		in.Text, in.Call = strings.TrimSpace(rest), session.CallMention
	} else if strings.HasPrefix(text, "@") {
		in.Elsewhere = in.Place != ""
	}
}

// noteOn applies a note in brackets to a message.
func (st *stage) noteOn(in *session.Inbound, fate *string, note string) error {
	word, rest, _ := strings.Cut(note, " ")
	texts, who, _ := quotes(rest)
	switch word {
	case "heard", "ignored", "duplicate", "before":
		*fate = word
	case "reply":
		in.Call = session.CallReply
	case "slash":
		in.Call, in.ReplyURL = session.CallCommand, "https://hooks.example/1"
	case "file":
		in.Attachments = append(in.Attachments, session.Attachment{ID: "f" + rest, Name: rest})
	case "group":
		in.Group, in.SettleFor = rest, 2*time.Second
	case "continues":
		in.Continues = true
	case "old":
		d, err := time.ParseDuration(rest)
		in.At = in.At.Add(-d)
		return err
	case "quote", "forward", "own":
		if len(texts) != 1 {
			return fmt.Errorf("%q quotes nothing", note)
		}
		q := session.Quote{Kind: session.QuoteReply, Author: who, Own: word == "own", Text: texts[0]}
		if word == "forward" {
			q.Kind = session.QuoteForward
		}
		in.Quotes = append(in.Quotes, q)
	default:
		return fmt.Errorf("unknown note %q", note)
	}
	return nil
}
