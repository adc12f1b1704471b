package bolt

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
)

// With -golden, the golden files of the newest version are written anew. Those of a released version never change.
var golden = flag.Bool("golden", false, "write the golden files of the newest format")

// id is a fixed Batch id.
func id(n byte) session.BatchID { return session.BatchID{15: n} }

// specimen is a Batch that has something of everything in it.
func specimen() []session.Batch {
	th := session.ThreadOf(session.EntryID{Address: home, Key: "1"})
	e := entry("1", session.EntryEnded, session.EndAnswered)
	e.Thread, e.Turn, e.EndSeq, e.Failures, e.Starts, e.Refusal = th, 1, 2, 1, 2, "no"
	e.Inbound.Attachments = []session.Attachment{{ID: "F1", Name: "a.png", MIME: "image/png", Size: 9, URL: "https://files/1"}}
	e.Inbound.Call, e.Inbound.Message, e.Inbound.ReplyURL = session.CallMention, "1", "https://hooks/1"
	e.Inbound.Signal, e.Inbound.Target, e.Inbound.Group, e.Inbound.SettleFor = session.SignalEdit, "0", "g", time.Second
	b := turns(th, 0, 0, "")
	b.ID = id(1)
	turn := ledger.Turn{ID: ledger.TurnID{Thread: th, Seq: 1}, Role: ledger.RoleUser, Time: noon(), Provenance: string(home),
		Author: "slack:U1", Entries: []string{e.ID.String()}, Draft: true, Covers: 0,
		Artifacts: []artifact.Artifact{artifact.Text{Content: "<hi> & ü"}, artifact.ToolCall{ID: "c", Name: "n", Arguments: "{}"}}}
	end := session.EndRecord{Entries: []session.EntryID{e.ID}, To: home, Severity: 3, Text: "no", Ref: "r", Reply: "1", Time: noon()}
	b.Log = []session.LogRecord{
		{Seq: 1, Kind: session.KindTurn, Turn: &turn},
		{Seq: 2, Kind: session.KindEnd, End: &end},
		{Seq: 3, Kind: session.KindTip, Tip: &session.TipMove{To: 1}},
		{Seq: 4, Kind: session.KindSetting, Setting: &session.Setting{Key: "model", Value: "m"}},
		{Seq: 5, Kind: session.KindFinal, Final: &session.Final{Turn: 1}},
		{Seq: 6, Kind: session.KindAmendment, Amendment: &session.Amendment{Turn: 1, Entry: e.ID, Artifacts: json.RawMessage(`[]`)}},
		{Seq: 7, Kind: 'Z', Raw: json.RawMessage(`{"later":true}`)},
		{Seq: 8, Kind: session.KindEnd, End: &session.EndRecord{To: home, Text: strings.Repeat("long ", 2000), Time: noon()}},
	}
	b.State = &session.Thread{Last: 8, Tip: 1, Window: 1, Addresses: []session.Address{home}, Starter: "slack:U1", Shared: true,
		Opened: noon(), Used: noon()}
	b.Bindings = []session.BindingWrite{{Address: home, Binding: session.Binding{Thread: th, From: 1, Until: 9, MovedTo: "slack:T1/D2", Gone: true}}}
	b.Cursors = []session.CursorWrite{{Address: home, Cursor: session.Cursor{Seq: 2, Offset: 3, Layout: 4, Posted: []string{"p"}, Unknown: 1,
		Attempt: &session.Attempt{N: 1, Since: noon(), Life: "l"}}}}
	b.Presences = []session.PresenceWrite{{Address: home, Presence: &session.Presence{Kind: "status", Message: "1"}}}
	b.Entries = []session.EntryWrite{{Entry: e, Expires: noon()}}
	b.Due = []session.DueWrite{{Address: home, Seq: 2}}
	b.Index = []session.IndexWrite{{Address: home, Message: "1", Ref: session.MessageRef{Thread: th, Seq: 2, Offset: 5}}}
	b.Small = []session.SmallWrite{{Space: "access", Key: "slack:U1", Value: []byte("v")}}
	open := accept("2")
	open.ID = id(2)
	return []session.Batch{b, open}
}

// specimenTwo is what version 2 added: a heard entry, a signal, a used entry and one with what edits note.
func specimenTwo() []session.Batch {
	var out []session.Batch
	for i, state := range []session.EntryState{session.EntryHeard, session.EntrySignal, session.EntryApplied, session.EntryUsed} {
		e := entry(fmt.Sprint(3+i), state, session.EndNone)
		e.Edited, e.Deleted, e.Asides = "7", true, []string{"I can't read .xlsx; text, images and code work."}
		e.Inbound.Version, e.Inbound.TargetKey, e.Inbound.Action, e.Inbound.Continues, e.Inbound.Target = "7", "2", "retry", true, "2"
		e.Inbound.Quotes = []session.Quote{{Kind: session.QuotePart, Author: "Ann", Own: true, Text: "said"}}
		b := putting(e, session.Revision{})
		b.ID, b.Entries[0].Expires = id(byte(3+i)), noon()
		out = append(out, b)
	}
	return out
}

// dump writes every key and value of a store, keys in hexadecimal where they aren't text.
func dump(t *testing.T, s *Store) string {
	t.Helper()
	var out strings.Builder
	err := s.view(t.Context(), func(b *bolt.Bucket) error {
		return b.ForEach(func(k, v []byte) error {
			if len(v) > 1024 {
				fmt.Fprintf(&out, "%q\n\t%d bytes, begin with %s\n", k, len(v), hex.EncodeToString(v[:20]))
				return nil
			}
			fmt.Fprintf(&out, "%q\n\t%q\n", k, v)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The bytes on disk are a promise: a change that shows here needs a new format or a migration.
func TestWhatIsWrittenIsVersionTwo(t *testing.T) {
	s := fresh(t)
	for _, b := range append(specimen(), specimenTwo()...) {
		must(t, s, b)
	}
	compareGolden(t, filepath.Join("testdata", "v2.golden"), dump(t, s))
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *golden {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s\n got %s\nwant %s", path, got, want)
	}
}

// The whole file of a schema version can be opened for as long as this test is there.
func TestFilesOfEveryVersionAreReadable(t *testing.T) {
	if *golden {
		writeDatabase(t, filepath.Join("testdata", "v2.db"))
	}
	for _, version := range []string{"v1", "v2"} {
		t.Run(version, func(t *testing.T) { readable(t, filepath.Join("testdata", version+".db"), version) })
	}
}

func readable(t *testing.T, file, version string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "orebot.db")
	write(t, path, data)
	s := opened(t, path, Options{})
	batches := specimen()
	b := batches[0]
	log, err := s.Log(t.Context(), b.Thread, 1, 100)
	if err != nil || !reflect.DeepEqual(log, b.Log) {
		t.Errorf("log %+v, %v", log, err)
	}
	th, rev, ok, err := s.Thread(t.Context(), b.Thread)
	if err != nil || !ok || rev != b.ID || !reflect.DeepEqual(th, *b.State) {
		t.Errorf("thread %+v, %v", th, err)
	}
	st, err := s.Address(t.Context(), home)
	want := session.AddressState{Binding: b.Bindings[0].Binding, BindingRev: b.ID, Cursor: b.Cursors[0].Cursor, CursorRev: b.ID,
		Presence: *b.Presences[0].Presence, PresenceRev: b.ID, Due: 2}
	if err != nil || !reflect.DeepEqual(st, want) {
		t.Errorf("address %+v, %v", st, err)
	}
	list, err := s.EntriesAt(t.Context(), home, 10)
	if version != "v1" && err == nil {
		for i, b := range specimenTwo() {
			if !reflect.DeepEqual(list[2+i].Entry, b.Entries[0].Entry) {
				t.Errorf("entry %+v", list[2+i])
			}
		}
		list = list[:2]
	}
	if err != nil || len(list) != 2 || !reflect.DeepEqual(list[0].Entry, b.Entries[0].Entry) || list[1].Rev != batches[1].ID {
		t.Errorf("entries %+v, %v", list, err)
	}
	ref, ok, err := s.Message(t.Context(), home, "1")
	if err != nil || !ok || ref != b.Index[0].Ref {
		t.Errorf("message %+v, %v", ref, err)
	}
	v, _, ok, err := s.Small(t.Context(), "access", "slack:U1")
	if err != nil || !ok || string(v) != "v" {
		t.Errorf("small %q, %v", v, err)
	}
	if _, err := s.Sweep(t.Context(), noon().Add(time.Hour)); err != nil {
		t.Error(err)
	}
	must(t, s, accept("30"))
}

// writeDatabase makes a small file: bbolt would make one of 16 MiB.
func writeDatabase(t *testing.T, file string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.db")
	s, err := Open(path, Options{mmapSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range append(specimen(), specimenTwo()...) {
		must(t, s, b)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
