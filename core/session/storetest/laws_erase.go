package storetest

import (
	"fmt"
	"reflect"
	"strings"

	"orebot/core/ledger"
	"orebot/core/session"
)

// eraseLaws are about threads that are deleted.
func eraseLaws() []law {
	return []law{
		{"an erased thread is gone, and nothing else", erase},
		{"a long thread is erased", eraseLong},
		{"an erased thread begins anew, and isn't continued", eraseAndWrite},
		{"entries are read by key, a page at a time", entriesByKey},
		{"the messages that show a record are found", shown},
	}
}

// noting notes that messages of an address show the first record of a thread.
func noting(n int, a session.Address, messages ...string) session.Batch {
	b := appending(threadNo(n), 0, 1)
	for _, m := range messages {
		b.Index = append(b.Index, session.IndexWrite{Address: a, Message: m, Ref: session.MessageRef{Thread: threadNo(n), Seq: 1}})
	}
	return b
}

func erase(f *fixture) {
	f.must(noting(1, home, "1.1", "1.2"))
	f.must(noting(2, home, "2.1", "1.2")) // the second message shows another thread now
	f.must(noting(3, other, "1.1"))
	for range 2 {
		if err := f.Store.Erase(f.Context(), threadNo(1)); err != nil {
			f.Fatalf("erase: %v", err)
		}
	}
	f.reopen()
	_, _, ok, err := f.Store.Thread(f.Context(), threadNo(1))
	f.ok(err)
	log, err := f.Store.Log(f.Context(), threadNo(1), 1, 10)
	f.ok(err)
	if ok || len(log) > 0 {
		f.Errorf("the thread is there: %v, log %v", ok, log)
	}
	for _, c := range []struct {
		a       session.Address
		message string
		want    int
	}{{home, "1.1", 0}, {home, "1.2", 2}, {home, "2.1", 2}, {other, "1.1", 3}} {
		ref, ok, err := f.Store.Message(f.Context(), c.a, c.message)
		f.ok(err)
		if ok != (c.want > 0) || ok && ref.Thread != threadNo(c.want) {
			f.Errorf("message %s of %s shows %+v, %v", c.message, c.a, ref, ok)
		}
	}
	for n := 2; n <= 3; n++ {
		log, err := f.Store.Log(f.Context(), threadNo(n), 1, 10)
		f.ok(err)
		if len(log) != 1 {
			f.Errorf("thread %d has %d records", n, len(log))
		}
	}
}

func eraseLong(f *fixture) {
	id, after := threadNo(1), 0
	for n := range 12 {
		b := appending(id, ledger.Seq(after), 100)
		if n == 5 {
			b.Log[7] = turn(id, ledger.Seq(after+8), strings.Repeat("x", session.MaxValueBytes/2))
		}
		for i := range 100 {
			ref := session.MessageRef{Thread: id, Seq: ledger.Seq(after + i + 1)}
			b.Index = append(b.Index, session.IndexWrite{Address: home, Message: string(rune('a'+n)) + string(rune(' '+i)), Ref: ref})
		}
		f.must(b)
		after += 100
	}
	if err := f.Store.Erase(f.Context(), id); err != nil {
		f.Fatalf("erase: %v", err)
	}
	f.reopen()
	_, _, ok, err := f.Store.Thread(f.Context(), id)
	f.ok(err)
	if _, noted, _ := f.Store.Message(f.Context(), home, "a!"); ok || noted {
		f.Errorf("the thread is there: %v, a message of it: %v", ok, noted)
	}
}

func eraseAndWrite(f *fixture) {
	id := threadNo(1)
	f.must(appending(id, 0, 3))
	if err := f.Store.Erase(f.Context(), id); err != nil {
		f.Fatalf("erase: %v", err)
	}
	if c := f.conflict(appending(id, 3, 1)); c.What != "log" {
		f.Errorf("a writer who knows three records conflicts on %q", c.What)
	}
	f.must(appending(id, 0, 1))
}

func shown(f *fixture) {
	b := noting(1, home, "1.9", "1.10")
	b.Index[0].Ref.Offset = 300
	b.Index = append(b.Index,
		session.IndexWrite{Address: home + "1", Message: "2.1", Ref: b.Index[0].Ref},
		session.IndexWrite{Address: home, Message: "2.2", Ref: session.MessageRef{Thread: threadNo(1), Seq: 2}},
		session.IndexWrite{Address: home, Message: "2.3", Ref: b.Index[0].Ref})
	f.must(b)
	f.must(noting(2, home, "2.3")) // shows another thread now
	f.reopen()
	for limit, want := range []string{"[]", "[{1.10 0}]", "[{1.10 0} {1.9 300}]", "[{1.10 0} {1.9 300}]"} {
		got, err := f.Store.Shown(f.Context(), threadNo(1), 1, home, limit)
		f.ok(err)
		if fmt.Sprint(got) != want {
			f.Errorf("at most %d: %v, want %s", limit, got, want)
		}
	}
	f.ok(f.Store.Erase(f.Context(), threadNo(1)))
	if got, err := f.Store.Shown(f.Context(), threadNo(1), 1, home, 9); err != nil || len(got) > 0 {
		f.Errorf("after the erasure: %v, %v", got, err)
	}
}

func entriesByKey(f *fixture) {
	keys := []string{"1", "1.5", "10", "2", "Ü"}
	for i, key := range keys {
		e := message(home, key, "9")
		if i == 1 {
			e.Inbound.Text = strings.Repeat("x", 100<<10)
		}
		f.must(accept(e))
		f.must(accept(message(other, key, "9")))
	}
	var got []string
	for after := ""; ; {
		page, err := f.Store.Entries(f.Context(), home, after, 2)
		f.ok(err)
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			if after = e.ID.Key; e.ID.Address != home || e.Rev == (session.Revision{}) {
				f.Errorf("entry %+v", e)
			}
			got = append(got, after)
		}
	}
	if !reflect.DeepEqual(got, keys) {
		f.Errorf("keys %q, want %q", got, keys)
	}
}
