package conduit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
)

// TestWhoGetsWhat walks through every kind of record.
func TestWhoGetsWhat(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.cfg.Renderer = conduittest.Text{Limit: 1000}
		b.must(b.w.Bind(placeA, placeB))
		b.must(b.w.User(placeA, "mem:U1", "hello"))
		b.must(b.w.Turn(ledger.Turn{Role: ledger.RoleSystem, Artifacts: text("be kind")}))
		call := []artifact.Artifact{artifact.Text{Content: "calling"}, artifact.ToolCall{ID: "1", Name: "f"}}
		b.must(b.w.Turn(ledger.Turn{Role: ledger.RoleAssistant, Artifacts: call}))
		b.must(b.w.Turn(ledger.Turn{Role: ledger.RoleTool, Artifacts: text("result")}))
		b.must(b.w.Turn(ledger.Turn{Role: ledger.RoleAssistant, Draft: true, Artifacts: text("draft one")}))
		b.must(b.w.Turn(ledger.Turn{Role: ledger.RoleAssistant, Draft: true, Artifacts: text("draft two")}))
		b.must(b.w.Promote(b.w.Last()))
		b.must(b.w.Turn(ledger.Turn{Role: ledger.RoleAssistant, Covers: 2, Artifacts: text("summary")}))
		b.must(b.w.Turn(ledger.Turn{Role: "later", Artifacts: text("unknown role")}))
		b.must(b.w.Notice(placeB, "only b"))
		b.must(b.w.Answer("final"))
		b.must(b.w.Answer(" \n"))
		b.start("one").rest(time.Second)
		b.wantTexts(placeA, "draft two", "final")
		b.wantTexts(placeB, "mem:U1: hello", "draft two", "only b", "final")
		b.wantServed(placeA)
		b.wantServed(placeB)
		promoted := b.p.At(placeA)[0]
		if promoted.Turn.Seq != 6 || promoted.Item.Seq != 7 {
			t.Errorf("the promoted draft is shown as turn %d of record %d", promoted.Turn.Seq, promoted.Item.Seq)
		}
		if n := b.p.At(placeB)[2].Item; n.Kind != conduit.Notice || n.Ref != "7f3a" || n.Severity.String() != "info" {
			t.Errorf("the notice is %+v", n)
		}
	})
}

func text(s string) []artifact.Artifact { return []artifact.Artifact{artifact.Text{Content: s}} }

// TestBindingBounds serves from From up to Until.
func TestBindingBounds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Answer("before"))
		b.must(b.w.Bind(placeA))
		b.must(b.w.Answer("within"))
		st := b.address(placeA)
		st.Binding.Until = 2
		b.bind(placeA, st.Binding)
		b.must(b.w.Answer("after"))
		b.start("one").rest(time.Second)
		b.wantTexts(placeA, "within")
		if st := b.address(placeA); st.Due != 0 {
			t.Errorf("still due: %d", st.Due)
		}
	})
}

func (b *bench) bind(a session.Address, to session.Binding) {
	b.t.Helper()
	batch := session.Batch{ID: session.NewBatchID()}
	batch.Bindings = []session.BindingWrite{{Address: a, Rev: b.address(a).BindingRev, Binding: to}}
	_, err := session.CommitWait(b.t.Context(), b.store, batch)
	b.must(err)
}

// TestReply finds the newest message asked at the address itself.
func TestReply(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA, placeB))
		var ids []session.EntryID
		for _, at := range []struct {
			a   session.Address
			key string
		}{{placeA, "07"}, {placeA, "05"}, {placeB, "09"}} {
			id, err := b.w.Ask(at.a, at.key)
			b.must(err)
			ids = append(ids, id)
		}
		b.must(b.w.Answer("short", ids...))
		b.must(b.w.Notice(placeA, "over", ids[1]))
		b.start("one").rest(time.Second)
		if got := b.p.At(placeA)[0].Item; got.ReplyTo != "asked-07" || got.Asked.IsZero() {
			t.Errorf("a: reply to %q of %v", got.ReplyTo, got.Asked)
		}
		if got := b.p.At(placeB)[0].Item; got.ReplyTo != "asked-09" {
			t.Errorf("b: reply to %q", got.ReplyTo)
		}
		if got := b.p.At(placeA)[1].Item; got.ReplyTo != "asked-05" {
			t.Errorf("notice: reply to %q", got.ReplyTo)
		}
	})
}

// TestCommits counts: one for an answer of one part whose intent came with the final Batch, and one for each part beyond.
func TestCommits(t *testing.T) {
	for _, c := range []struct {
		name, text string
		intent     bool
		want       int
	}{
		{"intent written", "short", true, 1},
		{"no intent", "short", false, 2},
		{"three parts", "0123456789abcdefghij klm", true, 3},
		{"tilde parts between", "0123456789~~~~~~~~~~abc", true, 2},
		{"only tildes", "~~~~~~~~~~~~", true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newBench(t, false)
				b.must(b.w.Bind(placeA))
				l := b.start("one")
				if synctest.Wait(); c.intent {
					b.w.Life = "one"
				}
				b.must(b.w.Answer(c.text))
				before := b.store.Commits()
				l.c.Nudge(placeA)
				synctest.Wait()
				if got := b.store.Commits() - before; got != c.want {
					t.Errorf("%d commits, want %d", got, c.want)
				}
				b.wantServed(placeA)
				l.rest(0)
			})
		})
	}
}

// TestCommitsOfSeveral: the write that moves behind a record has the intent of the next one with it, and what was posted of one is kept
// until it is behind.
func TestCommitsOfSeveral(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA))
		for _, s := range []string{"one", "0123456789abcdefghijklm", "three"} {
			b.must(b.w.Answer(s))
		}
		before := b.store.Commits()
		var posted []string
		b.p.Before = func(session.Address) error {
			posted = append(posted, fmt.Sprint(b.address(placeA).Cursor.Posted))
			return nil
		}
		b.start("one").rest(time.Second)
		b.wantTexts(placeA, "one", "0123456789", "abcdefghij", "klm", "three")
		if got := b.store.Commits() - before; got != 6 { // an intent, then one for each part
			t.Errorf("%d commits", got)
		}
		if got, want := strings.Join(posted, " "), "[] [] [m2] [m2 m3] []"; got != want {
			t.Errorf("posted %s, want %s", got, want)
		}
	})
}

// TestIndex looks messages up by what they show.
func TestIndex(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA))
		b.must(b.w.Answer("0123456789abc"))
		b.must(b.w.Answer("more"))
		b.start("one").rest(time.Second)
		want := []session.MessageRef{{Thread: b.w.Thread, Seq: 1}, {Thread: b.w.Thread, Seq: 1, Offset: 10}, {Thread: b.w.Thread, Seq: 2}}
		for i, m := range b.p.At(placeA) {
			if ref, ok, err := b.store.Message(t.Context(), placeA, m.ID); !ok || err != nil || ref != want[i] {
				t.Errorf("%s shows %+v, %v", m.ID, ref, err)
			}
		}
		if n := b.figs.get("orebot_delivery_seconds count"); n != 2 {
			t.Errorf("%v deliveries observed, want 2", n)
		}
	})
}

// TestNudge serves what comes later, in order, however often and early it is nudged, and nothing of other conduits.
func TestNudge(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA))
		l := b.start("one")
		var want []string
		for i := range 20 {
			s := string(rune('a' + i))
			want = append(want, s)
			b.must(b.w.Answer(s))
			for range 3 {
				l.c.Nudge(placeA)
			}
			l.c.Nudge("other:a")
		}
		synctest.Wait()
		b.wantTexts(placeA, want...)
		before := b.store.Commits()
		l.c.Nudge(placeA)
		synctest.Wait()
		if b.store.Commits() != before {
			t.Error("a nudge for nothing cost a commit")
		}
		l.rest(0)
		l.c.Nudge(placeA)
		b.wantServed(placeA)
	})
}

// interrupting is a store that calls f once, before it drops an address from the due ones.
type interrupting struct {
	session.Store
	f func()
}

func (s *interrupting) Commit(ctx context.Context, b session.Batch, done func(session.Result, error)) {
	if len(b.Due) > 0 && b.Due[0].Drop && s.f != nil {
		f := s.f
		s.f = nil
		f()
	}
	s.Store.Commit(ctx, b, done)
}

// TestNudgeWhileLeaving serves a record that is written when the courier has just seen that nothing is left.
func TestNudgeWhileLeaving(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBench(t, false)
		b.must(b.w.Bind(placeA))
		b.must(b.w.Answer("first"))
		s := &interrupting{Store: b.store}
		b.cfg.Store = s
		started := make(chan *life, 1)
		s.f = func() {
			b.must(b.w.Answer("second"))
			(<-started).c.Nudge(placeA)
		}
		l := b.start("one")
		started <- l
		l.rest(time.Minute)
		b.wantTexts(placeA, "first", "second")
		b.wantServed(placeA)
	})
}

// TestConfig names what is missing.
func TestConfig(t *testing.T) {
	b := newBench(t, false)
	good := b.cfg
	good.Life = "one"
	for name, spoil := range map[string]func(*conduit.Config){
		"name":     func(c *conduit.Config) { c.Name = "" },
		"life":     func(c *conduit.Config) { c.Life = "" },
		"store":    func(c *conduit.Config) { c.Store = nil },
		"renderer": func(c *conduit.Config) { c.Renderer = nil },
		"layout":   func(c *conduit.Config) { c.Renderer = unversioned{c.Renderer} },
	} {
		cfg := good
		spoil(&cfg)
		if _, err := conduit.New(cfg); err == nil {
			t.Errorf("no error without a proper %s", name)
		}
	}
	if _, err := conduit.New(good); err != nil {
		t.Error(err)
	}
}

type unversioned struct{ conduit.Renderer }

func (unversioned) Layout() uint16 { return 0 }
