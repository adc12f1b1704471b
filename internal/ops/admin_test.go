package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"orebot/core/access"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// office is an Admin on a store in memory.
type office struct {
	*Admin
	t     *testing.T
	mem   *storetest.Memory
	mux   *http.ServeMux
	log   bytes.Buffer
	drops []session.EntryID
	why   []Reason
}

func (o *office) Drop(_ context.Context, id session.EntryID) error {
	o.drops = append(o.drops, id)
	return nil
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, mem: storetest.NewMemory(), mux: http.NewServeMux()}
	t.Cleanup(func() { _ = o.mem.Close() })
	doors := NewDoors(o.mem, map[string]access.Policy{
		"telegram": {Mode: access.Pairing, Users: []string{"telegram:1"}, Places: []string{"telegram:-1"}}, "slack": {},
	})
	o.Admin = &Admin{
		Access: &Access{Doors: doors}, Logger: slog.New(slog.NewTextHandler(&o.log, nil)),
		Queue: &Queue{Store: o.mem, Manager: o, Conduits: []string{"slack", "telegram"}, NotReady: func() []Reason { return o.why }, Counters: NewMetrics()},
	}
	o.Register(o.mux)
	return o
}

func (o *office) put(b session.Batch) {
	o.t.Helper()
	if b.ID == (session.BatchID{}) {
		b.ID = session.NewBatchID()
	}
	if _, err := session.CommitWait(o.t.Context(), o.mem, b); err != nil {
		o.t.Fatal(err)
	}
}

// ask does a request and returns the status and the body.
func (o *office) ask(method, path, body string) (int, string) {
	w := httptest.NewRecorder()
	o.mux.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w.Code, w.Body.String()
}

func (o *office) stranger(id, code string, age time.Duration) {
	o.t.Helper()
	at := time.Now().Add(-age)
	v, err := json.Marshal(session.Stranger{
		ID: id, Name: "Ana", Handle: "ana", Code: code, At: at, Until: at.Add(time.Hour), Address: session.Address(id),
	})
	if err != nil {
		o.t.Fatal(err)
	}
	o.put(session.Batch{Small: []session.SmallWrite{{Space: "strangers", Key: id, Value: v}}})
}

func TestAccessOverTheSocket(t *testing.T) {
	o := newOffice(t)
	o.stranger("telegram:7", "7Q4K", time.Minute)
	o.stranger("telegram:8", "9Q4K", 2*time.Hour)
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/v1/access/approve", `{"name":"7q4k"}`, 200, `"id":"telegram:7","name":"Ana","handle":"ana","by":"operator"`},
		{"POST", "/v1/access/approve", `{"name":"7Q4K"}`, 409, "nobody waits with the code 7Q4K"},
		{"POST", "/v1/access/approve", `{"name":"9Q4K"}`, 409, "has expired; to let them in all the same: orebot access allow telegram:8"},
		{"POST", "/v1/access/approve", `{"name":"let me in"}`, 409, "is no code"},
		{"POST", "/v1/access/allow", `{"name":"telegram:-100123"}`, 200, `"id":"telegram:-100123"`},
		{"POST", "/v1/access/allow", `{"name":"@ana"}`, 409, "names nobody"},
		{"POST", "/v1/access/revoke", `{"name":"telegram:1"}`, 409, "stands in the configuration"},
		{"POST", "/v1/access/revoke", `{"name":"slack:U5"}`, 200, `"id":"slack:U5"`},
		{"POST", "/v1/access/revoke", `{"code":"x"}`, 400, "another version"},
		{"POST", "/v1/access/revoke", `{"name":"slack:U6"} {}`, 400, "another version"},
		{"POST", "/v1/access/revoke", ``, 400, "another version"},
		{"POST", "/v1/access/revoke", `{"name":"` + strings.Repeat("x", 70_000) + `"}`, 400, "another version"},
		{"DELETE", "/v1/access", ``, 405, ""},
	} {
		if status, body := o.ask(c.method, c.path, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s %.40s: %d %s", c.method, c.path, c.body, status, body)
		}
	}
	_, body := o.ask("GET", "/v1/access", "")
	var list AccessList
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range list.Waiting {
		got = append(got, fmt.Sprintf("waits %s %q", w.ID, w.Code))
	}
	for _, a := range append(list.Allowed, list.Revoked...) {
		got = append(got, a.ID+" "+a.By)
	}
	want := `waits telegram:8 "", telegram:1 configuration, telegram:-1 configuration, telegram:-100123 operator, telegram:7 operator, slack:U5 operator`
	if strings.Join(got, ", ") != want {
		t.Errorf("list\n got %s\nwant %s", strings.Join(got, ", "), want)
	}
}

func TestAFailureInsideIsForTheLog(t *testing.T) {
	o := newOffice(t)
	o.mem.FailNext(errors.New("secret detail"))
	status, body := o.ask("POST", "/v1/access/allow", `{"name":"telegram:9"}`)
	if status != 500 || strings.Contains(body, "secret") || !strings.Contains(o.log.String(), "secret detail") {
		t.Errorf("%d %s, log %s", status, body, o.log.String())
	}
}

// entry is a waiting message of the given state.
func entry(a session.Address, key string, state session.EntryState, age time.Duration) session.Entry {
	in := session.Inbound{Key: key, Address: a, Order: key, Author: session.Author{ID: "telegram:7", Name: "Ana"}, At: time.Now().Add(-age)}
	return session.Entry{ID: in.ID(), Inbound: in, State: state}
}

func (o *office) queue() []string {
	o.t.Helper()
	list, err := o.Queue.List(o.t.Context())
	if err != nil {
		o.t.Fatal(err)
	}
	var out []string
	for _, it := range list.Items {
		out = append(out, fmt.Sprintf("%s %s %s: %s", it.Kind, it.Where, it.Who, it.Why))
	}
	return out
}

// fill puts two messages, a delivery and an update that wait.
func (o *office) fill() {
	o.t.Helper()
	failed := entry("telegram:7", "1", session.EntrySubmitted, 4*time.Hour)
	failed.Failures = 2
	o.put(session.Batch{Entries: []session.EntryWrite{{Entry: failed}, {Entry: entry("telegram:7", "2", session.EntryOpen, 3*time.Hour)}}})
	thread := session.ThreadOf(failed.ID)
	answered := entry("slack:T1/D1", "5", session.EntryEnded, time.Hour)
	answered.End, answered.EndSeq, answered.Thread = session.EndAnswered, 1, thread
	turn := &ledger.Turn{ID: ledger.TurnID{Thread: thread, Seq: 1}, Role: ledger.RoleAssistant, Time: time.Now().Add(-2 * time.Hour), Entries: []string{answered.ID.String()}}
	o.put(session.Batch{
		Thread: thread, Log: []session.LogRecord{{Seq: 1, Kind: session.KindTurn, Turn: turn}}, State: &session.Thread{Last: 1},
		Bindings: []session.BindingWrite{{Address: "slack:T1/D1", Binding: session.Binding{Thread: thread, From: 1}}},
		Cursors:  []session.CursorWrite{{Address: "slack:T1/D1", Cursor: session.Cursor{Seq: 1, Attempt: &session.Attempt{N: 2}, Posted: []string{"a"}}}},
		Due:      []session.DueWrite{{Address: "slack:T1/D1", Seq: 1}},
		Entries:  []session.EntryWrite{{Entry: answered}},
	})
	o.put(session.Batch{Small: []session.SmallWrite{{Space: SpacePoison, Key: "telegram/5",
		Value: []byte(`{"at":"2026-01-02T03:04:05Z","error":"date is no number","raw":{"update_id":5}}`)}, {Space: SpacePoison, Key: "telegram/6", Value: []byte("?")}}})
}

func TestTheQueueSaysWhatWaitsAndWhy(t *testing.T) {
	o := newOffice(t)
	if got := o.queue(); len(got) != 0 {
		t.Errorf("an empty queue: %v", got)
	}
	o.fill()
	o.why = []Reason{{Component: "slack", Reason: "it refuses the token"}, {Component: "http://model", Reason: "no answer"}}
	want := []string{
		"update telegram/6 : set aside: it can't be read",
		"update telegram/5 : set aside: date is no number",
		"message telegram:7 Ana: being answered; failed 2 times, is tried again; http://model: no answer",
		"message telegram:7 Ana: 1 ahead of it here; http://model: no answer",
		"delivery slack:T1/D1 : part 2 is being posted, try 2; slack: it refuses the token",
	}
	if got := o.queue(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestDropGivesUpWhatWaits(t *testing.T) {
	o := newOffice(t)
	o.fill()
	id := func(kind, name string) string { return `{"name":"` + itemID(kind, name) + `"}` }
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"retry", id(KindMessage, "telegram:7 1"), 200},
		{"retry", id(KindUpdate, "telegram/5"), 409},
		{"drop", id(KindMessage, "telegram:7 1"), 200},
		{"drop", id(KindUpdate, "telegram/5"), 200},
		{"drop", id(KindUpdate, "telegram/5"), 409},
		{"drop", id(KindDelivery, "slack:T1/D1"), 200},
		{"drop", id(KindDelivery, "slack:T1/D1"), 409},
		{"drop", `{"name":""}`, 409},
		{"drop", `{"name":"ffffffff"}`, 409},
	} {
		if status, body := o.ask("POST", "/v1/queue/"+c.path, c.body); status != c.status {
			t.Errorf("%s %s: %d %s", c.path, c.body, status, body)
		}
	}
	if len(o.drops) != 1 || o.drops[0].String() != "telegram:7 1" {
		t.Errorf("dropped %v", o.drops)
	}
	st, err := o.mem.Address(t.Context(), "slack:T1/D1")
	if err != nil || st.Due != 0 || st.Cursor.Seq != 2 || st.Cursor.Attempt != nil {
		t.Errorf("the address after the drop: %+v, %v", st, err)
	}
	e, _, err := o.mem.Entry(t.Context(), session.EntryID{Address: "slack:T1/D1", Key: "5"})
	if err != nil || e.End != session.EndUndeliverable {
		t.Errorf("the message whose answer was dropped: %s, %v", e.End, err)
	}
	waiting, err := o.mem.Waiting(t.Context(), "slack:T1/D1")
	if err != nil || len(waiting) != 1 || !strings.Contains(waiting[0].Notice, "withdrew") {
		t.Errorf("the line in its place: %+v, %v", waiting, err)
	}
}
