package session

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"orebot/core/loop"
	"orebot/core/observe"
	"orebot/core/words"
)

// Limits bound what one person may use. Where one is 0, there is no such limit.
type Limits struct {
	PerMinute    int // messages
	Waiting      int // messages that wait behind the one that is being answered
	TokensPerDay int // of prompts and answers, by the day of UTC
	InputBytes   int // of one message's text
}

// The limits, as the log names them.
const (
	limitRate    = "user_per_minute"
	limitWaiting = "user_waiting"
	limitTokens  = "user_tokens_per_day"
)

// tellAgain is how often somebody is told of the limit of a minute who has waited as told, and goes on at its edge.
const tellAgain = 10 * time.Second

// limiter counts what each person has sent and what of it waits. It lives in memory: Accept asks it without waiting for anything, and
// after a restart everybody begins anew, with what the store says is waiting: then a streak of refusals is a new one, and is told of. What a
// day has cost isn't counted here. Its zero value is ready.
type limiter struct {
	mu     sync.Mutex
	people map[string]*dues
}

// dues is what is counted of one person. A group of messages that make one turn counts once.
type dues struct {
	sent    []sent               // within the last minute, oldest first
	waiting map[EntryID]string   // not begun, with the unit each belongs to
	running map[EntryID]bool     // being answered
	told    map[string]time.Time // when the streak of refusals for a limit was told of
	until   time.Time            // when there will be room in the minute, as of the last refusal
	goOn    time.Time            // what of that was told
}

type sent struct {
	unit string
	at   time.Time
}

// unitOf names what a message is counted as: itself, or its group.
func unitOf(in Inbound) string {
	if in.Group != "" {
		return string(in.Address) + "\x00group " + in.Group
	}
	return in.ID().String()
}

func (l *limiter) of(person string) *dues {
	if l.people == nil {
		l.people = map[string]*dues{}
	}
	d := l.people[person]
	if d == nil {
		d = &dues{waiting: map[EntryID]string{}, running: map[EntryID]bool{}, told: map[string]time.Time{}}
		l.people[person] = d
	}
	return d
}

// limit judges a message that is to be answered: beyond a limit, its entry says so. Commands that run beside a turn are never beyond
// one, and no command waits for an answer. undo takes the message back out of the count, for one that isn't stored after all.
func (m *Manager) limit(e *Entry) (undo func()) {
	if e.State != EntryOpen || e.Refusal != "" || e.Notice != "" {
		return func() {}
	}
	name, args, command := m.parse(e.Inbound)
	if command && m.cfg.Commander.Now(name, args) {
		return func() {}
	}
	l := &m.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	now, d := time.Now(), l.of(e.Inbound.Author.ID)
	d.pass(now)
	unit := unitOf(e.Inbound)
	known := slices.ContainsFunc(d.sent, func(s sent) bool { return s.unit == unit })
	if what, text := d.beyond(m, e, command, now); what != "" && !known {
		return m.refuseOver(d, e, what, text, now)
	}
	return l.takeIn(d, e, unit, known, command, now)
}

// takeIn counts a message. The caller holds the lock.
func (l *limiter) takeIn(d *dues, e *Entry, unit string, known, command bool, now time.Time) (undo func()) {
	if !known {
		d.sent = append(d.sent, sent{unit, now})
	}
	_, listed := d.waiting[e.ID]
	if !command {
		d.waiting[e.ID] = unit
	}
	id := e.ID
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !known {
			d.sent = slices.DeleteFunc(d.sent, func(s sent) bool { return s.unit == unit })
		}
		if !listed {
			delete(d.waiting, id)
		}
	}
}

// refuseOver marks a message as beyond a limit; the first of a streak is told, the others are refused in silence. The caller holds
// the lock.
func (m *Manager) refuseOver(d *dues, e *Entry, what, text string, now time.Time) (undo func()) {
	e.Over = text
	if _, told := d.told[what]; told {
		e.Quiet = true
		return func() {}
	}
	d.told[what], d.goOn = now, d.until
	m.tellLimit(e.Inbound, what)
	return func() {
		m.limits.mu.Lock()
		defer m.limits.mu.Unlock()
		delete(d.told, what)
	}
}

func (m *Manager) tellLimit(in Inbound, what string) {
	m.cfg.Logger.Warn(observe.MsgLimitReached, observe.KeyAuthor, in.Author.ID, observe.KeyReason, what,
		observe.KeyAddress, string(in.Address))
}

// beyond returns the limit that one more message would break, and the line that says so.
func (d *dues) beyond(m *Manager, e *Entry, command bool, now time.Time) (what, text string) {
	lim := m.cfg.Limits
	if !now.Before(d.goOn) && now.Sub(d.told[limitRate]) >= tellAgain {
		delete(d.told, limitRate)
	}
	if n := lim.PerMinute; n > 0 && len(d.sent) >= n {
		d.until = d.sent[len(d.sent)-n].at.Add(time.Minute)
		return limitRate, fmt.Sprintf("%d a minute is the limit; go on in %s.", n, soon(d.until.Sub(now)))
	}
	if n := lim.Waiting; n > 0 && !command && d.queued() >= n {
		text = fmt.Sprintf("%d waiting is the limit; go on when one is answered.", n)
		if m.cfg.Commander != nil {
			text += " `" + m.prefix(e.ID.Address) + "stop` withdraws."
		}
		return limitWaiting, text
	}
	delete(d.told, limitWaiting)
	return "", ""
}

// queued counts what waits behind what is being answered, or is about to be.
func (d *dues) queued() int {
	units := map[string]bool{}
	for _, unit := range d.waiting {
		units[unit] = true
	}
	if len(d.running) == 0 {
		return len(units) - 1
	}
	return len(units)
}

// pass drops what was sent more than a minute ago.
func (d *dues) pass(now time.Time) {
	d.sent = slices.DeleteFunc(d.sent, func(s sent) bool { return now.Sub(s.at) >= time.Minute })
}

// soon prints how long to wait: never less than it takes.
func soon(d time.Duration) string {
	return words.Duration(max(time.Second, (d + time.Second - 1).Truncate(time.Second)))
}

// moved follows a message from its place in the queue to its end.
func (m *Manager) moved(e Entry) {
	l := &m.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.of(e.Inbound.Author.ID)
	delete(d.waiting, e.ID)
	delete(d.running, e.ID)
	switch e.State {
	case EntryOpen:
		d.waiting[e.ID] = unitOf(e.Inbound)
	case EntrySubmitted:
		d.running[e.ID] = true
	}
}

// noteWaiting counts a message that the store says waits: after a restart Accept hasn't seen it.
func (s *Stream) noteWaiting(e Entry) {
	if e.Refusal == "" && e.Notice == "" && e.Over == "" && !s.isCommand(StoredEntry{Entry: e}) {
		s.m.moved(e)
	}
}

// forget drops people of whom nothing is counted any more.
func (l *limiter) forget(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.people, func(_ string, d *dues) bool {
		d.pass(now)
		maps.DeleteFunc(d.told, func(_ string, at time.Time) bool { return now.Sub(at) >= 24*time.Hour })
		return len(d.sent)+len(d.waiting)+len(d.running)+len(d.told) == 0
	})
}

// over ends messages that are beyond a limit.
func (s *Stream) over(j *job) error {
	if j.first().Quiet {
		return s.endSilently(j, EndRefused)
	}
	return s.notice(j, ending{how: EndNoticed, sev: loop.SeverityWarn, text: j.first().Over})
}

// tooBig reports whether a message's text is more than one may have.
func (m *Manager) tooBig(in Inbound) bool {
	n := m.cfg.Limits.InputBytes
	return n > 0 && len(in.Text) > n
}

// oversizeText is the line for a message whose content wasn't kept.
func (s *Stream) oversizeText(e Entry) string {
	if n := s.m.cfg.Limits.InputBytes; n > 0 && e.Size > n {
		return fmt.Sprintf("That is %s bytes; %s is the limit. Please send less.", words.Number(e.Size), words.Number(n))
	}
	return "That is more than I can read at once. Please send less."
}
