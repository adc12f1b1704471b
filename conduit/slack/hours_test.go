package slack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"orebot/core/observe"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// TestRefreshedForADay: connections end every five hours, with and without a warning; nothing said meanwhile is lost, doubled or out of
// order, and the operator hears of no trouble. Facts A1.7, A1.15.
func TestRefreshedForADay(t *testing.T) {
	inLink(t, simslack.Options{Resend: true}, nil, func(t *testing.T, l *link) {
		time.Sleep(time.Second)
		u := l.AddUser("ann")
		dm := l.OpenDM(u)
		var want []string
		for at := range 26 * 60 {
			want = append(want, l.Say(u, dm, "hi"))
			if at%307 == 306 {
				l.Disconnect(simslack.RefreshRequested)
				want = append(want, l.Say(u, dm, "right now"))
			}
			time.Sleep(time.Minute)
		}
		time.Sleep(10 * time.Minute)
		seen := map[string]bool{}
		for _, ts := range l.sess.messages() {
			seen[ts] = true
		}
		for _, ts := range want {
			if !seen[ts] {
				t.Errorf("%s is lost", ts)
			}
		}
		if st := l.Stats(); st.Lost != 0 {
			t.Errorf("%d lost", st.Lost)
		}
		if n := len(l.Calls("apps.connections.open")); n < 6 || n > 14 {
			t.Errorf("%d connections", n)
		}
		if n := l.logs.count("level=WARN"); n != 0 {
			t.Errorf("warnings:\n%s", l.logs)
		}
	})
}

// TestOpensAreBoundedForHours: a server that does anything, for six hours: slow and failing opens, connections that end at once, that
// last for just the minute which makes them good ones, or that are deaf. No minute after the first one sees more than twelve opens.
// Facts A6.5, B.2.
func TestOpensAreBoundedForHours(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inLink(t, simslack.Options{}, nil, func(t *testing.T, l *link) {
				r := rand.New(rand.NewPCG(seed, 1))
				faults := []fault.Fault{{Hang: true}, {Status: 500}, {Status: 404}, {Status: 429}, {Status: 429, Retry: time.Second}, {Reset: true},
					{Status: 200, Body: `{"ok":true}`}, {Status: 200, Body: `{"ok":false,"error":"internal_error"}`}}
				lives := []time.Duration{0, time.Millisecond, time.Second, 29 * time.Second, time.Minute - time.Millisecond, time.Minute, 61 * time.Second}
				day, over := context.WithTimeout(t.Context(), 6*time.Hour)
				defer over()
				for day.Err() == nil {
					for range r.IntN(4) {
						l.Faults.Next("apps.connections.open", faults[r.IntN(len(faults))])
					}
					if r.IntN(4) == 0 {
						l.Faults.Next("link", fault.Fault{Hang: r.IntN(2) == 0, Status: 500})
					}
					if l.WaitConnected(day) != nil {
						break
					}
					time.Sleep(lives[r.IntN(len(lives))])
					if l.Cut(); r.IntN(2) == 0 {
						l.Disconnect(simslack.TooManyWebsockets)
					}
					time.Sleep(time.Millisecond)
				}
				if n := perMinute(l.Calls("apps.connections.open")); n > 12 || n < 3 {
					t.Errorf("%d opens in a minute", n)
				}
				l.Faults.Clear()
				time.Sleep(2 * time.Minute)
				l.takes()
			})
		})
	}
}

// TestStormEnds: when the storm is over, the next refresh is no storm, and the next storm is told again. Facts A1.8, B.19.
func TestStormEnds(t *testing.T) {
	inLink(t, simslack.Options{}, nil, func(t *testing.T, l *link) {
		storm := func() {
			t.Helper()
			for range 6 {
				if err := l.WaitConnected(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Millisecond)
				l.Cut()
				time.Sleep(20 * time.Millisecond)
			}
			time.Sleep(time.Hour)
		}
		const told = "Slack ends connections"
		storm()
		before := l.health.String()
		l.Disconnect(simslack.RefreshRequested)
		time.Sleep(time.Hour)
		if n := l.logs.count(told); n != 1 {
			t.Errorf("%d warnings of a storm and a refresh", n)
		}
		if got := l.health.String()[len(before):]; got != "\nconnecting to Slack\n" {
			t.Errorf("of the refresh the operator hears %q", got)
		}
		storm()
		if n := l.logs.count(told); n != 2 {
			t.Errorf("%d warnings of two storms", n)
		}
	})
}

// TestOddHello: a greeting with odd fields is one all the same. Facts A1.3, B.5.
func TestOddHello(t *testing.T) {
	inLink(t, simslack.Options{}, nil, func(t *testing.T, l *link) {
		time.Sleep(time.Second)
		if err := l.Push([]byte(`{"type":"hello","num_connections":"two","debug_info":[]}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if n := l.counts.get(observe.Reconnects, Name); n != 1 { // the second hello
			t.Errorf("%v greetings more", n)
		}
		if n := l.counts.get(observe.Ignored, Name, ignoredEnvelope); n != 0 {
			t.Errorf("%v counted as ignored", n)
		}
	})
}
