package bolt

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orebot/core/session"
)

// Whatever place in a value a text stands at, across the chunks too, it is found.
func TestMentionsFindsTextsInAnyValue(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "orebot.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var want []string
	for i := range 700 { // more than a page
		text := fmt.Sprintf("blob:%06d", i)
		want = append(want, text)
		value := []byte(strings.Repeat("x", 4080+i%40) + text + strings.Repeat("y", i%3*4096))
		if i%100 == 99 {
			value = []byte(strings.Repeat("x", i*11) + text)
		}
		b := session.Batch{ID: session.NewBatchID(), Small: []session.SmallWrite{{Space: "s", Key: text[5:], Value: value}}}
		if i == 0 {
			b.Small = append(b.Small, session.SmallWrite{Space: "s", Key: "short", Value: []byte("blob:12")})
		}
		s.Commit(t.Context(), b, func(_ session.Result, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := session.CommitWait(t.Context(), s, session.Batch{ID: session.NewBatchID(), Small: []session.SmallWrite{{Space: "s", Key: "zz", Value: []byte("end")}}}); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := s.Mentions(t.Context(), "blob:", 11, func(text string) { got = append(got, text) }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	got = slices.DeleteFunc(slices.Compact(got), func(s string) bool { return !slices.Contains(want, s) })
	if !slices.Equal(got, want) {
		t.Errorf("%d of %d were found", len(got), len(want))
	}
}
