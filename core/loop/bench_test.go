package loop

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
)

// BenchmarkTurn is a turn of 1,000 fragments; allocs/delta counts everything
// that happens in it.
func BenchmarkTurn(b *testing.B) {
	lines := make([]artifact.Artifact, 1000)
	for i := range lines {
		lines[i] = delta("word ")
	}
	for _, n := range []int{0, 1, 3, 100} {
		b.Run(fmt.Sprintf("subscribers=%d", n), func(b *testing.B) {
			s := New(WithState(forgetful{}))
			var readers sync.WaitGroup
			for range n {
				ch := s.Subscribe()
				readers.Go(func() {
					for range ch {
					}
				})
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				if _, err := s.Turn(context.Background(), nil, models.Spec{}, says(lines...)); err != nil {
					b.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(b.N)/1000, "allocs/delta")
			s.Close()
			readers.Wait()
		})
	}
}

// forgetful is a State that stamps and keeps nothing.
type forgetful struct{}

func (forgetful) Turns() []ledger.Turn { return nil }
func (forgetful) Append(_ context.Context, t ledger.Turn) (ledger.Turn, error) {
	t.ID.Seq = 1
	return t, nil
}

// BenchmarkIdleSteps is the memory of 10,000 Steps with two subscribers each
// that have seen an event, stacks included, and their goroutines.
func BenchmarkIdleSteps(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		before, routines := inUse(), runtime.NumGoroutine()
		steps := make([]*Step, n)
		for i := range steps {
			s := New(WithState(forgetful{}))
			x, y := s.Subscribe("turn_complete"), s.Subscribe("notice")
			s.Emit(context.Background(), NoticeEvent{})
			s.Emit(context.Background(), TurnCompleteEvent{})
			<-x
			<-y
			steps[i] = s
		}
		b.ReportMetric(float64(inUse()-before)/n, "B/step")
		b.ReportMetric(float64(runtime.NumGoroutine()-routines)/n, "goroutines/step")
		for _, s := range steps {
			s.Close()
		}
	}
}

func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkFanOut is 1,000,000 events through one FanOut with one subscriber
// that keeps up.
func BenchmarkFanOut(b *testing.B) {
	for b.Loop() {
		src := make(chan outputEventEnvelope)
		f := NewFanOut(src)
		ch := f.Subscribe()
		var ev OutputEvent = NoticeEvent{}
		go func() {
			for range 1_000_000 {
				src <- outputEventEnvelope{event: ev}
			}
		}()
		for range 1_000_000 {
			<-ch
		}
		f.Close()
	}
}
