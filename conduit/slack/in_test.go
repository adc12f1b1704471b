package slack

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"orebot/core/session"
)

// event wraps an event as Slack does.
func event(ev string) []byte {
	return []byte(`{"type":"event_callback","team_id":"T9","api_app_id":"A1","event":` + ev + `}`)
}

// TestTranslate has the events of messages, case 13 (a forward alone) among them.
// Facts A2.2, A2.3, A2.5, A2.6, A2.9, A2.11, A2.18, A3.4, A4.1, A4.2, A8.9, B.1, B.15.
func TestTranslate(t *testing.T) {
	at := time.Unix(1795982400, 100_000).UTC()
	base := session.Inbound{
		Key: "T1/C1/1795982400.000100", Order: "1795982400.000100", Message: "1795982400.000100", At: at, Text: "hi",
		Address: "slack:T1/C1/1795982400.000100", Place: "slack:C1", Author: session.Author{ID: "slack:U1"},
	}
	with := func(change func(*session.Inbound)) session.Inbound {
		in := base
		change(&in)
		return in
	}
	for name, c := range map[string]struct {
		ev   string
		want session.Inbound
	}{
		"ambient":                              {`"text":"hi","channel_type":"channel"`, base},
		"mention":                              {`"text":"<@UBOT> hi","channel_type":"channel"`, with(func(in *session.Inbound) { in.Call = session.CallMention })},
		"app_mention":                          {`"type":"app_mention","text":"<@UBOT> hi"`, with(func(in *session.Inbound) { in.Call = session.CallMention })},
		"app_mention elsewhere in the message": {`"type":"app_mention","text":"hi"`, with(func(in *session.Inbound) { in.Call = session.CallMention })},
		"mention in blocks":                    {`"text":"hi","blocks":[{"elements":[{"type":"user","user_id":"UBOT"}]}]`, with(func(in *session.Inbound) { in.Call = session.CallMention })},
		"mention behind": {`"text":"hi <@UBOT|x>","channel_type":"group"`, with(func(in *session.Inbound) {
			in.Call, in.Text = session.CallMention, "hi @x"
		})},
		"elsewhere": {`"text":"<@U2> hi","channel_type":"channel"`, with(func(in *session.Inbound) {
			in.Elsewhere, in.Text, in.Mentions = true, "@U2 hi", []string{"U2"}
		})},
		"elsewhere, a group": {`"text":"<!subteam^S1|@team> hi","channel_type":"channel"`, with(func(in *session.Inbound) {
			in.Elsewhere, in.Text = true, "@team hi"
		})},
		"in a thread": {`"text":"hi","thread_ts":"1795982000.000001","channel_type":"channel"`, with(func(in *session.Inbound) {
			in.Address = "slack:T1/C1/1795982000.000001"
		})},
		"the root again": {`"text":"hi","thread_ts":"1795982400.000100","channel_type":"channel"`, base},
		"broadcast": {`"subtype":"thread_broadcast","text":"hi","thread_ts":"1795982000.000001","channel_type":"channel"`, with(func(in *session.Inbound) {
			in.Address = "slack:T1/C1/1795982000.000001"
		})},
		"DM": {`"text":"<@UBOT> hi","channel":"D1","channel_type":"im"`, with(func(in *session.Inbound) {
			in.Key, in.Address, in.Place, in.Call = "T1/D1/1795982400.000100", "slack:T1/D1", "", session.CallDirect
		})},
		"home tab": {`"text":"hi","channel":"D1","channel_type":"app_home"`, with(func(in *session.Inbound) {
			in.Key, in.Address, in.Place, in.Call = "T1/D1/1795982400.000100", "slack:T1/D1", "", session.CallDirect
		})},
		"DM thread": {`"text":"hi","channel":"D1","channel_type":"im","thread_ts":"1795982000.000001"`, with(func(in *session.Inbound) {
			in.Key, in.Address, in.Place, in.Call = "T1/D1/1795982400.000100", "slack:T1/D1/1795982000.000001", "", session.CallDirect
		})},
		"app_mention in a DM": {`"type":"app_mention","text":"<@UBOT> hi","channel":"D1"`, with(func(in *session.Inbound) {
			in.Key, in.Address, in.Place, in.Call = "T1/D1/1795982400.000100", "slack:T1/D1", "", session.CallDirect
		})},
		"group DM with a D": {`"text":"hi","channel":"D1","channel_type":"mpim"`, with(func(in *session.Inbound) {
			in.Key, in.Address, in.Place = "T1/D1/1795982400.000100", "slack:T1/D1/1795982400.000100", "slack:D1"
		})},
		"me_message": {`"subtype":"me_message","text":"hi","channel_type":"channel"`, base},
		"other bot": {`"text":"hi","bot_id":"B2","bot_profile":{"id":"B2","app_id":"A2"}`, with(func(in *session.Inbound) {
			in.Author = session.Author{ID: "slack:B2", Bot: true, Known: true}
		})},
		"webhook": {`"subtype":"bot_message","user":null,"text":"hi","bot_id":"B3"`, with(func(in *session.Inbound) {
			in.Author = session.Author{ID: "slack:B3", Bot: true, Known: true}
		})},
		"slackbot": {`"user":"USLACKBOT","text":"hi"`, with(func(in *session.Inbound) {
			in.Author = session.Author{ID: "slack:USLACKBOT", Bot: true, Known: true}
		})},
		"external": {`"user":"U9","text":"hi","team":"T1","user_team":"T9"`, with(func(in *session.Inbound) {
			in.Author = session.Author{ID: "slack:U9", External: true}
		})},
		"external by one field": {`"user":"U9","text":"hi","user_team":"T1","source_team":"T9"`, with(func(in *session.Inbound) {
			in.Author = session.Author{ID: "slack:U9", External: true}
		})},
		"a key twice":                  {`"text":"no","text":"hi"`, base},
		"lone surrogates":              {`"text":"\ud83d hi \udc00\u0000"`, with(func(in *session.Inbound) { in.Text = "\ufffd hi \ufffd\x00" })},
		"half a token":                 {`"text":"<@UBOT hi"`, with(func(in *session.Inbound) { in.Text = "<@UBOT hi" })},
		"typed by hand":                {`"text":"&lt;@UBOT&gt; hi"`, with(func(in *session.Inbound) { in.Text = "<@UBOT> hi" })},
		"own team in a shared channel": {`"text":"hi","team":"T1","source_team":"T1"`, base},
		"forward": {`"text":"","attachments":[{"is_share":true,"author_name":"Ann\nB","author_id":"U2","text":"said &lt;this&gt; to <@U3>\nand that"},{"from_url":"https://x","text":"unfurl"}]`, with(func(in *session.Inbound) {
			in.Text, in.Mentions = "", []string{"U3"}
			in.Quotes = []session.Quote{{Kind: session.QuoteForward, Author: "Ann B", Text: "said <this> to @U3\nand that"}}
		})},
		"forward of the bot's, in blocks, with a file": {`"text":"look","attachments":[{"is_msg_unfurl":true,"author_id":"UBOT","message_blocks":[{"message":{"blocks":[{"type":"rich_text","elements":[
			{"type":"rich_text_section","elements":[{"type":"text","text":"2 < 3 "},{"type":"user","user_id":"U2"}]}]}]}}],"files":[{"id":"F7","name":"x.txt"}]}]`, with(func(in *session.Inbound) {
			in.Text, in.Attachments = "look", []session.Attachment{{ID: "F7", Name: "x.txt"}}
			in.Quotes = []session.Quote{{Kind: session.QuoteForward, Own: true, Text: "2 < 3 @U2"}}
		})},
		"forward of nothing": {`"text":"hi","attachments":[{"is_share":true}]`, base},
		"files": {`"subtype":"file_share","text":"hi","files":[{"id":"F1","name":"a.png","mimetype":"image/png","size":10,"url_private_download":"https://files.slack.com/a"},
			{"id":"F2","file_access":"check_file_info"},{"id":"F3","mode":"tombstone"},{"id":"F4","mode":"external","is_external":true,"url_private_download":"https://evil.example/x"},7,{"id":"../x"}]`,
			with(func(in *session.Inbound) {
				in.Attachments = []session.Attachment{
					{ID: "F1", Name: "a.png", MIME: "image/png", Size: 10, URL: "https://files.slack.com/a"}, {ID: "F2"}, {ID: "F3"}, {ID: "F4"},
				}
			})},
		"a DM's root with replies": {`"text":"hi","channel":"D1","channel_type":"im","thread_ts":"1795982400.000100","reply_count":2`, with(func(in *session.Inbound) {
			in.Key, in.Address, in.Place, in.Call = "T1/D1/1795982400.000100", "slack:T1/D1", "", session.CallDirect
		})},
		"a DM that is all threads": {`"text":"hi","channel":"D1","channel_type":"im","thread_ts":"1795982400.000100"`, with(func(in *session.Inbound) {
			in.Key, in.Address, in.Place, in.Call = "T1/D1/1795982400.000100", "slack:T1/D1/1795982400.000100", "", session.CallDirect
		})},
		"odd fields":  {`"text":"hi","blocks":"x","files":{},"attachments":7,"bot_profile":[],"team":["T2"],"channel_type":1`, base},
		"ts a number": {`"text":"hi","ts":1795982400.000100`, base},
	} {
		ev := map[string]json.RawMessage{}
		for _, raw := range []string{`"type":"message","user":"U1","channel":"C1","ts":"1795982400.000100"`, c.ev} {
			if err := json.Unmarshal([]byte("{"+raw+"}"), &ev); err != nil {
				t.Fatal(err)
			}
		}
		whole, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		if got, why, err := translate(event(string(whole)), me); err != nil || why != "" || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q %v\n%s\nwant\n%s", name, why, err, inJSON(got), inJSON(c.want))
		}
	}
}

func inJSON(in session.Inbound) string {
	b, err := json.Marshal(in)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestTranslateIgnores: facts A1.16, A2.10, A3.2.
func TestTranslateIgnores(t *testing.T) {
	const head = `"type":"message","channel":"C1","ts":"1.2",`
	for ev, want := range map[string]string{
		`{` + head + `"user":"UBOT"}`:                                         ignoredOwn,
		`{` + head + `"user":"U1","bot_id":"BBOT"}`:                           ignoredOwn,
		`{` + head + `"subtype":"bot_message","bot_id":"BBOT"}`:               ignoredOwn,
		`{` + head + `"bot_id":"B7","bot_profile":{"id":"B7","app_id":"A1"}}`: ignoredOwn,
		`{` + head + `"user":"U1","app_id":"A1"}`:                             ignoredOwn,
		`{` + head + `"bot_id":"UBOT"}`:                                       ignoredOwn,
		`{` + head + `"user":"U1","bot_profile":{"id":"UBOT"}}`:               ignoredOwn,
		`{` + head + `"subtype":"message_deleted","deleted_ts":"1.1"}`:        ignoredInvalid,
		`{` + head + `"user":"U1","subtype":"channel_join"}`:                  ignoredSubtype,
		`{` + head + `"user":"U1","subtype":"huddle_thread"}`:                 ignoredSubtype,
		`{"type":"reaction_added","user":"U1"}`:                               ignoredEvent,
		`{"type":"member_joined_channel","user":"UBOT","channel":"C1"}`:       ignoredEvent,
		`{}`:                                    ignoredEvent,
		`null`:                                  ignoredEvent,
		`"text"`:                                ignoredEvent,
		`{"type":"message"}`:                    ignoredInvalid,
		`{` + head + `"text":"nobody said it"}`: ignoredInvalid,
		`{` + head + `"user":"u one"}`:          ignoredInvalid,
		`{` + head + `"user":"U1","channel":"C1/2"}`:                   ignoredInvalid,
		`{` + head + `"user":"U1","ts":"now"}`:                         ignoredInvalid,
		`{` + head + `"user":"U1","ts":"1.2/3"}`:                       ignoredInvalid,
		`{` + head + `"user":"U1","thread_ts":"../../T2/C2/1.2"}`:      ignoredInvalid,
		`{` + head + `"user":"` + strings.Repeat("U", 65) + `"}`:       ignoredInvalid,
		`{` + head + `"user":"U1","ts":"99999999999999999999.000001"}`: ignoredInvalid,
	} {
		if _, why, err := translate(event(ev), me); why != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", ev, why, err, want)
		}
	}
	for _, payload := range []string{"", "null", "[]", "7", "{", `"x"`} {
		if _, why, err := translate([]byte(payload), me); why != ignoredInvalid || err == nil {
			t.Errorf("%q: %q, %v", payload, why, err)
		}
	}
}

// FuzzTranslate: whatever comes in, it is ignored or it is a message whose address and key are sound.
func FuzzTranslate(f *testing.F) {
	f.Add(event(`{"type":"message","user":"U1","channel":"C1","ts":"1.2","text":"<@UBOT> hi"}`))
	f.Add(event(`{"type":"app_mention","user":"U1","channel":"D1","ts":1.2,"thread_ts":"3.4","channel_type":"im","files":[{}]}`))
	for _, c := range changes() {
		f.Add(event(c.ev))
	}
	f.Add([]byte(`{"event":{"type":"message","subtype":"bot_message","bot_profile":{}}}`))
	f.Add(event(`{"type":"message","bot_id":"UBOT","channel":"C1","ts":"1.2","text":"own"}`))
	f.Add(event(`{"type":"message","user":"U1","channel":"D1","channel":"C1","ts":"1.2","TS":"3.4","text":"\u2000\ud800","Text":7}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		in, why, err := translate(payload, me)
		if why != "" || err != nil {
			if err != nil && why == "" || in.Key != "" {
				t.Errorf("%q, %v, %+v", why, err, in)
			}
			return
		}
		at, err := parsePlace(in.Address)
		if err != nil || at.address() != in.Address || at.team != me.team {
			t.Errorf("address %q: %+v, %v", in.Address, at, err)
		}
		id, err := session.ParseEntryID(in.ID().String())
		if err != nil || id != in.ID() {
			t.Errorf("entry %v: %v, %v", in.ID(), id, err)
		}
		if in.Author.ID == "" || in.Order == "" || in.Author.ID == personID(me.user) || (in.Place == "") != (in.Call == session.CallDirect) ||
			(in.Signal == session.SignalNone) != (in.Target == "") || in.Signal != session.SignalNone && in.Key == in.TargetKey {
			t.Errorf("%+v", in)
		}
	})
}

// TestAddresses: fact A2.18.
func TestAddresses(t *testing.T) {
	for a, want := range map[session.Address]place{
		"slack:T1/D1": {"T1", "D1", ""}, "slack:T1/C1/1795982400.000100": {"T1", "C1", "1795982400.000100"},
	} {
		if got, err := parsePlace(a); err != nil || got != want || got.address() != a || !a.Valid() {
			t.Errorf("%s: %+v, %v", a, got, err)
		}
	}
	if got := timeOf("1795982400.5"); got.UnixMicro() != 1795982400_500000 {
		t.Errorf("half a second: %v", got)
	}
	at := time.Unix(1795982400, 123456000)
	if ts := stampOf(at); ts != "1795982400.123456" || !timeOf(ts).Equal(at) {
		t.Errorf("stamp %s is %v", ts, timeOf(ts))
	}
}

func TestGate(t *testing.T) {
	now := time.Unix(0, 0)
	g := &gate{now: func() time.Time { return now }}
	var got []time.Duration
	for range 9 {
		d := g.next()
		got = append(got, d)
		now = now.Add(d)
	}
	want := []time.Duration{0, 500, 1000, 2000, 4000, 8000, 15000, 15000, 15000}
	for i, w := range want {
		if got[i] != w*time.Millisecond {
			t.Fatalf("gaps %v", got)
		}
	}
	if !g.stormy() {
		t.Error("no storm")
	}
	now = now.Add(stable - 1)
	if d := g.next(); d != 0 || !g.stormy() {
		t.Errorf("after a connection that was nearly good: %v", d)
	}
	now = now.Add(stable)
	if d := g.next(); d != 0 || g.stormy() {
		t.Errorf("after a good connection: %v", d)
	}
	g.hold(time.Hour)
	if d := g.next(); d != time.Hour {
		t.Errorf("held for an hour: %v", d)
	}
}
