package session_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// running is a life outside of a bubble; answered gets a token for each final turn.
func running(b *testing.B) (m *session.Manager, mem *storetest.Memory, answered chan struct{}) {
	mem, answered = storetest.NewMemory(), make(chan struct{}, 1<<16)
	m = session.New(config(mem, prompt{}))
	m.Listen([]string{"turn_complete"}, finals(answered))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		<-done
		_ = mem.Close()
	})
	return m, mem, answered
}

// finals sends a token for each answer.
func finals(answered chan<- struct{}) func(session.Address, loop.OutputEvent) {
	return func(_ session.Address, ev loop.OutputEvent) {
		if ev.(loop.TurnCompleteEvent).Turn.Role == ledger.RoleAssistant {
			answered <- struct{}{}
		}
	}
}

// BenchmarkAccept is what a message costs its reader, the commit on the memory store included.
func BenchmarkAccept(b *testing.B) {
	mem := storetest.NewMemory()
	m := session.New(config(mem, prompt{}))
	in := msg(dm, "slack:U1", "How long is a piece of string?")
	ch := make(chan session.Receipt, 1)
	done := func(r session.Receipt) { ch <- r }
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		in.Key = fmt.Sprint(i)
		m.Accept(b.Context(), in, done)
		if r := <-ch; r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}

// BenchmarkExchange is a message, from Accept to the announcement of its answer, in a thread that is as long as said before.
func BenchmarkExchange(b *testing.B) {
	for _, turns := range []int{0, 1000} {
		b.Run(fmt.Sprintf("after %d", turns), func(b *testing.B) {
			m, mem, answered := running(b)
			n := 0
			exchange := func() {
				n++
				in := msg(dm, "slack:U1", "How long is a piece of string?", func(in *session.Inbound) { in.Key = fmt.Sprint(n) })
				m.Accept(context.Background(), in, func(session.Receipt) {})
				<-answered
			}
			for range turns / 2 {
				exchange()
			}
			before := mem.Commits()
			b.ReportAllocs()
			for b.Loop() {
				exchange()
			}
			b.ReportMetric(float64(mem.Commits()-before)/float64(b.N), "commits/op")
		})
	}
}

// BenchmarkIdleThreads is what a thread costs in memory that has had one exchange and isn't cold yet.
func BenchmarkIdleThreads(b *testing.B) {
	const threads = 10_000
	for b.Loop() {
		m, mem, answered := running(b)
		for i := range threads {
			a := session.Address(fmt.Sprintf("slack:T1/D%d", i))
			m.Accept(context.Background(), msg(a, "slack:U1", "How long is a piece of string?"), func(session.Receipt) {})
			<-answered
		}
		with := heap()
		goroutines := runtime.NumGoroutine()
		if n := m.Live(); n != threads {
			b.Fatalf("%d live threads", n)
		}
		m.Forget()
		b.ReportMetric(float64(with-heap())/threads, "B/thread")
		b.ReportMetric(float64(goroutines), "goroutines")
		runtime.KeepAlive(mem)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	return int64(ms.HeapAlloc)
}

// prompt answers at once and keeps nothing.
type prompt struct{}

func (prompt) Invoke(_ context.Context, _ ledger.State, _ models.Spec, ch chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	ch <- artifact.Text{Content: "As long as you make it."}
	return nil
}
