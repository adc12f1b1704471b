package loop

import (
	"context"
	"runtime"
	"testing"
)

// An idle Step with two subscribers costs one goroutine and less than 8 KiB; a
// Step without subscribers costs no goroutine at all.
func TestIdleStepsAreCheap(t *testing.T) {
	const n = 500
	before, routines := inUse(), runtime.NumGoroutine()
	steps := make([]*Step, n)
	for i := range steps {
		steps[i] = New()
	}
	if got := runtime.NumGoroutine() - routines; got > 5 {
		t.Errorf("%d goroutines for %d steps without subscribers", got, n)
	}
	for _, s := range steps {
		x, y := s.Subscribe("lifecycle"), s.Subscribe("notice")
		s.Emit(context.Background(), NoticeEvent{})
		s.Emit(context.Background(), LifecycleEvent{})
		<-x
		<-y
	}
	if got := runtime.NumGoroutine() - routines; got > n+5 {
		t.Errorf("%d goroutines for %d steps", got, n)
	}
	if got := (int64(inUse()) - int64(before)) / n; got > 8<<10 {
		t.Errorf("%d bytes a step", got)
	}
	for _, s := range steps {
		s.Close()
	}
}
