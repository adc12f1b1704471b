package slack

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	slackgo "github.com/slack-go/slack"
)

func TestPushJunk(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		if err := b.Push(json.RawMessage("nobody hears this")); err == nil {
			t.Error("a bare frame went out without a connection")
		}
		o := b.office()
		k := b.listen(t, always)
		for _, junk := range []string{"no json", `[1]`, `{"type":"new_thing"}`} {
			if err := b.Push(json.RawMessage(junk)); err != nil {
				t.Fatal(err)
			}
		}
		b.Say(o.user, o.dm, "good")
		synctest.Wait()
		if got := k.envelopes(); got[len(got)-1].Payload.Event["text"] != "good" || len(b.ConnectionOpens()) != 1 {
			t.Errorf("after junk: %+v over %d connections", got, len(b.ConnectionOpens()))
		}
	})
}

func TestPushedEventComesAgain(t *testing.T) {
	inBubble(t, Options{Retries: []time.Duration{time.Second, time.Second}}, func(t *testing.T, b *bench) {
		k := b.listen(t, never)
		frame := `{"envelope_id":"mine","type":"events_api","retry_attempt":0,"odd":true,"payload":{"event_id":"Ev9","event":{"type":"message","channel":"D7","user":"U7","text":"x","ts":"1795982400.000100"}}}`
		if err := b.Push(json.RawMessage(frame)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		var got []string
		for _, e := range k.envelopes() {
			got = append(got, fmt.Sprint(e.Payload.EventID, " ", e.RetryAttempt, " ", e.RetryReason, " ", e.EnvelopeID == "mine"))
		}
		if want := "Ev9 0  true|Ev9 1 timeout false|Ev9 2 timeout false"; strings.Join(got, "|") != want {
			t.Errorf("got %s, want %s", strings.Join(got, "|"), want)
		}
	})
}

func TestCaseFile(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "cases", "slack-inbound.jsonl"))
	if err != nil {
		t.Skipf("no case file here: %v", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		var c struct {
			Name   string
			Frames []json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.Name, func(t *testing.T) {
			inBubble(t, Options{}, func(t *testing.T, b *bench) { checkCase(t, b, c.Frames) })
		})
	}
}

// checkCase pushes each frame and sees that the client gets it, or that it reconnects.
func checkCase(t *testing.T, b *bench, frames []json.RawMessage) {
	k := b.listen(t, always)
	for i, f := range frames {
		if err := b.Push(f); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		k.mu.Lock()
		seen := k.bad + len(k.got) - k.conn // a hello of each connection is in got
		conns := k.conn
		k.mu.Unlock()
		if strings.Contains(string(f), `"type": "disconnect"`) {
			if conns != i+2 {
				t.Errorf("frame %d: %d connections", i, conns)
			}
			continue
		}
		if seen != i+1 {
			t.Errorf("frame %d: %d frames seen", i, seen)
		}
	}
	for _, m := range b.Thread("C1", "") {
		_, _, err := b.api.PostMessageContext(b.ctx, "C1", slackgo.MsgOptionText("re", false), slackgo.MsgOptionTS(m.root()))
		wantError(t, "reply to a pushed message", err, "")
	}
}

func (m Message) root() string {
	if m.Thread != "" {
		return m.Thread
	}
	return m.TS
}
