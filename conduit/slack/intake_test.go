package slack

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// TestFlood: more than the queues hold is dropped without an ack, the reader lives on (FS 52), and all of it is taken in the end.
// Fact B.7; report 52.
func TestFlood(t *testing.T) {
	inLink(t, simslack.Options{}, nil, func(t *testing.T, l *link) {
		l.sess.hold()
		u := l.AddUser("ann")
		time.Sleep(time.Second)
		const n = maxQueue + maxFlight + 100
		for range n {
			l.Say(u, l.AddConversation(simslack.MPIM, "", u, "UBOT"), "@orebot hi")
		}
		time.Sleep(2 * time.Minute)
		if c := l.logs.count("more comes in than can be stored"); c != 1 {
			t.Errorf("%d warnings", c)
		}
		l.sess.release()
		time.Sleep(20 * time.Minute)
		seen := map[string]bool{}
		for _, ts := range l.sess.messages() {
			seen[ts] = true // each was said at a time of its own
		}
		if len(seen) != n {
			t.Errorf("%d of %d messages were taken", len(seen), n)
		}
		if st := l.Stats(); st.Lost != 0 {
			t.Errorf("%d lost", st.Lost)
		}
		if c := len(l.Calls("apps.connections.open")); c != 1 {
			t.Errorf("%d connections", c)
		}
	})
}

// TestSignsOfLife: pings count as signs of life; a connection without them is left within a minute (FS 51). Facts A1.10, B.5; report 51.
func TestSignsOfLife(t *testing.T) {
	inLink(t, simslack.Options{}, nil, func(t *testing.T, l *link) {
		time.Sleep(10 * time.Minute)
		if _, _, last := l.health.state(); time.Since(last) > 11*time.Second {
			t.Errorf("the last beat is %v old", time.Since(last))
		}
		if n := len(l.ConnectionOpens()); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
	inLink(t, simslack.Options{PingInterval: -1}, nil, func(t *testing.T, l *link) {
		time.Sleep(10*time.Minute - time.Second)
		if n := len(l.ConnectionOpens()); n < 5 || n > 20 {
			t.Errorf("%d deaf connections in ten minutes", n)
		}
		time.Sleep(11 * time.Second) // a connection is left every 30 s
		u := l.AddUser("ann")
		ts := l.Say(u, l.OpenDM(u), "can you hear me?")
		time.Sleep(2 * time.Minute)
		if got := l.sess.messages(); !slices.Contains(got, ts) {
			t.Errorf("a message on a deaf connection didn't come: %q", got)
		}
	})
}

// TestAnotherProcess is FS 54: two connections of one app share its events. Facts A1.3, A1.9; report 54.
func TestAnotherProcess(t *testing.T) {
	inLink(t, simslack.Options{}, nil, func(t *testing.T, l *link) {
		time.Sleep(time.Hour)
		l.Disconnect(simslack.RefreshRequested)
		time.Sleep(time.Second)
		hello := []byte(`{"type":"hello","num_connections":2}`) // one is this process's old one, which Slack still counts
		if err := l.Push(hello); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if n := l.logs.count("another process uses this app token"); n != 0 {
			t.Errorf("%d warnings after a refresh", n)
		}
		for range 3 {
			if err := l.Push([]byte(`{"type":"hello","num_connections":2,"connection_info":{"app_id":"A1"}}`)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		if n := l.logs.count("another process uses this app token"); n != 1 || l.health.noted(noteShared) == "" {
			t.Errorf("%d warnings, and the note %q", n, l.health.noted(noteShared))
		}
		if err := l.Push([]byte(`{"type":"hello","num_connections":1}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := l.health.noted(noteShared); got != "" {
			t.Errorf("alone again, and the note is %q", got)
		}
	})
}

// TestAcksWhileDisconnected: what becomes durable while there is no connection is acknowledged as its redelivery; old acks don't pile up
// before new ones, and bytes that are no greeting are no sign of life. Fact B.8.
func TestAcksWhileDisconnected(t *testing.T) {
	inLink(t, simslack.Options{}, nil, func(t *testing.T, l *link) {
		time.Sleep(time.Second)
		u := l.AddUser("ann")
		l.sess.hold()
		for range 100 {
			l.Say(u, l.AddConversation(simslack.MPIM, "", u, "UBOT"), "@orebot hi")
		}
		time.Sleep(time.Second)
		for range 8 {
			l.Faults.Next("link", fault.Fault{Status: 500})
		}
		cut := time.Now()
		l.Cut()
		time.Sleep(time.Second)
		l.sess.release()
		time.Sleep(20 * time.Second)
		if _, _, last := l.health.state(); last.After(cut) {
			t.Errorf("a sign of life %v after the cut", last.Sub(cut))
		}
		time.Sleep(20 * time.Minute)
		if st := l.Stats(); st.Stray > 21 || st.Lost != 0 {
			t.Errorf("%d late acks, %d lost", st.Stray, st.Lost)
		}
		l.takes()
		if d := l.Deliveries(); !d[len(d)-1].Acked || d[len(d)-1].AckAfter > time.Second {
			t.Errorf("the next message: %+v", d[len(d)-1])
		}
	})
}

// TestMissingScopesAreNamed: fact A3.1.
func TestMissingScopesAreNamed(t *testing.T) {
	inLink(t, simslack.Options{Scopes: []string{"chat:write", "im:history"}}, nil, func(t *testing.T, l *link) {
		time.Sleep(time.Second)
		if n := l.logs.count("app_mentions:read channels:history channels:read commands files:read"); n != 1 {
			t.Errorf("the log says:\n%s", l.logs)
		}
		if got := l.health.noted(noteScopes); !strings.Contains(got, "users:read") {
			t.Errorf("the note is %q", got)
		}
	})
}
