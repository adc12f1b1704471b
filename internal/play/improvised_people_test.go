package play

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orebot/core/session"
)

func (im *improvised) pick(all ...string) string { return all[im.rng.IntN(len(all))] }

// where draws a place and somebody who writes there.
func (im *improvised) where() (place, who string) {
	n := 4
	if im.links != nil {
		n = 7
	}
	switch im.rng.IntN(n) {
	case 4:
		return "dmtg", "ana"
	case 5, 6:
		return "tgroup", im.pick("ana", "ben", "ada")
	case 0:
		return "dm", "ana"
	case 1:
		return "dmben", "ben"
	case 2:
		return "t1", im.pick("ana", "ben", "ada")
	}
	return "t2", im.pick("ana", "ana", "ana", "ben")
}

// places are all that where draws.
func (im *improvised) places() []string {
	all := []string{"dm", "dmben", "t1", "t2"}
	if im.links != nil {
		all = append(all, "dmtg", "tgroup")
	}
	return all
}

// word is a new one, for an address.
func (im *improvised) word(a session.Address) *saying {
	im.words++
	s := &saying{word: fmt.Sprintf("w%04d", im.words), a: a, where: im.links.appear(a)}
	im.said[s.word] = s
	return s
}

// talk lets somebody write a message: to the bot, or beside it; with a file, in pieces, as a reply, late.
func (im *improvised) talk() {
	place, who := im.where()
	a, _ := im.address(place)
	s := im.word(a)
	text := s.word
	if strings.HasPrefix(place, "t") && im.rng.IntN(4) > 0 {
		text = "@bot " + text
	}
	var notes []string
	switch im.rng.IntN(12) {
	case 0:
		notes = append(notes, "file "+im.pick("cat.png", "a.txt", "gone.txt"))
	case 1, 2:
		notes = append(notes, "group g"+im.pick("1", "2"))
	case 3:
		notes = append(notes, `quote Zed "hm"`)
	case 4:
		notes = append(notes, "reply")
	case 5:
		notes = append(notes, "old "+im.pick("5h", "7h", "20m"))
	}
	im.writes(who, place, text, s, notes)
}

// writes hands a person's message over. s is the word in it, nil where it has none.
func (im *improvised) writes(who, place, text string, s *saying, notes []string, then ...func()) session.Inbound {
	in, _, err := im.message(line{who: who, place: place, rest: text, notes: notes})
	if err != nil {
		im.fault("%v", err)
		return in
	}
	im.cast.add(who, in, "")
	bracket := ""
	if len(notes) > 0 {
		bracket = " (" + strings.Join(notes, ", ") + ")"
	}
	im.note("%s@%s%s> %s   [%s]", who, place, bracket, text, im.cast.called(in.Message))
	if s != nil {
		im.newest[in.Key] = s
	}
	im.hand(in, func(r session.Receipt) {
		im.received(in.Key, r)
		im.past.add(in)
		if s != nil {
			s.heard = im.acts
		}
		for _, f := range then {
			f()
		}
	})
	return in
}

// received takes note of what became of a message.
func (im *improvised) received(key string, r session.Receipt) {
	if r.Ignored != "" {
		im.fates[key] = ignored
		return
	}
	im.fates[key] = takenIn
}

// hand delivers something; to a process that is down, or dies of it, once that is up again. then learns of the receipt.
func (im *improvised) hand(in session.Inbound, then func(session.Receipt)) {
	again := func() {
		im.held = append(im.held, func() error { im.hand(in, then); return nil })
	}
	if im.down() {
		again()
		return
	}
	l := im.life
	im.look()
	ch := make(chan session.Receipt, 1)
	l.manager.Accept(context.Background(), in, func(r session.Receipt) { ch <- r })
	select {
	case r := <-ch:
		switch {
		case r.Err == nil:
			then(r)
		case l.store.isDead():
			again()
		default:
			im.fault("%s isn't accepted: %v", in.Key, r.Err)
		}
	case <-time.After(time.Minute):
		im.fault("there is no receipt for %s", in.Key)
	}
	im.look()
}

// recent draws one of the last messages.
func (im *improvised) recent() (spoken, bool) {
	n := len(im.cast.sent)
	if n == 0 {
		return spoken{}, false
	}
	return im.cast.sent[n-min(n, 1+im.rng.IntN(8))], true
}

// change is a signal about a message.
func (im *improvised) change(old spoken, how session.Signal) session.Inbound {
	in, order := old.in, im.cast.next()
	in.Target, in.TargetKey, in.Key, in.Signal = old.in.Message, old.in.Key, "s"+order, how
	in.Version = order
	return in
}

// edit lets somebody change a message: mostly into another word, sometimes into nothing or into a command.
func (im *improvised) edit() {
	old, ok := im.recent()
	if !ok || im.fates[old.in.Key] != takenIn {
		return
	}
	was := im.newest[old.in.Key]
	if was == nil || was.taken {
		return
	}
	s, in := im.word(old.in.Address), im.change(old, session.SignalEdit)
	s.where = was.where
	text := s.word
	if old.in.Call == session.CallMention {
		text = "@bot " + text
	}
	if im.rng.IntN(10) == 0 {
		text = im.pick("", "!stop", "!help", "@bot !undo", "\u200b")
	}
	im.newest[old.in.Key] = s
	im.stage.word(&in, text)
	im.note("edit %s: %s", old.name, text)
	im.hand(in, func(session.Receipt) {
		was.gone, s.heard = im.acts, im.acts
		im.past.change(in.Address, in.Target, in.Text)
	})
}

// remove lets somebody delete a message.
func (im *improvised) remove() {
	old, ok := im.recent()
	if !ok || im.fates[old.in.Key] == ignored {
		return
	}
	in := im.change(old, session.SignalDelete)
	in.Version, in.Text, in.Attachments, in.Quotes = "", "", nil, nil
	im.note("delete %s", old.name)
	was := im.newest[old.in.Key]
	im.hand(in, func(session.Receipt) {
		im.past.change(in.Address, in.Target, "")
		if was != nil {
			was.taken, was.gone = true, im.acts
		}
	})
}

// redeliver lets the platform deliver a message a second time.
func (im *improvised) redeliver() {
	old, ok := im.recent()
	if !ok {
		return
	}
	im.note("again %s", old.name)
	im.hand(old.in, func(r session.Receipt) {
		if im.fates[old.in.Key] == takenIn && !r.Duplicate && r.Ignored == "" {
			im.fault("%s came again and is taken for another: %+v", old.name, r)
		}
		if im.fates[old.in.Key] != takenIn {
			im.received(old.in.Key, r)
		}
	})
}

// command lets somebody want something of the bot itself.
func (im *improvised) command() {
	place, who := im.where()
	im.orders(who, place, im.pick("stop", "stop", "stop", "retry", "retry", "undo", "undo", "new", "new", "model big", "model m", "model nope",
		"system Be w.", "system reset", "think low", "think show", "compact", "mute", "follow", "help", "status", "usage", "whoami", "export",
		"forget", "forget yes", "link", "unlink", "link history 3", "models"))
}

func (im *improvised) orders(who, place, command string, then ...func()) session.Inbound {
	word, _, _ := strings.Cut(command, " ")
	text := "!" + command
	if strings.HasPrefix(place, "t") {
		text = "@bot " + text
	}
	return im.writes(who, place, text, nil, nil, append(then, func() { im.links.heed(word, im.acts) })...)
}

// forget lets somebody delete a conversation who may, and confirm it.
func (im *improvised) forget() {
	place := im.pick(im.places()...)
	who := map[string]string{"dm": "ana", "dmben": "ben", "dmtg": "ana"}[place]
	if who == "" {
		who = "ada"
	}
	im.orders(who, place, "forget")
	im.settle()
	a, _ := im.address(place)
	g := &grave{a: a}
	for _, s := range im.said {
		if s.a == a && s.shown && !im.links.ever(a) { // of places that were linked, it isn't known what belongs to which conversation
			g.words = append(g.words, s)
		}
	}
	g.command = im.orders(who, place, "forget yes").Message
	im.graves = append(im.graves, g)
}
