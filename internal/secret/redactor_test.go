package secret_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"orebot/internal/secret"
)

const telegram = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0"

func TestRedactByShape(t *testing.T) {
	cases := []struct{ in, want string }{
		{"no secret here: 12:30 and a@b.c", "no secret here: 12:30 and a@b.c"},
		{"a token begins with xoxb- or xapp-", "a token begins with xoxb- or xapp-"},
		{"token " + token + ", refused", "token [redacted], refused"},
		{"xoxe.xoxb-1-abcdefghijkl", "[redacted]"},
		{"xapp-1-A0123-4567-abcdef", "[redacted]"},
		{`Post "https://api.telegram.org/bot` + telegram + `/getMe": EOF`, `Post "https://api.telegram.org/bot[redacted]/getMe": EOF`},
		{"bot" + url.QueryEscape(telegram) + "/x", "bot[redacted]/x"},
		{"wss://wss-primary.slack.com/link/?ticket=ab-c%2Fd&app_id=1", "wss://wss-primary.slack.com/link/?ticket=[redacted]&app_id=1"},
		{`{"u":"wss://h/?ticket=abc\u0026app_id=1"}`, `{"u":"wss://h/?ticket=[redacted]\u0026app_id=1"}`},
		{"post https://hooks.slack.com/commands/T1/2/zzz: 404", "post https://hooks.slack.com/[redacted] 404"},
		{"u=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1&x=1", "u=https%3A%2F%2Fhooks.slack.com%2F[redacted]&x=1"},
		{"Authorization: Bearer abcdefghijklmnopqrstuvwxyz", "Authorization: Bearer [redacted]"},
		{"bearer authentication is off", "bearer authentication is off"},
		{"proxy http://me:pa55@proxy:3128 refused", "proxy http://[redacted]@proxy:3128 refused"},
		{"http://a.example/x:y@z", "http://a.example/x:y@z"},
	}
	for _, c := range cases {
		if got := (*secret.Redactor)(nil).Redact(c.in); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestRedactKnownInEveryForm(t *testing.T) {
	key := `k"y/ü:<1>&`
	r := secret.NewRedactor(secret.New(key), secret.New("abc"), secret.New(""), secret.New("hello-world"), secret.New("hello"))
	forms := []string{key, url.QueryEscape(key), url.PathEscape(key), strings.ToLower(url.QueryEscape(key)),
		strconv.Quote(key), strconv.QuoteToASCII(key), url.UserPassword("u", key).String()}
	for _, f := range forms {
		if got := r.Redact("<" + f + ">"); !strings.Contains(got, secret.Mask) || strings.Contains(got, "y") {
			t.Errorf("%q became %q", f, got)
		}
	}
	if got := r.Redact("abc hello-world hello"); got != "abc [redacted] [redacted]" {
		t.Errorf("got %q", got)
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("x", "tok3n-value", "y")
	f.Add("bot", telegram, "/getMe")
	f.Add("xxx", "xxx\x00", "")
	f.Add("\x00\x00\x00\x00", "\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x00")
	f.Add("xx[r", "xx[r", "ted]")
	f.Add("\xe2\x80", "\x80k\xe2\x80", "\x80@")
	f.Add("http://u:", "://a", "@://a@")
	f.Fuzz(func(t *testing.T, before, key, after string) {
		if len(key) < 4 || strings.Contains(secret.Mask, key) || strings.Contains(key, secret.Mask) {
			t.Skip()
		}
		r := secret.NewRedactor(secret.New(key))
		got := r.Redact(before + key + after)
		for _, piece := range strings.Split(got, secret.Mask) { // masks and what is beside them may look like the key
			if strings.Contains(piece, key) {
				t.Errorf("%q still holds %q", got, key)
			}
		}
	})
}

func BenchmarkRedactLine(b *testing.B) {
	r := secret.NewRedactor(secret.New(token), secret.New(telegram))
	line := `{"time":"2026-01-02T03:04:05.678Z","level":"INFO","msg":"delivered","thread":"0123456789abcdef","address":"slack:T1/C1/1712345678.000100"}`
	b.ReportAllocs()
	for b.Loop() {
		_ = r.Redact(line)
	}
}
