package ollama

import "errors"

// A model that repeats itself does so until something stops it. These say from when on it is believed to: a few times over, for a
// while. What people ask for (a table's rule, zeros in a program) is seldom as long and as equal.
const (
	loopTimes  = 8    // as often must the same text follow itself
	loopBytes  = 2000 // and over so many bytes
	doubtTimes = 3    // from here on it is held back, to be dropped or sent
	doubtBytes = 300
	loopUnit   = 2000 // the longest text that is recognised
	lookEvery  = 128  // bytes between two looks
	loopGood   = 40   // an answer has said something if it has so many bytes before it repeats itself
	abortTimes = 20   // a server's own guard ends a stream after about thirty equal tokens
	loopTail   = 3 * loopUnit
)

var errRepeats = errors.New("the model repeats itself without end")

// repeatGuard watches a text for endless repetition. What is in doubt it holds back. The zero value is ready.
type repeatGuard struct {
	text   []byte   // all of it
	sent   int      // bytes that were released
	looked int      // length at the last look
	unit   int      // length of what is repeated; 0: nothing is
	from   int      // where the repetition begins
	fail   []uint16 // scratch
}

// add takes a piece and returns what of the text may go out. over says that the model repeats itself: what comes now is nothing new.
func (g *repeatGuard) add(piece string) (out string, over bool) {
	before := len(g.text)
	g.text = append(g.text, piece...)
	if g.unit > 0 && !g.goesOn(before) {
		g.unit, g.looked = 0, len(g.text)
	}
	if g.unit == 0 && len(g.text)-g.looked >= lookEvery {
		g.looked = len(g.text)
		g.unit, g.from = g.look(doubtTimes, doubtBytes)
	}
	if g.unit > 0 {
		n := len(g.text) - g.from
		return "", n >= loopBytes && n >= loopTimes*g.unit
	}
	return g.release(), false
}

// goesOn reports whether what was added from i on repeats what stands one unit before it.
func (g *repeatGuard) goesOn(i int) bool {
	for ; i < len(g.text); i++ {
		if g.text[i] != g.text[i-g.unit] {
			return false
		}
	}
	return true
}

func (g *repeatGuard) release() string {
	out := string(g.text[g.sent:])
	g.sent = len(g.text)
	return out
}

// good reports whether there is an answer in front of the repetition.
func (g *repeatGuard) good() bool { return g.from >= loopGood }

// aborted reports whether the text ends like one that a server's own guard has ended: in the same few letters, time and again.
func (g *repeatGuard) aborted() bool {
	unit, _ := g.look(abortTimes, 0)
	return unit > 0
}

// look finds the shortest text that the end of what was said repeats, at least so many times and over so many bytes; 0 is none. It
// computes for each end of the text its longest border, which leaves its period.
func (g *repeatGuard) look(times, bytes int) (unit, from int) {
	tail := g.text[max(0, len(g.text)-loopTail):]
	n := len(tail)
	at := func(i int) byte { return tail[n-1-i] } // backwards
	if cap(g.fail) < n {
		g.fail = make([]uint16, loopTail)
	}
	fail := g.fail[:n]
	for i, k := 1, 0; i < n; i++ {
		for k > 0 && at(i) != at(k) {
			k = int(fail[k-1])
		}
		if at(i) == at(k) {
			k++
		}
		fail[i] = uint16(k)
		length, period := i+1, i+1-k
		if length >= bytes && length >= times*period && (unit == 0 || period <= unit) {
			unit, from = period, len(g.text)-length
		}
	}
	return unit, from
}
