package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// desk is a poster at a channel thread and a DM in a bubble.
type desk struct {
	*simslack.Server
	t        *testing.T
	p        *poster
	ann, dm  string
	ch, root string
}

func atDesk(t *testing.T, f func(t *testing.T, d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim, api, end := dialSim(simslack.Options{NoEcho: true})
		defer end()
		d := &desk{Server: sim, t: t, p: &poster{api: api, log: slog.New(slog.DiscardHandler)}, ann: sim.AddUser("ann")}
		d.dm, d.ch = sim.OpenDM(d.ann), sim.AddChannel("dev", d.ann, "UBOT")
		d.root = sim.Say(d.ann, d.ch, "@orebot question")
		f(t, d)
	})
}

func (d *desk) thread() session.Address { return place{"T1", d.ch, d.root}.address() }
func (d *desk) flat() session.Address   { return place{team: "T1", channel: d.dm}.address() }

// post posts a part and returns its ts.
func (d *desk) post(a session.Address, it conduit.Item, offset int) string {
	d.t.Helper()
	ids, err := d.p.Post(d.t.Context(), a, it, conduit.Part{Offset: offset, Body: body{text: fmt.Sprint("part ", offset)}})
	if err != nil || len(ids) != 1 {
		d.t.Fatalf("post: %v, %v", ids, err)
	}
	return ids[0]
}

// finds checks what a look-up says; an empty ts: nothing is there.
func (d *desk) finds(a session.Address, it conduit.Item, offset int, ts string) {
	d.t.Helper()
	ids, found, err := d.p.Find(d.t.Context(), a, it, offset)
	if err != nil || found != (ts != "") || found && !slices.Equal(ids, []string{ts}) {
		d.t.Errorf("look-up of %s at %d in %s: %v, %v, %v; want %q", it.Turn, offset, a, ids, found, err, ts)
	}
}

func turn(thread byte, seq ledger.Seq) conduit.Item {
	return conduit.Item{Turn: ledger.TurnID{Thread: ledger.ThreadID{thread}, Seq: seq}, At: time.Now()}
}

// TestFindTellsPartsApart: another thread's turn of the same number, the same turn's other parts, a note in a part's place, somebody
// else's message that carries the same metadata, and a part that was edited since. Fact A7.13.
func TestFindTellsPartsApart(t *testing.T) {
	atDesk(t, func(t *testing.T, d *desk) {
		for _, a := range []session.Address{d.thread(), d.flat()} {
			it := turn(1, 2)
			d.post(a, turn(2, 2), 0)
			d.post(a, turn(1, 3), 0)
			d.finds(a, it, 0, "")
			one, two, note := d.post(a, it, 0), d.post(a, it, 40), d.post(a, it, -1-80)
			d.finds(a, it, 0, one)
			d.finds(a, it, 40, two)
			d.finds(a, it, 80, "")
			d.finds(a, it, -81, note)
			at, err := parsePlace(a)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, _, err := d.p.api.client.UpdateMessageContext(t.Context(), at.channel, two, slackgo.MsgOptionText("edited", false)); err != nil {
				t.Fatal(err)
			}
			d.finds(a, it, 40, two)
			d.Delete(at.channel, one)
			d.finds(a, it, 0, "")
		}
	})
	meta := `"metadata":{"event_type":"orebot_part","event_payload":{"turn":"` + turn(1, 2).Turn.String() + `","offset":%s}}`
	for raw, want := range map[string]bool{
		`{"user":"UBOT",` + fmt.Sprintf(meta, "0") + `}`: true, `{"bot_id":"BBOT",` + fmt.Sprintf(meta, "0.0") + `}`: true,
		`{"user":"U1",` + fmt.Sprintf(meta, "0") + `}`: false, `{"user":"UBOT",` + fmt.Sprintf(meta, "null") + `}`: false,
		`{"user":"UBOT",` + fmt.Sprintf(meta, "{}") + `}`: false, `{"user":"UBOT"}`: false, `{"user":"UBOT","metadata":[]}`: false,
	} {
		var m object
		if err := json.Unmarshal([]byte(raw), &m); err != nil || shows(m, me, turn(1, 2), 0) != want {
			t.Errorf("%s: %v, want %v", raw, err, want)
		}
	}
}

// TestFindPages: a part behind hundreds of messages is found, also by an app that may read one page a minute (FS 17). Fact A6.3; report 17.
func TestFindPages(t *testing.T) {
	atDesk(t, func(t *testing.T, d *desk) {
		it := turn(1, 2)
		for range 2*findPage + 10 {
			d.Say(d.ann, d.ch, "chatter", simslack.InThread(d.root))
		}
		d.finds(d.thread(), it, 0, "")
		ts := d.post(d.thread(), it, 0)
		slow := fault.Fault{Status: 429, Retry: time.Minute}
		before := len(d.Calls("conversations.replies"))
		d.Faults.Next("conversations.replies", fault.Fault{}, slow, fault.Fault{}, slow, slow)
		d.finds(d.thread(), it, 0, ts)
		if n := len(d.Calls("conversations.replies")) - before; n != 6 {
			t.Errorf("%d calls", n)
		}
		it.ReplyTo = d.Say(d.ann, d.ch, "a newer question", simslack.InThread(d.root))
		ts = d.post(d.thread(), it, 7)
		before = len(d.Calls("conversations.replies"))
		d.finds(d.thread(), it, 7, ts)
		if n := len(d.Calls("conversations.replies")) - before; n != 1 {
			t.Errorf("%d pages for what stands behind the question", n)
		}
	})
}

// TestFindHeedsSlacksClock: this machine's clock may be wrong; a part that is there is found. Fact A7.13.
func TestFindHeedsSlacksClock(t *testing.T) {
	atDesk(t, func(_ *testing.T, d *desk) {
		for _, ahead := range []time.Duration{-time.Hour, 30 * time.Minute, 24 * time.Hour} {
			it := turn(1, ledger.Seq(100+ahead/time.Minute))
			it.At = it.At.Add(ahead)
			if it.ReplyTo = d.root; ahead < findSlop {
				it.ReplyTo = ""
			}
			d.finds(d.thread(), it, 0, d.post(d.thread(), it, 0))
		}
	})
}

// TestFindReadsOddPages: a message that the client library can't decode, and answers that say nothing. None is taken for "not there".
// Facts A7.13, B.11.
func TestFindReadsOddPages(t *testing.T) {
	atDesk(t, func(t *testing.T, d *desk) {
		it := turn(1, 2)
		answer := func(body string) { d.Faults.Next("conversations.replies", fault.Fault{Status: 200, Body: body}) }
		answer(`{"ok":true,"messages":[{"ts":7,"blocks":{"type":"?"},"files":"x","edited":[]},null,5,{"ts":"1795982400.000100","user":"UBOT",
			"blocks":[{"type":"section","text":[]}],"metadata":{"event_type":"orebot_part","event_payload":{"turn":"` + it.Turn.String() + `","offset":0}}}]}`)
		d.finds(d.thread(), it, 0, "1795982400.000100")
		circle := `{"ok":true,"messages":[],"response_metadata":{"next_cursor":"bmV4dA=="}}`
		for name, c := range map[string]struct {
			bodies []string
			class  conduit.Class
		}{
			"nothing": {[]string{`{}`}, conduit.Unknown}, "no list": {[]string{`{"ok":true}`}, conduit.Unknown},
			"no error": {[]string{`{"ok":false}`}, conduit.Unknown}, "null": {[]string{`null`}, conduit.Unknown},
			"a page": {[]string{`<html>sign in</html>`}, conduit.Unknown}, "circle": {[]string{circle, circle}, conduit.Unknown},
			"cursor": {[]string{circle, `{"ok":false,"error":"invalid_cursor"}`}, conduit.Retry},
			"limit":  {[]string{`{"ok":false,"error":"ratelimited"}`}, conduit.RetryAfter},
			"scope":  {[]string{`{"ok":false,"error":"missing_scope"}`}, conduit.Gone},
			"gone":   {[]string{`{"ok":false,"error":"channel_not_found"}`}, conduit.Gone},
			"dead":   {[]string{`{"ok":false,"error":"token_revoked"}`}, conduit.Dead},
		} {
			for _, b := range c.bodies {
				answer(b)
			}
			var e *conduit.Error
			if _, found, err := d.p.Find(t.Context(), d.thread(), it, 0); found || !errors.As(err, &e) || e.Class != c.class {
				t.Errorf("%s: %v, %v; want %s", name, found, err, c.class)
			}
		}
	})
}

// TestLeakedReplyIsTakenBack also where the first tries to delete it fail (FS 56). Fact A4.3; report 56.
func TestLeakedReplyIsTakenBack(t *testing.T) {
	for name, c := range map[string]struct {
		faults []fault.Fault
		left   int
	}{
		"at last": {[]fault.Fault{{Status: 429, Retry: 20 * time.Second}, {Status: 503}, {Cut: true}}, 0},
		"never":   {[]fault.Fault{refusal("cant_delete_message")}, 1},
	} {
		atDesk(t, func(t *testing.T, d *desk) {
			d.Delete(d.ch, d.root)
			d.Faults.Next("chat.delete", c.faults...)
			ids, err := d.p.Post(t.Context(), d.thread(), turn(1, 2), conduit.Part{Body: body{text: "answer"}})
			var e *conduit.Error
			if gone := errors.As(err, &e) && e.Class == conduit.Gone; gone != (c.left == 0) || len(ids) != c.left {
				t.Errorf("%s: %v, %v", name, ids, err)
			}
			if got := d.Thread(d.ch, ""); len(got) != c.left {
				t.Errorf("%s: in the channel stands %+v", name, got)
			}
		})
	}
}

// TestLeakedReplyOfAnotherLife: a process that was killed between the post at top level and its deletion deletes it in its next life.
// Fact A4.3.
func TestLeakedReplyOfAnotherLife(t *testing.T) {
	atDesk(t, func(t *testing.T, d *desk) {
		it := turn(1, 2)
		d.post(d.thread(), turn(1, 1), 0)
		d.Delete(d.ch, d.root)
		d.finds(d.thread(), it, 0, "")
		at := place{team: "T1", channel: d.ch}
		opts := optionsOf(place{"T1", d.ch, d.Say(d.ann, d.ch, "another")}, turn(9, 9), 0, body{text: "stays"})
		if _, _, err := d.p.api.client.PostMessageContext(t.Context(), d.ch, opts...); err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.p.api.client.PostMessageContext(t.Context(), d.ch, optionsOf(at, it, 0, body{text: "leaked"})...); err != nil {
			t.Fatal(err)
		}
		gone := place{"T1", d.ch, "1700000000.000001"}.address()
		d.finds(gone, it, 0, "")
		for _, m := range d.Thread(d.ch, "") {
			if m.Text == "leaked" {
				t.Errorf("in the channel stands %+v", m)
			}
		}
	})
}

// TestNoErrorHoldsASecret asks every method on every path on which a call fails (promise 9, FS 42). Facts A1.1, B.10; report 42.
func TestNoErrorHoldsASecret(t *testing.T) {
	for name, f := range map[string]fault.Fault{
		"reset": {Reset: true}, "500": {Status: 500}, "redirect": {Status: 302}, "429": {Status: 429},
		"echo": {Status: 200, Body: `{"ok":false,"error":"no ` + botToken + ` ` + appToken + ` wss://x/link/?ticket=sim-7 https://hooks.slack.com/commands/T1/2/response"}`},
		"long": {Status: 200, Body: `{"ok":false,"error":"` + strings.Repeat("x", 290) + botToken + `"}`},
	} {
		atDesk(t, func(t *testing.T, d *desk) {
			ctx := t.Context()
			var errs []error
			for _, method := range []string{"auth.test", "chat.postMessage", "conversations.replies", "conversations.history", "users.info"} {
				d.Faults.Next(method, f, f)
			}
			_, _, err := d.p.api.identify(ctx)
			errs = append(errs, err)
			_, err = d.p.Post(ctx, d.thread(), turn(1, 2), conduit.Part{Body: body{text: "x"}})
			errs = append(errs, err)
			d.Faults.Next("auth.test", fault.Fault{})
			_, _, err = d.p.Find(ctx, d.thread(), turn(1, 2), 0)
			errs = append(errs, err)
			_, _, err = d.p.Find(ctx, d.thread(), turn(1, 2), 0)
			errs = append(errs, err)
			_, _, err = d.p.Find(ctx, d.flat(), turn(1, 2), 0)
			errs = append(errs, err)
			_, err = d.p.api.Person(ctx, d.flat(), session.Author{ID: "slack:U1"})
			errs = append(errs, err)
			for i, err := range errs {
				text := fmt.Sprintf("%v %+v", err, err)
				for _, secret := range []string{"xoxb", "bottoken", "xapp", "ticket=sim", "/commands/"} {
					if err == nil || strings.Contains(text, secret) {
						t.Errorf("%s, call %d: %s", name, i, text)
					}
				}
			}
		})
	}
}
