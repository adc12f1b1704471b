package slack

import (
	"testing"

	"orebot/core/session"
)

// change is an event about a message that stood there before, and what is to become of it: a signal "kind key target", or why not.
type change struct{ name, ev, want string }

// changes are of the kinds that the reports 41, 48 and 49 speak of.
func changes() []change {
	const (
		edit = `{"type":"message","subtype":"message_changed","channel":"C1","channel_type":"channel","ts":"9.5",`
		dm   = `{"type":"message","subtype":"message_changed","channel":"D1","channel_type":"im","ts":"9.5",`
		gone = `{"type":"message","subtype":"message_deleted","channel":"C1","channel_type":"channel","ts":"9.5","deleted_ts":"1.1",`
		head = `"user":"U1","ts":"1.1"`
		mark = `,"edited":{"user":"U1","ts":"9.4"}`
	)
	return []change{
		{"an edit", edit + `"message":{` + head + `,"text":"b"` + mark + `},"previous_message":{` + head + `,"text":"a"}}`, "edit T1/C1/1.1/edit/9.4 slack:T1/C1/1.1 1.1 ambient"},
		{"an edit that adds a mention", edit + `"message":{` + head + `,"text":"<@UBOT> b"` + mark + `},"previous_message":{` + head + `,"text":"b"}}`, "edit T1/C1/1.1/edit/9.4 slack:T1/C1/1.1 1.1 mention"},
		{"an edit in a thread", edit + `"message":{` + head + `,"thread_ts":"1.0","text":"b"` + mark + `},"previous_message":{` + head + `,"text":"a"}}`, "edit T1/C1/1.1/edit/9.4 slack:T1/C1/1.0 1.1 ambient"},
		{"an edit of a DM's root with replies", dm + `"message":{` + head + `,"thread_ts":"1.1","reply_count":1,"text":"b"` + mark + `},"previous_message":{"text":"a"}}`, "edit T1/D1/1.1/edit/9.4 slack:T1/D1 1.1 direct"},
		{"an edit without what stood there", dm + `"message":{` + head + `,"text":"b"` + mark + `}}`, "edit T1/D1/1.1/edit/9.4 slack:T1/D1 1.1 direct"},
		{"an unfurl (FS 48)", dm + `"message":{` + head + `,"text":"a","attachments":[{}]},"previous_message":{` + head + `,"text":"a"}}`, ignoredEdit},
		{"an unfurl after an edit", dm + `"message":{` + head + `,"text":"b"` + mark + `},"previous_message":{` + head + `,"text":"b"` + mark + `}}`, ignoredEdit},
		{"a reply count", edit + `"message":{` + head + `,"text":"a","reply_count":2},"previous_message":{` + head + `,"text":"a","reply_count":1}}`, ignoredEdit},
		{"a file taken away", dm + `"message":{` + head + `,"text":"a","files":[]},"previous_message":{` + head + `,"text":"a","files":[{"id":"F1"}]}}`, ignoredEdit},
		{"a change that nobody made", dm + `"message":{` + head + `,"text":"b"},"previous_message":{` + head + `,"text":"a"}}`, ignoredEdit},
		{"the bot's own edit", dm + `"message":{"user":"UBOT","bot_id":"BBOT","ts":"1.1","text":"b"` + mark + `},"previous_message":{"text":"a"}}`, ignoredOwn},
		{"another bot's edit", dm + `"message":{"bot_id":"B7","ts":"1.1","text":"b"` + mark + `},"previous_message":{"text":"a"}}`, ignoredEdit},
		{"an edit without a message", edit + `"previous_message":{` + head + `,"text":"a"}}`, ignoredEdit},
		{"a deletion", gone + `"previous_message":{` + head + `,"text":"a"}}`, "delete T1/C1/1.1/delete slack:T1/C1/1.1 1.1 ambient"},
		{"a deletion in a thread", gone + `"previous_message":{` + head + `,"thread_ts":"1.0"}}`, "delete T1/C1/1.1/delete slack:T1/C1/1.0 1.1 ambient"},
		{"a deletion of another message", gone + `"previous_message":{"user":"U1","ts":"1.2"}}`, ignoredInvalid},
		{"the deletion of the bot's message", gone + `"previous_message":{"user":"UBOT","ts":"1.1"}}`, ignoredOwn},
		{"the deletion of another bot's message", gone + `"previous_message":{"bot_id":"B7","subtype":"bot_message","ts":"1.1"}}`, ignoredDelete},
		{"a deletion that tells nothing", gone + `"hidden":true}`, ignoredInvalid},
		{"a root deleted under its replies", edit + `"message":{"subtype":"tombstone","user":"USLACKBOT","ts":"1.1","thread_ts":"1.1","text":"This message was deleted."},"previous_message":{` + head + `,"thread_ts":"1.1","reply_count":1,"text":"a"}}`,
			"delete T1/C1/1.1/delete slack:T1/C1/1.1 1.1 ambient"},
		{"a DM's root deleted under its replies", dm + `"message":{"subtype":"tombstone","user":"USLACKBOT","ts":"1.1","thread_ts":"1.1"},"previous_message":{` + head + `,"thread_ts":"1.1","reply_count":1,"text":"a"}}`,
			"delete T1/D1/1.1/delete slack:T1/D1 1.1 direct"},
	}
}

// TestChanges: facts A2.7, A2.8.
func TestChanges(t *testing.T) {
	kinds := map[session.Signal]string{session.SignalEdit: "edit", session.SignalDelete: "delete"}
	for _, c := range changes() {
		in, got, err := translate(event(c.ev), me)
		if got == "" {
			got = kinds[in.Signal] + " " + in.Key + " " + string(in.Address) + " " + in.Target + " " + in.Call.String()
			edit := in.Signal == session.SignalEdit
			if in.TargetKey != entryKey("T1", string(in.Key[3:5]), in.Target) || edit && (in.Message != in.Target || in.Version == "") || !edit && in.Message != "" || in.Author.ID != "slack:U1" || in.At.IsZero() {
				t.Errorf("%s: %+v", c.name, in)
			}
		}
		if got != c.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
	}
}
