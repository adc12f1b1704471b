package main

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A signal that comes twice is one; another one, a second later, ends the process.
func TestASignalThatComesTwiceIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told, tell := context.WithCancel(t.Context())
		var deadly atomic.Bool
		hurry(told, func() { deadly.Store(true) })
		time.Sleep(time.Hour)
		tell()
		synctest.Wait()
		if deadly.Load() {
			t.Error("the echo of the first signal ends the process")
		}
		time.Sleep(echo)
		synctest.Wait()
		if !deadly.Load() {
			t.Error("the second signal doesn't end the process")
		}
	})
}
