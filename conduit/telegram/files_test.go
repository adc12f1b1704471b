package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"orebot/core/session"
	"orebot/internal/secret"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/telegram"
)

// sent lets Ada send a file, and returns what the bot makes of it.
func (b *bench) sent(how sim.Option) session.Attachment {
	b.t.Helper()
	raw := b.JSON(b.chat, b.Say(b.ada, b.chat, "look", how))
	ev, err := translate(fmt.Appendf(nil, `{"message":%s}`, raw), ore)
	if err != nil || len(ev.inbound.Attachments) != 1 {
		b.t.Fatalf("%+v %v", ev, err)
	}
	return ev.inbound.Attachments[0]
}

// fetch fetches a file, and looks for the token in the error.
func (b *bench) fetch(att session.Attachment, w *bytes.Buffer) (session.Attachment, *session.FetchError) {
	b.t.Helper()
	got, err := b.api.Fetch(b.t.Context(), place{chat: b.chat}.address(), att, w)
	var e *session.FetchError
	if err != nil && (!errors.As(err, &e) || e.Text == "" || e.Err == nil) {
		b.t.Fatalf("%v", err)
	}
	noToken(b.t, fmt.Sprint(err))
	return got, e
}

// A photo's largest size and a document come from the configured server.
// Facts A8.4, B.14, E.5.
func TestFilesAreFetched(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		data := []byte(strings.Repeat("picture ", 1000))
		for _, how := range []sim.Option{sim.Photo(sim.File{Data: data}), sim.Document(sim.File{Name: "a b.txt", MIME: "text/plain", Data: data})} {
			var got bytes.Buffer
			att, err := b.fetch(b.sent(how), &got)
			if err != nil || !bytes.Equal(got.Bytes(), data) || att.Size != int64(len(data)) || att.MIME == "" {
				t.Errorf("%+v, %d bytes, %v", att, got.Len(), err)
			}
		}
		if n := len(b.Calls("getFile")); n != 2 {
			t.Errorf("getFile was called %d times", n)
		}
	})
}

// What can't be had is said in a sentence, and whether it may be had later.
// Facts A8.4.
func TestFilesThatCannotBeFetched(t *testing.T) {
	notFound := sim.Refusal(404, "Not Found")
	for name, c := range map[string]struct {
		faults func(s *fault.Script)
		want   string
		retry  bool
	}{
		"too big for getFile": {func(s *fault.Script) { s.Next("getFile", sim.Refusal(400, "Bad Request: file is too big")) }, textTooBig, false},
		"gone": {func(s *fault.Script) {
			s.Next("getFile", sim.Refusal(400, "Bad Request: wrong file_id or the file is temporarily unavailable"))
		}, textGone, false},
		"html":             {func(s *fault.Script) { s.Next("getFile", badGateway) }, textNotNow, true},
		"no path":          {func(s *fault.Script) { s.Next("getFile", fault.Fault{Status: 200, Body: `{"ok":true,"result":{}}`}) }, textNotNow, true},
		"flood":            {func(s *fault.Script) { s.Next("getFile", sim.TooMany(2*fetchTimeout)) }, textNotNow, true},
		"expired for good": {func(s *fault.Script) { s.Next("file", notFound, notFound) }, textGone, false},
		"cut":              {func(s *fault.Script) { s.Next("file", times(3, fault.Fault{Reset: true})...) }, textNotNow, true},
		"cut at the end":   {func(s *fault.Script) { s.Next("file", times(3, fault.Fault{Cut: true})...) }, textNotNow, true},
		"a path that leads out": {func(s *fault.Script) {
			s.Next("getFile", fault.Fault{Status: 200, Body: `{"ok":true,"result":{"file_path":"../../bot1:x/getMe"}}`})
		}, textNotNow, true},
		"a path on this disk": {func(s *fault.Script) {
			s.Next("getFile", fault.Fault{Status: 200, Body: `{"ok":true,"result":{"file_path":"/etc/passwd"}}`})
		}, textNotNow, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
				att := b.sent(sim.Document(sim.File{Name: "a", Data: make([]byte, 1<<16)}))
				c.faults(b.Faults)
				var got bytes.Buffer
				_, err := b.fetch(att, &got)
				if err == nil || err.Text != c.want || err.Retry != c.retry {
					t.Errorf("%d bytes and %v", got.Len(), err)
				}
			})
		})
	}
}

// A link that has expired is asked for once more.
// Facts A8.4.
func TestAnExpiredLinkIsAskedForAgain(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		b.Faults.Next("file", sim.Refusal(404, "Not Found"))
		var got bytes.Buffer
		if _, err := b.fetch(b.sent(sim.Photo(sim.File{Data: []byte("picture")})), &got); err != nil || got.String() != "picture" {
			t.Errorf("%q %v", got.String(), err)
		}
		if n := len(b.Calls("getFile")); n != 2 {
			t.Errorf("getFile was called %d times", n)
		}
	})
}

// A server that sends more than it may is stopped, whether it says how much or not.
// Facts A8.4.
func TestADownloadIsBounded(t *testing.T) {
	w := &counted{w: &bytes.Buffer{}, limit: 10}
	if n, err := w.Write(make([]byte, 10)); n != 10 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if n, err := w.Write([]byte{1}); n != 0 || !errors.Is(err, errTooBig) {
		t.Errorf("%d %v", n, err)
	}
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		att := b.sent(sim.Document(sim.File{Name: "a", Data: []byte("x")}))
		b.Faults.Next("file", fault.Fault{Status: 200, Body: strings.Repeat("x", maxDownload+1)})
		var got bytes.Buffer
		if _, err := b.fetch(att, &got); err == nil || err.Text != textTooBig || got.Len() > maxDownload {
			t.Errorf("%d bytes and %v", got.Len(), err)
		}
	})
}

// Whoever takes the bytes may have enough: its error comes back as it is.
func TestTheReaderMayStopADownload(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		att := b.sent(sim.Document(sim.File{Name: "a", Data: make([]byte, 1000)}))
		enough := &session.FetchError{Text: "enough"}
		_, err := b.api.Fetch(t.Context(), "telegram:7", att, writerFunc(func([]byte) (int, error) { return 0, enough }))
		if err != error(enough) {
			t.Errorf("%v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.api.Fetch(ctx, "telegram:7", att, &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A server of one's own tells paths on its disk: files are read there, of any size, and asked for where that disk isn't this one.
// Facts B.14.
func TestFilesOfALocalServer(t *testing.T) {
	folder := t.TempDir()
	inBubble(t, sim.Options{Local: folder}, func(t *testing.T, b *bench) {
		data := make([]byte, maxDownload+1)
		var got bytes.Buffer
		att, err := b.fetch(b.sent(sim.Document(sim.File{Name: "big.bin", Data: data})), &got)
		if err != nil || got.Len() != len(data) || att.Size != int64(len(data)) {
			t.Errorf("%d bytes, %v", got.Len(), err)
		}
		elsewhere := filepath.Join("/nowhere", token, "documents/file_1.bin")
		b.Faults.Next("getFile", fault.Fault{Status: 200, Body: `{"ok":true,"result":{"file_path":"` + elsewhere + `"}}`})
		got.Reset()
		if _, err := b.fetch(att, &got); err != nil || got.Len() != len(data) {
			t.Errorf("%d bytes, %v", got.Len(), err)
		}
	})
}

// Each kind that can't be read has its sentence.
// Facts A2.10, E.16.
func TestUnreadableKindsHaveASentence(t *testing.T) {
	api := Dial(Account{Token: secret.New(token), APIURL: "http://sim"})
	for kind := range unreadables {
		_, err := api.Fetch(t.Context(), "telegram:7", session.Attachment{ID: unreadable + kind}, &bytes.Buffer{})
		var e *session.FetchError
		if !errors.As(err, &e) || e.Retry || !strings.HasPrefix(e.Text, "I can't ") || strings.Contains(e.Text, "\n") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for _, c := range updateCases(t) {
		ev, err := translate(c.Update, ore)
		if err != nil {
			continue
		}
		for _, a := range ev.inbound.Attachments {
			if kind, ok := strings.CutPrefix(a.ID, unreadable); ok && unreadables[kind] == "" {
				t.Errorf("%s: %q has no sentence", c.Name, kind)
			}
		}
	}
}

// leading is a server whose files are elsewhere. It notes what it is asked.
type leading struct{ asked []string }

func (l *leading) RoundTrip(r *http.Request) (*http.Response, error) {
	l.asked = append(l.asked, r.URL.Host+" "+r.Header.Get("Referer"))
	resp := &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(
		`{"ok":true,"result":{"file_path":"photos/a.jpg"}}`))}
	if strings.HasPrefix(r.URL.Path, "/file/") {
		resp.StatusCode, resp.Body = http.StatusFound, io.NopCloser(strings.NewReader(""))
		resp.Header.Set("Location", "http://elsewhere.invalid/")
	}
	return resp, nil
}

// A redirect isn't followed, so that the token, which is part of the link, goes nowhere else.
// Facts A8.4; report 42.
func TestARedirectIsNotFollowed(t *testing.T) {
	l := &leading{}
	api := Dial(Account{Token: secret.New(token), APIURL: "http://sim", Transport: l})
	_, err := api.Fetch(t.Context(), "telegram:7", session.Attachment{ID: "f"}, &bytes.Buffer{})
	var e *session.FetchError
	if !errors.As(err, &e) || len(l.asked) != 2 || l.asked[1] != "sim " {
		t.Errorf("%v, asked %q", err, l.asked)
	}
	noToken(t, fmt.Sprint(err))
}
