package slack

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/internal/sim/fault"
)

func TestFaultsAsTheClientSeesThem(t *testing.T) {
	limited := func(err error) bool {
		var e *slackgo.RateLimitedError
		return errors.As(err, &e) && e.RetryAfter == 2*time.Second
	}
	code := func(want int) func(error) bool {
		return func(err error) bool { var e slackgo.StatusCodeError; return errors.As(err, &e) && e.Code == want }
	}
	text := func(want string) func(error) bool {
		return func(err error) bool { return err != nil && err.Error() == want }
	}
	timeout := func(err error) bool { var e net.Error; return errors.As(err, &e) && e.Timeout() }
	broken := func(err error) bool { return err != nil && !timeout(err) }
	for _, c := range []struct {
		name        string
		fault       fault.Fault
		seen        func(error) bool
		after, late int // posts visible at once, and ten seconds later
	}{
		{"429", fault.Fault{Status: 429, Retry: 2 * time.Second}, limited, 0, 0},
		{"ratelimited", fault.Fault{Status: 200, Body: `{"ok":false,"error":"ratelimited"}`}, text("ratelimited"), 0, 0},
		{"500", fault.Fault{Status: 500, Body: "oops"}, code(500), 0, 0},
		{"html 502", fault.Fault{Status: 502, Body: "<html>bad gateway</html>"}, code(502), 0, 0},
		{"html 200", fault.Fault{Status: 200, Body: "<html>sign in</html>"}, broken, 0, 0},
		{"bare refusal", fault.Fault{Status: 200, Body: `{"ok":false}`}, func(err error) bool { return err == nil }, 0, 0},
		{"hang", fault.Fault{Hang: true}, timeout, 0, 0},
		{"reset", fault.Fault{Reset: true}, broken, 0, 0},
		{"cut", fault.Fault{Cut: true}, broken, 1, 1},
		{"cut, done later", fault.Fault{CutDo: 2 * time.Second}, broken, 0, 1},
		{"let through", fault.Fault{}, func(err error) bool { return err == nil }, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, Options{}, func(t *testing.T, b *bench) {
				o := b.office()
				b.Faults.Next("chat.postMessage", c.fault)
				_, _, err := b.api.PostMessageContext(b.ctx, o.in, slackgo.MsgOptionText("x", false))
				if !c.seen(err) {
					t.Errorf("client saw %v (%T)", err, err)
				}
				if n := len(b.Transcript()); n != c.after {
					t.Errorf("%d posts at once, want %d", n, c.after)
				}
				time.Sleep(10 * time.Second)
				if n := len(b.Transcript()); n != c.late {
					t.Errorf("%d posts in the end, want %d", n, c.late)
				}
				if n := len(b.Calls("chat.postMessage")); n != 1 {
					t.Errorf("%d calls counted", n)
				}
			})
		})
	}
}

func TestFaultsOfTheHandshake(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.Faults.Next("link", fault.Fault{Status: 503}, fault.Fault{Reset: true})
		b.Faults.Next("apps.connections.open", fault.Fault{Status: 500}, fault.Fault{Status: 200, Body: `{"ok":true}`})
		b.listen(t, always)
		if n := len(b.Calls("apps.connections.open")); n != 5 {
			t.Errorf("%d calls to open, want 5", n)
		}
	})
}

func TestCloseFreesTheHanging(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		b.Faults.Next("auth.test", fault.Fault{Hang: true})
		ctx, cancel := context.WithCancel(b.ctx)
		defer cancel()
		failed := make(chan error, 1)
		go func() { _, err := b.api.AuthTestContext(ctx); failed <- err }()
		time.Sleep(time.Second)
		b.Close()
		if err := <-failed; err == nil {
			t.Error("a hanging call succeeded")
		}
	})
}
