package play

import (
	"fmt"
	"time"

	"orebot/core/provider"
)

// answer is what the model says that was never said before.
func (im *improvised) answer() string {
	im.answers++
	return fmt.Sprintf(`says "a%d"`, im.answers)
}

// modelActs lets the model do something with one of its calls, or be down, or be back.
func (im *improvised) modelActs() {
	if im.rack != nil && im.rng.IntN(8) == 0 {
		host := im.pick("a", "b")
		im.note("host %s is down: %v", host, im.rack.turn(host))
		return
	}
	if im.rack == nil && im.rng.IntN(15) == 0 {
		if im.rng.IntN(2) == 0 {
			im.note("model: is down unreachable")
			im.model.setDown(provider.KindUnreachable)
			return
		}
		im.note("model: is back")
		im.model.setDown(provider.KindUnknown)
		return
	}
	im.model.mu.Lock()
	var c *call
	if n := len(im.model.calls); n > 0 {
		c = im.model.calls[im.rng.IntN(n)]
	}
	im.model.mu.Unlock()
	if c != nil {
		im.reply(c, im.drawn())
	}
}

// drawn is something that a model may do.
func (im *improvised) drawn() string {
	im.answers++
	a := fmt.Sprintf("a%d", im.answers)
	switch im.rng.IntN(20) {
	case 0:
		return `begins "` + a + ` "`
	case 1:
		return `cuts after "` + a + `"`
	case 2:
		return `stops at length after "` + a + `"`
	case 3:
		return "says nothing"
	case 4:
		if im.rack != nil { // a host says no more
			return "fails " + im.pick("busy", "refused", "model missing", "incomplete")
		}
		return "fails " + im.pick("unreachable", "busy", "timeout", "incomplete", "too long", "refused", "denied", "empty", "model missing", "oddly")
	case 5, 6:
		return "calls dice {}"
	case 7:
		return "panics"
	case 8:
		return `thinks "hm" "` + a + `"`
	case 9:
		return "calls nothing {}"
	}
	return `says "` + a + `"`
}

// reply lets the model do something with a call, which may have been given up meanwhile.
func (im *improvised) reply(c *call, what string) {
	r, err := replyOf(what)
	if err != nil { // the name of a failure that isn't one
		im.fault("%q: %v", what, err)
		return
	}
	im.note("model: %s   [asked: %v]", what, words(c.read()))
	im.answered(c, what)
	if im.s.header["tokens"] != "" {
		r.count(c)
	}
	c.begun = c.begun || len(r.arts) > 0
	select {
	case c.lines <- r:
	case <-time.After(time.Second):
	}
}

// toolAnswers lets the tool answer. It reports false where nobody uses it.
func (im *improvised) toolAnswers() bool {
	select {
	case im.dice.lines <- "4":
		im.note(`tool: answers "4"`)
		return true
	default:
		return false
	}
}

// troubled lets something befall the next post at a place.
func (im *improvised) troubled() {
	place, _ := im.where()
	what := im.pick("retry", "unknown", "shown unknown", "malformed", "too big")
	im.note("post@%s: %s", place, what)
	if err := im.trouble(line{place: place, rest: what}); err != nil {
		im.fault("%v", err)
	}
}

// down reports whether no process runs.
func (im *improvised) down() bool {
	if im.life != nil && im.life.store.isDead() {
		im.life = nil
	}
	return im.life == nil
}

// raise begins a life.
func (im *improvised) raise() {
	im.note("start")
	im.begin()
}

func (im *improvised) begin() {
	if err := im.rise(); err != nil {
		im.fault("start: %v", err)
	}
}

// restart ends a life in order and begins another.
func (im *improvised) restart() {
	im.note("restart")
	if err := im.quit(); err != nil {
		im.fault("%v", err)
	}
	im.begin()
}

// dies ends a life: at once, in order, or at a write that comes.
func (im *improvised) dies() {
	if im.down() {
		return
	}
	n := 1 + im.rng.IntN(6)
	switch im.rng.IntN(4) {
	case 0:
		im.note("kill")
		_ = im.kill()
	case 1:
		im.restart()
	case 2:
		im.note("kill at commit %d", n)
		im.life.store.dieAt(n, false)
	case 3:
		im.note("kill behind commit %d", n)
		im.life.store.dieAt(n, true)
	}
}

// maxNights is how many long waits a play has: what is delivered again is known for a day.
const maxNights = 2

// waits lets time pass.
func (im *improvised) waits() {
	d, err := time.ParseDuration(im.pick("1s", "1s", "1s", "3s", "20s", "2m", "11m"))
	if err != nil {
		im.fault("%v", err)
	}
	if im.nights < maxNights && im.rng.IntN(30) == 0 {
		im.nights++
		d = 7 * time.Hour
	}
	im.note("wait %v", d)
	time.Sleep(d)
}
