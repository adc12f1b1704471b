package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/session"
)

// logLaws are about a thread's log.
func logLaws() []law {
	return []law{
		{"a record comes back as it was", roundTrip},
		{"what this version doesn't know survives", unknown},
		{"a window of the log is read", window},
		{"a long record lies between short ones", long},
		{"threads don't see each other", apart},
		{"a record is rewritten, and nothing is left of it", rewrite},
		{"only what is on the log can be rewritten", rewriteRefused},
	}
}

// oneOfEach is a log with a record of each kind.
func oneOfEach(id ledger.ThreadID) []session.LogRecord {
	e := session.EntryID{Address: home, Key: "1"}
	first := turn(id, 1, "<b> & \"quotes\" \u2028 ü")
	first.Turn.Artifacts = append(first.Turn.Artifacts, artifact.ToolCall{ID: "c", Name: "n", Arguments: "{}"})
	first.Turn.Entries, first.Turn.Author = []string{e.String()}, "slack:U1"
	end := session.EndRecord{Entries: []session.EntryID{e}, To: home, Severity: loop.SeverityError, Text: "no", Ref: "r", Time: noon()}
	amendment := session.Amendment{Turn: 1, Entry: e, Artifacts: json.RawMessage(`[{"kind":"text","content":"x"}]`)}
	return []session.LogRecord{
		first,
		{Seq: 2, Kind: session.KindEnd, End: &end},
		{Seq: 3, Kind: session.KindTip, Tip: &session.TipMove{To: 1}},
		{Seq: 4, Kind: session.KindSetting, Setting: &session.Setting{Key: "model", Value: "m"}},
		{Seq: 5, Kind: session.KindFinal, Final: &session.Final{Turn: 1}},
		{Seq: 6, Kind: session.KindAmendment, Amendment: &amendment},
		{Seq: 7, Kind: session.KindRetold, Retold: &session.Retold{Turn: 1}},
	}
}

func roundTrip(f *fixture) {
	id := threadNo(1)
	b := appending(id, 0, 7)
	b.Log = oneOfEach(id)
	b.State.Addresses, b.State.Starter, b.State.Shared, b.State.Window = []session.Address{home, other}, "slack:U1", true, 1
	f.must(b)
	f.reopen()
	log, err := f.Store.Log(f.Context(), id, 1, 10)
	f.ok(err)
	if want := oneOfEach(id); !reflect.DeepEqual(log, want) {
		f.Errorf("log\n got %+v\nwant %+v", log, want)
	}
	t, rev, ok, err := f.Store.Thread(f.Context(), id)
	f.ok(err)
	if !ok || rev != b.ID || !reflect.DeepEqual(t, *b.State) {
		f.Errorf("thread\n got %+v\nwant %+v", t, *b.State)
	}
}

func unknown(f *fixture) {
	id := threadNo(1)
	b := appending(id, 0, 3)
	b.Log[1] = session.LogRecord{Seq: 2, Kind: 'Z', Raw: json.RawMessage(`{"later": [1,  2]}`)}
	b.Log[2].Turn.Role = "narrator"
	b.Log[2].Turn.Artifacts = []artifact.Artifact{artifact.Unknown{KindName: "hologram", Raw: json.RawMessage(`{"kind":"hologram","z":1}`)}}
	f.must(b)
	log, err := f.Store.Log(f.Context(), id, 1, 10)
	f.ok(err)
	if !reflect.DeepEqual(log, b.Log) {
		f.Fatalf("log\n got %+v\nwant %+v", log, b.Log)
	}
	next := appending(id, 3, 1)
	next.Log[0] = log[1] // copied by one who doesn't know it
	next.Log[0].Seq = 4
	f.must(next)
	log, err = f.Store.Log(f.Context(), id, 4, 1)
	f.ok(err)
	if len(log) != 1 || string(log[0].Raw) != string(b.Log[1].Raw) || log[0].Kind != 'Z' {
		f.Errorf("the copy is %+v", log)
	}
}

func window(f *fixture) {
	id := threadNo(1)
	for after := ledger.Seq(0); after < 300; after += 50 {
		f.must(appending(id, after, 50))
	}
	for _, c := range []struct {
		from  ledger.Seq
		limit int
		want  []ledger.Seq // first, last
	}{
		{0, 3, []ledger.Seq{1, 3}}, {1, 3, []ledger.Seq{1, 3}}, {255, 4, []ledger.Seq{255, 258}},
		{299, 10, []ledger.Seq{299, 300}}, {301, 10, nil}, {5, 0, nil}, {1, 1000, []ledger.Seq{1, 300}},
	} {
		log, err := f.Store.Log(f.Context(), id, c.from, c.limit)
		f.ok(err)
		var got []ledger.Seq
		if len(log) > 0 {
			got = []ledger.Seq{log[0].Seq, log[len(log)-1].Seq}
		}
		for i := 1; i < len(log); i++ {
			if log[i].Seq != log[i-1].Seq+1 {
				f.Fatalf("record %d follows %d", log[i].Seq, log[i-1].Seq)
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			f.Errorf("from %d, %d records: %v, want %v", c.from, c.limit, got, c.want)
		}
	}
}

func long(f *fixture) {
	id := threadNo(1)
	b := appending(id, 0, 0)
	for i, n := range []int{10, 4000, 4096, 5000, 10, 100_000, 500_000, 10} {
		b.Log = append(b.Log, turn(id, ledger.Seq(i)+1, strings.Repeat(fmt.Sprint(i), n)))
	}
	b.State.Last = ledger.Seq(len(b.Log))
	f.must(b)
	f.reopen()
	log, err := f.Store.Log(f.Context(), id, 1, 100)
	f.ok(err)
	if !reflect.DeepEqual(log, b.Log) {
		f.Errorf("%d records came back, not as they were", len(log))
	}
	log, err = f.Store.Log(f.Context(), id, 6, 2)
	f.ok(err)
	if len(log) != 2 || log[0].Seq != 6 || log[1].Seq != 7 {
		f.Errorf("from 6: %d records", len(log))
	}
}

func apart(f *fixture) {
	for n := range 20 {
		f.must(appending(threadNo(n), 0, n+1))
	}
	for n := range 20 {
		log, err := f.Store.Log(f.Context(), threadNo(n), 1, 100)
		f.ok(err)
		if len(log) != n+1 {
			f.Errorf("thread %d has %d records", n, len(log))
		}
	}
	log, err := f.Store.Log(f.Context(), threadNo(99), 1, 100)
	f.ok(err)
	_, _, ok, err := f.Store.Thread(f.Context(), threadNo(99))
	f.ok(err)
	if ok || len(log) != 0 {
		f.Error("a thread that nobody opened is there")
	}
}

// rewriting is the Batch that replaces records of a log that ends at after.
func rewriting(id ledger.ThreadID, after ledger.Seq, recs ...session.LogRecord) session.Batch {
	b := appending(id, after, 0)
	b.Rewrites = recs
	return b
}

func rewrite(f *fixture) {
	id := threadNo(1)
	b := appending(id, 0, 4)
	b.Log[1] = turn(id, 2, strings.Repeat("secret ", 3000))
	f.must(b)
	hollow := turn(id, 2, "x")
	hollow.Turn.Artifacts = nil
	longer := turn(id, 3, strings.Repeat("longer ", 3000))
	next := appending(id, 4, 1)
	next.Rewrites = []session.LogRecord{hollow, longer}
	f.must(next)
	f.reopen()
	log, err := f.Store.Log(f.Context(), id, 1, 10)
	f.ok(err)
	want := []session.LogRecord{b.Log[0], hollow, longer, b.Log[3], next.Log[0]}
	if !reflect.DeepEqual(log, want) {
		f.Errorf("log\n got %+v\nwant %+v", log, want)
	}
	f.must(rewriting(id, 5, turn(id, 2, "again")))
	stale := rewriting(id, 4, turn(id, 2, "stale"))
	if c := f.conflict(stale); c.What != "log" {
		f.Errorf("the conflict is on %s", c.What)
	}
	log, err = f.Store.Log(f.Context(), id, 2, 1)
	f.ok(err)
	if len(log) != 1 || log[0].Turn.Text() != "again" {
		f.Errorf("record 2 is %+v", log)
	}
}

func rewriteRefused(f *fixture) {
	id := threadNo(1)
	f.must(appending(id, 0, 2))
	f.refused(rewriting(id, 2, turn(id, 3, "x")))
	f.refused(rewriting(id, 2, session.LogRecord{Kind: session.KindTip, Tip: &session.TipMove{}}))
	f.refused(rewriting(id, 2, turn(id, 1, "x"), turn(id, 1, "y")))
	f.refused(rewriting(id, 2, turn(threadNo(2), 1, "x")))
	f.refused(rewriting(id, 2, turn(id, 1, strings.Repeat("x", session.MaxValueBytes))))
	bare := rewriting(id, 2, turn(id, 1, "x"))
	bare.State = nil
	f.refused(bare)
	f.must(appending(id, 2, 1))
}
