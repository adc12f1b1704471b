package telegram

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPollConfirmsBelowTheOffset(t *testing.T) {
	inBubble(t, Options{FirstUpdateID: 10}, func(t *testing.T, r *rig) {
		u := r.AddUser("Ada", "ada")
		chat := r.PrivateChat(u)
		for range 5 {
			r.Say(u, chat, "hi")
		}
		steps := []struct {
			offset, limit string
			want          []int
			confirmed     int
		}{
			{"0", "100", []int{10, 11, 12, 13, 14}, 0},
			{"10", "100", []int{10, 11, 12, 13, 14}, 0},
			{"11", "2", []int{11, 12}, 10},
			{"9", "1", []int{11}, 10},                // going back brings nothing back
			{"26", "100", []int{11, 12, 13, 14}, 10}, // beyond the tail (15) by more than ten: ignored
			{"-2", "100", []int{13, 14}, 12},         // keeps the last two, forgets the others
			{"-50", "100", []int{13, 14}, 12},        // more than there are
			{"14", "0", []int{14}, 13},               // a limit of 0 is the default
			{"25", "100", []int{}, 14},               // beyond the tail by ten: confirms all
		}
		for _, st := range steps {
			got := idsOf(r.updates(t, "offset", st.offset, "limit", st.limit))
			if !slices.Equal(got, st.want) || r.Confirmed() != st.confirmed {
				t.Fatalf("offset %s: %v, confirmed %d; want %v, %d", st.offset, got, r.Confirmed(), st.want, st.confirmed)
			}
		}
		if got := r.Polls()[2]; got.Offset != 11 || got.Limit != 2 || !slices.Equal(got.Got, []int{11, 12}) {
			t.Errorf("poll log: %+v", got)
		}
	})
}

func TestPollWaits(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		u := r.AddUser("Ada", "ada")
		chat := r.PrivateChat(u)
		t0 := time.Now()
		if got := r.updates(t, "timeout", "7"); len(got) != 0 || since(t0) != 7*time.Second {
			t.Errorf("empty poll: %v after %v", got, since(t0))
		}
		t0 = time.Now()
		if r.updates(t, "timeout", "900"); since(t0) != 50*time.Second {
			t.Errorf("a poll lasts 50 s at most, this one %v", since(t0))
		}
		t0 = time.Now()
		time.AfterFunc(3*time.Second, func() { r.Say(u, chat, "hi") })
		if got := r.updates(t, "timeout", "50"); len(got) != 1 || since(t0) != 3*time.Second {
			t.Errorf("woken poll: %v after %v", got, since(t0))
		}
	})
}

func TestSecondPollEndsTheFirst(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		t0 := time.Now()
		type end struct {
			at  time.Duration
			err string
		}
		ends := make([]end, 4)
		var wg sync.WaitGroup
		for i := range ends {
			wg.Go(func() {
				_, err := r.try("getUpdates", "timeout", "10")
				ends[i] = end{since(t0), errText(err)}
			})
			synctest.Wait()
			time.Sleep(time.Second)
		}
		wg.Wait()
		older := "Conflict: " + conflictPoll
		want := []end{
			{1 * time.Second, older}, // at once
			{5 * time.Second, older}, // ended at 2 s, told 3 s later
			{6 * time.Second, older},
			{13 * time.Second, ""},
		}
		if !slices.Equal(ends, want) {
			t.Errorf("got  %v\nwant %v", ends, want)
		}
		if got := r.Refused()[older]; got != 3 {
			t.Errorf("%d refusals counted", got)
		}
	})
}

func TestWebhookStandsInTheWay(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		r.Push(`{"message":{}}`)
		r.call(t, "setWebhook", "url", "https://example.org/hook")
		r.refused(t, "Conflict: "+conflictWebhook, "getUpdates")
		info := string(r.call(t, "getWebhookInfo"))
		if !strings.Contains(info, `"url":"https://example.org/hook"`) || !strings.Contains(info, `"pending_update_count":1`) {
			t.Errorf("info %s", info)
		}
		r.call(t, "deleteWebhook")
		if got := r.updates(t); len(got) != 1 {
			t.Errorf("after deleteWebhook: %v", got)
		}
		r.call(t, "deleteWebhook", "drop_pending_updates", "true")
		if r.Pending() != 0 {
			t.Error("pending updates were not dropped")
		}
		time.AfterFunc(time.Second, func() { r.SetWebhook("https://example.org/") })
		r.refused(t, "Conflict: terminated by setWebhook request", "getUpdates", "timeout", "9")
		r.refused(t, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook", "setWebhook", "url", "http://x")
	})
}

func TestAllowedUpdatesStay(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		u := r.AddUser("Ada", "ada")
		chat := r.PrivateChat(u)
		kinds := func(params ...string) []string {
			t.Helper()
			r.updates(t, append(params, "offset", "-1")...)
			r.updates(t, "offset", str(int64(r.queue.tail)))
			r.Edit(chat, r.Say(u, chat, "a"), "b")
			r.Callback(u, chat, 1, "x")
			var out []string
			for _, up := range r.updates(t) {
				for k := range up {
					if k != "update_id" {
						out = append(out, k)
					}
				}
			}
			return out
		}
		all := []string{"message", "edited_message", "callback_query"}
		for _, c := range []struct {
			params []string
			want   []string
		}{
			{nil, all},
			{[]string{"allowed_updates", `["edited_message","nonsense"]`}, []string{"edited_message"}},
			{nil, []string{"edited_message"}},
			{[]string{"allowed_updates", `null`}, []string{"edited_message"}},
			{[]string{"allowed_updates", `{`}, []string{"edited_message"}},
			{[]string{"allowed_updates", `["nonsense"]`}, all},
			{[]string{"allowed_updates", `["message"]`}, []string{"message"}},
			{[]string{"allowed_updates", `[]`}, all},
		} {
			if got := kinds(c.params...); !slices.Equal(got, c.want) {
				t.Errorf("%v: %v, want %v", c.params, got, c.want)
			}
		}
	})
}

func TestUpdatesAreKeptADay(t *testing.T) {
	inBubble(t, Options{FirstUpdateID: 1}, func(t *testing.T, r *rig) {
		u := r.AddUser("Ada", "ada")
		chat := r.PrivateChat(u)
		r.Say(u, chat, "old")
		r.Callback(u, chat, 1, "x")
		time.Sleep(3 * time.Minute)
		if got := idsOf(r.updates(t)); !slices.Equal(got, []int{1}) {
			t.Errorf("after 3 minutes: %v", got)
		}
		time.Sleep(24 * time.Hour)
		if got := idsOf(r.updates(t)); len(got) != 0 {
			t.Errorf("after a day: %v", got)
		}
	})
}

func TestResetIDsGoesDown(t *testing.T) {
	inBubble(t, Options{FirstUpdateID: 900000}, func(t *testing.T, r *rig) {
		r.Push(`{"message":{}}`)
		r.updates(t, "offset", "900001")
		r.ResetIDs(100)
		r.Push(`{"message":{}}`)
		if got := idsOf(r.updates(t, "offset", "900001")); !slices.Equal(got, []int{100}) {
			t.Errorf("a high offset hides %v", got)
		}
	})
}

func TestPollerThatLeftIsForgotten(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, "GET", r.base+"/bot"+r.Token()+"/getUpdates?timeout=50", nil)
		if _, err := r.http.Do(req); err == nil {
			t.Fatal("the poll ended")
		}
		synctest.Wait()
		if r.queue.waiting != nil {
			t.Error("the poll still waits")
		}
	})
}

func TestCloseEndsThePoll(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		time.AfterFunc(2*time.Second, r.Close)
		r.refused(t, "Internal Server Error: restart", "getUpdates", "timeout", "50")
	})
}

func TestPushedPoison(t *testing.T) {
	inBubble(t, Options{FirstUpdateID: 5}, func(t *testing.T, r *rig) {
		r.updates(t, "allowed_updates", `["message"]`)
		r.Push(`{"update_id":77,"message":{"message_id":"str"}}`)
		r.Push(`{"guest_message":{}}`)
		r.PushRaw(`"not even an object"`)
		want := `[{"message":{"message_id":"str"},"update_id":5},{"guest_message":{},"update_id":6},"not even an object"]`
		if got := string(r.call(t, "getUpdates")); got != want {
			t.Errorf("got %s", got)
		}
	})
}
