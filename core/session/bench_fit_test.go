package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// counting answers at once and counts tokens as a server does.
type counting struct{}

func (counting) Invoke(_ context.Context, st ledger.State, _ models.Spec, ch chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	n := tokensIn(st.Turns())
	ch <- artifact.Text{Content: "re: " + strings.Repeat("word ", 30)}
	ch <- artifact.Usage{PromptTokens: n, CompletionTokens: 50, TotalTokens: n + 50}
	return nil
}

// BenchmarkQuestion is what a question costs from its acceptance to its answer in a conversation that has so many turns already: the
// fitting of its prompt, its commits on the memory store, and the summaries that have become due. The model answers at once, and its
// window holds some fifty turns.
func BenchmarkQuestion(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { askOn(b, n) })
	}
}

func askOn(b *testing.B, n int) {
	mem, answered := storetest.NewMemory(), make(chan struct{}, 1)
	cfg := config(mem, counting{})
	fitting(&cfg)
	cfg.Spec.NumCtx, cfg.WindowBytes = 8192, 64<<10
	m := session.New(cfg)
	m.Listen([]string{"turn_complete"}, finals(answered))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	ask := func(i int) {
		m.Accept(ctx, msg(dm, "slack:U1", question(i)), func(session.Receipt) {})
		select {
		case <-answered:
		case <-time.After(time.Minute):
			b.Fatal("no answer")
		}
	}
	for i := range n / 2 {
		ask(i)
	}
	b.ReportAllocs()
	for i := n; b.Loop(); i++ {
		ask(i)
	}
	cancel()
	<-done
	_ = mem.Close()
}
