package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/core/observe"
	"orebot/core/session"
	"orebot/internal/secret"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/telegram"
)

var badGateway = fault.Fault{Status: 502, Body: "<html>Bad Gateway</html>"}

func times(n int, f fault.Fault) []fault.Fault { return slices.Repeat([]fault.Fault{f}, n) }

// Facts A1.5, A1.8, B.0, B.8.
func TestTheFirstPollWaitsForNobody(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.Say(b.ada, b.chat, "hello")
		b.Faults.Next("getMe", times(3, badGateway)...)
		l := b.start()
		time.Sleep(50 * time.Millisecond)
		polls := b.Polls()
		if len(polls) != 1 || polls[0].Offset != 0 || polls[0].Wait != 50*time.Second {
			t.Errorf("polls %+v", polls)
		}
		if b.Confirmed() != 0 || len(b.texts(b.chat)) != 0 {
			t.Error("a message was read before it was known who the bot is")
		}
		if got := b.Calls("getUpdates")[0].Params["allowed_updates"]; got != pollKinds {
			t.Errorf("allowed_updates %s", got)
		}
		l.rest(10 * time.Second) // getMe at 0, 1, 3 and 7 s
		b.want(b.chat, "re: hello")
		if b.logged("bot unknown") != 1 || b.logged("bot known") != 1 {
			t.Error(b.log.String())
		}
	})
}

// The offset moves only once a batch is durable, and a restart answers nothing twice.
// Facts A1.1, A1.2, A1.7, B.2, E.10; reports 1, 2, 3.
func TestTheOffsetFollowsTheStore(t *testing.T) {
	inBubble(t, sim.Options{FirstUpdateID: 10}, func(t *testing.T, b *bench) {
		b.store.Hold()
		for i := range 3 {
			b.Say(b.ada, b.chat, fmt.Sprintf("m%d", i))
		}
		l := b.start()
		time.Sleep(time.Minute)
		if n := len(b.Polls()); n != 1 || b.Confirmed() != 0 {
			t.Errorf("%d polls, confirmed %d before anything was durable", n, b.Confirmed())
		}
		b.store.Release()
		time.Sleep(time.Second)
		if b.Confirmed() != 12 || b.Polls()[1].Offset != 13 {
			t.Errorf("confirmed %d", b.Confirmed())
		}
		if err := l.stop(); err != nil {
			t.Error(err)
		}
		b.Deliver(b.chat, 1, 2, 3) // as a server that had not heard of the offset
		b.start().rest(5 * time.Second)
		if got := b.texts(b.chat); len(got) == 0 || strings.Count(strings.Join(got, " "), "m1") != 1 {
			t.Errorf("answers %q", got)
		}
		if got := b.figs.get(observe.Duplicates, Name); got != 3 {
			t.Errorf("%v duplicates", got)
		}
	})
}

// Facts A1.2.
func TestAFailedCommitIsAskedForAgain(t *testing.T) {
	inBubble(t, sim.Options{FirstUpdateID: 10}, func(t *testing.T, b *bench) {
		l := b.start()
		time.Sleep(time.Second)
		b.store.FailNext(session.ErrPaused)
		b.store.FailNext(session.ErrPaused)
		b.Say(b.ada, b.chat, "hello")
		time.Sleep(2500 * time.Millisecond) // back-off of 1 s, then of 2 s
		if b.Confirmed() != 0 || len(b.texts(b.chat)) != 0 {
			t.Errorf("confirmed %d, %q", b.Confirmed(), b.texts(b.chat))
		}
		l.rest(time.Second)
		b.want(b.chat, "re: hello")
		if b.Confirmed() != 10 || b.logged("messages can't be stored") != 1 {
			t.Errorf("confirmed %d\n%s", b.Confirmed(), b.log.String())
		}
	})
}

func TestAnAppliedCommitThatFailedIsAnsweredOnce(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		time.Sleep(time.Second)
		b.store.FailNextApplied(session.ErrUnknown)
		b.Say(b.ada, b.chat, "hello")
		l.rest(10 * time.Second)
		b.want(b.chat, "re: hello")
	})
}

// Ids that go down neither hide updates nor make a hot loop.
// Facts A1.4, B.4, E.11.
func TestIDsMayGoDown(t *testing.T) {
	inBubble(t, sim.Options{FirstUpdateID: 900000}, func(t *testing.T, b *bench) {
		l := b.start()
		b.Say(b.ada, b.chat, "one")
		time.Sleep(time.Second)
		b.ResetIDs(100)
		b.Say(b.ada, b.chat, "two")
		l.rest(10 * time.Second)
		b.want(b.chat, "re: one", "re: two")
		if polls := b.Polls(); polls[len(polls)-1].Offset != 101 || len(polls) > 5 {
			t.Errorf("%d polls, the last from %d", len(polls), polls[len(polls)-1].Offset)
		}
	})
}

// What can't be read holds up nobody.
// Facts A1.9, B.5, E.12; report 6.
func TestPoisonIsSetAside(t *testing.T) {
	inBubble(t, sim.Options{FirstUpdateID: 5}, func(t *testing.T, b *bench) {
		b.Say(b.ada, b.chat, "one")
		b.Push(`{"message":{"message_id":"str","text":"private words"}}`)
		b.PushRaw(`"not even an object"`)
		b.Push(`{"guest_message":{}}`)
		b.Say(b.ada, b.chat, "two")
		b.PushRaw(`{"update_id":"x"}`)
		l := b.start()
		l.rest(3 * time.Second)
		if got := strings.Join(b.texts(b.chat), " "); !strings.Contains(got, "one") || !strings.Contains(got, "two") {
			t.Errorf("answers %q", got)
		}
		if b.Confirmed() != 10 || b.Pending() != 0 {
			t.Errorf("confirmed %d, %d wait", b.Confirmed(), b.Pending())
		}
		if poison, kind := b.figs.get(observe.Ignored, Name, "poison"), b.figs.get(observe.Ignored, Name, "kind"); poison != 3 || kind != 1 {
			t.Errorf("%v poison, %v of a kind", poison, kind)
		}
		for line := range strings.Lines(b.log.String()) {
			if strings.Contains(line, "private words") && !strings.Contains(line, "level=DEBUG") {
				t.Errorf("a person's words are logged: %s", line)
			}
		}
	})
}

// Answers that can never be confirmed are failures, not a loop.
// Facts B.5.
func TestUpdatesWithoutAnID(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.Faults.Next("getUpdates", times(100, fault.Fault{Status: 200, Body: `{"ok":true,"result":[{"update_id":1.5},{}]}`})...)
		b.start().rest(time.Minute)
		if n := len(b.Calls("getUpdates")); n > 8 || b.logged("polling fails") != 1 {
			t.Errorf("%d polls\n%s", n, b.log.String())
		}
	})
}

// refusing is a Sessions that can't store some texts, ever.
type refusing struct {
	Sessions
	err error
}

func (r refusing) Accept(ctx context.Context, in session.Inbound, done func(session.Receipt)) {
	if strings.HasPrefix(in.Text, "bad") {
		done(session.Receipt{Err: r.err})
		return
	}
	r.Sessions.Accept(ctx, in, done)
}

func TestWhatCanNeverBeStoredHoldsUpNobody(t *testing.T) {
	for _, err := range []error{fmt.Errorf("entry: %w", session.ErrTooLarge), &session.CorruptError{Err: errDisk}} {
		inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
			l := b.start(func(c *Config) { c.Sessions = refusing{c.Sessions, err} })
			b.Say(b.ada, b.chat, "bad")
			b.Say(b.ada, b.chat, "good")
			l.rest(2 * time.Second)
			b.want(b.chat, "re: good")
			if b.Pending() != 0 || b.figs.get(observe.Ignored, Name, "poison") != 1 {
				t.Errorf("%d wait\n%s", b.Pending(), b.log.String())
			}
		})
	}
}

// Each press is answered once, whatever becomes of the answer.
// Facts A6.11, A8.10, B.11, E.13.
func TestPressesAreAnswered(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		b.Callback(b.ada, b.chat, 9, "retry:1")
		b.InlineCallback(b.ada, "q", "x")
		time.Sleep(time.Second)
		b.Faults.Next("answerCallbackQuery", sim.Refusal(400, "Bad Request: query is too old and response timeout expired or query ID is invalid"))
		b.Callback(b.ada, b.chat, 9, "retry:2")
		l.rest(time.Second)
		if n := len(b.Calls("answerCallbackQuery")); n != 3 || len(b.model.prompts()) != 0 || b.Pending() != 0 {
			t.Errorf("%d answers, prompts %q, %d wait", n, b.model.prompts(), b.Pending())
		}
		if got := b.figs.get(observe.Ignored, Name, "callback"); got != 3 {
			t.Errorf("%v ignored", got)
		}
	})
}

// HTML, empty answers, cut connections and 5xx are waited out.
// Facts A6.18, E.15; report 5.
func TestPollingOutlivesTroubles(t *testing.T) {
	for name, fs := range map[string][]fault.Fault{
		"html":  times(3, badGateway),
		"empty": times(3, fault.Fault{Status: 503}),
		"5xx":   times(3, sim.Refusal(500, "Internal Server Error: restart")),
		"cut":   times(3, fault.Fault{Reset: true}),
		"after": {{Cut: true}, {Cut: true}},
		"odd":   times(3, fault.Fault{Status: 200, Body: `{"ok":true,"result":{"a":1}}`}),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
				b.Faults.Next("getUpdates", fs...)
				l := b.start()
				for i := range 3 {
					b.Say(b.ada, b.chat, fmt.Sprintf("m%d", i))
				}
				l.rest(8 * time.Second) // back-off of 1, 2 and 4 s
				if got := strings.Join(b.model.prompts(), " "); !strings.Contains(got, "m0") || !strings.Contains(got, "m2") {
					t.Errorf("prompts %q", got)
				}
				if b.logged("polling fails") != 1 || b.logged("polling again") != 1 || b.figs.get(observe.Reconnects, Name) != 1 {
					t.Errorf("%s", b.log.String())
				}
				if ready, reason := b.health.state(); !ready || !slices.Contains(b.health.seen, "Telegram can't be reached") {
					t.Errorf("ready %v %q, was told %q", ready, reason, b.health.seen)
				}
			})
		})
	}
}

// Readiness comes back with the first answer after an outage, though nobody writes.
// Report 9.
func TestReadinessComesBackInAQuietChat(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.Faults.Next("getUpdates", times(3, badGateway)...)
		l := b.start()
		l.rest(8 * time.Second) // back-off of 1, 2 and 4 s
		if ready, reason := b.health.state(); !ready {
			t.Errorf("not ready: %q", reason)
		}
		polls := b.Polls()
		if n := len(polls); n == 0 || polls[n-1].Wait != pollWait {
			t.Errorf("the polls don't wait again: %+v", polls)
		}
	})
}

// A poll that is told to wait waits as long as it was told.
// Facts A6.17; report 16.
func TestPolling429(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.Faults.Next("getUpdates", sim.TooMany(26*time.Second))
		b.Faults.Next("getMe", sim.TooMany(7*time.Second))
		b.start().rest(40 * time.Second)
		polls, mes := b.Calls("getUpdates"), b.Calls("getMe")
		if len(polls) < 2 || polls[1].At-polls[0].At < 26*time.Second || len(mes) != 2 || mes[1].At-mes[0].At < 7*time.Second {
			t.Errorf("polls %v, getMe %v", polls, mes)
		}
	})
}

// Another poller is waited out, said once and counted; readiness names it after a minute.
// Facts A1.11, A6.16, E.15; report 7.
func TestAnotherPoller(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		conflict := sim.Refusal(409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running")
		time.Sleep(time.Second)
		b.Faults.Next("getUpdates", times(6, conflict)...) // after 50 s: at 0, 5, 15, 35, 75 and 135 s
		time.Sleep(50*time.Second + 50*time.Second)
		if _, reason := b.health.state(); reason != "" {
			t.Errorf("told %q within a minute", reason)
		}
		time.Sleep(50 * time.Second)
		if ready, reason := b.health.state(); ready || !strings.HasPrefix(reason, "conflict") {
			t.Errorf("ready %v %q", ready, reason)
		}
		b.Say(b.ada, b.chat, "hello")
		l.rest(2 * time.Minute)
		b.want(b.chat, "re: hello")
		if n := b.logged(observe.MsgAnotherPoller); n != 1 || b.figs.get(observe.PollConflicts) != 6 {
			t.Errorf("%d lines, %v counted", n, b.figs.get(observe.PollConflicts))
		}
		if ready, reason := b.health.state(); !ready {
			t.Errorf("not ready: %s", reason)
		}
	})
}

// TestARivalIsOneStreak lets another program with the same token poll for ten minutes, so that the two end each other's polls; some of
// them bring messages all the same.
// Facts A1.11.
func TestARivalIsOneStreak(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		time.Sleep(time.Second)
		rival := Dial(Account{Token: secret.New(token), APIURL: "http://sim", Transport: b.dial})
		said := 0
		for start := time.Now(); time.Since(start) < 10*time.Minute; time.Sleep(time.Second) {
			_, err := rival.callFor(t.Context(), time.Minute, "getUpdates", map[string]string{"timeout": "20"})
			if err != nil && said < 3 { // the bot's own poll waits now
				said++
				b.Say(b.ada, b.chat, fmt.Sprintf("m%d", said))
			}
		}
		if b.want(b.chat, "re: m1", "re: m2", "re: m3"); said != 3 || b.figs.get(observe.Reconnects, Name) < 3 {
			t.Errorf("%d messages, %v recoveries", said, b.figs.get(observe.Reconnects, Name))
		}
		if n := b.logged(observe.MsgAnotherPoller); n != 1 {
			t.Errorf("%d lines\n%s", n, b.log.String())
		}
		time.Sleep(5*time.Minute + 20*time.Second) // not when the own poll ends
		_, _ = rival.callFor(t.Context(), time.Minute, "getUpdates", nil)
		l.rest(time.Minute)
		if n := b.logged(observe.MsgAnotherPoller); n != 2 {
			t.Errorf("%d lines after a quiet time\n%s", n, b.log.String())
		}
	})
}

// Facts A1.10, A1.12.
func TestAWebhookIsRemovedOnce(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.Say(b.ada, b.chat, "hello")
		b.SetWebhook("https://example.org/")
		l := b.start()
		time.Sleep(time.Second)
		b.want(b.chat, "re: hello")
		if calls := b.Calls("deleteWebhook"); len(calls) != 1 || calls[0].Params["drop_pending_updates"] != "false" {
			t.Errorf("%v", calls)
		}
		b.SetWebhook("https://example.org/")
		time.Sleep(5 * time.Minute)
		if len(b.Calls("deleteWebhook")) != 1 || b.logged("a webhook takes this bot's updates") != 1 {
			t.Errorf("%s", b.log.String())
		}
		if ready, reason := b.health.state(); ready || !strings.Contains(reason, "webhook") {
			t.Errorf("ready %v %q", ready, reason)
		}
		b.SetWebhook("")
		b.Say(b.ada, b.chat, "again")
		l.rest(2 * time.Minute)
		b.want(b.chat, "re: hello", "re: again")
	})
}

// Refused credentials end Run within seconds, and say so in one line and in the readiness.
// Facts A6.15; report 9.
func TestRefusedCredentialsEndRun(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.Revoke()
		l := b.start()
		time.Sleep(500 * time.Millisecond)
		if ready, reason := b.health.state(); ready || !strings.Contains(reason, "token") {
			t.Errorf("after one poll: ready %v %q", ready, reason)
		}
		dead(t, b, l, 10*time.Second)
		if n := len(b.Calls("getUpdates")); n < 2 || n > 4 {
			t.Errorf("%d polls", n)
		}
	})
}

// dead expects that the conduit ends by itself within d.
func dead(t *testing.T, b *bench, l *life, d time.Duration) {
	t.Helper()
	before := time.Now()
	err := <-l.conduit
	l.conduit <- err
	var e *conduit.Error
	if !errors.As(err, &e) || e.Class != conduit.Dead || time.Since(before) > d {
		t.Errorf("Run ended after %v with %v", time.Since(before), err)
	}
	noToken(t, fmt.Sprint(err))
	if n := b.logged(observe.MsgCredentialsRefused); n != 1 {
		t.Errorf("%d lines\n%s", n, b.log.String())
	}
	if ready, reason := b.health.state(); ready || reason == "" {
		t.Errorf("ready %v %q", ready, reason)
	}
	_ = l.stop()
}

// A token without a URL of its own is refused with 404.
// Facts A6.15; report 9.
func TestAMalformedTokenEndsRunAtOnce(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.api = Dial(Account{Token: secret.New("42"), APIURL: "http://sim", Transport: b.dial})
		dead(t, b, b.start(), time.Millisecond)
	})
}

// Facts E.15.
func TestATokenRevokedInMidRun(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		b.Say(b.ada, b.chat, "one")
		time.Sleep(time.Second)
		b.model.answers(func(string) string { b.Revoke(); return "too late" })
		b.Say(b.ada, b.chat, "two")
		dead(t, b, l, time.Minute)
		b.want(b.chat, "re: one")
	})
}

// Facts A6.15.
func TestAFlappingTokenIsBorneWith(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		unauthorized := sim.Refusal(401, "Unauthorized")
		b.Faults.Next("getUpdates", unauthorized, unauthorized)
		l := b.start()
		b.Say(b.ada, b.chat, "hello")
		l.rest(10 * time.Second)
		b.want(b.chat, "re: hello")
	})
}

// A token that was taken has the shape of one: a server that finds nothing for a moment, such as one that a proxy stands in for while it
// starts, doesn't end the bot. One that never finds anything again does.
// Facts A6.15.
func TestATokenThatIsNotFoundForAMoment(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		l := b.start()
		missing := sim.Refusal(404, "Not Found")
		for i, method := range []string{"getUpdates", "sendMessage"} {
			time.Sleep(time.Minute)
			b.Faults.Next(method, missing, missing)
			b.Say(b.ada, b.chat, fmt.Sprintf("hello %d", i))
		}
		time.Sleep(time.Minute)
		b.want(b.chat, "re: hello 0", "re: hello 1")
		b.Faults.Next("*", times(100, missing)...)
		b.Say(b.ada, b.chat, "nobody hears this")
		dead(t, b, l, time.Minute)
	})
}

// TestNoHotLoop has a server that answers every poll at once with nothing, and one that forgets what was confirmed.
// Refusals count only in a row: an answer in between that only a good token gets, even a refusal of something else, begins anew.
func TestRefusalsInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c credentials
		for i, code := range []int{401, 401, 400, 401, 421, 502, 0, 401} {
			time.Sleep(refusalGap)
			if e := c.judge(&callError{code: code}); e.dead != (i == 7) || e.first != (i == 7) {
				t.Errorf("answer %d, %d: dead %v", i, code, e.dead)
			}
		}
	})
}

// Facts A1.6.
func TestNoHotLoop(t *testing.T) {
	for _, result := range []string{`[]`, `[{"update_id":7,"poll":{}}]`} {
		inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
			f := fault.Fault{Status: http.StatusOK, Body: `{"ok":true,"result":` + result + `}`}
			b.Faults.Next("getUpdates", times(1000, f)...)
			b.start().rest(10 * time.Second)
			if n := len(b.Calls("getUpdates")); n > 30 || n < 20 {
				t.Errorf("%s: %d polls in 10 s", result, n)
			}
		})
	}
}

// Facts B.3.
func TestStopAbortsThePoll(t *testing.T) {
	for name, hang := range map[string]func(b *bench){
		"waiting": func(*bench) {},
		"hanging": func(b *bench) { b.Faults.Next("getUpdates", fault.Fault{Hang: true}) },
		"backing": func(b *bench) { b.Faults.Next("getUpdates", times(50, badGateway)...) },
		"unknown": func(b *bench) { b.Faults.Next("getMe", times(50, badGateway)...) },
		"silent":  func(b *bench) { b.Faults.Next("getMe", fault.Fault{Hang: true}) },
		"held":    func(b *bench) { b.store.Hold(); b.Say(b.ada, b.chat, "hello") },
		"answers": func(b *bench) {
			b.Faults.Next("answerCallbackQuery", fault.Fault{Hang: true})
			b.Callback(b.ada, b.chat, 9, "x")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
				hang(b)
				l := b.start()
				time.Sleep(20 * time.Second)
				before := time.Now()
				l.cancel()
				synctest.Wait()
				b.store.Release()
				if err := l.stop(); err != nil || time.Since(before) >= time.Second {
					t.Errorf("stopped after %v with %v", time.Since(before), err)
				}
			})
		})
	}
}
