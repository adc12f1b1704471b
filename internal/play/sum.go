package play

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
)

// sum is promise 3: every message that was received has come to one end, and the play knows to which.
func (st *stage) sum(l line) error {
	if err := st.rest(); err != nil {
		return err
	}
	tot, err := st.store.Totals(context.Background())
	if err != nil {
		return err
	}
	if tot.Waiting != 0 {
		return fmt.Errorf("%d messages wait", tot.Waiting)
	}
	got := map[string]int{}
	for end, n := range tot.Ended {
		got[end.String()] = int(n)
	}
	got["heard"] = int(tot.Heard)
	for _, s := range st.cast.sent {
		if s.fate == "ignored" {
			got["ignored"]++
		}
	}
	want, all := map[string]int{}, 0
	for _, w := range split(l.rest) {
		n, what, _ := strings.Cut(w, " ")
		want[what], _ = strconv.Atoi(n)
	}
	for _, n := range got {
		all += n
	}
	if count(got) != count(want) {
		return fmt.Errorf("it is: %s", count(got))
	}
	if said := st.cast.received(); said != all {
		return fmt.Errorf("people have written %d messages, and %d are accounted for", said, all)
	}
	return nil
}

// received counts what people have written to where the bot is.
func (c *cast) received() (n int) {
	for _, s := range c.sent {
		if s.fate != "before" && s.fate != "duplicate" {
			n++
		}
	}
	return n
}

func count(m map[string]int) string {
	var out []string
	for what, n := range m {
		if n != 0 {
			out = append(out, fmt.Sprintf("%d %s", n, what))
		}
	}
	sort.Strings(out)
	return strings.Join(out, ", ")
}

// rest lets time pass at the end of a play: nothing more is said, and nobody asks the model.
func (st *stage) rest() error {
	time.Sleep(curtain)
	if err := st.silent(); err != nil {
		return err
	}
	if c := st.model.first(); c != nil {
		return fmt.Errorf("the model is still asked: %s", c.read())
	}
	if err := st.quit(); err != nil {
		return err
	}
	return st.silent()
}
