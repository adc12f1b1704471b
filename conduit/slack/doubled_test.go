package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/core/observe"
	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// TestTwinsAndAFailedCommit: whichever event of a mention comes first, and whenever its commit fails, both are acknowledged in the end
// and there is one answer (FS 43, 46). Fact A2.1; reports 43, 46.
func TestTwinsAndAFailedCommit(t *testing.T) {
	for _, order := range []simslack.Order{simslack.MessageFirst, simslack.MentionFirst} {
		for _, gap := range []time.Duration{0, time.Millisecond, 250 * time.Millisecond} {
			for name, fail := range map[string]func(*rig){
				"not put": func(r *rig) { r.mem.FailNext(session.ErrUnknown) },
				"put":     func(r *rig) { r.mem.FailNextApplied(session.ErrUnknown) },
				"twice":   func(r *rig) { r.mem.FailNext(errors.New("no room")); r.mem.FailNext(errors.New("no room")) },
			} {
				t.Run(fmt.Sprint(order, gap, name), func(t *testing.T) {
					inRig(t, simslack.Options{Order: order, TwinGap: gap}, func(t *testing.T, r *rig) {
						ann := r.AddUser("ann")
						ch := r.AddChannel("dev", ann, "UBOT")
						fail(r)
						ts := r.say(ann, ch, "@orebot one")
						time.Sleep(10 * time.Minute)
						r.wantPrompts("one")
						r.wantPosts(ch + "/" + ts + ": re: one")
						acked := map[string]bool{}
						for _, d := range r.Deliveries() {
							acked[d.Event] = acked[d.Event] || d.Acked
						}
						if acked["EvSIM0001"] != true || acked["EvSIM0002"] != true {
							t.Errorf("acked: %v", acked)
						}
					})
				})
			}
		}
	}
}

// TestRedeliveredWhileAccepting: a copy that comes while the original is on its way to the disk is acknowledged with it, not before.
// Fact A1.13.
func TestRedeliveredWhileAccepting(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann, dm := r.chatOf("ann")
		r.mem.Hold()
		r.Say(ann, dm, "slow")
		time.Sleep(4 * time.Second) // the first redelivery is there
		if d := r.Deliveries(); len(d) != 2 || d[0].Acked || d[1].Acked {
			t.Errorf("before the commit: %+v", d)
		}
		r.mem.Release()
		time.Sleep(time.Minute)
		if d := r.Deliveries(); !d[1].Acked || d[1].AckAfter > 2*time.Second {
			t.Errorf("the copy: %+v", d[1])
		}
		r.wantPrompts("slow")
		r.wantPosts(dm + ": re: slow")
	})
}

// TestRetryAttemptsAreNoDuplicates: what is seen first with a retry number is a message like any other (FS 43). Fact A1.12; report 43.
func TestRetryAttemptsAreNoDuplicates(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		for attempt := range 4 {
			f := fmt.Sprintf(`{"envelope_id":"e%[1]d","type":"events_api","retry_attempt":%[1]d,"retry_reason":"timeout","payload":{"type":"event_callback",
				"event_id":"Ev1","event":{"type":"message","channel_type":"im","channel":"D7","user":"U7","text":"try %[1]d","ts":"179598240%[1]d.000100"}}}`, attempt)
			for range 2 { // the same envelope comes again after a reconnect
				if err := r.Push(json.RawMessage(f)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Second)
			}
		}
		r.wantPosts("D7: re: try 0", "D7: re: try 1", "D7: re: try 2", "D7: re: try 3")
	})
}

// TestCutsEverywhere: the connection is lost at any moment around a message, in both orders of its events, and Slack resends what it
// holds for lost; there is one answer (FS 43, 46, 53). Fact A1.13; reports 43, 53.
func TestCutsEverywhere(t *testing.T) {
	for at := range 12 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			o := simslack.Options{Order: simslack.AnyOrder, Seed: uint64(at), TwinGap: 3 * time.Millisecond, Resend: at%2 == 0}
			inRig(t, o, func(t *testing.T, r *rig) {
				ann := r.AddUser("ann")
				ch := r.AddChannel("dev", ann, "UBOT")
				if at%3 == 0 {
					r.mem.Hold()
				}
				ts := r.Say(ann, ch, "@orebot one")
				time.Sleep(time.Duration(at) * time.Millisecond / 2)
				r.Cut()
				time.Sleep(700 * time.Millisecond)
				r.mem.Release()
				time.Sleep(10 * time.Minute)
				r.wantPrompts("one")
				r.wantPosts(ch + "/" + ts + ": re: one")
				if st := r.Stats(); st.Lost != 0 {
					t.Errorf("%d lost", st.Lost)
				}
			})
		})
	}
}

// TestBotsInAThread: what another app's bot writes in a conversation is neither a prompt nor the voice of a second person (FS 63).
// Fact A3.3; report 63.
func TestBotsInAThread(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann, robo := r.AddUser("ann"), r.AddUser("robo", simslack.OtherBot())
		ch, dm := r.AddChannel("dev", ann, robo, "UBOT"), r.OpenDM(robo)
		ts := r.say(ann, ch, "@orebot one")
		r.say(robo, ch, "beep", simslack.InThread(ts))
		r.say(robo, ch, "@orebot beep", simslack.InThread(ts))
		r.say(robo, dm, "beep")
		r.say(ann, ch, "two", simslack.InThread(ts))
		r.wantPrompts("one", "two")
		r.wantPosts(ch+"/"+ts+": re: one", ch+"/"+ts+": re: two")
		if n := r.counts.get(observe.Ignored, Name, ignoredOwn); n != 2 {
			t.Errorf("%v own posts came back", n)
		}
	})
}

// TestHugeFrames: what is as large as anything can be is read and acknowledged; one beyond the limit costs a connection, not the rest.
// Facts A1.6, B.17.
func TestHugeFrames(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		if err := r.WaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		frame := func(id, more string) json.RawMessage {
			return json.RawMessage(`{"envelope_id":"` + id + `","type":"events_api","payload":{"event":{"type":"reaction_added","x":` + more + `}}}`)
		}
		deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
		for _, f := range []json.RawMessage{frame("e1", deep(9000)), frame("e2", `"`+strings.Repeat("x", 3<<20)+`"`)} {
			if err := r.Push(f); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		r.allAcked(time.Second)
		for _, f := range []string{`{"x":` + deep(20_000) + `}`, `"` + strings.Repeat("x", readLimit) + `"`} {
			if err := r.Push(json.RawMessage(f)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			r.answersNext()
		}
	})
}

// TestLimitsInEverySpelling: a limit is obeyed however Slack tells of it, and is no unknown outcome. Facts A6.2, B.11.
func TestLimitsInEverySpelling(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann, dm := r.chatOf("ann")
		r.Faults.Next("chat.postMessage", fault.Fault{Status: 429}, refusal("rate_limited"), refusal("ratelimited"), fault.Fault{Status: 429, Retry: time.Second})
		begin := time.Now()
		r.Say(ann, dm, "one")
		time.Sleep(3 * time.Minute)
		r.wantPosts(dm + ": re: one")
		calls := r.Calls("chat.postMessage")
		i := slices.IndexFunc(calls, func(at time.Time) bool { return !at.Before(begin.Add(3 * defaultWait)) })
		if len(calls) != 5 || i != 3 {
			t.Errorf("posts at %v", calls)
		}
		if n := r.counts.get(observe.Repeats, Name); n != 0 {
			t.Errorf("%v repeats", n)
		}
	})
}
