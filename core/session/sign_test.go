package session

import "testing"

// What a message says of who waits: the next in line is told so, and not that nobody is ahead.
func TestTheLineOfWhoWaits(t *testing.T) {
	for detail, want := range map[string]string{
		"0": "You are next. `/stop` withdraws.", "1": "One ahead of you. `/stop` withdraws.", "11": "11 ahead of you. `/stop` withdraws.",
		"": "Some ahead of you. `/stop` withdraws.",
	} {
		if got := (Sign{Activity: ActivityQueued, Detail: detail}).Line("/"); got != want {
			t.Errorf("%q: %q, want %q", detail, got, want)
		}
	}
}
