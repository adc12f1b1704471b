package play

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/provider"
	"orebot/core/session"
)

// TestImprovised plays what nobody has written: what happens next is drawn, and what holds of every play is looked at. IMPROVISE says
// which plays, as FROM,PLAYS,ACTS; each seed is a play.
func TestImprovised(t *testing.T) {
	from, plays, acts := 1, 20, 60
	if v := os.Getenv("IMPROVISE"); v != "" {
		if _, err := fmt.Sscanf(v, "%d,%d,%d", &from, &plays, &acts); err != nil {
			t.Fatalf("IMPROVISE is FROM,PLAYS,ACTS, such as 1,1000,100, not %q", v)
		}
	}
	for seed := from; seed < from+plays; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if faults, acted := improvise(t, uint64(seed), acts); len(faults) > 0 {
				t.Errorf("broken:\n  %s\nwhat happened:\n  %s\nonce more: IMPROVISE=%d,1,%d go test ./internal/play -run TestImprovised",
					strings.Join(faults, "\n  "), strings.Join(acted, "\n  "), seed, acts)
			}
		})
	}
}

// improvised is a play that is made up while it is played.
type improvised struct {
	*stage
	*notebook
	rng  *rand.Rand
	acts int // the number of the present one

	words   int                // that people have said
	answers int                // that the model was given
	nights  int                // long waits
	said    map[string]*saying // by word
	newest  map[string]*saying // by a message's key: what it says now
	fates   map[string]fate    // by a message's key
	graves  []*grave
	seen    map[*call]bool
	links   *links // nil: there is one platform only
	rack    *rack  // nil: the model's host is the play's own
}

// saying is a word that stands in one message, or in one answer, and in no other.
type saying struct {
	word  string
	a     session.Address
	heard int  // the act in which its message, or the edit that brought it, was accepted; 0: not yet
	gone  int  // the act in which it was edited away, deleted or forgotten; 0: it stands
	shown bool // to the model
	where *whereabouts
	taken bool // its message is deleted: no edit of it counts any more
}

// fate is what became of a message that was handed over.
type fate int

// What becomes of messages. One that was ignored may be taken in when it is delivered again.
const (
	unknown fate = iota
	takenIn
	ignored
)

// grave is a conversation that somebody wants to be forgotten: what the model has been shown of it by then is to be gone.
type grave struct {
	a       session.Address
	command string // the message that confirms it, on the platform
	words   []*saying
}

// improvise plays as many acts of one play, then lets everything come to its end. It stops at the first broken promise.
func improvise(t *testing.T, seed uint64, acts int) (faults, acted []string) {
	synctest.Test(t, func(t *testing.T) {
		im, err := newImprovised(t, seed)
		if err != nil {
			t.Fatal(err)
		}
		defer im.close()
		if err := im.start(); err != nil {
			t.Fatal(err)
		}
		for range acts {
			if im.act(); im.broken() {
				break
			}
		}
		if !im.broken() {
			im.finish()
			im.judge()
		}
		faults, acted = im.read()
	})
	return faults, acted
}

func newImprovised(t *testing.T, seed uint64) (*improvised, error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	s, err := read(settings(rng) + "sum: 0 answered")
	if err != nil {
		return nil, err
	}
	st, err := newStage(t, s)
	if err != nil {
		return nil, err
	}
	im := &improvised{
		stage: st, notebook: newNotebook(st.begun), rng: rng, said: map[string]*saying{}, newest: map[string]*saying{},
		fates: map[string]fate{}, seen: map[*call]bool{},
	}
	if rng.IntN(2) == 0 {
		im.links = newLinks()
	}
	if rng.IntN(3) == 0 {
		im.rack = newRack(st.model)
		st.asks = im.rack.provider
	}
	st.logger, st.signs = im.logger, im.signer
	st.chat.After = im.posted
	return im, nil
}

// settings draws a play's header.
func settings(rng *rand.Rand) string {
	h := "models: m, big\npeople: ada admin\nfile cat.png: picture\nfile a.txt: some text\nfile gone.txt: missing\nlink: threads\n"
	if rng.IntN(3) == 0 {
		h += "queue: fifo\n"
	}
	if rng.IntN(3) == 0 {
		h += "concurrent: 1\n"
	}
	if rng.IntN(2) == 0 {
		h += "tokens: 200\ncompact: 0.5\n"
	}
	return h
}

// act lets one thing happen, and looks at what the model is shown then.
func (im *improvised) act() {
	im.acts++
	if im.down() && im.rng.IntN(3) > 0 {
		im.raise()
	}
	switch n := im.rng.IntN(100); {
	case n < 5 && im.links != nil:
		im.link()
	case n < 28:
		im.talk()
	case n < 34:
		im.edit()
	case n < 38:
		im.remove()
	case n < 41:
		im.redeliver()
	case n < 51:
		im.command()
	case n < 53:
		im.forget()
	case n < 82:
		im.modelActs()
	case n < 85:
		im.toolAnswers()
	case n < 88:
		im.troubled()
	case n < 93:
		im.dies()
	default:
		im.waits()
	}
	im.settle()
}

// settle lets what was begun go on until nothing moves.
func (im *improvised) settle() {
	time.Sleep(beat)
	im.look()
	im.rest()
}

// finish lets everything come to its end: the model and the tool answer whatever they are asked, over two restarts, and then an hour passes.
func (im *improvised) finish() {
	im.acts++
	im.model.setDown(provider.KindUnknown)
	if im.rack != nil {
		im.rack.allUp()
	}
	for range 3 {
		if !im.down() {
			im.life.store.dieAt(0, false)
			im.restart()
		} else {
			im.raise()
		}
		im.settle()
		for n := 0; im.more(); n++ {
			if im.settle(); n > 400 {
				im.fault("the model is asked without an end")
				return
			}
		}
	}
	time.Sleep(curtain)
	im.look()
}

// more answers what the model or the tool is asked, and waits for what is. It reports false where that is nothing.
func (im *improvised) more() bool {
	if c := im.model.first(); c != nil {
		im.reply(c, im.answer())
		return true
	}
	if im.toolAnswers() {
		return true
	}
	select {
	case <-im.model.came:
		return true
	case <-time.After(20 * time.Minute):
		return im.model.first() != nil
	}
}
