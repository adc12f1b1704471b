package conduit

import (
	"testing"
	"time"
)

func TestLate(t *testing.T) {
	asked := time.Unix(1795982400, 0)
	for after, want := range map[time.Duration]string{
		-time.Hour: "", 0: "", 10 * time.Minute: "", 10*time.Minute + 1: "(asked 10 min ago)", 89 * time.Minute: "(asked 89 min ago)",
		19 * time.Hour: "(asked 19 h ago)", 72 * time.Hour: "(asked 3 days ago)",
	} {
		if got := Late(Item{Kind: Answer, Asked: asked, At: asked.Add(after)}); got != want {
			t.Errorf("%v: %q, want %q", after, got, want)
		}
	}
	for _, it := range []Item{{Kind: Answer, At: asked}, {Kind: Notice, Asked: asked, At: asked.Add(time.Hour)}} {
		if got := Late(it); got != "" {
			t.Errorf("%s asked at %v: %q", it.Kind, it.Asked, got)
		}
	}
}
