package conduit

import (
	"testing"
	"time"
)

// TestBackoffDelay doubles from Min to Max and takes off up to half.
func TestBackoffDelay(t *testing.T) {
	b := Backoff{Min: 500 * time.Millisecond, Max: time.Minute}
	for _, c := range []struct {
		n    int
		r    float64
		want time.Duration
	}{
		{1, 0, 500 * time.Millisecond},
		{1, 0.99, 500 * time.Millisecond},
		{2, 0, time.Second},
		{2, 0.5, 750 * time.Millisecond},
		{8, 0, time.Minute},
		{8, 0.5, 45 * time.Second},
		{1 << 40, 0, time.Minute},
	} {
		if got := b.delay(c.n, c.r); got != c.want {
			t.Errorf("delay(%d, %v) = %v, want %v", c.n, c.r, got, c.want)
		}
	}
}

// TestPack survives the round trip for every form; the usual one takes no room on disk.
func TestPack(t *testing.T) {
	for shrink := range uint8(MaxShrink + 1) {
		for _, plain := range []bool{false, true} {
			for _, missing := range []bool{false, true} {
				for _, inline := range []bool{false, true} {
					want := form{shrink: shrink, plain: plain, missing: missing, inline: inline}
					if got := unpack(want.pack()); got != want {
						t.Errorf("%+v came back as %+v", want, got)
					}
				}
			}
		}
	}
	if got := (form{}).pack(); got != 0 {
		t.Errorf("the usual form is stored as %d", got)
	}
}
