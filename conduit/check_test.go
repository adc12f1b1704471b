package conduit_test

import (
	"fmt"
	"strings"
	"testing"

	"orebot/conduit/conduittest"
	"orebot/core/ledger"
)

// checker follows what a person sees at one address and finds whatever is lost, doubled or out of order.
type checker struct {
	t     *testing.T
	finds bool
	want  []string   // the sources of the records to see, in order
	i     int        // the one being shown
	seq   ledger.Seq // its record; 0: nothing of it was shown
	done  int        // bytes of it that were shown
	last  int        // where the newest part began
	noted bool       // a note said that a part of it may be missing
	gaps  int        // how often bytes may be missing without a note, because the notes had no answer either, or were refused
}

// checkShown checks what an address shows. With a Finder every byte comes once and nothing is labelled. Without one, what may be there
// already is labelled, and missing bytes are announced; unannounced is how many notes ended unknown or refused.
func checkShown(t *testing.T, finds bool, shown []conduittest.Message, want []string, unannounced int) {
	t.Helper()
	c := &checker{t: t, finds: finds, want: want, gaps: unannounced}
	for _, m := range shown {
		c.see(m)
	}
	for c.i < len(want) {
		c.end()
	}
}

func (c *checker) see(m conduittest.Message) {
	c.t.Helper()
	for c.seq != m.Item.Seq && (c.seq != 0 || !c.begins(m)) {
		if c.end(); c.i >= len(c.want) {
			c.t.Fatalf("%q comes after everything", m.Text)
		}
	}
	c.seq = m.Item.Seq
	if m.Offset < 0 {
		c.noted = true
		c.check(!c.finds, m, "a note in spite of the look-up")
		return
	}
	text, labelled := strings.CutPrefix(m.Text, repeat)
	text = strings.TrimPrefix(text, "plain: ")
	c.check(!c.finds || !labelled, m, "labelled in spite of the look-up")
	c.check(m.Offset >= c.last, m, "out of order")
	c.check(m.Offset >= c.done || labelled || c.noted, m, "doubled without a label")
	if m.Offset > c.done {
		c.gap(m.Text)
	}
	c.last, c.done = m.Offset, max(c.done, m.Offset+len(text))
}

// begins reports whether a message may be the first of the record at hand. A note doesn't carry the source, but its record's number.
func (c *checker) begins(m conduittest.Message) bool {
	if m.Offset < 0 {
		return strings.HasPrefix(c.want[c.i], fmt.Sprintf("<%d ", m.Item.Seq))
	}
	return c.want[c.i] == m.Item.Source
}

// end goes on to the next record.
func (c *checker) end() {
	c.t.Helper()
	if c.done < len(c.want[c.i]) {
		c.gap(c.want[c.i])
	}
	c.i, c.seq, c.done, c.last, c.noted = c.i+1, 0, 0, 0, false
}

// gap accounts for missing bytes.
func (c *checker) gap(what string) {
	c.t.Helper()
	if c.noted {
		return
	}
	if c.gaps--; c.finds || c.gaps < 0 {
		c.t.Fatalf("record %d: bytes after %d are missing at %q", c.i, c.done, what)
	}
}

func (c *checker) check(ok bool, m conduittest.Message, what string) {
	c.t.Helper()
	if !ok {
		c.t.Fatalf("record %d, part at %d after %d (%q): %s", c.i, m.Offset, c.done, m.Text, what)
	}
}
