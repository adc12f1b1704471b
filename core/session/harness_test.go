package session_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/access"
	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// scripted is a provider that answers with a function of the prompt.
type scripted struct {
	mu     sync.Mutex
	calls  [][]ledger.Turn
	answer func(ctx context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error)
}

func (p *scripted) Invoke(ctx context.Context, st ledger.State, _ models.Spec, ch chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	p.mu.Lock()
	p.calls = append(p.calls, st.Turns())
	n := len(p.calls)
	p.mu.Unlock()
	arts, err := p.answer(ctx, n, st.Turns())
	for _, a := range arts {
		select {
		case ch <- a:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

func (p *scripted) prompts() [][]ledger.Turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls
}

// echo answers with the newest user turn's texts, after d.
func echo(d time.Duration) *scripted {
	return &scripted{answer: func(ctx context.Context, _ int, turns []ledger.Turn) ([]artifact.Artifact, error) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return text("re: " + said(turns[len(turns)-1])), nil
	}}
}

func text(s string) []artifact.Artifact { return []artifact.Artifact{artifact.Text{Content: s}} }

// said joins a turn's texts with "|".
func said(t ledger.Turn) string {
	var out []string
	for _, a := range t.Artifacts {
		if a, ok := a.(artifact.Text); ok {
			out = append(out, a.Content)
		}
	}
	return strings.Join(out, "|")
}

// bench is one life of a Manager on a store.
type bench struct {
	t     *testing.T
	store session.Store
	m     *session.Manager
	p     *scripted
	stop  context.CancelFunc
	done  chan error
	mu    sync.Mutex
	heard []string // events, as "address kind text"
}

const dm = session.Address("slack:T1/D1")

func config(st session.Store, p provider.Provider) session.Config {
	return session.Config{
		Store: st, Provider: p, Spec: models.Spec{Model: "m"},
		Platforms: map[string]session.Platform{"slack": {Policy: access.Policy{Mode: access.Members, AnyPlace: true}, Follow: true}},
		RetryFor:  2 * time.Minute, MaxAge: 6 * time.Hour, ShutdownGrace: 20 * time.Second, Life: "life",
		Logger: slog.New(slog.DiscardHandler),
	}
}

// start begins a life. The bench is over when stopLife has returned.
func start(t *testing.T, mem session.Store, p *scripted, change ...func(*session.Config)) *bench {
	t.Helper()
	cfg := config(mem, p)
	for _, f := range change {
		f(&cfg)
	}
	b := &bench{t: t, store: mem, p: p, m: session.New(cfg), done: make(chan error, 1)}
	b.m.Listen([]string{"turn_complete", "notice"}, b.hear)
	ctx, cancel := context.WithCancel(context.Background())
	b.stop = cancel
	go func() { b.done <- b.m.Run(ctx) }()
	return b
}

func (b *bench) hear(a session.Address, ev loop.OutputEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case loop.TurnCompleteEvent:
		b.heard = append(b.heard, fmt.Sprintf("%s %s %s", a, ev.Turn.Role, said(ev.Turn)))
	case loop.NoticeEvent:
		b.heard = append(b.heard, fmt.Sprintf("%s notice %s", a, ev.Notice.Content))
	}
}

func (b *bench) events() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.heard...)
}

func (b *bench) stopLife() {
	b.t.Helper()
	b.stop()
	if err := <-b.done; err != nil {
		b.t.Errorf("Run: %v", err)
	}
}

var order int

// msg is a message as a conduit would hand it over.
func msg(a session.Address, author, textOf string, change ...func(*session.Inbound)) session.Inbound {
	order++
	in := session.Inbound{
		Key: fmt.Sprintf("T1/%s/%06d", a.Place(), order), Address: a, Author: session.Author{ID: author, Known: true},
		Call: session.CallDirect, Order: fmt.Sprintf("%06d", order), Text: textOf, At: time.Now(), Message: fmt.Sprintf("%06d", order),
	}
	for _, f := range change {
		f(&in)
	}
	return in
}

// accept hands a message over and returns the receipt.
func (b *bench) accept(in session.Inbound) session.Receipt {
	b.t.Helper()
	ch := make(chan session.Receipt, 1)
	b.m.Accept(context.Background(), in, func(r session.Receipt) { ch <- r })
	r := <-ch
	if r.Err != nil {
		b.t.Fatalf("accept %s: %v", in, r.Err)
	}
	return r
}

func (b *bench) entry(in session.Inbound) session.StoredEntry {
	b.t.Helper()
	e, ok, err := b.store.Entry(context.Background(), in.ID())
	if err != nil || !ok {
		b.t.Fatalf("entry %s: %v, found %v", in.ID(), err, ok)
	}
	return e
}

func (b *bench) ended(in session.Inbound, want session.End) {
	b.t.Helper()
	if e := b.entry(in); e.State != session.EntryEnded || e.End != want {
		b.t.Errorf("%.40q: state %d, end %s, want ended %s", in.Text, e.State, e.End, want)
	}
}

// log prints the log of the thread that an address is bound to, a line for each record.
func (b *bench) log(a session.Address) []string {
	b.t.Helper()
	st, err := b.store.Address(context.Background(), a)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.logOf(st.Binding.Thread)
}

// logOf is log of a thread.
func (b *bench) logOf(thread ledger.ThreadID) []string {
	b.t.Helper()
	recs, err := b.store.Log(context.Background(), thread, 1, 10000)
	if err != nil {
		b.t.Fatal(err)
	}
	var out []string
	for i, r := range recs {
		if r.Seq != ledger.Seq(i+1) {
			b.t.Errorf("record %d has the number %d", i+1, r.Seq)
		}
		switch r.Kind {
		case session.KindTurn:
			out = append(out, string(r.Turn.Role)+" "+said(*r.Turn))
		case session.KindEnd:
			out = append(out, "end "+r.End.Text)
		case session.KindTip:
			out = append(out, fmt.Sprintf("tip %d", r.Tip.To))
		default:
			out = append(out, string(r.Kind))
		}
	}
	return out
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n  %s\nwant:\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// bubble runs a test with a fresh store in a synctest bubble.
func bubble(t *testing.T, f func(t *testing.T, mem *storetest.Memory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		defer mem.Close()
		f(t, mem)
	})
}
