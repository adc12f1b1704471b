package telegram

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orebot/core/session"
	"orebot/core/slash"
)

var ore = Me{ID: 42, Username: "OreBot", bare: func(name string) bool { return slash.Offered(false, name) }}

// TestTranslateGolden translates each line of testdata/updates.jsonl and compares the result with testdata/updates.golden. Each line
// names its case, whose number is that of the facts' nasty cases where there is one.
// Facts A1.9, A2.1, A2.5, A2.9, A2.10, A2.11, A2.12, A3.2, A3.3, A3.4, A3.8, A8.5, A8.10, B.9, B.10, E.1, E.13, E.16, E.17.
func TestTranslateGolden(t *testing.T) {
	var out strings.Builder
	for _, c := range updateCases(t) {
		fmt.Fprintf(&out, "%s\n\t%s\n", c.Name, describe(translate(c.Update, ore)))
	}
	golden(t, "updates.golden", out.String())
}

type updateCase struct {
	Name   string          `json:"name"`
	Update json.RawMessage `json:"update"`
}

func updateCases(t testing.TB) []updateCase {
	raw, err := os.ReadFile(filepath.Join("testdata", "updates.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out []updateCase
	for line := range strings.Lines(string(raw)) {
		var c updateCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, c)
	}
	return out
}

// describe prints an event on one line.
func describe(ev event, err error) string {
	if err != nil {
		return "poison"
	}
	if ev.ignored != "" {
		return strings.TrimSpace("ignored " + ev.ignored + " " + ev.callback + aside(ev))
	}
	in := ev.inbound
	s := fmt.Sprintf("%s at %s by %s %q in %q order %s: %q", in.Call, in.ID(), in.Author.ID, in.Author.Name, in.Place, in.Order, in.Text)
	if in.Author.Bot {
		s += " bot"
	}
	if in.Author.Admin {
		s += " admin"
	}
	if in.Elsewhere {
		s += " elsewhere"
	}
	for _, a := range in.Attachments {
		s += fmt.Sprintf(" file %s %q %s %d", a.ID, a.Name, a.MIME, a.Size)
	}
	for _, q := range in.Quotes {
		s += fmt.Sprintf(" %s of %q own %v: %q", q.Kind, q.Author, q.Own, q.Text)
	}
	return s + signalOf(in) + aside(ev)
}

// signalOf prints what a signal is about.
func signalOf(in session.Inbound) string {
	if in.Signal == session.SignalNone {
		return ""
	}
	kind := map[session.Signal]string{session.SignalEdit: "edit", session.SignalButton: "button"}[in.Signal]
	return fmt.Sprintf(" %s of %s, %s, action %q, version %q, at %d", kind, in.Target, in.TargetKey, in.Action, in.Version, in.At.Unix())
}

// aside prints what an event asks of the conduit.
func aside(ev event) (s string) {
	if m := ev.moved; m != nil {
		s += fmt.Sprintf(" moved from %d to %d", m.from, m.to)
	}
	if st := ev.standing; st != nil {
		s += fmt.Sprintf(" standing in %d: %v, was %v, named %q, by %d", st.chat, st.in, st.was, st.name, st.by.ID)
	}
	return s
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s:%d: got %q, want %q (UPDATE=1 writes the file)", path, i+1, at(g, i), at(w, i))
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "nothing"
}

// A date that JSON has no form for would make a message that can't be stored.
func TestDates(t *testing.T) {
	for date, want := range map[int64]string{-1: "", 0: "", 1: "1970-01-01T00:00:01Z", lastDate: "9999-12-31T23:59:59Z", lastDate + 1: "", 1 << 62: ""} {
		at := dated(date)
		if b, err := at.MarshalText(); err != nil || want != "" && string(b) != want || want == "" && !at.IsZero() {
			t.Errorf("%d: %s, %v", date, b, err)
		}
	}
}

// Facts A3.2, B.10.
func TestSlice16(t *testing.T) {
	const text = "a😀b\u00e9"
	for _, c := range []struct {
		offset, length int
		want           string
		ok             bool
	}{
		{0, 1, "a", true}, {1, 2, "😀", true}, {3, 1, "b", true}, {4, 1, "\u00e9", true}, {0, 5, text, true}, {3, 2, "b\u00e9", true},
		{1, 1, "", false}, {2, 1, "", false}, {0, 2, "", false}, {0, 6, "", false}, {5, 1, "", false}, {-1, 2, "", false},
		{0, 0, "", false}, {1, -1, "", false}, {0, 1 << 62, "", false}, {1 << 62, 1 << 62, "", false},
	} {
		from, to, ok := slice16(text, c.offset, c.length)
		if ok != c.ok || ok && text[from:to] != c.want {
			t.Errorf("%d+%d: %d…%d %v, want %q %v", c.offset, c.length, from, to, ok, c.want, c.ok)
		}
	}
}

// Facts A2.1, A2.4.
func TestAddressesAreReadAsWritten(t *testing.T) {
	for _, p := range []place{{8246, 0}, {8246, 17}, {-5, 0}, {-1001234567890, 33}, {1 << 51, 1}} {
		if got, err := parseAddress(p.address()); err != nil || got != p {
			t.Errorf("%s: %v %v", p.address(), got, err)
		}
		if !p.address().Valid() || p.address().Conduit() != Name {
			t.Errorf("%s is no address of this conduit", p.address())
		}
	}
	for _, bad := range []session.Address{"", "telegram:", "slack:1", "telegram:x", "telegram:1/", "telegram:1/0", "telegram:01",
		"telegram:1/2/3", "telegram:+1", "telegram:1 "} {
		if p, err := parseAddress(bad); err == nil {
			t.Errorf("%q is read as %v", bad, p)
		}
	}
}

// oddUpdates are such as Telegram hardly sends.
var oddUpdates = []string{
	`{"message":{"message_id":1,"from":{"id":5},"chat":{"id":5},"voice":{"file_id":"a"},"audio":{"file_id":"b"},"video":{"file_id":"c"},"sticker":{"file_id":"d"},"dice":{},"poll":{},"story":{}}}`,
	`{"callback_query":{"id":"a b\u0000\n\u2000","from":{"id":5},"data":"c:stop","message":{"message_id":7,"chat":{"id":-5}}}}`,
	`{"message":{"message_id":9223372036854775807,"from":{"id":-9223372036854775808},"chat":{"id":-9223372036854775808},"date":-9223372036854775808,"text":"\ud800/\u0000"}}`,
	`{"message":{"message_id":1,"chat":{"id":5}},"Message":{"from":{"id":5},"text":"hi","TEXT":"\u0085","entities":[{"type":"bot_command","offset":2147483647,"length":9223372036854775807}]}}`,
	`{"edited_message":{"message_id":1,"from":{"id":5},"chat":{"id":-5},"edit_date":-1,"text":"x","media_group_id":"a b"},"update_id":-1}`,
}

// What is odd is one thing all the same, each time, under a key that can be stored.
func TestTranslateOddUpdates(t *testing.T) {
	for _, raw := range oddUpdates {
		first, err := translate(json.RawMessage(raw), ore)
		if err != nil || first.ignored != "" {
			t.Fatalf("%s: %q, %v", raw, first.ignored, err)
		}
		checkInbound(t, first)
		checkSignal(t, first)
		for range 20 {
			if again, err := translate(json.RawMessage(raw), ore); describe(again, err) != describe(first, nil) {
				t.Fatalf("%s became %s and %s", raw, describe(first, nil), describe(again, err))
			}
		}
	}
}

// FuzzTranslate holds that whatever comes is either read the same each time, under names that can be stored, or ignored; that a
// message of a group has its group as its place and one of a private chat none; that nothing is an edit or a press of nothing; and
// that what is joined to others stays what it is.
// Facts A2.10.
func FuzzTranslate(f *testing.F) {
	for _, c := range updateCases(f) {
		f.Add(string(c.Update))
	}
	for _, raw := range oddUpdates {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		ev, err := translate(json.RawMessage(raw), ore)
		if again, err2 := translate(json.RawMessage(raw), ore); describe(again, err2) != describe(ev, err) {
			t.Fatal("the same update became two")
		}
		if err != nil || ev.ignored != "" {
			if ev.inbound.Key != "" || err != nil && (ev.moved != nil || ev.standing != nil) {
				t.Fatalf("ignored and accepted: %+v", ev)
			}
			return
		}
		checkInbound(t, ev)
		checkSignal(t, ev)
		checkJoined(t, ev)
	})
}

func checkInbound(t *testing.T, ev event) {
	in := ev.inbound
	if !in.Address.Valid() || in.Key == "" || in.Author.ID == "" || len(in.Order) < 12 {
		t.Fatalf("it lacks something: %+v", in)
	}
	if p, err := parseAddress(in.Address); err != nil || p != ev.where || p.private() != (in.Place == "") {
		t.Fatalf("%s in %q: %v", in.Address, in.Place, err)
	}
	if strings.ContainsAny(in.Key, " \x00\n") || !utf8.ValidString(in.Text) {
		t.Fatalf("key %q, text %q", in.Key, in.Text)
	}
	for _, a := range in.Attachments {
		if a.ID == "" || a.Size < 0 {
			t.Fatalf("attachment %+v", a)
		}
	}
	if len(in.Quotes) > 2 {
		t.Fatalf("%d quotes", len(in.Quotes))
	}
}

func checkSignal(t *testing.T, ev event) {
	in := ev.inbound
	switch in.Signal {
	case session.SignalNone:
		if in.Target != "" || in.TargetKey != "" || in.Action != "" || in.Message == "" || ev.callback != "" {
			t.Fatalf("a message with a target: %+v", ev)
		}
	case session.SignalEdit:
		if in.TargetKey == "" || in.Version == "" || in.Target != in.Message || in.Key == in.TargetKey || !strings.HasPrefix(in.Key, in.TargetKey+"/") {
			t.Fatalf("an edit of nothing: %+v", in)
		}
	case session.SignalButton:
		if in.Action == "" || ev.callback == "" || in.Text != "" {
			t.Fatalf("a press of nothing: %+v", ev)
		}
	default:
		t.Fatalf("signal %v", in.Signal)
	}
}

// checkJoined joins a message to itself, as a batch that comes again would, and to what another one left.
func checkJoined(t *testing.T, ev event) {
	if ev.inbound.Signal != session.SignalNone {
		return
	}
	g := newGatherer(time.Second)
	now := time.Unix(1700000000, 0)
	var first string
	for i := range 3 {
		in := ev.inbound
		g.join(&in, ev.piece, now)
		if in.Key != ev.inbound.Key || in.Text != ev.inbound.Text || in.Group == "" && in.SettleFor != 0 || in.SettleFor < 0 || in.Continues && i == 0 {
			t.Fatalf("joined: %+v", in)
		}
		if i == 0 {
			first = in.Group
		}
		if (first == "") != (in.Group == "") {
			t.Fatalf("group %q, then %q", first, in.Group)
		}
	}
}

// Facts A1.1, A1.4.
func TestFollowing(t *testing.T) {
	for _, c := range []struct {
		batch string
		was   int64
		want  int64
	}{
		{`[]`, 7, 7},
		{`[{"update_id":7},{"update_id":8}]`, 7, 9},
		{`[{"update_id":100}]`, 900001, 101},                 // ids went down
		{`[{"update_id":8},"no object"]`, 0, 10},             // behind it
		{`["no object",{"update_id":8}]`, 0, 9},              // before it
		{`["no object"]`, 7, 8},                              // alone
		{`["no object"]`, 0, 0},                              // nothing is known
		{`[{"update_id":"x"},{"update_id":-4},null]`, 7, 10}, // odd ids are none
	} {
		var batch []json.RawMessage
		if err := json.Unmarshal([]byte(c.batch), &batch); err != nil {
			t.Fatal(err)
		}
		if got := following(batch, c.was); got != c.want {
			t.Errorf("%s after %d: %d, want %d", c.batch, c.was, got, c.want)
		}
	}
}

func TestCaseNamesAreDistinct(t *testing.T) {
	var names []string
	for _, c := range updateCases(t) {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(updateCases(t)) {
		t.Error("two cases have one name")
	}
}
