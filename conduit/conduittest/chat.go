package conduittest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// chat is a thread that is delivered to the rig's places by couriers, and what each place is to show of it: numbered words.
type chat struct {
	s     *suite
	store *storetest.Memory
	w     *Writer
	words int
	want  []string
	c     *conduit.Couriers
	stop  context.CancelFunc
	done  chan error
	lives int
}

func newChat(s *suite) *chat {
	store := storetest.NewMemory()
	return &chat{s: s, store: store, w: NewWriter(store, 1)}
}

func (c *chat) must(err error) {
	c.s.t.Helper()
	if err != nil {
		c.s.t.Fatal(err)
	}
}

// start begins a life of the couriers.
func (c *chat) start() {
	c.s.t.Helper()
	c.lives++
	var err error
	c.c, err = conduit.New(conduit.Config{
		Name: c.s.Name, Store: c.store, Lease: c.store, Renderer: c.s.Renderer, Poster: c.s.Poster,
		Life: fmt.Sprint("life ", c.lives), Logger: c.s.log.logger(),
	})
	c.must(err)
	ctx, stop := context.WithCancel(c.s.t.Context())
	c.stop, c.done = stop, make(chan error, 1)
	go func() { c.done <- c.c.Run(ctx) }()
}

// end lets d pass and ends the life.
func (c *chat) end(d time.Duration) {
	c.s.t.Helper()
	time.Sleep(d)
	c.stop()
	c.must(<-c.done)
}

// say answers with about n bytes of words that nobody has used before.
func (c *chat) say(n int) {
	c.s.t.Helper()
	var b strings.Builder
	for b.Len() < n {
		c.words++
		word := fmt.Sprintf("w%05d", c.words)
		c.want = append(c.want, word)
		b.WriteString(word)
		b.WriteByte(" \n"[c.words%10/9])
	}
	c.must(c.w.Answer(strings.TrimSpace(b.String())))
	if c.c != nil {
		for _, a := range c.w.Places() {
			c.c.Nudge(a)
		}
	}
}

var wordPattern = regexp.MustCompile(`w\d{5}`)

// label is what a repeat says, in whatever markup.
const label = "this part may be a repeat"

// shows checks that a place shows every word once and in order. Without a look-up, messages that are labelled as repeats may show
// again what the one before them showed.
func (c *chat) shows(a session.Address) {
	c.s.t.Helper()
	var got []string
	for _, text := range c.s.Shown(a) {
		words := wordPattern.FindAllString(text, -1)
		if strings.Contains(text, label) {
			if c.s.finds {
				c.s.t.Errorf("%s: labelled in spite of the look-up: %q", a, text)
			}
			if n := len(words); n > 0 && len(got) >= n && slices.Equal(got[len(got)-n:], words) {
				continue
			}
		}
		got = append(got, words...)
	}
	for i := range max(len(got), len(c.want)) {
		if i >= len(got) || i >= len(c.want) || got[i] != c.want[i] {
			c.s.t.Fatalf("%s: word %d of %d is wrong, of %d wanted: %.200q", a, i, len(got), len(c.want), got[max(0, i-2):min(len(got), i+3)])
		}
	}
}

// order delivers long and short answers to two places, in order.
func (s *suite) order() {
	s.chat.must(s.chat.w.Bind(s.Places...))
	s.chat.say(s.Long)
	s.chat.start()
	s.chat.say(20)
	s.chat.say(s.Long / 2)
	s.chat.say(20)
	s.chat.end(10 * time.Minute)
	for _, a := range s.Places {
		s.chat.shows(a)
	}
	if n := len(s.Shown(s.Places[0])); n < 6 {
		s.t.Errorf("%d messages: an answer of %d bytes has less than three parts", n, s.Long)
	}
}

// through meets a fault in the middle of an answer, and in a later one, and still shows everything.
func (s *suite) through(f Fault) {
	a := s.Places[0]
	s.chat.must(s.chat.w.Bind(a))
	s.chat.start()
	s.chat.say(20)
	time.Sleep(time.Minute)
	for range 2 {
		s.fault(a, f)
		s.chat.say(s.Long)
		time.Sleep(10 * time.Minute)
	}
	s.chat.end(time.Minute)
	if f == FaultLate && !s.finds {
		return // nobody could have kept the order
	}
	s.chat.shows(a)
}

// reconnect loses its connections between answers.
func (s *suite) reconnect() {
	if s.Cut == nil {
		s.t.Skipf("%s has no connections to cut", s.Name)
	}
	s.chat.must(s.chat.w.Bind(s.Places[0]))
	s.chat.start()
	for range 5 {
		s.chat.say(20)
		time.Sleep(time.Minute)
		s.Cut()
		time.Sleep(time.Second)
	}
	s.chat.end(time.Minute)
	s.chat.shows(s.Places[0])
}

// once shows an answer once however often the couriers are nudged and started.
func (s *suite) once() {
	s.chat.must(s.chat.w.Bind(s.Places[0]))
	s.chat.say(s.Long)
	for range 3 {
		s.chat.start()
		for range 10 {
			s.chat.c.Nudge(s.Places[0])
		}
		s.chat.end(5 * time.Minute)
	}
	s.chat.shows(s.Places[0])
}

// stop ends while a post hangs, within the grace.
func (s *suite) stop() {
	s.fault(s.Places[0], FaultHang)
	s.chat.must(s.chat.w.Bind(s.Places[0]))
	s.chat.say(20)
	s.chat.start()
	time.Sleep(2 * time.Second)
	start := time.Now()
	s.chat.end(0)
	if d := time.Since(start); d > 6*time.Second {
		s.t.Errorf("stopping took %v", d)
	}
	s.chat.start()
	s.chat.end(5 * time.Minute)
	s.chat.shows(s.Places[0])
}

// apart delivers to one place while another one hangs.
func (s *suite) apart() {
	s.fault(s.Places[0], FaultHang)
	s.chat.must(s.chat.w.Bind(s.Places[0]))
	s.chat.say(20)
	s.chat.start()
	synctest.Wait()
	other := NewWriter(s.chat.store, 2)
	s.chat.must(other.Bind(s.Places[1]))
	s.chat.must(other.Answer("hello there"))
	s.chat.c.Nudge(s.Places[1])
	time.Sleep(2 * time.Second)
	if got := s.Shown(s.Places[1]); len(got) != 1 || !strings.Contains(got[0], "hello there") {
		s.t.Errorf("beside a place that hangs, another shows %q", got)
	}
	s.chat.end(5 * time.Minute)
}

// dead stops the couriers and loses nothing.
func (s *suite) dead() {
	s.fault(s.Places[0], FaultDead)
	s.chat.must(s.chat.w.Bind(s.Places[0]))
	s.chat.say(20)
	s.chat.start()
	time.Sleep(time.Minute)
	var e *conduit.Error
	if err := <-s.chat.done; !errors.As(err, &e) || e.Class != conduit.Dead {
		s.t.Errorf("Run returned %v", err)
	}
	st, err := s.chat.store.Address(s.t.Context(), s.Places[0])
	s.chat.must(err)
	if st.Due == 0 {
		s.t.Error("nothing is due any more")
	}
	s.chat.stop()
}

// gone ends one place and leaves the other.
func (s *suite) gone() {
	s.fault(s.Places[0], FaultGone)
	s.chat.must(s.chat.w.Bind(s.Places[:2]...))
	s.chat.start()
	s.chat.say(20)
	s.chat.end(time.Minute)
	st, err := s.chat.store.Address(s.t.Context(), s.Places[0])
	s.chat.must(err)
	if !st.Binding.Gone || st.Due != 0 || len(s.Shown(s.Places[0])) != 0 {
		s.t.Errorf("the dead place: %+v", st)
	}
	s.chat.shows(s.Places[1])
}

// moved goes on at the new place.
func (s *suite) moved() {
	s.fault(s.Places[0], FaultMoved)
	s.chat.must(s.chat.w.Bind(s.Places[0]))
	s.chat.start()
	s.chat.say(s.Long)
	time.Sleep(5 * time.Minute)
	s.chat.say(20)
	s.chat.end(time.Minute)
	s.chat.shows(s.Moved)
}
