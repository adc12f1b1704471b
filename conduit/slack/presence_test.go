package slack

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// stage is a workspace with one person, a channel with a message in it and a DM with another, and nobody who answers.
type stage struct {
	*simslack.Server
	t          *testing.T
	api        *API
	ann        string
	ch, root   string
	dm, said   string
	thread, im session.Address
}

func onStage(t *testing.T, o simslack.Options, f func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim, api, end := dialSim(o)
		defer end()
		s := &stage{Server: sim, t: t, api: api, ann: sim.AddUser("ann")}
		s.ch, s.dm = sim.AddChannel("dev", s.ann, "UBOT"), sim.OpenDM(s.ann)
		s.root, s.said = sim.Say(s.ann, s.ch, "hello"), sim.Say(s.ann, s.dm, "hello")
		s.thread, s.im = place{"T1", s.ch, s.root}.address(), place{"T1", s.dm, ""}.address()
		f(t, s)
	})
}

// marks are the bot's reactions to a message.
func (s *stage) marks(channel, ts string) []string {
	for _, m := range s.Thread(channel, ts) {
		if m.TS == ts {
			return m.Reactions
		}
	}
	return nil
}

// said are the texts that the bot has posted in a place and that stand there.
func (s *stage) posted(channel, ts string) []string {
	var out []string
	for _, m := range s.Thread(channel, ts) {
		if m.BotID != "" {
			out = append(out, m.Text)
		}
	}
	return out
}

// TestStatusTexts: what people see behind the bot's name. Fact A8.1.
func TestStatusTexts(t *testing.T) {
	for want, s := range map[string]session.Sign{
		"is thinking…": {Activity: session.ActivityThinking},
		"is loading llama3.2, can take minutes…":            {Activity: session.ActivityLoading, Detail: "llama3.2"},
		"is loading the model, can take minutes…":           {Activity: session.ActivityLoading},
		"is using docs__search…":                            {Activity: session.ActivityTool, Detail: "docs__search"},
		"has two ahead of you; !stop withdraws":             {Activity: session.ActivityQueued, Detail: "2"},
		"comes to you next; !stop withdraws":                {Activity: session.ActivityQueued, Detail: "0"},
		"has 11 ahead of you; !stop withdraws":              {Activity: session.ActivityQueued, Detail: "11"},
		"has some ahead of you; !stop withdraws":            {Activity: session.ActivityQueued, Detail: "many"},
		"is still working…":                                 {Activity: session.ActivitySlow},
		"is using !channel" + strings.Repeat("x", 32) + "…": {Activity: session.ActivityTool, Detail: "<!channel>" + strings.Repeat("x", 90)},
	} {
		if got := statusOf(s); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

// TestO13Heartbeat: a status stands as long as an answer of five minutes takes, since it is shown again, and goes with the answer.
// Report 30: that of another thread of the channel is left alone. Facts A8.1, O.13; reports 30, 32.
func TestO13Heartbeat(t *testing.T) {
	onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
		other := s.Say(s.ann, s.ch, "and this")
		beside := place{"T1", s.ch, other}.address()
		var shown, two *session.Presence
		for i, act := range []session.Activity{session.ActivityQueued, session.ActivityLoading, session.ActivityThinking, session.ActivitySlow} {
			var err error
			if shown, err = s.api.Show(t.Context(), s.thread, session.Sign{Activity: act, Message: s.root, Detail: "1"}, shown); err != nil || shown == nil {
				t.Fatalf("%s: %v, %v", act, shown, err)
			}
			if two, err = s.api.Show(t.Context(), beside, session.Sign{Activity: session.ActivityThinking, Message: other}, two); err != nil {
				t.Fatal(err)
			}
			time.Sleep(Beat - time.Second)
			if got := s.Status(s.ch, s.root); got == "" {
				t.Errorf("beat %d: the status faded", i)
			}
		}
		if err := s.api.Clear(t.Context(), s.thread, *shown); err != nil {
			t.Error(err)
		}
		if got := s.Status(s.ch, s.root); got != "" {
			t.Errorf("%q is left", got)
		}
		if got := s.Status(s.ch, other); got != "is thinking…" {
			t.Errorf("the other thread shows %q", got)
		}
		if n := len(s.Calls("reactions.add")) + len(s.Calls("chat.postMessage")); n != 0 {
			t.Errorf("%d other calls", n)
		}
	})
}

// TestStatusInADM: a flat DM has no thread: the status is under the message that is being answered, and moves on with the next one.
// Fact A8.1.
func TestStatusInADM(t *testing.T) {
	onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
		shown, err := s.api.Show(t.Context(), s.im, session.Sign{Activity: session.ActivityThinking, Message: s.said}, nil)
		if err != nil || s.Status(s.dm, s.said) != "is thinking…" {
			t.Fatalf("%v: %q", err, s.Status(s.dm, s.said))
		}
		next := s.Say(s.ann, s.dm, "and")
		shown, err = s.api.Show(t.Context(), s.im, session.Sign{Activity: session.ActivityThinking, Message: next}, shown)
		if err != nil || s.Status(s.dm, s.said) != "" || s.Status(s.dm, next) == "" || shown.Message != next {
			t.Errorf("%v: %q and %q", err, s.Status(s.dm, s.said), s.Status(s.dm, next))
		}
	})
}

// TestReactionWhereNoStatusIs: where Slack takes no status, a reaction stands on the message, one message says that it takes long, and
// Clear takes both away, in the next life too. The status isn't asked for again and again. Facts A7.14, A8.3.
func TestReactionWhereNoStatusIs(t *testing.T) {
	for name, f := range map[string]fault.Fault{
		"unknown method": refusal("unknown_method"), "404": {Status: 404}, "no scope": refusal("missing_scope"),
		"this thread": refusal("invalid_thread_ts"), "restricted": refusal("no_permission"),
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
				s.Faults.Next("assistant.threads.setStatus", f)
				sign := session.Sign{Activity: session.ActivityThinking, Message: s.root}
				shown, err := s.api.Show(t.Context(), s.thread, sign, nil)
				if err != nil || shown == nil || shown.Kind != reactionSign || !slices.Equal(s.marks(s.ch, s.root), []string{"eyes UBOT"}) {
					t.Fatalf("%+v, %v: %v", shown, err, s.marks(s.ch, s.root))
				}
				for range 3 {
					sign.Activity = session.ActivitySlow
					if shown, err = s.api.Show(t.Context(), s.thread, sign, shown); err != nil {
						t.Fatal(err)
					}
				}
				if got := s.posted(s.ch, s.root); !slices.Equal(got, []string{"Still working."}) {
					t.Errorf("posted %q", got)
				}
				if n := len(s.Calls("assistant.threads.setStatus")); n != 1 {
					t.Errorf("the status was tried %d times", n)
				}
				if err := s.api.Clear(t.Context(), s.thread, *shown); err != nil {
					t.Error(err)
				}
				if len(s.marks(s.ch, s.root)) != 0 || len(s.posted(s.ch, s.root)) != 0 {
					t.Errorf("left: %v, %v", s.marks(s.ch, s.root), s.posted(s.ch, s.root))
				}
				if err := s.api.Clear(t.Context(), s.thread, *shown); err != nil {
					t.Errorf("cleared twice: %v", err)
				}
			})
		})
	}
}

// TestReactionMovesOn: the message that is being answered is the one with the mark. Fact A8.3.
func TestReactionMovesOn(t *testing.T) {
	onStage(t, simslack.Options{Scopes: []string{"reactions:write", "chat:write"}}, func(t *testing.T, s *stage) {
		s.Faults.Next("assistant.threads.setStatus", refusal("unknown_method"))
		shown, _ := s.api.Show(t.Context(), s.thread, session.Sign{Activity: session.ActivityThinking, Message: s.root}, nil)
		reply := s.Say(s.ann, s.ch, "and", simslack.InThread(s.root))
		shown, err := s.api.Show(t.Context(), s.thread, session.Sign{Activity: session.ActivityThinking, Message: reply}, shown)
		if err != nil || len(s.marks(s.ch, s.root)) != 0 || len(s.marks(s.ch, reply)) != 1 || shown.Message != reply {
			t.Errorf("%+v, %v: %v and %v", shown, err, s.marks(s.ch, s.root), s.marks(s.ch, reply))
		}
	})
}

// TestSlowMessageOfUnknownFate is looked for and deleted.
func TestSlowMessageOfUnknownFate(t *testing.T) {
	onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
		s.Faults.Next("assistant.threads.setStatus", refusal("unknown_method"))
		sign := session.Sign{Activity: session.ActivityThinking, Message: s.root}
		shown, _ := s.api.Show(t.Context(), s.thread, sign, nil)
		s.Faults.Next("chat.postMessage", fault.Fault{Cut: true})
		sign.Activity = session.ActivitySlow
		shown, err := s.api.Show(t.Context(), s.thread, sign, shown)
		if err == nil || shown.Kind != slowSign || len(s.posted(s.ch, s.root)) != 1 {
			t.Fatalf("%+v, %v", shown, err)
		}
		if err := s.api.Clear(t.Context(), s.thread, *shown); err != nil || len(s.posted(s.ch, s.root)) != 0 {
			t.Errorf("%v: %v", err, s.posted(s.ch, s.root))
		}
	})
}

// TestO10StatusTrouble: whatever a status meets, the call is over within seconds, and what may stand there is known.
// Facts A6.4, A8.1, B.4, O.10.
func TestO10StatusTrouble(t *testing.T) {
	for name, c := range map[string]struct {
		fault fault.Fault
		kind  string // of what is left to clean up
	}{
		"hang": {fault.Fault{Hang: true}, statusSign}, "cut": {fault.Fault{Cut: true}, statusSign}, "500": {fault.Fault{Status: 500}, statusSign},
		"limited": {fault.Fault{Status: 429, Retry: time.Minute}, ""}, "page": {fault.Fault{Status: 200, Body: "<html>"}, statusSign},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
				s.Faults.Next("assistant.threads.setStatus", c.fault)
				sign, begin := session.Sign{Activity: session.ActivityThinking, Message: s.root}, time.Now()
				shown, err := s.api.Show(t.Context(), s.thread, sign, nil)
				kind := ""
				if shown != nil {
					kind = shown.Kind
				}
				if err == nil || kind != c.kind || time.Since(begin) > 11*time.Second {
					t.Errorf("%q, %v after %v; want %q", kind, err, time.Since(begin), c.kind)
				}
				if strings.HasPrefix(name, "limited") {
					_, err := s.api.Show(t.Context(), s.thread, sign, nil)
					if n := len(s.Calls("assistant.threads.setStatus")); n != 1 || err == nil {
						t.Errorf("%d calls while Slack wants none: %v", n, err)
					}
					time.Sleep(time.Minute)
				}
				if shown, err = s.api.Show(t.Context(), s.thread, sign, shown); err != nil || s.Status(s.ch, s.root) == "" {
					t.Errorf("afterwards: %+v, %v", shown, err)
				}
			})
		})
	}
}

// TestClearInsists: what is left behind stays for ever, so removing it is tried again, and waits as Slack says. Reports 28, 32.
func TestClearInsists(t *testing.T) {
	onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
		left := session.Presence{Kind: reactionSign, Message: s.root}
		s.Faults.Next("assistant.threads.setStatus", refusal("unknown_method"))
		if _, err := s.api.Show(t.Context(), s.thread, session.Sign{Activity: session.ActivityThinking, Message: s.root}, nil); err != nil {
			t.Fatal(err)
		}
		s.Faults.Next("reactions.remove", fault.Fault{Status: 429, Retry: 20 * time.Second}, fault.Fault{Status: 502})
		if err := s.api.Clear(t.Context(), s.thread, left); err != nil || len(s.marks(s.ch, s.root)) != 0 {
			t.Errorf("%v: %v", err, s.marks(s.ch, s.root))
		}
		s.Faults.Next("reactions.remove", fault.Fault{Status: 429, Retry: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.api.Clear(ctx, s.thread, left); err == nil {
			t.Error("no error")
		}
	})
}

// TestNoted: an edit that is taken down gets a mark, once. Fact A7.14.
func TestNoted(t *testing.T) {
	onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
		for range 2 {
			if err := s.api.Noted(t.Context(), s.thread, s.root); err != nil {
				t.Error(err)
			}
		}
		if got := s.marks(s.ch, s.root); !slices.Equal(got, []string{"pencil2 UBOT"}) {
			t.Errorf("%v", got)
		}
		if err := s.api.Noted(t.Context(), s.thread, "nonsense"); err != nil {
			t.Error(err)
		}
	})
}

// TestSignsNeedAPlace: addresses that aren't Slack's, and a channel as a whole, show nothing.
func TestSignsNeedAPlace(t *testing.T) {
	onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
		if shown, err := s.api.Show(t.Context(), "telegram:1", session.Sign{}, nil); err == nil || shown != nil {
			t.Errorf("%v, %v", shown, err)
		}
		whole := place{"T1", s.ch, ""}.address()
		if shown, err := s.api.Show(t.Context(), whole, session.Sign{Activity: session.ActivityThinking}, nil); err != nil || shown != nil {
			t.Errorf("%v, %v", shown, err)
		}
		for _, p := range []session.Presence{{}, {Kind: "other", Message: s.root}, {Kind: statusSign, Message: "x"}} {
			if err := s.api.Clear(t.Context(), s.thread, p); err != nil {
				t.Errorf("%+v: %v", p, err)
			}
		}
	})
}

// TestWaitingIsToldAndTakenBack: where there is no status, a place in line and a model that is being loaded are told in a message beside
// the mark, which goes once that isn't so any more; what a crash left goes too.
func TestWaitingIsToldAndTakenBack(t *testing.T) {
	onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
		s.Faults.Next(statusMethod, refusal("unknown_method"))
		shown, err := s.api.Show(t.Context(), s.thread, session.Sign{Activity: session.ActivityThinking, Message: s.root}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			activity session.Activity
			detail   string
			want     []string
		}{
			{session.ActivityQueued, "2", []string{"Two ahead of you. `!stop` withdraws."}},
			{session.ActivityQueued, "1", []string{"Two ahead of you. `!stop` withdraws."}},
			{session.ActivityThinking, "", nil},
			{session.ActivityLoading, "<m>", []string{"Loading `m`, can take minutes."}},
			{session.ActivitySlow, "", []string{"Still working."}},
			{session.ActivityThinking, "", []string{"Still working."}},
		} {
			sign := session.Sign{Activity: c.activity, Detail: c.detail, Message: s.root}
			if shown, err = s.api.Show(t.Context(), s.thread, sign, shown); err != nil {
				t.Fatal(err)
			}
			if got := s.posted(s.ch, s.root); !slices.Equal(got, c.want) || !slices.Equal(s.marks(s.ch, s.root), []string{"eyes UBOT"}) {
				t.Errorf("%s %s: %q, %v", c.activity, c.detail, got, s.marks(s.ch, s.root))
			}
		}
		if err := s.api.Clear(t.Context(), s.thread, *shown); err != nil || len(s.posted(s.ch, s.root)) != 0 || len(s.marks(s.ch, s.root)) != 0 {
			t.Errorf("%v: %v, %v", err, s.posted(s.ch, s.root), s.marks(s.ch, s.root))
		}
	})
}
