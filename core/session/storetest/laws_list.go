package storetest

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"

	"orebot/core/ledger"
	"orebot/core/session"
)

// listLaws are about the lists of addresses and of small values.
func listLaws() []law {
	return []law{
		{"places are listed once each, by conduit", places},
		{"places at which entries wait are listed", pending},
		{"bound addresses are listed once each", bound},
		{"presences are listed by conduit", presences},
		{"small values are listed by key, within their space", smallList},
	}
}

// around are addresses of one conduit in order, some of which begin with others.
var around = []session.Address{"slack:T1/C1", "slack:T1/C1.5", "slack:T1/C1/1", "slack:T1/C10", "slack:T1/C2", "slack:T1/Ü"}

// strangers are addresses of other conduits, whose names sort in front, between and behind.
var strangers = []session.Address{"slac:T1/C1", "slack2:T1/C1", "telegram:1"}

// pages reads a list of addresses, n at a time, each page after the last address of the one before it.
func (f *fixture) pages(n int, list func(ctx context.Context, after session.Address, limit int) ([]session.Address, error)) []session.Address {
	f.Helper()
	var out []session.Address
	for after := session.Address(""); ; {
		page, err := list(f.Context(), after, n)
		f.ok(err)
		if len(page) > n {
			f.Fatalf("%d addresses, with a limit of %d", len(page), n)
		}
		if len(page) == 0 {
			return out
		}
		out = append(out, page...)
		after = page[len(page)-1]
	}
}

func of(conduit string, list func(context.Context, string, session.Address, int) ([]session.Address, error)) func(context.Context, session.Address, int) ([]session.Address, error) {
	return func(ctx context.Context, after session.Address, limit int) ([]session.Address, error) {
		return list(ctx, conduit, after, limit)
	}
}

func (f *fixture) listed(what string, got, want []session.Address) {
	f.Helper()
	if !reflect.DeepEqual(got, want) {
		f.Errorf("%s\n got %v\nwant %v", what, got, want)
	}
}

func places(f *fixture) {
	for _, a := range append(strangers, around...) {
		for i := range 3 {
			e := message(a, fmt.Sprint(i), fmt.Sprint(i))
			e.Inbound.Text = strings.Repeat("x", 6000*i) // so that some go on in chunks
			if i == 1 {
				e = ended(e, session.EndRefused)
			}
			f.must(accept(e))
		}
	}
	f.reopen()
	for _, n := range []int{1, 2, 100} {
		f.listed("places", f.pages(n, of("slack", f.Store.Places)), around)
	}
	got, err := f.Store.Places(f.Context(), "slack", "slack:T1/C1/0", 2) // holds nothing itself
	f.ok(err)
	f.listed("places after one without entries", got, around[2:4])
	got, err = f.Store.Places(f.Context(), "slack", "aaa:1", 1)
	f.ok(err)
	f.listed("places after one of an earlier conduit", got, around[:1])
	f.listed("places of a conduit without any", f.pages(5, of("matrix", f.Store.Places)), nil)
}

func pending(f *fixture) {
	var want []session.Address
	for i, a := range append([]session.Address{"slac:T1/C1"}, around...) {
		first := message(a, "1", "1")
		rev := f.must(accept(first)).Rev
		if i%2 == 0 {
			f.must(change(ended(first, session.EndAnswered), rev))
			continue
		}
		f.must(accept(message(a, "2", "2")))
		want = append(want, a)
	}
	f.must(accept(message("telegram:1", "1", "1")))
	want = append(want, "telegram:1")
	f.reopen()
	for _, n := range []int{1, 2, 100} {
		f.listed("pending", f.pages(n, f.Store.Pending), want)
	}
}

func bound(f *fixture) {
	want := append([]session.Address{"slac:T1/C1"}, append(around, "telegram:1")...)
	for i, a := range want {
		b := session.Batch{ID: session.NewBatchID()}
		long := make([]ledger.ThreadID, 1+300*(i%2)) // so that some go on in chunks
		b.Bindings = []session.BindingWrite{{Address: a, Binding: session.Binding{Thread: threadNo(1 + i), From: 1, Left: long}}}
		f.must(b)
	}
	f.must(accept(message("slack:T1/unbound", "1", "1")))
	f.reopen()
	for _, n := range []int{1, 2, 100} {
		f.listed("bound", f.pages(n, f.Store.Bound), want)
	}
}

func presences(f *fixture) {
	var revs []session.Revision
	for i, a := range append(around, strangers...) {
		p := &session.Presence{Kind: "reaction", Message: strings.Repeat("m", 1+5000*(i%2))}
		revs = append(revs, f.must(presencePut(a, session.Revision{}, p)).Rev)
	}
	f.reopen()
	for _, n := range []int{1, 2, 100} {
		f.listed("presences", f.pages(n, of("slack", f.Store.Presences)), around)
	}
	f.must(presencePut(around[0], revs[0], nil))
	f.must(presencePut(around[1], revs[1], nil))
	f.listed("after two were dropped", f.pages(3, of("slack", f.Store.Presences)), around[2:])
}

func presencePut(a session.Address, rev session.Revision, p *session.Presence) session.Batch {
	return session.Batch{ID: session.NewBatchID(), Presences: []session.PresenceWrite{{Address: a, Rev: rev, Presence: p}}}
}

func smallList(f *fixture) {
	keys := []string{"a", "a b", "a/1", "b", "c", "ü"}
	var want []session.SmallValue
	for i, k := range keys {
		v := bytes.Repeat([]byte{byte('a' + i)}, i*3000)
		rev := f.must(small("space", k, session.Revision{}, v)).Rev
		want = append(want, session.SmallValue{Key: k, Value: v, Rev: rev})
	}
	f.must(small("spac", "e", session.Revision{}, []byte("x")))
	f.must(small("space2", "a", session.Revision{}, []byte("x")))
	f.must(small("space", "d", f.must(small("space", "d", session.Revision{}, []byte("x"))).Rev, nil))
	f.reopen()
	for _, n := range []int{1, 4, 100} {
		var got []session.SmallValue
		for after := ""; ; after = got[len(got)-1].Key {
			page, err := f.Store.SmallList(f.Context(), "space", after, n)
			f.ok(err)
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		f.sameValues(got, want)
	}
}

func (f *fixture) sameValues(got, want []session.SmallValue) {
	f.Helper()
	if len(got) != len(want) {
		f.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i, g := range got {
		if w := want[i]; g.Key != w.Key || g.Rev != w.Rev || !bytes.Equal(g.Value, w.Value) {
			f.Errorf("value %d is %q with %d bytes, want %q with %d", i, g.Key, len(g.Value), w.Key, len(w.Value))
		}
	}
}
