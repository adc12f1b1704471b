package slack

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

func TestMessageAndTwinsOverBothNetworks(t *testing.T) {
	for name, run := range map[string]func(*testing.T, Options, func(*testing.T, *bench)){
		"pipe": inBubble, "loopback": onLoopback,
	} {
		t.Run(name, func(t *testing.T) { run(t, Options{}, checkTwins) })
	}
}

func checkTwins(t *testing.T, b *bench) {
	u := b.AddUser("al")
	c := b.AddChannel("general", u, "UBOT")
	k := b.listen(t, always)
	for i, order := range []Order{MessageFirst, MentionFirst} {
		ts := b.Say(u, c, "@orebot 2 < 3 && 4? https://a.example/?x=1&y=2", Twins(order))
		b.settled(t, 2*i+2)
		got := k.envelopes()[2*i:]
		types := fmt.Sprint(got[0].Payload.Event["type"], " ", got[1].Payload.Event["type"])
		want := []string{"message app_mention", "app_mention message"}[i]
		if types != want {
			t.Errorf("order %d: got %s, want %s", order, types, want)
		}
		if got[0].Payload.EventID == got[1].Payload.EventID || got[0].EnvelopeID == got[1].EnvelopeID {
			t.Error("twins share an id")
		}
		for _, e := range got {
			text := "<@UBOT> 2 &lt; 3 &amp;&amp; 4? <https://a.example/?x=1&amp;y=2>"
			if ev := e.Payload.Event; ev["text"] != text || ev["ts"] != ts || ev["channel"] != c || ev["user"] != u {
				t.Errorf("event %v", ev)
			}
		}
	}
}

func TestUnackedComesAgain(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		u := b.AddUser("al")
		d := b.OpenDM(u)
		k := b.listen(t, never)
		b.Say(u, d, "hello")
		time.Sleep(10 * time.Minute)
		got := k.envelopes()
		if len(got) != 4 {
			t.Fatalf("got %d envelopes, want 4", len(got))
		}
		ids := map[string]bool{}
		for i, e := range got {
			ids[e.EnvelopeID] = true
			reason := map[bool]string{true: "timeout"}[i > 0]
			if e.Payload.EventID != got[0].Payload.EventID || e.RetryAttempt != i || e.RetryReason != reason {
				t.Errorf("try %d: %+v", i, e)
			}
		}
		if len(ids) != 4 {
			t.Errorf("envelope ids repeat: %v", ids)
		}
		var at []time.Duration
		for _, d := range b.Deliveries() {
			at = append(at, (d.At - b.Deliveries()[0].At).Round(time.Second))
		}
		if want := "[0s 3s 1m6s 6m9s]"; fmt.Sprint(at) != want {
			t.Errorf("tries at %v, want %s", at, want)
		}
		if st := b.Stats(); st.Lost != 1 || st.Acked != 0 || st.Sent != 4 {
			t.Errorf("stats %+v", st)
		}
	})
}

func TestAckEndsRedelivery(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		u := b.AddUser("al")
		d := b.OpenDM(u)
		k := b.listen(t, func(e envelope) (any, bool) { return nil, e.RetryAttempt == 2 })
		b.Say(u, d, "hello")
		time.Sleep(10 * time.Minute)
		if n := len(k.envelopes()); n != 3 {
			t.Errorf("got %d envelopes, want 3", n)
		}
		if st := b.Stats(); st.Acked != 1 || st.Lost != 0 {
			t.Errorf("stats %+v", st)
		}
	})
}

func TestSaidWithoutConnectionComesLater(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		u := b.AddUser("al")
		b.Say(u, b.OpenDM(u), "anybody?")
		time.Sleep(30 * time.Second)
		k := b.listen(t, always)
		time.Sleep(time.Minute)
		got := k.envelopes()
		if len(got) != 1 || got[0].RetryAttempt != 2 || got[0].RetryReason != "timeout" {
			t.Errorf("got %+v, want the event at its second retry", got)
		}
		if st := b.Stats(); st.Sent != 1 || st.Acked != 1 {
			t.Errorf("stats %+v", st)
		}
	})
}

func TestPingsKeepTheConnection(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.listen(t, always)
		time.Sleep(10 * time.Minute)
		if n := len(b.ConnectionOpens()); n != 1 {
			t.Errorf("%d connections in ten minutes, want 1", n)
		}
	})
	inBubble(t, Options{PingInterval: -1}, func(t *testing.T, b *bench) {
		b.listen(t, always)
		time.Sleep(5 * time.Minute)
		if n := len(b.ConnectionOpens()); n < 4 {
			t.Errorf("%d connections in five minutes without pings, want the client to reconnect", n)
		}
	})
}

func TestDisconnectAndReconnect(t *testing.T) {
	for _, reason := range []string{Warning, RefreshRequested, LinkDisabled, TooManyWebsockets} {
		inBubble(t, Options{}, func(t *testing.T, b *bench) {
			u := b.AddUser("al")
			k := b.listen(t, always)
			time.Sleep(time.Second)
			b.Disconnect(reason)
			time.Sleep(time.Second)
			b.Say(u, b.OpenDM(u), "still there?")
			time.Sleep(time.Second)
			if n := len(b.ConnectionOpens()); n != 2 {
				t.Errorf("%s: %d connections, want 2", reason, n)
			}
			if n := len(k.envelopes()); n != 1 || b.Connections() != 1 {
				t.Errorf("%s: %d envelopes over %d connections", reason, n, b.Connections())
			}
		})
	}
}

func TestLifetimeRefreshes(t *testing.T) {
	inBubble(t, Options{Lifetime: time.Minute}, func(t *testing.T, b *bench) {
		b.listen(t, always)
		time.Sleep(205 * time.Second)
		if n := len(b.ConnectionOpens()); n != 5 {
			t.Errorf("%d connections, want one each 50 s", n)
		}
	})
}

func TestCutLosesAndResendBringsBack(t *testing.T) {
	for _, resend := range []bool{false, true} {
		inBubble(t, Options{Resend: resend}, func(t *testing.T, b *bench) {
			u := b.AddUser("al")
			first := true
			k := b.listen(t, func(envelope) (any, bool) { ok := !first; first = false; return nil, ok })
			b.Say(u, b.OpenDM(u), "hello")
			synctest.Wait()
			b.Cut()
			time.Sleep(time.Minute)
			got := k.envelopes()
			if len(got) != 2 {
				t.Fatalf("resend %v: %d envelopes, want 2", resend, len(got))
			}
			if same := got[0].EnvelopeID == got[1].EnvelopeID; same != resend || (got[1].RetryAttempt == 0) != resend {
				t.Errorf("resend %v: second is %+v", resend, got[1])
			}
		})
	}
}

// dial opens a bare connection, without the client library.
func (b *bench) dial(t *testing.T) *websocket.Conn {
	t.Helper()
	_, url, err := b.api.StartSocketModeContext(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	conn, _, err := b.dialer.Dial(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestOneTicketOneConnection(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		_, url, err := b.api.StartSocketModeContext(b.ctx)
		if err != nil || !strings.HasPrefix(url, "ws://slack.sim/link/?ticket=") {
			t.Fatalf("open: %q, %v", url, err)
		}
		for i, want := range []bool{true, false} {
			conn, resp, err := b.dialer.Dial(url, nil)
			if (err == nil) != want {
				t.Errorf("dial %d: %v %v", i, resp, err)
			}
			if err == nil {
				defer conn.Close()
			}
		}
		_, url, _ = b.api.StartSocketModeContext(b.ctx)
		time.Sleep(time.Minute)
		if _, _, err := b.dialer.Dial(url, nil); err == nil {
			t.Error("an old ticket was taken")
		}
	})
}

func TestTooManyConnections(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		for i := range 11 {
			_, data, err := b.dial(t).ReadMessage()
			want := fmt.Sprintf(`"num_connections":%d`, i+1)
			if i == 10 {
				want = TooManyWebsockets
			}
			if err != nil || !strings.Contains(string(data), want) {
				t.Errorf("connection %d: %s, %v; want %s", i, data, err, want)
			}
		}
		u := b.AddUser("al")
		for range 50 {
			b.Say(u, b.OpenDM(u), "hello")
		}
		used := map[*socket]bool{}
		b.mu.Lock()
		for _, d := range b.link.pending {
			used[d.sock] = true
		}
		b.mu.Unlock()
		if len(used) < 2 {
			t.Error("all envelopes went to one connection")
		}
	})
}

func TestBigFrameClosesTheConnection(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		conn := b.dial(t)
		_, _, _ = conn.ReadMessage()
		fits := `{"envelope_id":"` + strings.Repeat("x", maxFrame-18) + `"}`
		if err := conn.WriteMessage(websocket.TextMessage, []byte(fits)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := b.Stats().Stray; n != 1 {
			t.Fatalf("%d stray frames, want the one that fits", n)
		}
		go func() { _ = conn.WriteMessage(websocket.TextMessage, []byte(fits+" ")) }()
		if _, _, err := conn.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseMessageTooBig) {
			t.Errorf("got %v, want close 1009", err)
		}
	})
}

func TestCloseEndsEverything(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		u := b.AddUser("al")
		b.listen(t, never)
		b.Say(u, b.OpenDM(u), "hello")
		conn := b.dial(t)
		time.Sleep(time.Second)
		b.Close()
		_ = conn.Close()
		if n := len(b.Transcript()); n != 1 {
			t.Errorf("%d lines after Close, want 1", n)
		}
		if err := b.WaitConnected(b.ctx); err == nil {
			t.Error("waiting on a closed server succeeded")
		}
	})
}
