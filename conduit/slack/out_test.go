package slack

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
	"orebot/core/ledger"
	"orebot/core/loop"
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

func TestO1LimitedInTheMiddle(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann, dm := r.chatOf("ann")
		ben, other := r.chatOf("ben")
		r.model.reply = long
		r.Faults.Next("chat.postMessage", fault.Fault{}, fault.Fault{Status: 429, Retry: 2 * time.Second})
		r.Say(ann, dm, "go")
		time.Sleep(100 * time.Millisecond)
		r.model.reply = nil
		r.Say(ben, other, "and me")
		time.Sleep(1500 * time.Millisecond)
		if got := r.Thread(other, ""); len(got) != 2 {
			t.Errorf("the other conversation waits: %+v", got)
		}
		time.Sleep(time.Minute)
		r.wholeAnswer(dm)
	})
}

// TestO2DeletedRoot: Slack puts a reply to a deleted root at top level; it doesn't stay there (FS 56).
func TestO2DeletedRoot(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		ch := r.AddChannel("dev", ann, "UBOT")
		r.model.delay = 10 * time.Second
		ts := r.Say(ann, ch, "@orebot one")
		time.Sleep(time.Second)
		r.Delete(ch, ts)
		time.Sleep(time.Minute)
		if got := r.Thread(ch, ""); len(got) != 0 {
			t.Errorf("in the channel stands %+v", got)
		}
		r.model.delay = 0
		two := r.say(ann, ch, "@orebot two")
		if got := r.Thread(ch, two); len(got) != 2 {
			t.Errorf("the next thread: %+v", got)
		}
	})
}

// TestO3Cut: the connection is cut when the message was stored, or before it is: it is there once.
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
				r.model.reply = long
				r.Faults.Next("chat.postMessage", fault.Fault{}, f)
				r.say(ann, dm, "go")
				time.Sleep(2 * time.Minute)
				r.wholeAnswer(dm)
				r.model.reply = nil
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

// TestLookUpRefused: where Slack will never tell what is there, a part is repeated once, with its label.
func TestLookUpRefused(t *testing.T) {
	inRig(t, simslack.Options{Scopes: []string{"chat:write", "users:read"}}, func(t *testing.T, r *rig) {
		ann, dm := r.chatOf("ann")
		r.Faults.Next("chat.postMessage", fault.Fault{Cut: true})
		r.say(ann, dm, "go")
		time.Sleep(time.Minute)
		r.wantPosts(dm+": re: go", dm+": (this part may be a repeat)\nre: go")
	})
}

func TestO4RefusedMarkupGoesPlain(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann, dm := r.chatOf("ann")
		r.model.reply = func(string) string { return "**bold** <!channel> & more" }
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

func TestO5TooLongIsHalved(t *testing.T) {
	for _, code := range []string{"msg_too_long", "msg_blocks_too_long"} {
		inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
			ann, dm := r.chatOf("ann")
			r.model.reply = long
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

func TestO6ClosedConversation(t *testing.T) {
	for name, end := range map[string]func(*rig, string){
		"left":     func(r *rig, ch string) { r.Part(ch, "UBOT") },
		"archived": func(r *rig, ch string) { r.Archive(ch) },
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
				ann, dm := r.chatOf("ann")
				ch := r.AddChannel("dev", ann, "UBOT")
				r.model.delay = 5 * time.Second
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

func TestO7Revoked(t *testing.T) {
	for _, code := range []string{"token_revoked", "account_inactive", "missing_scope"} {
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

// TestPosts checks what a post carries.
func TestPosts(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		ch := r.AddChannel("dev", ann, "UBOT")
		r.model.reply = func(string) string { return "**hi** <!channel> <@U1> & https://example.com" }
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

// TestErrorTable is table A7 of what Slack's codes mean, and every other way in which a call can fail.
func TestErrorTable(t *testing.T) {
	rows := map[conduit.Class]string{
		conduit.Dead: "invalid_auth not_authed account_inactive token_revoked token_expired user_removed_from_team team_disabled " +
			"missing_scope not_allowed_token_type team_access_not_granted",
		conduit.Gone: "no_permission access_denied org_login_required ekm_access_denied enterprise_is_restricted messages_tab_disabled " +
			"as_user_not_supported channel_not_found not_in_channel is_archived is_inactive user_not_in_channel cannot_reply_to_message " +
			"restricted_action restricted_action_read_only_channel restricted_action_thread_only_channel " +
			"restricted_action_non_threadable_channel restricted_action_thread_locked user_not_found cannot_dm_bot",
		conduit.TooBig:     "msg_too_long msg_blocks_too_long",
		conduit.Malformed:  "invalid_blocks invalid_blocks_format markdown_text_conflict block_mismatch invalid_arguments unsupported no_text a_new_code",
		conduit.RetryAfter: "ratelimited rate_limited message_limit_exceeded",
		conduit.Retry:      "service_unavailable request_timeout team_added_to_org",
		conduit.Unknown:    "internal_error fatal_error",
	}
	for class, codes := range rows {
		for _, code := range strings.Fields(codes) {
			e := classify(fmt.Errorf("slack: %w", slackgo.SlackErrorResponse{Err: code}))
			if e.Class != class || (e.After > 0) != (class == conduit.RetryAfter) {
				t.Errorf("%s: %s after %v, want %s", code, e.Class, e.After, class)
			}
		}
	}
	_, number := strconv.ParseInt("soon", 10, 64)
	for _, c := range []struct {
		err   error
		class conduit.Class
		after time.Duration
	}{
		{&slackgo.RateLimitedError{RetryAfter: 7 * time.Second}, conduit.RetryAfter, 7 * time.Second},
		{&slackgo.RateLimitedError{}, conduit.RetryAfter, time.Second},
		{slackgo.StatusCodeError{Code: 429}, conduit.RetryAfter, defaultWait},
		{number, conduit.RetryAfter, defaultWait},
		{slackgo.StatusCodeError{Code: 500}, conduit.Unknown, 0},
		{slackgo.StatusCodeError{Code: 502}, conduit.Unknown, 0},
		{slackgo.StatusCodeError{Code: 503}, conduit.Retry, 0},
		{slackgo.StatusCodeError{Code: 504}, conduit.Unknown, 0},
		{slackgo.StatusCodeError{Code: 413}, conduit.TooBig, 0},
		{slackgo.StatusCodeError{Code: 407}, conduit.Retry, 0},
		{slackgo.StatusCodeError{Code: 302}, conduit.Retry, 0},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, conduit.Retry, 0},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, conduit.Unknown, 0},
		{&net.DNSError{Err: "no such host"}, conduit.Retry, 0},
		{errors.New("invalid character '<'"), conduit.Unknown, 0},
	} {
		if e := classify(fmt.Errorf("slack: %w", c.err)); e.Class != c.class || e.After != c.after {
			t.Errorf("%v: %s after %v, want %s after %v", c.err, e.Class, e.After, c.class, c.after)
		}
	}
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

func TestHeads(t *testing.T) {
	item := func(k conduit.Kind, s loop.Severity, author, source string) conduit.Item {
		return conduit.Item{Kind: k, Severity: s, Author: author, Source: source, Turn: ledger.TurnID{Seq: 1}}
	}
	for want, it := range map[string]conduit.Item{
		"✅ done":                            item(conduit.Notice, loop.SeveritySuccess, "", "done"),
		"ℹ️ note":                           item(conduit.Notice, loop.SeverityInfo, "", "note"),
		"⚠️ *careful*":                      item(conduit.Notice, loop.SeverityWarn, "", "**careful**"),
		"❌\n```\nbad\n```":                  item(conduit.Notice, loop.SeverityError, "", "```\nbad\n```"),
		"*8246* wrote on telegram: hi":      item(conduit.Attributed, 0, "telegram:8246", "hi"),
		"*Ub* wrote on slack:\n> quoted":    item(conduit.Attributed, 0, "slack:U*b", "> quoted"),
		"*Somebody* wrote elsewhere: hello": item(conduit.Attributed, 0, "", "hello"),
		"&lt;!channel&gt; hi":               item(conduit.Answer, 0, "", "<!channel> hi"),
	} {
		p, err := Renderer{}.Part(it, 0, conduit.Shape{})
		if err != nil || p.Text != want {
			t.Errorf("%q, %v; want %q", p.Text, err, want)
		}
		r, err := Renderer{}.Part(it, 0, conduit.Shape{Repeat: true})
		if err != nil || r.Text != repeatLabel+want {
			t.Errorf("repeated %q, %v", r.Text, err)
		}
	}
}

// FuzzParts: parts of any source, in any shape, are within the limit, hold nothing live, and come to an end.
func FuzzParts(f *testing.F) {
	f.Add("hello **world**", true, uint8(3), true)
	f.Add(strings.Repeat("<&>", 3000), true, uint8(0), false)
	f.Add(strings.Repeat("é漢👩‍👩‍👧 \xff", 700), false, uint8(1), true)
	f.Fuzz(func(t *testing.T, source string, plain bool, shrink uint8, repeat bool) {
		it := conduit.Item{Kind: conduit.Attributed, Author: "telegram:" + source[:min(len(source), 80)], Source: source}
		how := conduit.Shape{Plain: plain, Shrink: shrink % 4, Repeat: repeat}
		for off, n := 0, 0; off < len(source); n++ {
			p, err := Renderer{}.Part(it, off, how)
			if err != nil || p.Next <= off || n > len(source) {
				t.Fatalf("at %d: next %d, %v", off, p.Next, err)
			}
			if len([]rune(p.Text)) > maxText {
				t.Errorf("at %d: %d characters", off, len([]rune(p.Text)))
			}
			for _, live := range []string{"<!", "<@", "<#"} {
				if strings.Contains(p.Text, live) {
					t.Errorf("at %d: live %s in %q", off, live, p.Text)
				}
			}
			off = p.Next
		}
	})
}
