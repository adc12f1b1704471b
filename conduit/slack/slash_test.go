package slack

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"orebot/core/session"
)

func dmOnly(channel string) bool { return channel == "D1" }

// TestCommandOf: facts A8.5, A8.6; report 59.
func TestCommandOf(t *testing.T) { // FS 59: a command's place is never somebody else's conversation
	now := time.Unix(1795982400, 5000).UTC()
	payload := func(rest string) []byte {
		return []byte(`{"team_id":"T1","user_id":"U1","command":"/orebot","trigger_id":"1.2.3","response_url":"https://hooks.slack.com/x"` + rest + `}`)
	}
	base := session.Inbound{
		Key: "T1/slash/1.2.3", Address: "slack:T1/C1", Place: "slack:C1", Author: session.Author{ID: "slack:U1"}, Call: session.CallCommand,
		Order: "1795982400.000005", At: now, Text: "/help", ReplyURL: "https://hooks.slack.com/x",
	}
	with := func(change func(*session.Inbound)) session.Inbound {
		in := base
		change(&in)
		return in
	}
	for rest, want := range map[string]session.Inbound{
		`,"channel_id":"C1","channel_name":"dev","text":""`:                  base,
		`,"channel_id":"C1","channel_name":"privategroup","text":" /model "`: with(func(in *session.Inbound) { in.Text = "/model" }),
		`,"channel_id":"C1","channel_name":"dev","text":"system a < b &amp; <c> <https://x.y|z>"`: with(func(in *session.Inbound) {
			in.Text = "/system a < b & <c> z (https://x.y)"
		}),
		`,"channel_id":"C1","channel_name":"dev","text":"system like <@U2> and <@U3|cy>"`: with(func(in *session.Inbound) {
			in.Text, in.Mentions = "/system like @U2 and @cy", []string{"U2"}
		}),
		`,"channel_id":"D1","channel_name":"directmessage","text":"new"`: with(func(in *session.Inbound) {
			in.Address, in.Place, in.Text = "slack:T1/D1", "", "/new"
		}),
		`,"channel_id":"D2","channel_name":"directmessage","text":"new"`: with(func(in *session.Inbound) { // between two people
			in.Address, in.Place, in.Text = "slack:T1/D2", "slack:D2", "/new"
		}),
		`,"channel_id":"C1","channel_name":"dev","text":"new","team_id":"T9"`: with(func(in *session.Inbound) {
			in.Text, in.Author.External = "/new", true
		}),
	} {
		if got, why := commandOf(payload(rest), me, dmOnly, now); why != "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q\n%s\nwant\n%s", rest, why, inJSON(got), inJSON(want))
		}
	}
	for _, bad := range []string{`[]`, ``, `{}`, `{"channel_id":"C1"}`, `{"user_id":"U1","channel_id":"C 1"}`, `{"user_id":"u","channel_id":"C1"}`} {
		if in, why := commandOf([]byte(bad), me, dmOnly, now); why != ignoredInvalid || in.Key != "" {
			t.Errorf("%s: %q, %+v", bad, why, in)
		}
	}
	odd := []byte(`{"user_id":"U1","channel_id":"C1","trigger_id":"a b/` + strings.Repeat("x", 200) + `"}`)
	if in, _ := commandOf(odd, me, dmOnly, now); len(in.Key) != len("T1/slash/")+32 {
		t.Errorf("an odd id gives the key %q", in.Key)
	}
}

// TestButtonOf: fact A8.12.
func TestButtonOf(t *testing.T) {
	now := time.Unix(1795982400, 5000).UTC()
	const click = `{"type":"block_actions","user":{"id":"U1","team_id":"T1"},"response_url":"https://hooks.slack.com/x","trigger_id":"7.8",`
	const retry = `,"actions":[{"type":"button","action_id":"orebot:retry","value":"retry","action_ts":"99.1"}]}`
	base := session.Inbound{
		Key: "T1/C1/2.2/button/99.1", Address: "slack:T1/C1/1.1", Place: "slack:C1", Author: session.Author{ID: "slack:U1"},
		Signal: session.SignalButton, Target: "2.2", TargetKey: "T1/C1/2.2", Action: "retry", Order: "1795982400.000005", At: now,
		ReplyURL: "https://hooks.slack.com/x",
	}
	for payload, where := range map[string]string{
		click + `"channel":{"id":"C1","name":"dev"},"container":{"message_ts":"2.2","thread_ts":"1.1"}` + retry:                              "C1/1.1",
		click + `"channel":{"id":"C1","name":"dev"},"message":{"ts":"2.2","thread_ts":"1.1"}` + retry:                                        "C1/1.1",
		click + `"channel":{"id":"C1","name":"dev"},"container":{"message_ts":"2.2"}` + retry:                                                "C1/2.2",
		click + `"channel":{"id":"D1","name":"directmessage"},"container":{"message_ts":"2.2"}` + retry:                                      "D1",
		click + `"container":{"channel_id":"D1","message_ts":"2.2","thread_ts":"1.1"}` + retry:                                               "D1/1.1",
		click + `"channel":{"id":"C1","name":"privategroup"},"container":{"message_ts":"2.2","thread_ts":"1.1","is_ephemeral":true}` + retry: "C1/1.1",
		click + `"channel":{"id":"D1","name":"directmessage"},"container":{"message_ts":"2.2","is_ephemeral":true}` + retry:                  "D1",
	} {
		want := base
		want.Address = session.Address("slack:T1/" + where)
		if where[0] == 'D' {
			want.Place, want.Key, want.TargetKey = "", "T1/D1/2.2/button/99.1", "T1/D1/2.2"
		}
		if got, why := buttonOf([]byte(payload), me, dmOnly, now); why != "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q\n%s\nwant\n%s", payload, why, inJSON(got), inJSON(want))
		}
	}
	wide := session.Inbound{
		Key: base.Key, Address: "slack:T1/C1", Place: base.Place, Author: base.Author, Call: session.CallCommand, Text: "/retry",
		Order: base.Order, At: now, ReplyURL: base.ReplyURL,
	}
	under := click + `"channel":{"id":"C1","name":"privategroup"},"container":{"message_ts":"2.2","is_ephemeral":true}` + retry
	if got, why := buttonOf([]byte(under), me, dmOnly, now); why != "" || !reflect.DeepEqual(got, wide) || !got.Threadless() {
		t.Errorf("under what answered a slash command: %q\n%s", why, inJSON(got))
	}
	for payload, want := range map[string]string{
		`[]`: ignoredInteractive, `{"type":"view_submission"}`: ignoredInteractive, `{"type":"block_actions","actions":[]}`: ignoredInteractive,
		click + `"channel":{"id":"C1"},"actions":[{"action_id":"other:x"}]}`:                           ignoredInteractive,
		click + `"channel":{"id":"C1"}` + retry:                                                        ignoredInvalid,
		click + `"channel":{"id":"C1/9"},"container":{"message_ts":"2.2"}` + retry:                     ignoredInvalid,
		click + `"channel":{"id":"C1"},"container":{"message_ts":"2.2","thread_ts":"../1.1"}` + retry:  ignoredInvalid,
		`{"type":"block_actions","channel":{"id":"C1"},"container":{"message_ts":"2.2"}` + retry + ` `: ignoredInvalid,
	} {
		if in, why := buttonOf([]byte(payload), me, dmOnly, now); why != want || in.Key != "" {
			t.Errorf("%s: %q, %+v", payload, why, in)
		}
	}
}

// FuzzActions: whatever a command or a click says, its address and key are sound. Facts A8.5, A8.6.
func FuzzActions(f *testing.F) {
	f.Add([]byte(`{"user_id":"U1","channel_id":"C1","text":"a <@U2> &amp; b","trigger_id":"1.2"}`))
	f.Add([]byte(`{"type":"block_actions","user":{"id":"U1"},"channel":{"id":"C1"},"container":{"message_ts":"2.2"},"actions":[{"action_id":"orebot:retry"}]}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, of := range []func([]byte, identity, func(string) bool, time.Time) (session.Inbound, string){commandOf, buttonOf} {
			in, why := of(payload, me, dmOnly, time.Unix(1, 0))
			if why != "" {
				continue
			}
			at, err := parsePlace(in.Address)
			if err != nil || at.address() != in.Address || at.team != me.team || in.Author.ID == "" || in.Order == "" {
				t.Errorf("%v: %+v", err, in)
			}
			if id, err := session.ParseEntryID(in.ID().String()); err != nil || id != in.ID() || len(in.Key) > 512 {
				t.Errorf("entry %v: %v", in.ID(), err)
			}
		}
	})
}
