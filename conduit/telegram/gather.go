package telegram

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"orebot/core/session"
)

// How long the rest of what belongs together may still come. People send an album, a long paste or a comment with its forwards in one
// act; their client makes several messages of it, and Telegram an update of each.
const (
	// restWait is how long one waits behind a part that surely is one, or may well be, and how long after one more may join it.
	restWait = 1500 * time.Millisecond
	// actGap is how far apart the dates of two messages of one act may lie: dates are whole seconds.
	actGap = 2
)

// longUnits is the least that a client leaves of a text that it cuts. Without a better place it cuts at maxUnits exactly; Desktop looks
// for one in the second half, the others in the last few hundred.
const longUnits = maxUnits / 2

// piece is what a message shows of belonging together with others. The zero piece stands alone.
type piece struct {
	album   string // media_group_id
	forward bool
	own     bool  // its author's own words, or just a call of the bot, and no command: a long one may go on in the next message
	comment bool  // own words that aren't about another message: there may be forwards behind them, or before
	reply   int64 // the message that it is about; 0: none, -1: one of another chat
	units   int   // length of its whole text
	opens   rune  // what its text begins with
	date    int64
}

func (m *message) piece(t reading) piece {
	text, _ := m.said()
	p := piece{album: m.Album, forward: m.Forward != nil, units: units16(text), date: m.Date}
	p.opens, _ = utf8.DecodeRuneInString(text)
	p.own = m.Text != "" && !p.forward && !t.command && !commandLike(t.text)
	p.reply = m.about()
	p.comment = p.own && p.reply == 0
	return p
}

// about names the message that this one replies to of its writer's own accord. In a forum's topic each message replies to its making.
func (m *message) about() int64 {
	switch r := m.reply(); {
	case r != nil:
		return r.ID
	case m.Elsewhere != nil:
		return -1
	}
	return 0
}

// commandLike reports whether a text may be a command, which is to take effect at once.
func commandLike(text string) bool {
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "!") {
		return true
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "help", "stop", "cancel", "new", "reset", "retry", "status":
		return true
	}
	return false
}

// act is what somebody may be in the middle of sending at an address.
type act struct {
	group  string
	call   session.Call
	last   piece
	before string    // what sorts right before the comment that began it; empty where none did
	until  time.Time // when it is surely over
}

// gatherer notes which messages belong together, from the updates alone and in their order. One goroutine owns it.
//
//   - The messages of an album have its media_group_id.
//   - A text of more than half of what a message holds may go on in the next one of its author. Where it is as long as a message can be,
//     the next one goes on without a gap. Of a reply that was cut, each message replies to the same one, or the first alone does.
//   - Forwards belong to the comment before them and to the one behind them, which ends the act, if one author sent all of them within
//     two seconds of each other. Clients send the comment first; it is read last, behind what it is about.
//
// The first message of an act names the Group, so that a Group of one message is nothing special. What doesn't call the bot in a group
// joins an act of its author's that does, and begins none. Nothing is kept over a restart: what came before was waited for by then.
type gatherer struct {
	acts    map[who]act
	comment time.Duration
}

// who is an author at an address.
type who struct {
	at     session.Address
	author string
}

// maxActs is how many acts are remembered before those that are over are forgotten.
const maxActs = 1000

func newGatherer(comment time.Duration) *gatherer {
	return &gatherer{acts: map[who]act{}, comment: comment}
}

// join puts a message into the act that it belongs to. now is when it was received; a Group settles from then on, since dates have no
// fractions, Telegram's clock is another one, and the rest of an act may come long after its date when the bot was away.
func (g *gatherer) join(in *session.Inbound, p piece, now time.Time) {
	key := who{in.Address, in.Author.ID}
	was, going := g.acts[key]
	going = going && now.Before(was.until) && was.takes(p)
	next := act{group: p.groupOf(in.Key), call: in.Call, last: p}
	switch {
	case going:
		next.group, next.call, next.before = was.group, called(was.call, in.Call), was.before
		in.Continues = was.cutAt(p)
		if p.reply != 0 {
			in.Quotes = nil // the message before says it
		}
	case !p.begins():
		return
	}
	if next.call == session.CallAmbient && p.album == "" || in.Elsewhere && !going {
		return
	}
	in.Group, in.Call, in.Elsewhere = next.group, next.call, false
	switch {
	case !going && p.comment:
		next.before = rightBefore(*in)
	case p.forward && next.before != "":
		in.Order = next.before + "/" + in.Order
	}
	wait := g.wait(p, going)
	in.SettleFor = settle(*in, now, wait)
	next.until = now.Add(max(wait, restWait))
	g.note(key, next)
}

// rightBefore returns an order that sorts between a message and all that was written before it.
func rightBefore(in session.Inbound) string {
	id, err := strconv.ParseInt(in.Message, 10, 64)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(in.Order, orderOf(id)) + orderOf(id-1)
}

// called is how an act calls the bot, once one of its messages does.
func called(was, now session.Call) session.Call {
	if was == session.CallAmbient {
		return now
	}
	return was
}

// oldAct is how far before its receipt a message may have been written for its Group to settle by its date.
const oldAct = 5 * time.Second

// settle is how long after a message's date the wait from now on ends. Where the date is far off, after an outage or by a wrong clock,
// the session counts from when it got the message.
func settle(in session.Inbound, now time.Time, wait time.Duration) time.Duration {
	age := now.Sub(in.At)
	if wait == 0 || in.At.IsZero() || age < 0 || age > oldAct {
		return wait
	}
	return age + wait
}

// wait is how long more is waited for behind p. Behind forwards comes their comment, or it came before them. A comment waits hardly at
// all, since nothing tells it from a plain message: forwards that come later, but before its act is over, join it in the session.
func (g *gatherer) wait(p piece, joined bool) time.Duration {
	switch {
	case p.album != "", p.forward, p.units > longUnits:
		return restWait
	case joined:
		return 0
	}
	return g.comment
}

// begins reports whether more may follow the piece.
func (p piece) begins() bool {
	return p.album != "" || p.forward || p.comment || p.own && p.units > longUnits
}

// takes reports whether a piece goes on with the act.
func (a act) takes(p piece) bool {
	near := p.date >= a.last.date && p.date-a.last.date <= actGap
	switch {
	case p.album != "" && !p.forward:
		return a.last.album == p.album
	case !near:
		return false
	case p.forward:
		return a.last.comment || a.last.forward
	case a.last.forward:
		return p.comment
	}
	return a.last.units > longUnits && p.own && (p.reply == 0 || p.reply == a.last.reply)
}

// cutAt reports whether the text was cut in the middle of a line right before p: the part before it is full, but for a character that
// would have been torn.
func (a act) cutAt(p piece) bool {
	if !p.own || !a.last.own {
		return false
	}
	return a.last.units == maxUnits || a.last.units == maxUnits-1 && p.opens > 0xffff
}

// groupOf names the act that begins with the piece. The messages of an album may come in any order, and far apart.
func (p piece) groupOf(key string) string {
	switch {
	case p.forward:
		return "forwards/" + key
	case p.album != "":
		return "album/" + p.album
	}
	return "comment/" + key
}

func (g *gatherer) note(key who, a act) {
	if len(g.acts) >= maxActs {
		for k, old := range g.acts {
			if old.until.Before(a.until.Add(-2 * restWait)) {
				delete(g.acts, k)
			}
		}
	}
	if len(g.acts) >= maxActs {
		clear(g.acts)
	}
	g.acts[key] = a
}
