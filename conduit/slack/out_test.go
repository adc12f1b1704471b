package slack

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/core/observe"
	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// refusal is an answer that says no.
func refusal(code string) fault.Fault {
	return fault.Fault{Status: 200, Body: fmt.Sprintf(`{"ok":false,"error":%q}`, code)}
}

// chatOf adds somebody, and returns the id and the DM.
func (r *rig) chatOf(name string) (user, dm string) {
	user = r.AddUser(name)
	return user, r.OpenDM(user)
}

// long answers in at least three parts of numbered words.
func long(string) string {
	var b strings.Builder
	for i := range 1400 {
		fmt.Fprintf(&b, "w%05d ", i)
	}
	return b.String()
}

// wholeAnswer checks that what the bot says in a place is what long says, each word once and in order.
func (r *rig) wholeAnswer(channel string) {
	r.t.Helper()
	var got []string
	n := 0
	for _, m := range r.Thread(channel, "") {
		if m.BotID != "" {
			n++
			got = append(got, strings.Fields(m.Text)...)
		}
	}
	if want := strings.Fields(long("")); strings.Join(got, " ") != strings.Join(want, " ") || n < 3 {
		r.t.Errorf("%d messages with %d of %d words", n, len(got), len(want))
	}
}

// TestO1LimitedInTheMiddle: facts A6.2, O.1.
func TestO1LimitedInTheMiddle(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann, dm := r.chatOf("ann")
		ben, other := r.chatOf("ben")
		r.model.say(long)
		r.Faults.Next("chat.postMessage", fault.Fault{}, fault.Fault{Status: 429, Retry: 2 * time.Second})
		r.Say(ann, dm, "go")
		time.Sleep(100 * time.Millisecond)
		r.model.say(nil)
		r.Say(ben, other, "and me")
		time.Sleep(1500 * time.Millisecond)
		if got := r.Thread(other, ""); len(got) != 2 {
			t.Errorf("the other conversation waits: %+v", got)
		}
		time.Sleep(time.Minute)
		r.wholeAnswer(dm)
	})
}

// TestThreadsOfAChannelWaitTogether: a limit met in one thread is the channel's, and no other conversation's. Facts A6.1, O.1.
func TestThreadsOfAChannelWaitTogether(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		ch := r.AddChannel("dev", ann, "UBOT")
		ben, other := r.chatOf("ben")
		r.Faults.Next("chat.postMessage", fault.Fault{Status: 429, Retry: 26 * time.Second})
		one := r.Say(ann, ch, "@orebot one")
		time.Sleep(2 * time.Second)
		two := r.Say(ann, ch, "@orebot two")
		r.Say(ben, other, "and me")
		time.Sleep(10 * time.Second)
		if n := len(r.Calls("chat.postMessage")); n != 2 || len(r.Thread(other, "")) != 2 {
			t.Errorf("%d posts were tried, %d messages stand in the other conversation", n, len(r.Thread(other, "")))
		}
		time.Sleep(time.Minute)
		if a, b := len(r.Thread(ch, one)), len(r.Thread(ch, two)); a != 2 || b != 2 {
			t.Errorf("the threads hold %d and %d messages", a, b)
		}
	})
}

// TestO2DeletedRoot: Slack puts a reply to a deleted root at top level; it doesn't stay there (FS 56). Facts A4.3, O.2; report 56.
func TestO2DeletedRoot(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		ch := r.AddChannel("dev", ann, "UBOT")
		r.model.think(10 * time.Second)
		ts := r.Say(ann, ch, "@orebot one")
		time.Sleep(time.Second)
		r.Delete(ch, ts)
		time.Sleep(time.Minute)
		if got := r.Thread(ch, ""); len(got) != 0 {
			t.Errorf("in the channel stands %+v", got)
		}
		r.model.think(0)
		two := r.say(ann, ch, "@orebot two")
		if got := r.Thread(ch, two); len(got) != 2 {
			t.Errorf("the next thread: %+v", got)
		}
	})
}

// TestO3Cut: the connection is cut when the message was stored, or before it is: it is there once. Facts A7.13, B.12, O.3.
func TestO3Cut(t *testing.T) {
	for name, f := range map[string]fault.Fault{
		"stored": {Cut: true}, "stored later": {CutDo: 2 * time.Second}, "not stored": {Reset: true}, "hang": {Hang: true},
		"garbage": {Status: 200, Body: "<html>sign in</html>"}, "O8 no error": {Status: 200, Body: `{"ok":false}`},
		"empty": {Status: 200, Body: "{}"}, "fatal_error": refusal("fatal_error"), "internal_error": refusal("internal_error"),
		"502": {Status: 502, Body: "<html>bad gateway</html>"}, "500": {Status: 500},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
				ann, dm := r.chatOf("ann")
				ch := r.AddChannel("dev", ann, "UBOT")
				r.model.say(long)
				r.Faults.Next("chat.postMessage", fault.Fault{}, f)
				r.say(ann, dm, "go")
				time.Sleep(2 * time.Minute)
				r.wholeAnswer(dm)
				r.model.say(nil)
				r.Faults.Next("chat.postMessage", f)
				r.Faults.Next("conversations.replies", fault.Fault{Status: 429, Retry: time.Minute}, fault.Fault{Status: 500}) // FS 17
				ts := r.say(ann, ch, "@orebot in a thread")
				time.Sleep(5 * time.Minute)
				if got := r.Thread(ch, ts); len(got) != 2 || got[1].Text != "re: in a thread" {
					t.Errorf("the thread shows %+v", got)
				}
				if n := r.counts.get(observe.Repeats, Name); n != 0 {
					t.Errorf("%v labelled repeats", n)
				}
			})
		})
	}
}

// TestLookUpRefused: where Slack will never tell what is there, a part is repeated once, with its label. Fact A7.13.
func TestLookUpRefused(t *testing.T) {
	inRig(t, simslack.Options{Scopes: []string{"chat:write", "users:read"}}, func(t *testing.T, r *rig) {
		ann, dm := r.chatOf("ann")
		r.Faults.Next("chat.postMessage", fault.Fault{Cut: true})
		r.say(ann, dm, "go")
		time.Sleep(time.Minute)
		r.wantPosts(dm+": re: go", dm+": (this part may be a repeat)\nre: go")
	})
}

// TestO4RefusedMarkupGoesPlain: facts A7.9, O.4.
func TestO4RefusedMarkupGoesPlain(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann, dm := r.chatOf("ann")
		r.model.say(func(string) string { return "**bold** <!channel> & more" })
		r.Faults.Next("chat.postMessage", refusal("invalid_blocks"))
		r.say(ann, dm, "go")
		r.wantPosts(dm + ": **bold** <!channel> & more")
		for _, l := range r.Transcript() {
			if len(l.Pings) > 0 && l.User == "UBOT" {
				t.Errorf("live: %v", l.Pings)
			}
		}
	})
}

// TestO5TooLongIsHalved: facts A7.8, O.5.
func TestO5TooLongIsHalved(t *testing.T) {
	for _, code := range []string{"msg_too_long", "msg_blocks_too_long"} {
		inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
			ann, dm := r.chatOf("ann")
			r.model.say(long)
			r.Faults.Next("chat.postMessage", refusal(code))
			r.say(ann, dm, "go")
			time.Sleep(time.Minute)
			r.wholeAnswer(dm)
			if first := r.Thread(dm, "")[1]; len(first.Text) > maxText/2 {
				t.Errorf("the first part has %d characters", len(first.Text))
			}
		})
	}
}

// TestO6ClosedConversation: facts A7.4, O.6.
func TestO6ClosedConversation(t *testing.T) {
	for name, end := range map[string]func(*rig, string){
		"left":     func(r *rig, ch string) { r.Part(ch, "UBOT") },
		"archived": func(r *rig, ch string) { r.Archive(ch) },
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
				ann, dm := r.chatOf("ann")
				ch := r.AddChannel("dev", ann, "UBOT")
				r.model.think(5 * time.Second)
				r.Say(ann, ch, "@orebot one")
				time.Sleep(time.Second)
				end(r, ch)
				r.say(ann, dm, "two")
				time.Sleep(time.Hour)
				r.wantPosts(dm + ": re: two")
				if n := len(r.Calls("chat.postMessage")); n != 2 {
					t.Errorf("%d posts were tried", n)
				}
			})
		})
	}
}

// TestO7Revoked: facts A7.1, O.7.
func TestO7Revoked(t *testing.T) {
	for _, code := range []string{"token_revoked", "account_inactive"} {
		t.Run(code, func(t *testing.T) {
			inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
				ann, dm := r.chatOf("ann")
				r.Faults.Next("chat.postMessage", refusal(code))
				r.Say(ann, dm, "one")
				time.Sleep(time.Minute)
				err := <-r.done
				var e *conduit.Error
				if !errors.As(err, &e) || e.Class != conduit.Dead {
					t.Errorf("Run returned %v", err)
				}
				if ready, reason, _ := r.health.state(); ready || !strings.Contains(reason, code) {
					t.Errorf("health %v, %q", ready, reason)
				}
				if n := r.logs.count(observe.MsgCredentialsRefused); n != 1 {
					t.Errorf("%d log lines", n)
				}
				r.start() // the operator has acted: nothing was lost
				time.Sleep(time.Minute)
				r.wantPosts(dm + ": re: one")
			})
		})
	}
}

// TestPosts checks what a post carries. Facts A4.1, A5.9, B.18.
func TestPosts(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		ch := r.AddChannel("dev", ann, "UBOT")
		r.model.say(func(string) string { return "**hi** <!channel> <@U1> & https://example.com" })
		ts := r.say(ann, ch, "@orebot one")
		got := r.Thread(ch, ts)
		if len(got) != 2 || !strings.HasPrefix(got[1].Text, "*hi* &lt;!channel&gt; &lt;@U1&gt; &amp; ") {
			t.Fatalf("posted %+v", got)
		}
		st, err := r.mem.Address(t.Context(), place{team: "T1", channel: ch, thread: ts}.address())
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`{"event_type":"orebot_part","event_payload":{"offset":0,"turn":"%s.2"}}`, st.Binding.Thread)
		if string(got[1].Metadata) != want {
			t.Errorf("metadata %s, want %s", got[1].Metadata, want)
		}
		if ref, ok, err := r.mem.Message(t.Context(), place{team: "T1", channel: ch, thread: ts}.address(), got[1].TS); !ok || err != nil || ref.Seq != 2 {
			t.Errorf("index: %+v, %v, %v", ref, ok, err)
		}
	})
}

// TestPostParameters: nothing that a model wrote is unfurled, linked or styled by Slack's own doing. Fact A5.11.
func TestPostParameters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, api, m, end := dialMangled(simslack.Options{})
		defer end()
		ann := sim.AddUser("ann")
		ch := sim.AddChannel("dev", ann, "UBOT")
		root := sim.Say(ann, ch, "hi")
		p := &poster{api: api, log: slog.New(slog.DiscardHandler)}
		for _, plain := range []bool{false, true} {
			_, err := p.Post(t.Context(), place{"T1", ch, root}.address(), conduit.Item{}, conduit.Part{Offset: 7, Body: body{text: "x", plain: plain}})
			if err != nil {
				t.Fatal(err)
			}
			f := *m.last.Load()
			want := map[string]string{
				"channel": ch, "text": "x", "thread_ts": root, "unfurl_links": "false", "unfurl_media": "false", "link_names": "", "parse": "",
				"blocks": "", "reply_broadcast": "", "mrkdwn": map[bool]string{false: "", true: "false"}[plain],
			}
			for key, value := range want {
				if f.Get(key) != value {
					t.Errorf("plain %v: %s is %q, want %q", plain, key, f.Get(key), value)
				}
			}
		}
	})
}

func TestPostsToNoAddressOfSlack(t *testing.T) {
	p := &poster{api: Dial(Account{})}
	for _, a := range []session.Address{"telegram:1", "slack:", "slack:T1", "slack:T1/c1", "slack:T1/C1/x", "slack:T1/C1/1.2/3", "slack:T1//1.2"} {
		var e *conduit.Error
		if _, err := p.Post(t.Context(), a, conduit.Item{}, conduit.Part{}); !errors.As(err, &e) || e.Class != conduit.Gone {
			t.Errorf("post to %q: %v", a, err)
		}
		if _, _, err := p.Find(t.Context(), a, conduit.Item{}, 0); !errors.As(err, &e) || e.Class != conduit.Gone {
			t.Errorf("look-up in %q: %v", a, err)
		}
	}
}
