package secret_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"orebot/internal/secret"
)

const token = "xoxb-1234567890-abcdefghij"

// holder has the secret where fmt can't call its methods.
type holder struct {
	Name  string
	token secret.String
	deep  *struct{ inner any }
}

func newHolder() holder {
	s := secret.New(token)
	return holder{Name: "n", token: s, deep: &struct{ inner any }{s}}
}

func TestNoVerbShowsASecret(t *testing.T) {
	s, h := secret.New(token), newHolder()
	for _, v := range []any{s, &s, h, &h, []secret.String{s}, map[string]any{"k": s}, struct{ S secret.String }{s}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%T", "%T%v", "%10.3s", "%c"} {
			if got := fmt.Sprintf(verb, v); leaks(got) {
				t.Errorf("%s of %T shows it: %s", verb, v, got)
			}
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if got := fmt.Sprintf(verb, s); got != secret.Mask {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

func leaks(got string) bool {
	hex := fmt.Sprintf("%x", token)
	return strings.Contains(got, "1234567890") || strings.Contains(strings.ToLower(got), hex[:20])
}

func TestNoEncoderShowsASecret(t *testing.T) {
	s := secret.New(token)
	j, err := json.Marshal(map[string]any{"s": s, "p": &s, "h": newHolder(), "key": map[string]secret.String{"a": s}})
	if err != nil || leaks(string(j)) || !strings.Contains(string(j), secret.Mask) {
		t.Errorf("json: %s, %v", j, err)
	}
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(&b, nil)).Info("m", "s", s, "h", newHolder(), "p", &s)
	slog.New(slog.NewTextHandler(&b, nil)).Info("m", "s", s, "h", newHolder(), "p", &s)
	_ = gob.NewEncoder(&b).Encode(s)
	if leaks(b.String()) {
		t.Errorf("slog or gob: %s", b.String())
	}
}

func TestRevealGivesTheTextBack(t *testing.T) {
	if got := secret.New(token).Reveal(); got != token {
		t.Errorf("got %q", got)
	}
	var s secret.String
	if !s.IsZero() || !secret.New("").IsZero() || s.Reveal() != "" || s.String() != secret.Mask {
		t.Error("the zero String holds something")
	}
	if err := s.UnmarshalText([]byte(token)); err != nil || s.IsZero() || s.Reveal() != token {
		t.Errorf("UnmarshalText: %v", err)
	}
}
