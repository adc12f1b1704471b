package slack

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	simslack "orebot/internal/sim/slack"
)

// without are the usual scopes but some.
func without(names ...string) []string {
	return slices.DeleteFunc(simslack.DefaultScopes(), func(s string) bool { return slices.Contains(names, s) })
}

// TestInspectAppTakesNothing: whoever asks whether the app token works takes no event from the daemon that runs, and isn't another process
// to it. Facts A1.1, A1.9.
func TestInspectAppTakesNothing(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		for range 3 {
			if err := r.api.InspectApp(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		ann, dm := r.chatOf("ann")
		r.Disconnect("refresh_requested")
		time.Sleep(10 * time.Second)
		for i := range 6 {
			r.say(ann, dm, fmt.Sprint("q", i))
		}
		if got := r.posts(); len(got) != 6 || r.Connections() != 1 || r.health.noted(noteShared) != "" {
			t.Errorf("posts %q, %d connections, note %q", got, r.Connections(), r.health.noted(noteShared))
		}
		r.allAcked(time.Second)
	})
}

// TestMissingScopeOfPosts: an app that may not post doesn't lose an answer, nor the Slack side. The operator is told once; when the app was
// installed again all comes in order, and the trouble isn't told any more. Facts A3.1, A7.2.
func TestMissingScopeOfPosts(t *testing.T) {
	inRig(t, simslack.Options{Scopes: without("chat:write")}, func(t *testing.T, r *rig) {
		ann, dm := r.chatOf("ann")
		ch := r.AddChannel("dev", ann, "UBOT")
		r.say(ann, dm, "one")
		r.say(ann, ch, "@orebot two")
		time.Sleep(20 * time.Minute)
		r.wantPosts()
		if ready, reason, _ := r.health.state(); !ready {
			t.Errorf("not ready: %s", reason)
		}
		if n := r.logs.count("Slack needs attention"); n != 2 { // at the start, and with the first post
			t.Errorf("told %d times:\n%s", n, r.logs)
		}
		if got := r.health.noted(notePosting); !strings.Contains(got, "chat:write") || !strings.Contains(got, "install it again") {
			t.Errorf("the note is %q", got)
		}
		if n := len(r.Calls("chat.postMessage")); n > 20 {
			t.Errorf("%d tries", n)
		}
		r.Grant(simslack.DefaultScopes())
		r.say(ann, dm, "three")
		time.Sleep(6 * time.Minute)
		if got := strings.Join(r.posts(), " "); strings.Count(got, "re: ") != 3 || strings.Index(got, "re: one") > strings.Index(got, "re: three") {
			t.Errorf("posts %q", got)
		}
		if a, b := r.health.noted(notePosting), r.health.noted(noteScopes); a+b != "" {
			t.Errorf("still told: %q %q", a, b)
		}
	})
}
