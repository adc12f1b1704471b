package words_test

import (
	"testing"
	"time"

	"orebot/core/words"
)

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 12345: "12,345", 1234567: "1,234,567", -1: "-1", -999: "-999", -1000: "-1,000"} {
		if got := words.Number(n); got != want {
			t.Errorf("Number(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestEstimate(t *testing.T) {
	for n, want := range map[int]string{0: "0", 4: "0", 5: "10", 994: "990", 996: "1,000", 1049: "1,000", 1050: "1,100", 12_361: "12,400", 999_950: "1,000,000"} {
		if got := words.Estimate(n); got != want {
			t.Errorf("Estimate(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 1900 * time.Millisecond: "1 s", 89 * time.Second: "89 s", 90 * time.Second: "2 min", 5 * time.Minute: "5 min", 89 * time.Minute: "89 min",
		90 * time.Minute: "2 h", 19 * time.Hour: "19 h", 47 * time.Hour: "47 h", 48 * time.Hour: "2 days", 10 * 24 * time.Hour: "10 days",
	} {
		if got := words.Duration(d); got != want {
			t.Errorf("Duration(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"help", "help", 0}, {"", "new", 3}, {"new", "", 3}, {"hlep", "help", 1}, {"stopp", "stop", 1}, {"retri", "retry", 1},
		{"kitten", "sitting", 3}, {"über", "uber", 1}, {"ab", "ba", 1}, {"abc", "cab", 2}, {"hosts", "models", 4},
	} {
		if got := words.Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := words.Distance(c.b, c.a); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
