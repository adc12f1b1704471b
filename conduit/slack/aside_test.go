package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// notice is one that answers somebody.
func (s *stage) notice(text string) conduit.Item {
	return conduit.Item{Kind: conduit.Notice, Severity: loop.SeverityInfo, Source: text, Asker: personID(s.ann), Asked: time.Now(), At: time.Now(),
		Turn: ledger.TurnID{Thread: ledger.ThreadID{1}, Seq: 4}}
}

// show posts an item's first part and tells where it went: "post", "whisper" or "respond", "" for nowhere.
func (s *stage) show(p *poster, a session.Address, it conduit.Item) (where string, err error) {
	s.t.Helper()
	posts, whispers, responses := len(s.Calls("chat.postMessage")), len(s.Calls("chat.postEphemeral")), len(s.Calls("response_url"))
	part, err := NewRenderer(3).Part(it, 0, conduit.Shape{})
	if err != nil {
		s.t.Fatal(err)
	}
	before := len(s.Transcript())
	_, err = p.Post(s.t.Context(), a, it, part)
	if len(s.Transcript()) == before {
		return "", err
	}
	switch {
	case len(s.Calls("chat.postMessage")) > posts:
		return "post", err
	case len(s.Calls("chat.postEphemeral")) > whispers:
		return "whisper", err
	case len(s.Calls("response_url")) > responses:
		return "respond", err
	}
	return "", err
}

// TestPrivateNotices reach one person where that can't lose them, and everybody else's eyes where it might. Facts A7.16, A8.4.
func TestPrivateNotices(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *stage, it *conduit.Item) session.Address
		fault  fault.Fault
		want   string
	}{
		"thread":      {func(s *stage, _ *conduit.Item) session.Address { return s.thread }, fault.Fault{}, "whisper"},
		"DM":          {func(s *stage, _ *conduit.Item) session.Address { return s.im }, fault.Fault{}, "post"},
		"not private": {func(s *stage, it *conduit.Item) session.Address { it.Private = false; return s.thread }, fault.Fault{}, "post"},
		"an answer": {func(s *stage, it *conduit.Item) session.Address {
			it.Kind, it.Private = conduit.Answer, false
			return s.thread
		}, fault.Fault{}, "post"},
		"late": {func(s *stage, it *conduit.Item) session.Address {
			it.Asked = it.Asked.Add(-6 * time.Minute)
			return s.thread
		}, fault.Fault{}, "post"},
		"nobody":          {func(s *stage, it *conduit.Item) session.Address { it.Asker = ""; return s.thread }, fault.Fault{}, "post"},
		"of Telegram":     {func(s *stage, it *conduit.Item) session.Address { it.Asker = "telegram:1"; return s.thread }, fault.Fault{}, "post"},
		"left meanwhile":  {func(s *stage, it *conduit.Item) session.Address { s.Part(s.ch, s.ann); return s.thread }, fault.Fault{}, "post"},
		"odd refusal":     {func(s *stage, _ *conduit.Item) session.Address { return s.thread }, refusal("messages_tab_disabled"), "post"},
		"blocks refused":  {func(s *stage, _ *conduit.Item) session.Address { return s.thread }, refusal("invalid_blocks"), "post"},
		"no such message": {func(s *stage, _ *conduit.Item) session.Address { return s.thread }, refusal("user_not_in_channel"), "post"},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
				it := s.notice("Only its starter may do that.")
				it.Private = true
				a := c.change(s, &it)
				if c.fault != (fault.Fault{}) {
					s.Faults.Next("chat.postEphemeral", c.fault)
				}
				got, err := s.show(&poster{api: s.api, log: slog.New(slog.DiscardHandler)}, a, it)
				if got != c.want || err != nil {
					t.Errorf("%s, %v; want %s", got, err, c.want)
				}
			})
		})
	}
}

// TestPrivateNoticeOfUnknownFate: nobody can look it up; the courier repeats it with a label. Fact A8.4.
func TestPrivateNoticeOfUnknownFate(t *testing.T) {
	onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
		it := s.notice("No.")
		it.Private = true
		p := &poster{api: s.api, log: slog.New(slog.DiscardHandler)}
		s.Faults.Next("chat.postEphemeral", fault.Fault{Cut: true})
		var e *conduit.Error
		if _, err := s.show(p, s.thread, it); !errors.As(err, &e) || e.Class != conduit.Unknown {
			t.Errorf("%v", err)
		}
		if _, _, err := p.Find(t.Context(), s.thread, it, 0); !errors.As(err, &e) || e.Class != conduit.Malformed {
			t.Errorf("the look-up says %v", err)
		}
	})
}

// TestSlashCommandsAreAnswered through the response URL, where the bot isn't in the channel too; when it takes nothing more, only the
// asker is told, and where that can't be either, nobody. The place lives on whatever happens, and nothing names the URL.
// Facts A7.7, A7.16, A8.5.
func TestSlashCommandsAreAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		out    bool // the bot isn't in the channel
		later  time.Duration
		used   int
		fault  fault.Fault
		want   string
		class  conduit.Class
		failed bool
	}{
		"at once":             {want: "respond"},
		"not in the channel":  {out: true, want: "respond"},
		"after half an hour":  {later: 31 * time.Minute, want: "whisper"},
		"late and outside":    {out: true, later: 31 * time.Minute, want: ""},
		"used up":             {used: 5, want: "whisper"},
		"used up and outside": {out: true, used: 5, want: ""},
		"404":                 {fault: fault.Fault{Status: 404, Body: `{"ok":false,"error":"expired_url"}`}, want: "whisper"},
		"used_url with 200":   {fault: fault.Fault{Status: 200, Body: `{"ok":false,"error":"used_url"}`}, want: "whisper"},
		"403":                 {fault: fault.Fault{Status: 403, Body: "<html>"}, want: "whisper"},
		"limited":             {fault: fault.Fault{Status: 429, Retry: 7 * time.Second}, class: conduit.RetryAfter, failed: true},
		"cut":                 {fault: fault.Fault{Cut: true}, want: "respond", class: conduit.Unknown, failed: true},
		"502":                 {fault: fault.Fault{Status: 502}, class: conduit.Unknown, failed: true},
		"blocks refused":      {fault: fault.Fault{Status: 400, Body: "invalid_blocks"}, class: conduit.Malformed, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
				if c.out {
					s.Part(s.ch, "UBOT")
				}
				var log logBook
				p := &poster{api: s.api, log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
				it := s.notice("**3** models")
				it.Offers, it.ReplyURL = []string{"help"}, s.Slash(s.ann, s.ch, "models").URL
				whole := place{"T1", s.ch, ""}.address()
				for range c.used {
					if where, err := s.show(p, whole, it); where != "respond" || err != nil {
						t.Fatalf("%s, %v", where, err)
					}
				}
				it.Asked = it.Asked.Add(-c.later)
				if c.fault != (fault.Fault{}) {
					s.Faults.Next("response_url", c.fault)
				}
				got, err := s.show(p, whole, it)
				var e *conduit.Error
				if got != c.want || (err != nil) != c.failed || c.failed && (!errors.As(err, &e) || e.Class != c.class) {
					t.Errorf("%q, %v; want %q", got, err, c.want)
				}
				if told := fmt.Sprint(err, log.String()); strings.Contains(told, "response_url/") {
					t.Errorf("the URL is told: %s", told)
				}
			})
		})
	}
}

// TestResponse is what Slack is sent: for one person, beside what stands there, with buttons.
func TestResponse(t *testing.T) {
	onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
		call := s.Slash(s.ann, s.ch, "models")
		it := s.notice("**3** models")
		it.ReplyURL, it.Offers = call.URL, []string{"help"}
		if where, err := s.show(&poster{api: s.api}, place{"T1", s.ch, ""}.address(), it); where != "respond" || err != nil {
			t.Fatal(where, err)
		}
		var got struct {
			Type    string `json:"response_type"`
			Replace bool   `json:"replace_original"`
			Text    string
			Blocks  []map[string]any
		}
		if err := json.Unmarshal(call.Posts()[0], &got); err != nil {
			t.Fatal(err)
		}
		if got.Type != "ephemeral" || got.Replace || got.Text != "ℹ️ *3* models" || len(got.Blocks) != 2 {
			t.Errorf("%+v", got)
		}
	})
}

// TestForeignResponseURL: a URL that isn't Slack's is never called.
func TestForeignResponseURL(t *testing.T) {
	onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
		for _, u := range []string{"http://evil.example/x", "https://evil.example/hooks.slack.com", "http://hooks.slack.com/x", "https://notslack.com/", "file:///etc/passwd", "\x00", "//slack.sim"} {
			if s.api.ours(u) {
				t.Errorf("%q counts as Slack's", u)
			}
			it := s.notice("x")
			it.ReplyURL = u
			if where, err := s.show(&poster{api: s.api, log: slog.New(slog.DiscardHandler)}, place{"T1", s.ch, ""}.address(), it); where != "whisper" || err != nil {
				t.Errorf("%q: %s, %v", u, where, err)
			}
		}
		for _, u := range []string{"https://hooks.slack.com/commands/T1/2/3", "https://slack.com/x", "http://slack.sim/response_url/r1"} {
			if !s.api.ours(u) {
				t.Errorf("%q isn't Slack's", u)
			}
		}
	})
}

// TestButtons stand under the last part of a notice, and name the command that they are for. Facts A5.4, A5.9, A8.12.
func TestButtons(t *testing.T) {
	onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
		it := s.notice("The model stopped. <!channel> " + strings.Repeat("& ", 1400))
		it.Severity, it.Offers = loop.SeverityError, []string{"retry", "stop", "retry", "", "a b", "odd"}
		p := &poster{api: s.api}
		r := NewRenderer(3)
		for off, n := 0, 0; off < len(it.Source); n++ {
			part, err := r.Part(it, off, conduit.Shape{Posted: n, Repeat: true})
			if err != nil {
				t.Fatal(err)
			}
			if _, err = p.Post(t.Context(), s.thread, it, part); err != nil {
				t.Fatal(err)
			}
			off = part.Next
		}
		got := s.Thread(s.ch, s.root)[1:]
		for i, m := range got {
			if last := i == len(got)-1; last != (len(m.Blocks) > 2) || !last && strings.Contains(string(m.Blocks), "retry") {
				t.Errorf("message %d has blocks %s", i, m.Blocks)
			}
		}
		var blocks []struct {
			Type     string
			Text     struct{ Type, Text string }
			Elements []struct {
				Action string `json:"action_id"`
				Value  string
				Text   struct{ Text string }
			}
		}
		last := got[len(got)-1]
		if err := json.Unmarshal(last.Blocks, &blocks); err != nil || len(blocks) != 2 || blocks[0].Text.Text != last.Text {
			t.Fatalf("%v: %+v", err, blocks)
		}
		var row []string
		for _, e := range blocks[1].Elements {
			row = append(row, e.Action+" "+e.Value+" "+e.Text.Text)
		}
		if want := []string{"orebot:retry retry Ask again", "orebot:stop stop Stop", "orebot:odd odd !odd"}; !slices.Equal(row, want) {
			t.Errorf("%q", row)
		}
		for _, l := range s.Transcript() {
			if l.User == "UBOT" && len(l.Pings) > 0 {
				t.Errorf("live: %v", l.Pings)
			}
		}
		plain, err := r.Part(it, 0, conduit.Shape{Plain: true})
		if b, _ := plain.Body.(body); err != nil || b.offers != "" {
			t.Errorf("plain: %+v, %v", b, err)
		}
	})
}

// TestChannelWithoutThreads: what can't be threaded is posted beside the question, and found there. Fact A7.5.
func TestChannelWithoutThreads(t *testing.T) {
	onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
		it := s.notice("hi")
		p := &poster{api: s.api, log: slog.New(slog.DiscardHandler)}
		s.Faults.Next("chat.postMessage", refusal("restricted_action_non_threadable_channel"))
		if where, err := s.show(p, s.thread, it); where != "post" || err != nil {
			t.Errorf("%s, %v", where, err)
		}
		ids, found, err := p.Find(t.Context(), s.thread, it, 0)
		if got := s.Thread(s.ch, ""); !found || err != nil || len(got) != 2 || got[1].Thread != "" || ids[0] != got[1].TS {
			t.Errorf("%v, %v, %v: %+v", ids, found, err, got)
		}
	})
}
