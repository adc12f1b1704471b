package slack

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// asks has the bot mentioned in a thread and returns that message as it came in.
func (r *rig) asks(user, ch, root string) session.Inbound {
	r.t.Helper()
	ts := r.say(user, ch, "@orebot what do you think?", simslack.InThread(root))
	for _, in := range r.inbounds() {
		if in.Message == ts {
			return in
		}
	}
	r.t.Fatal("the mention didn't come in")
	return session.Inbound{}
}

func TestBefore(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann, ben, bot := r.AddUser("ann"), r.AddUser("ben"), r.AddUser("robo", simslack.OtherBot())
		gus := r.AddUser("gus", simslack.Guest())
		ch := r.AddChannel("dev", ann, ben, bot, gus, "UBOT")
		root := r.Say(ann, ch, "a &amp; <@"+ben+">", simslack.Raw())
		r.Say(ben, ch, "well", simslack.InThread(root))
		r.Say(bot, ch, "build 7 failed", simslack.InThread(root))
		r.Share(ben, ch, "see", []simslack.SharedFile{{Name: "a.log"}}, simslack.InThread(root))
		r.say(gus, ch, "@orebot me too", simslack.InThread(root)) // is refused, and that is a notice
		r.say(ann, ch, "@orebot first", simslack.InThread(root))
		in := r.asks(ann, ch, root)
		r.Say(ben, ch, "later", simslack.InThread(root))
		said, err := r.api.Before(t.Context(), in, 50)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range said {
			got = append(got, fmt.Sprintf("%s %v: %s", s.Author.Name, s.Own, s.Text))
		}
		want := []string{"ann false: a & @ben", "ben false: well", "robo false: build 7 failed", "ben false: see\n(file: a.log)",
			"gus false: @orebot me too", "ann false: @orebot first"}
		if !slices.Equal(got[:min(len(got), 6)], want) || len(got) != 7 || !strings.HasPrefix(got[6], "orebot true: re: ") {
			t.Errorf("said:\n%s\nwant:\n%s\nand the answer", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if first := said[0]; first.Message != root || first.Order != root || first.Author.ID != personID(ann) {
			t.Errorf("%+v", first)
		}
	})
}

// TestBeforeAsksNothing: where nothing can stand before, Slack isn't asked.
func TestBeforeAsksNothing(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		for _, in := range []session.Inbound{
			{Address: "slack:T1/D1", Message: "5.5", Order: "5.5"}, {Address: "slack:T1/C1/5.5", Message: "5.5", Order: "5.5"}, {Address: "slack:T1/C1", Order: "5.5"},
		} {
			if said, err := r.api.Before(t.Context(), in, 50); err != nil || len(said) != 0 {
				t.Errorf("%s: %v, %v", in.Address, said, err)
			}
		}
		if n := len(r.Calls("conversations.replies")); n != 0 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestBeforeALongThread: of a thread of several pages the root and the newest are read.
func TestBeforeALongThread(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		ch := r.AddChannel("dev", ann, "UBOT")
		root := r.Say(ann, ch, "root")
		for i := range 450 {
			r.Say(ann, ch, fmt.Sprint("reply ", i), simslack.InThread(root))
		}
		said, err := r.api.Before(t.Context(), r.asks(ann, ch, root), 50)
		if err != nil || len(said) != 50 || said[0].Text != "root" || said[1].Text != "reply 401" || said[49].Text != "reply 449" {
			t.Errorf("%d said, %v", len(said), err)
		}
		if n := len(r.Calls("conversations.replies")); n != 3 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestBeforeIsLimited is FS 17: where Slack limits the call, that is an error at once, and the method rests for as long as Slack wants.
// Fact A6.3; report 17.
func TestBeforeIsLimited(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		ch := r.AddChannel("dev", ann, "UBOT")
		in := r.asks(ann, ch, r.Say(ann, ch, "root"))
		before := len(r.Calls("conversations.replies"))
		r.Faults.Next("conversations.replies", fault.Fault{Status: 429, Retry: time.Minute})
		begin := time.Now()
		for range 5 {
			var limited *slackgo.RateLimitedError
			if _, err := r.api.Before(t.Context(), in, 50); !errors.As(err, &limited) {
				t.Errorf("%v", err)
			}
		}
		if n := len(r.Calls("conversations.replies")) - before; n != 1 || time.Since(begin) > time.Second {
			t.Errorf("%d calls in %v", n, time.Since(begin))
		}
		time.Sleep(time.Minute)
		if said, err := r.api.Before(t.Context(), in, 50); err != nil || len(said) != 1 {
			t.Errorf("a minute later: %v, %v", said, err)
		}
		r.Faults.Next("conversations.replies", fault.Fault{Hang: true})
		begin = time.Now()
		if _, err := r.api.Before(t.Context(), in, 50); err == nil || time.Since(begin) > historyTime+time.Second {
			t.Errorf("a call that hangs: %v after %v", err, time.Since(begin))
		}
	})
}
