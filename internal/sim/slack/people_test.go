package slack

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	slackgo "github.com/slack-go/slack"
)

func TestEventsOfPeople(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		ext := b.AddUser("eve", External("T9"))
		mpim := b.AddConversation(MPIM, "", o.user, "UBOT")
		k := b.listen(t, always)
		root := b.Say(o.user, o.in, "root")
		b.Say(o.user, o.in, "loud", InThread(root), Broadcast())
		b.Say(o.user, o.dm, "<@UBOT> dm")
		b.Say(o.user, mpim, "<@UBOT> group")
		b.Edit(o.in, root, "new & root")
		b.Delete(o.in, root)
		b.Join(o.out, "UBOT")
		b.Join(o.in, ext)
		b.Say(ext, o.in, "from afar")
		if ts := b.Say(ext, o.out, "not a member"); ts != "" {
			t.Error("somebody spoke in a channel they aren't in")
		}
		if ts := b.Say(o.user, o.archived, "anybody?"); ts != "" {
			t.Error("somebody spoke in an archived channel")
		}
		synctest.Wait()
		var got []string
		for _, e := range k.envelopes() {
			ev := e.Payload.Event
			got = append(got, strings.TrimSpace(fmt.Sprint(ev["type"], " ", ev["channel_type"], " ", ev["subtype"], " ", ev["team"])))
		}
		want := []string{
			"message channel <nil> T1", "message channel thread_broadcast T1", "message im <nil> T1", "message mpim <nil> T1",
			"message channel message_changed <nil>", "message channel message_changed <nil>",
			"member_joined_channel <nil> <nil> T1", "member_joined_channel <nil> <nil> T1", "message channel <nil> T9",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		edit := k.envelopes()[4].Payload.Event
		now, before := edit["message"].(map[string]any), edit["previous_message"].(map[string]any)
		if now["text"] != "new &amp; root" || before["text"] != "root" || now["edited"] == nil || edit["text"] != nil {
			t.Errorf("edit %v", edit)
		}
	})
}

// twinTypes says thrice "@orebot" where and returns which events came, in order.
func twinTypes(t *testing.T, o Options, kind Kind) (types string) {
	inBubble(t, o, func(t *testing.T, b *bench) {
		u := b.AddUser("al")
		c := b.AddConversation(kind, "x", u, "UBOT")
		k := b.listen(t, always)
		for range 8 {
			b.Say(u, c, "@orebot hi")
			time.Sleep(time.Second)
		}
		for _, e := range k.envelopes() {
			types += string(e.Payload.Event["type"].(string)[0])
		}
	})
	return types
}

func TestTwinOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		kind Kind
		want string
	}{
		{"message first", Options{}, Private, "mamamamamamamama"},
		{"mention first", Options{Order: MentionFirst}, Public, "amamamamamamamam"},
		{"with a gap", Options{Order: MentionFirst, TwinGap: 250 * time.Millisecond}, Public, "amamamamamamamam"},
		{"group DM", Options{}, MPIM, "mmmmmmmm"},
		{"group DM with twins", Options{MPIMTwin: true}, MPIM, "mamamamamamamama"},
	} {
		if got := twinTypes(t, c.o, c.kind); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	one := twinTypes(t, Options{Order: AnyOrder, Seed: 1}, Public)
	if again := twinTypes(t, Options{Order: AnyOrder, Seed: 1}, Public); one != again {
		t.Errorf("one seed, two orders: %s, %s", one, again)
	}
	if !strings.Contains(one, "mm") && !strings.Contains(one, "aa") {
		t.Errorf("any order is always the same: %s", one)
	}
}

func TestOwnPostsComeBack(t *testing.T) {
	for _, o := range []Options{{}, {Unfurl: true}, {NoEcho: true}} {
		inBubble(t, o, func(t *testing.T, b *bench) {
			k := b.listen(t, always)
			_, _, err := b.api.PostMessageContext(b.ctx, b.office().dm, slackgo.MsgOptionText("hi", false))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			got := k.envelopes()
			want := map[bool]int{false: 1}[o.NoEcho] + map[bool]int{true: 1}[o.Unfurl]
			if len(got) != want {
				t.Fatalf("%+v: %d events, want %d", o, len(got), want)
			}
			if want > 0 {
				if ev := got[0].Payload.Event; ev["bot_id"] != "BBOT" || ev["user"] != "UBOT" || ev["subtype"] != nil {
					t.Errorf("echo %v", ev)
				}
			}
		})
	}
}

func TestSlash(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		k := b.listen(t, func(e envelope) (any, bool) {
			return map[string]string{"text": "at once"}, e.Payload.Text == "fine"
		})
		call := b.Slash(o.user, o.out, "fine")
		payload, err := call.Wait(b.ctx)
		if err != nil || string(payload) != `{"text":"at once"}` {
			t.Fatalf("ack %s, %v", payload, err)
		}
		for i := range 6 {
			kind := []string{"ephemeral", "in_channel"}[i%2]
			_, _, err := b.api.PostMessageContext(b.ctx, o.out, slackgo.MsgOptionResponseURL(call.URL, kind),
				slackgo.MsgOptionText(fmt.Sprint("later ", i), false))
			if (err == nil) != (i < 5) {
				t.Errorf("response %d: %v", i, err)
			}
		}
		if n := len(call.Posts()); n != 5 || b.Refused() != 1 {
			t.Errorf("%d posts, %d refused", n, b.Refused())
		}
		silent := b.Slash(o.user, o.out, "silence")
		if _, err := silent.Wait(b.ctx); err == nil {
			t.Error("a command nobody acked succeeded")
		}
		time.Sleep(10 * time.Minute)
		if n := len(k.envelopes()); n != 2 {
			t.Errorf("%d envelopes, want each command once and no event of a channel the bot isn't in", n)
		}
		want := "ephemeral C2 BBOT: at once|ephemeral C2 BBOT: later 0|post C2 BBOT: later 1|ephemeral C2 BBOT: later 2|" +
			"post C2 BBOT: later 3|ephemeral C2 BBOT: later 4|ephemeral C2 USLACKBOT: /orebot failed because the app did not respond."
		var got []string
		for _, l := range b.Transcript() {
			_, line, _ := strings.Cut(l.String(), " ")
			got = append(got, line)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
		}
		time.Sleep(25 * time.Minute)
		resp, err := b.http.Post(silent.URL, "application/json", strings.NewReader(`{"text":"x"}`))
		if err != nil || resp.StatusCode != http.StatusNotFound {
			t.Errorf("an expired response URL answered %v, %v", resp, err)
		}
		_ = resp.Body.Close()
	})
}

func TestWaitFor(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		go func() { time.Sleep(1200 * time.Millisecond); b.Say(o.user, o.in, "now") }()
		if err := b.WaitFor(b.ctx, func(l []Line) bool { return len(l) == 1 }); err != nil {
			t.Fatal(err)
		}
		if got := b.Transcript()[0].String(); got != "1.2s post C1 U1: now" {
			t.Errorf("line %q", got)
		}
		ctx, cancel := context.WithTimeout(b.ctx, time.Second)
		defer cancel()
		if err := b.WaitFor(ctx, func(l []Line) bool { return false }); err == nil {
			t.Error("waiting for nothing succeeded")
		}
	})
}

func TestOtherBotsAndLeaving(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		bot := b.AddUser("robo", OtherBot())
		k := b.listen(t, always)
		b.Join(o.in, bot)
		ts := b.Say(bot, o.in, "beep &amp; <!date^1^x>", Raw())
		b.Part(o.in, bot)
		if again := b.Say(bot, o.in, "gone"); ts == "" || again != "" {
			t.Errorf("said %q, then %q", ts, again)
		}
		b.Part(o.in, "UBOT")
		b.Say(o.user, o.in, "@orebot are you there?")
		synctest.Wait()
		got := k.envelopes()
		if len(got) != 3 {
			t.Fatalf("%d events, want the join, the post and one leaving", len(got))
		}
		if ev := got[1].Payload.Event; ev["bot_id"] != "B"+bot || ev["text"] != "beep &amp; <!date^1^x>" {
			t.Errorf("a bot's post: %v", ev)
		}
		ev := got[1].Payload.Event
		profile, _ := ev["bot_profile"].(map[string]any)
		if ev["app_id"] != "AB"+bot || profile["app_id"] != "AB"+bot || profile["id"] != "B"+bot || profile["name"] != "robo" {
			t.Errorf("another app's post says it is %v, %v", ev["app_id"], profile)
		}
	})
}
