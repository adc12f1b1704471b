package slack

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/observe"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// forgetful is a Slack that sends nothing again.
func forgetful() simslack.Options { return simslack.Options{Retries: []time.Duration{}} }

// inLate runs f with a conduit that catches up six hours and doesn't run yet.
func inLate(t *testing.T, o simslack.Options, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, o)
		defer r.close()
		r.conduit = func(c *Config) { c.CatchUp = 6 * time.Hour }
		f(t, r)
		r.end()
	})
}

// met starts the conduit and waits until it has caught up.
func (r *rig) met() {
	r.t.Helper()
	r.start()
	if err := r.WaitConnected(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	time.Sleep(3 * time.Minute)
}

// TestCatchUpAfterRestart is FS 55: what was said in a DM, in its threads, in a thread of a channel and in a DM that is new while nobody
// was there is answered, each once, in order; what is too old isn't looked for. Fact A1.18; report 55.
func TestCatchUpAfterRestart(t *testing.T) {
	inLate(t, forgetful(), func(t *testing.T, r *rig) {
		ann, ben, cyd := r.AddUser("ann"), r.AddUser("ben"), r.AddUser("cyd")
		dm, other, ch := r.OpenDM(ann), r.OpenDM(ben), r.AddChannel("dev", ann, cyd, "UBOT")
		r.Say(ben, other, "too old")
		time.Sleep(7 * time.Hour)
		r.met()
		root := r.say(ann, ch, "@orebot root")
		r.say(ann, dm, "before")
		below := r.Say(ann, dm, "flat root")
		time.Sleep(time.Minute)
		r.say(ann, dm, "below", simslack.InThread(below))
		r.end()
		asked := len(r.model.asked())
		r.Say(ann, dm, "one")
		r.Say(ann, dm, "below two", simslack.InThread(below))
		r.Say(ann, ch, "three", simslack.InThread(root))
		r.Say(ann, ch, "@cyd not for the bot", simslack.InThread(root))
		r.Say(ann, ch, "no conversation of the bot's")
		r.Say(ben, other, "four")
		time.Sleep(time.Hour)
		r.Say(ann, dm, "five")
		r.met()
		want := []string{"below two", "five", "four", "one", "three"} // one and five in one turn or in two
		got := strings.Split(strings.Join(r.model.asked()[asked:], "\n\n"), "\n\n")
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("answered after the restart: %q", got)
		}
		before := r.posts()
		r.end()
		r.met() // nothing is new: all of it is known
		if got := r.posts(); !slices.Equal(got, before) {
			t.Errorf("answered again: %q", got[len(before):])
		}
	})
}

// A life that ends before it has looked for what it missed leaves newer entries behind; the next one finds what lies between them, once.
// Report 55.
func TestCatchUpOutlivesAStartThatIsCutShort(t *testing.T) {
	inLate(t, forgetful(), func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		dm, ch := r.OpenDM(ann), r.AddChannel("dev", ann, "UBOT")
		r.met()
		r.say(ann, dm, "before")
		root := r.say(ann, ch, "@orebot root")
		r.end()
		r.Say(ann, dm, "missed")
		r.Say(ann, ch, "missed too", simslack.InThread(root))
		time.Sleep(10 * time.Minute)
		r.start()
		if err := r.WaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Say(ann, dm, "live")
		r.Say(ann, ch, "live too", simslack.InThread(root))
		time.Sleep(missedCalm - time.Second)
		r.end()
		r.met()
		got := r.model.asked()
		if slices.Sort(got); !slices.Equal(got, []string{"before", "live", "live too", "missed", "missed too", "root"}) {
			t.Errorf("answered: %q", got)
		}
	})
}

// TestCatchUpAfterAGap is FS 55 for a connection that breaks: three messages while it is down, three answers, and no other one when their
// redelivery comes all the same. Fact A1.18; report 55.
func TestCatchUpAfterAGap(t *testing.T) {
	for name, o := range map[string]simslack.Options{"nothing comes again": forgetful(), "all comes again": {Order: simslack.AnyOrder, Resend: true}} {
		t.Run(name, func(t *testing.T) {
			inLate(t, o, func(t *testing.T, r *rig) {
				ann := r.AddUser("ann")
				dm, ch := r.OpenDM(ann), r.AddChannel("dev", ann, "UBOT")
				r.met()
				root := r.say(ann, ch, "@orebot root")
				r.say(ann, dm, "zero")
				for range 6 {
					r.Faults.Next("link", fault.Fault{Status: 500})
				}
				r.Cut()
				time.Sleep(time.Second)
				r.Say(ann, dm, "one")
				r.Say(ann, ch, "two", simslack.InThread(root))
				r.Say(ann, ch, "@orebot again", simslack.InThread(root))
				time.Sleep(15 * time.Minute)
				if n := len(r.model.asked()); n != 4 && n != 5 {
					t.Errorf("%d turns: %q", n, r.model.asked())
				}
				if n := len(r.posts()); n != len(r.model.asked()) {
					t.Errorf("posts: %q", r.posts())
				}
				if r.counts.get(observe.Messages, Name, observe.Received) != 5 {
					t.Errorf("counted: %v", r.counts.n)
				}
			})
		})
	}
}

// TestCatchUpIsNoSecondLook: what was heard, or wasn't for the bot, before the gap isn't taken up after it.
func TestCatchUpIsNoSecondLook(t *testing.T) {
	inLate(t, forgetful(), func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		ch := r.AddChannel("dev", ann, "UBOT")
		r.met()
		root := r.Say(ann, ch, "hello everybody")
		r.Say(ann, ch, "anybody?", simslack.InThread(root))
		r.Say(ann, ch, "@orebot you?", simslack.InThread(root))
		time.Sleep(5 * time.Second)
		r.Cut()
		time.Sleep(5 * time.Minute)
		r.wantPrompts("you?")
	})
}

// TestCatchUpIsPaced: Slack's limits hold while many conversations are looked at, live messages are answered meanwhile, and an app that
// may ask once a minute gets as far as that goes, the liveliest conversations first. Fact A6.3; report 17.
func TestCatchUpIsPaced(t *testing.T) {
	for name, limits := range map[string]map[string]time.Duration{
		"own app":     {},
		"limited app": {"conversations.history": time.Minute, "conversations.replies": time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			o := forgetful()
			o.Limits, o.PageCap = limits, 15
			inLate(t, o, func(t *testing.T, r *rig) {
				var users, rooms []string
				for i := range 40 {
					users = append(users, r.AddUser(fmt.Sprint("u", i)))
					rooms = append(rooms, r.OpenDM(users[i]))
				}
				r.met()
				for i := range users {
					r.Say(users[i], rooms[i], "hi")
					time.Sleep(time.Second)
				}
				time.Sleep(time.Minute)
				r.end()
				for i := range users {
					r.Say(users[i], rooms[i], "missed")
				}
				before := len(r.Calls("conversations.history"))
				r.start()
				if err := r.WaitConnected(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Second)
				r.Say(users[0], rooms[0], "live")
				time.Sleep(5 * time.Second)
				if !slices.Contains(r.posts(), rooms[0]+": re: live") {
					t.Error("a live message waits")
				}
				time.Sleep(30 * time.Minute)
				calls := r.Calls("conversations.history")[before:]
				if n := perMinute(calls); n > 50 {
					t.Errorf("%d calls a minute", n)
				}
				found := 0
				for _, p := range r.model.asked() {
					if p == "missed" {
						found++
					}
				}
				warned := r.logs.count("catch-up is incomplete")
				if len(limits) == 0 && (found != 40 || warned != 0) || len(limits) > 0 && (found < 10 || found > 30 || warned != 1) {
					t.Errorf("%d of 40 found, %d warnings", found, warned)
				}
			})
		})
	}
}

// TestCatchUpNever: with "0" nothing is looked for.
func TestCatchUpNever(t *testing.T) {
	inLate(t, forgetful(), func(t *testing.T, r *rig) {
		r.conduit = nil
		ann := r.AddUser("ann")
		dm := r.OpenDM(ann)
		r.Say(ann, dm, "missed")
		r.met()
		if n := len(r.Calls("conversations.history")); n != 0 {
			t.Errorf("%d looks", n)
		}
		if !r.api.dms.has(dm) {
			t.Error("the DM isn't known")
		}
	})
}

// TestCatchUpWithoutScopes: a missing scope costs the conversations that it is for, and no more. Fact A7.2.
func TestCatchUpWithoutScopes(t *testing.T) {
	o := forgetful()
	o.Scopes = slices.DeleteFunc(simslack.DefaultScopes(), func(s string) bool { return s == "im:history" || s == "mpim:read" })
	inLate(t, o, func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		dm, ch := r.OpenDM(ann), r.AddChannel("dev", ann, "UBOT")
		r.met()
		r.say(ann, dm, "hi")
		root := r.say(ann, ch, "@orebot root")
		r.end()
		r.Say(ann, dm, "lost")
		r.Say(ann, ch, "found", simslack.InThread(root))
		r.met()
		if got := r.model.asked(); !slices.Contains(got, "found") || slices.Contains(got, "lost") {
			t.Errorf("asked: %q", got)
		}
	})
}
