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

// say lets a user write and waits until everything is over.
func (r *rig) say(user, channel, text string, opts ...simslack.SayOption) string {
	r.t.Helper()
	ts := r.Say(user, channel, text, opts...)
	if ts == "" {
		r.t.Fatalf("%s can't write %q to %s", user, text, channel)
	}
	time.Sleep(15 * time.Second)
	return ts
}

// TestTwins: fact A2.1; report 46.
func TestTwins(t *testing.T) { // FS 46
	for name, order := range map[string]simslack.Order{"message first": simslack.MessageFirst, "mention first": simslack.MentionFirst} {
		for _, gap := range []time.Duration{0, 250 * time.Millisecond, 5 * time.Second} {
			t.Run(fmt.Sprint(name, " ", gap), func(t *testing.T) {
				inRig(t, simslack.Options{Order: order, TwinGap: gap}, func(t *testing.T, r *rig) {
					ann := r.AddUser("ann")
					ch := r.AddChannel("dev", ann, "UBOT")
					ts := r.say(ann, ch, "@orebot one")
					r.wantPrompts("one")
					r.wantPosts(ch + "/" + ts + ": re: one")
					r.allAcked(time.Second)
					if n := r.counts.get(observe.Duplicates, Name); n != 1 {
						t.Errorf("%v duplicates counted", n)
					}
				})
			})
		}
	}
}

// TestConversations: a root and its thread are one conversation (FS 58), answers stand in their thread (FS 56), and unfurls bring no
// turns (FS 48). Facts A2.5, A4.1, A4.2, B.9; reports 48, 56, 58.
func TestConversations(t *testing.T) {
	inRig(t, simslack.Options{Unfurl: true, Seed: 3, Order: simslack.AnyOrder}, func(t *testing.T, r *rig) {
		ann, ben := r.AddUser("ann"), r.AddUser("ben")
		dm, ch := r.OpenDM(ann), r.AddChannel("dev", ann, ben, "UBOT")
		var want []string
		expect := func(where, text string) {
			t.Helper()
			want = append(want, where+": re: "+text)
			r.wantPosts(want...)
		}
		root := r.say(ann, dm, "flat")
		expect(dm, "flat")
		r.say(ann, dm, "in a thread", simslack.InThread(root)) // another conversation
		expect(dm+"/"+root, "in a thread")
		r.say(ann, ch, "nobody asked")
		r.wantPosts(want...)
		one := r.say(ann, ch, "@orebot: one")
		expect(ch+"/"+one, "one")
		r.say(ann, ch, "follow-up", simslack.InThread(one))
		expect(ch+"/"+one, "follow-up")
		r.say(ann, ch, "@ben look", simslack.InThread(one)) // opens with somebody else's mention
		r.wantPosts(want...)
		two := r.say(ben, ch, "hey @orebot two")
		expect(ch+"/"+two, "hey @orebot two")
		r.say(ben, ch, "me too", simslack.InThread(one)) // the second writer
		r.say(ann, ch, "not for you now", simslack.InThread(one))
		r.wantPosts(want...)
		r.say(ann, ch, "@orebot again", simslack.InThread(one), simslack.Broadcast())
		if got := r.posts(); len(got) != len(want)+1 || !strings.HasPrefix(got[len(want)], ch+"/"+one+": re: ") {
			t.Errorf("after two writers: %q", got[len(want):])
		}
		r.allAcked(time.Second)
	})
}

// TestGroupDM: facts A2.2, A2.3.
func TestGroupDM(t *testing.T) { // case 16: with or without the second event
	for _, twin := range []bool{false, true} {
		t.Run(fmt.Sprint(twin), func(t *testing.T) {
			inRig(t, simslack.Options{MPIMTwin: twin}, func(t *testing.T, r *rig) {
				ann, ben := r.AddUser("ann"), r.AddUser("ben")
				ch := r.AddConversation(simslack.MPIM, "", ann, ben, "UBOT")
				ts := r.say(ann, ch, "@orebot hi")
				r.say(ben, ch, "hi ann")
				r.wantPosts(ch + "/" + ts + ": re: hi")
			})
		})
	}
}

// TestWhoMayTalk: facts A3.3, A3.4, A3.5; reports 47, 63.
func TestWhoMayTalk(t *testing.T) { // FS 47, 63
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		guest, other, stranger := r.AddUser("gus", simslack.Guest()), r.AddUser("robo", simslack.OtherBot()), r.AddUser("eve", simslack.External("T9"))
		dev, ext := r.AddChannel("dev", guest, other, "UBOT"), r.AddChannel("ext", stranger, "UBOT")
		g := r.say(guest, dev, "@orebot guest")
		r.say(other, dev, "@orebot bot")
		s := r.say(stranger, ext, "@orebot stranger")
		r.wantPrompts()
		if n := r.counts.get(observe.Ignored, Name, session.IgnoredBot); n != 2 { // both of its events
			t.Errorf("%v messages of bots ignored: %v", n, r.counts.n)
		}
		r.wantPosts(dev+"/"+g+" to "+guest+": ⚠️ I only answer full members of this workspace. (ref …)", ext+"/"+s+" to "+stranger+": ⚠️ I only answer people of this workspace. (ref …)")
		r.allAcked(time.Second)
	})
}

// TestOwnPostsComeBack: every post of the bot comes back as an event, and a second one as the unfurl of its links (cases 05 to
// 07, FS 47, 48). Facts A2.7, A3.2, A5.11; reports 47, 48.
func TestOwnPostsComeBack(t *testing.T) {
	inRig(t, simslack.Options{Unfurl: true}, func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		dm := r.OpenDM(ann)
		r.model.say(func(string) string { return "see https://example.com @orebot" })
		r.say(ann, dm, "link please")
		time.Sleep(10 * time.Minute)
		r.wantPosts(dm + ": see https://example.com @orebot")
		r.wantPrompts("link please")
		if own, edits := r.counts.get(observe.Ignored, Name, ignoredOwn), r.counts.get(observe.Ignored, Name, ignoredEdit); own != 1 || edits != 1 {
			t.Errorf("%v own posts and %v edits ignored", own, edits)
		}
		r.allAcked(time.Second)
	})
}

// TestFailedCommit: what isn't durable isn't acknowledged, comes again, and is answered once. Fact A1.11.
func TestFailedCommit(t *testing.T) {
	for name, fail := range map[string]func(*rig){
		"not put": func(r *rig) { r.mem.FailNext(session.ErrUnknown) },
		"put":     func(r *rig) { r.mem.FailNextApplied(session.ErrUnknown) },
		"paused":  func(r *rig) { r.mem.FailNext(session.ErrPaused) },
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
				ann := r.AddUser("ann")
				dm := r.OpenDM(ann)
				fail(r)
				r.say(ann, dm, "again")
				r.wantPrompts("again")
				r.wantPosts(dm + ": re: again")
				d := r.Deliveries()
				d = slices.DeleteFunc(d, func(d simslack.Delivery) bool { return d.Event != "EvSIM0001" })
				if len(d) != 2 || d[0].Acked || !d[1].Acked || d[1].Attempt != 1 {
					t.Errorf("deliveries: %+v", d)
				}
			})
		})
	}
}

// TestHeldStore: no ack before the disk has it, and none is lost when it takes long (FS 43, 44). Fact A1.5; report 44.
func TestHeldStore(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		dm := r.OpenDM(ann)
		time.Sleep(time.Second)
		r.mem.Hold()
		r.Say(ann, dm, "slow disk")
		time.Sleep(2 * time.Second)
		if st := r.Stats(); st.Acked != 0 {
			t.Errorf("%d acks before anything was durable", st.Acked)
		}
		time.Sleep(8 * time.Second)
		r.mem.Release()
		time.Sleep(2 * time.Minute)
		r.wantPrompts("slow disk")
		r.wantPosts(dm + ": re: slow disk")
	})
}

// TestSlowModel: acks don't wait for the model, and a connection that is refreshed meanwhile costs nothing (FS 44, O13).
// Facts A1.5, O.13; report 44.
func TestSlowModel(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		r.model.think(5 * time.Minute)
		ann := r.AddUser("ann")
		dm := r.OpenDM(ann)
		r.say(ann, dm, "think")
		r.Disconnect(simslack.RefreshRequested)
		time.Sleep(10 * time.Minute)
		r.wantPosts(dm + ": re: think")
		r.allAcked(time.Second)
	})
}

// TestRestart: a message that was durable but not acknowledged before the end comes again in the next life, and is answered once
// (FS 43, 53). What was asked while nobody was there is answered from the redelivery. Facts A1.11, A1.13; reports 43, 53.
func TestRestart(t *testing.T) {
	inRig(t, simslack.Options{Resend: true}, func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		dm := r.OpenDM(ann)
		r.say(ann, dm, "first")
		r.mem.Hold()
		r.Say(ann, dm, "second")
		time.Sleep(100 * time.Millisecond)
		r.Cut() // before the ack
		r.mem.Release()
		time.Sleep(time.Second)
		r.end()
		r.Say(ann, dm, "third")
		r.start()
		time.Sleep(10 * time.Minute)
		r.wantPrompts("first", "second", "third")
		r.wantPosts(dm+": re: first", dm+": re: second", dm+": re: third")
	})
}

// TestGarbageFrames is case 22: what isn't JSON at all, then a good one. Facts A1.16, B.1.
func TestGarbageFrames(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		if err := r.WaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{"", "not json", "[1,2]", "null", `"x"`, `{"envelope_id":7}`, `{"envelope_id":"e1"}`,
			`{"envelope_id":"e2","type":"brand_new","payload":[1]}`, `{"envelope_id":"e3","type":"events_api","payload":"text"}`,
			`{"envelope_id":"e4","type":"events_api"}`, `{"envelope_id":"e5","type":"interactive","payload":{"type":3}}`,
			`{"envelope_id":"e6","type":"slash_commands","payload":[],"accepts_response_payload":true}`,
			`{"envelope_id":"e7","type":"events_api","payload":{"event":{"type":"message","channel":"C1/..","ts":"1.2","user":"U1"}}}`,
			`{"envelope_id":"e8","type":"events_api","payload":{"event":{"type":"message","channel":["C1"],"ts":{},"user":true}}}`,
		} {
			if err := r.Push(json.RawMessage(f)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		r.allAcked(time.Second)
		r.answersNext()
		if n := len(r.Calls("apps.connections.open")); n != 1 {
			t.Errorf("%d connections", n)
		}
		if n := r.counts.get(observe.Ignored, Name, ignoredInvalid); n != 5 {
			t.Errorf("%v counted as invalid: %v", n, r.counts.n)
		}
	})
}

// TestQuit: when the conduit quits it takes nothing more in, and goes on delivering; Settle waits for that.
func TestQuit(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		dm := r.OpenDM(ann)
		r.say(ann, dm, "first")
		r.Faults.Next("chat.postMessage", fault.Fault{Status: 429, Retry: 20 * time.Second})
		r.say(ann, dm, "second")
		close(r.quit)
		time.Sleep(time.Second)
		if n := r.Connections(); n != 0 {
			t.Errorf("%d connections after the end of the intake", n)
		}
		r.Say(ann, dm, "third")
		begin := time.Now()
		r.s.Settle(t.Context())
		if d := time.Since(begin); d < time.Second || d > 10*time.Second {
			t.Errorf("Settle took %v", d)
		}
		r.wantPosts(dm+": re: first", dm+": re: second")
		if d := r.Deliveries(); d[len(d)-1].Acked {
			t.Error("a message was taken in after the end")
		}
	})
}

func TestConfigIsChecked(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("an empty configuration is taken")
	}
	if _, err := New(Config{API: Dial(Account{}), Sessions: &session.Manager{}}); err == nil || errors.Is(err, errPayload) {
		t.Errorf("no store, and %v", err)
	}
}

// TestTwoBotsCannotTalkEachOtherToDeath: where bots are answered, a bot that answers every answer gets no more than a few. Fact A3.3.
func TestTwoBotsCannotTalkEachOtherToDeath(t *testing.T) {
	prepare := func(r *rig) {
		r.config = func(c *session.Config) {
			p := c.Platforms[Name]
			p.Policy.Bots = true
			c.Platforms[Name] = p
		}
	}
	inRigWith(t, simslack.Options{TwinGap: time.Second}, prepare, func(t *testing.T, r *rig) {
		ann, other := r.AddUser("ann"), r.AddUser("robo", simslack.OtherBot())
		ch := r.AddChannel("dev", ann, other, "UBOT")
		root := r.say(other, ch, "@orebot hello")
		for range 30 {
			r.say(other, ch, "@orebot and you?", simslack.InThread(root))
		}
		if n := len(r.posts()); n != 6 {
			t.Errorf("%d answers to a bot", n)
		}
		r.say(ann, ch, "@orebot stop that", simslack.InThread(root))
		r.say(other, ch, "@orebot pardon?", simslack.InThread(root))
		if n := len(r.posts()); n != 8 {
			t.Errorf("%d answers after a person has joined in", n)
		}
	})
}
