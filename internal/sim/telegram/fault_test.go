package telegram

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"orebot/internal/sim/fault"
)

func TestFaultsAnswerInPlace(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		u := r.AddUser("Ada", "ada")
		chat := str(r.PrivateChat(u))
		r.Faults.Next("sendMessage",
			TooMany(1500*time.Millisecond), Refusal(409, "Conflict: x"),
			fault.Fault{Status: 502, Body: "<html>Bad Gateway</html>"},
			fault.Fault{Reset: true})
		_, err := r.try("sendmessage", "chat_id", chat, "text", "a")
		var e *tgbotapi.Error
		if !errors.As(err, &e) || e.Code != 429 || e.RetryAfter != 2 {
			t.Errorf("429: %v", err)
		}
		r.refused(t, "Conflict: x", "sendMessage")
		if _, err = r.try("sendMessage", "chat_id", chat, "text", "a"); err == nil || !strings.Contains(err.Error(), "'<'") {
			t.Errorf("HTML: %v", err)
		}
		if _, err = r.try("sendMessage", "chat_id", chat, "text", "a"); err == nil {
			t.Error("a reset went well")
		}
		if n := len(r.Transcript()); n != 0 {
			t.Errorf("%d lines", n)
		}
		if n := len(r.Calls("sendMessage")); n != 4 {
			t.Errorf("%d calls logged", n)
		}
		r.call(t, "sendMessage", "chat_id", chat, "text", "a")
	})
}

func TestFaultsThatHideWhatWasDone(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		chat := str(r.PrivateChat(r.AddUser("Ada", "ada")))
		r.Faults.Next("sendMessage", fault.Fault{Cut: true}, fault.Fault{CutDo: 2 * time.Second}, fault.Fault{Hang: true})
		for _, text := range []string{"one", "two"} {
			if _, err := r.try("sendMessage", "chat_id", chat, "text", text); err == nil {
				t.Errorf("%s: no error", text)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, "GET", r.base+"/bot"+r.Token()+"/sendMessage?text=x", nil)
		if _, err := r.http.Do(req); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("hang: %v", err)
		}
		r.Faults.Wait()
		if got, want := r.Script(), "0s send 1001 one\n2s send 1001 two\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

func TestFaultInFrontOfAPollConfirmsNothing(t *testing.T) {
	inBubble(t, Options{FirstUpdateID: 1}, func(t *testing.T, r *rig) {
		r.Push(`{"message":{}}`)
		r.Faults.Next("getUpdates", fault.Fault{Reset: true}, fault.Fault{Status: 409}, fault.Fault{Cut: true})
		for range 2 {
			if _, err := r.try("getUpdates", "offset", "2"); err == nil || r.Confirmed() != 0 {
				t.Fatalf("%v, confirmed %d", err, r.Confirmed())
			}
		}
		if _, err := r.try("getUpdates", "offset", "2"); err == nil || r.Confirmed() != 1 {
			t.Fatalf("cut: %v, confirmed %d", err, r.Confirmed())
		}
	})
}

func TestCloseWaitsForLateCallsAndRefusesThem(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		chat := str(r.PrivateChat(r.AddUser("Ada", "")))
		r.Faults.Next("sendMessage", fault.Fault{CutDo: 2 * time.Second}, fault.Fault{Hang: true})
		r.Faults.Next("getUpdates", fault.Fault{CutDo: 2 * time.Second})
		for _, method := range []string{"sendMessage", "getUpdates"} {
			if _, err := r.try(method, "chat_id", chat, "text", "a", "timeout", "50"); err == nil {
				t.Errorf("%s: no error", method)
			}
		}
		time.AfterFunc(time.Second, r.Close)
		t0 := time.Now()
		if _, err := r.try("sendMessage"); err == nil || since(t0) != time.Second {
			t.Errorf("the hanging call ended with %v after %v", err, since(t0))
		}
		r.Close()
		if since(t0) != 2*time.Second || r.Refused()["Internal Server Error: restart"] != 2 || len(r.Transcript()) != 0 {
			t.Errorf("%v %v %v", since(t0), r.Refused(), r.Transcript())
		}
	})
}

func TestTokenAndPath(t *testing.T) {
	r := onLoopback(t, Options{})
	for path, want := range map[string]string{
		"/bot42:WRONG/getMe":       `{"description":"Unauthorized","error_code":401,"ok":false}`,
		"/bot42/getMe":             `{"description":"Not Found","error_code":404,"ok":false}`,
		"/bot42:SIMTOKEN/":         `{"description":"Not Found","error_code":404,"ok":false}`,
		"/bot42:SIMTOKEN/a/b":      `{"description":"Not Found","error_code":404,"ok":false}`,
		"/":                        `{"description":"Not Found","error_code":404,"ok":false}`,
		"/file/bot42:WRONG/a/b":    `{"description":"Unauthorized","error_code":401,"ok":false}`,
		"/file/bot42:SIMTOKEN/a/b": `{"description":"Not Found","error_code":404,"ok":false}`,
		"/bot42:SIMTOKEN/noSuch":   `{"description":"Not Found: method not found","error_code":404,"ok":false}`,
	} {
		status, body := get(t, r, path)
		if body != want || !strings.Contains(want, str(int64(status))) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if _, body := get(t, r, "/bot42:SIMTOKEN/GETME"); !strings.Contains(body, `"can_read_all_group_messages":true`) {
		t.Errorf("getMe: %s", body)
	}
	r.Revoke()
	r.refused(t, "Unauthorized", "getMe")
}
