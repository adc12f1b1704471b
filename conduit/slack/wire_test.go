package slack

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"orebot/core/session"
	simslack "orebot/internal/sim/slack"
)

// TestDeafIsLeft: a connection on which no ping comes is left after 30 s, each time (FS 51). Facts A1.10, B.6; report 51.
func TestDeafIsLeft(t *testing.T) {
	inLink(t, simslack.Options{PingInterval: -1}, nil, func(t *testing.T, l *link) {
		time.Sleep(5 * time.Minute)
		opens := l.ConnectionOpens()
		for i := 1; i < len(opens); i++ {
			if d := opens[i].Sub(opens[i-1]); d < deafAfter || d > deafAfter+lastGap {
				t.Errorf("connection %d lasted %v", i, d)
			}
		}
		if len(opens) < 6 {
			t.Errorf("%d connections", len(opens))
		}
	})
}

// TestAcksAtQuit: what is being stored when the intake ends is acknowledged before the connection is closed (O14). Facts B.8, B.19, O.14.
func TestAcksAtQuit(t *testing.T) {
	inLink(t, simslack.Options{}, nil, func(t *testing.T, l *link) {
		if err := l.WaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		u := l.AddUser("ann")
		dm := l.OpenDM(u)
		l.sess.hold()
		for range 10 {
			l.Say(u, dm, "hi")
		}
		time.Sleep(100 * time.Millisecond)
		close(l.quit)
		time.Sleep(100 * time.Millisecond)
		l.sess.release()
		time.Sleep(time.Second)
		if st := l.Stats(); st.Acked != 10 || st.Stray != 0 || l.Connections() != 0 {
			t.Errorf("%+v, %d connections", st, l.Connections())
		}
	})
}

// TestQuitDoesntWait: a disk that stands still holds the end up for no longer than flushTime. Fact B.8.
func TestQuitDoesntWait(t *testing.T) {
	inLink(t, simslack.Options{}, nil, func(t *testing.T, l *link) {
		if err := l.WaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		u := l.AddUser("ann")
		l.sess.hold()
		l.Say(u, l.OpenDM(u), "hi")
		time.Sleep(100 * time.Millisecond)
		close(l.quit)
		time.Sleep(flushTime + 100*time.Millisecond)
		if n := l.Connections(); n != 0 {
			t.Errorf("%d connections", n)
		}
	})
}

// TestAppTakenAway: the events that say so end the Slack side, at once and once; those of other tokens don't. Fact A2.19.
func TestAppTakenAway(t *testing.T) {
	const wrap = `{"envelope_id":"e1","type":"events_api","payload":{"type":"event_callback","event":%}}`
	push := func(l *link, ev string) {
		if err := l.WaitConnected(l.t.Context()); err != nil {
			l.t.Fatal(err)
		}
		if err := l.Push(json.RawMessage(strings.Replace(wrap, "%", ev, 1))); err != nil {
			l.t.Fatal(err)
		}
	}
	for ev, code := range map[string]string{
		`{"type":"app_uninstalled"}`:                                   "app_uninstalled",
		`{"type":"tokens_revoked","tokens":{"bot":["U3","UBOT"]}}`:     "token_revoked",
		`{"type":"tokens_revoked","tokens":{"oauth":[],"bot":["UB"]}}`: "",
		`{"type":"tokens_revoked","tokens":{"oauth":["UBOT"]}}`:        "",
		`{"type":"tokens_revoked","tokens":7}`:                         "",
	} {
		inLink(t, simslack.Options{}, nil, func(t *testing.T, l *link) {
			push(l, ev)
			if code == "" {
				time.Sleep(time.Second)
				l.takes()
				return
			}
			l.dies(code)
			if st := l.Stats(); st.Acked != 1 {
				t.Errorf("%+v: the event wasn't acknowledged", st)
			}
		})
	}
}

// TestCommandsAreAnsweredInTime: a command that can't be stored, or that comes by another name, is answered; Slack sends none again.
// Facts A1.4, A5.6, A8.5.
func TestCommandsAreAnsweredInTime(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann := r.AddUser("ann")
		ch := r.AddChannel("dev", ann)
		r.mem.FailNext(session.ErrPaused)
		payload, err := r.Slash(ann, ch, "help").Wait(t.Context())
		if err != nil || !strings.Contains(string(payload), notKeptText) {
			t.Errorf("%s, %v", payload, err)
		}
		payload, err = r.Slash(ann, ch, "say `<!channel>` & more").Wait(t.Context())
		if err != nil || !strings.Contains(string(payload), "ephemeral") || strings.Contains(string(payload), "<!") {
			t.Errorf("%s, %v", payload, err)
		}
		time.Sleep(time.Minute)
		r.s.cfg.Command = "/other"
		payload, err = r.Slash(ann, ch, "help").Wait(t.Context())
		if err != nil || !strings.Contains(string(payload), "My command is `/other` here") {
			t.Errorf("%s, %v", payload, err)
		}
	})
}

// TestHomeMakesADMKnown: whoever opens the bot's home may then give commands in the DM as in a DM. Fact A2.12.
func TestHomeMakesADMKnown(t *testing.T) {
	var d dms
	d.addHome([]byte(`{"event":{"type":"app_home_opened","channel":"D7","tab":"messages"}}`))
	d.addHome([]byte(`{"event":{"type":"app_home_opened","channel":"D 8"}}`))
	d.addHome([]byte(`{"event":{"type":"member_joined_channel","channel":"C1"}}`))
	if !d.has("D7") || len(d.ids) != 1 {
		t.Errorf("known: %v", d.ids)
	}
}
