package demo

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func newTestStage(t *testing.T) *Stage {
	t.Helper()
	st, err := NewStage(t.Context(), t.TempDir(), "http://ana:hunter22@127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	return st
}

func TestADaemonThatEndsEndsTheDemo(t *testing.T) {
	st := newTestStage(t)
	broken := errors.New("the disk is gone")
	err := st.Run(t.Context(), strings.NewReader("hello\n"), &strings.Builder{}, func(context.Context) error { return broken })
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "demo: the daemon ended: ") {
		t.Errorf("got %v", err)
	}
}

// Ctrl-C while the daemon still starts is an ordinary end, and the daemon has ended before the demo does.
func TestTheDemoWaitsForItsDaemon(t *testing.T) {
	st := newTestStage(t)
	ctx, interrupt := context.WithCancel(t.Context())
	ended := false
	err := st.Run(ctx, strings.NewReader(""), &strings.Builder{}, func(ctx context.Context) error {
		interrupt()
		<-ctx.Done()
		ended = true
		return nil
	})
	if err != nil || !ended {
		t.Errorf("got %v, the daemon has ended: %t", err, ended)
	}
}

func TestNoPasswordIsShown(t *testing.T) {
	if st := newTestStage(t); strings.Contains(st.Model, "hunter22") || !strings.Contains(st.Model, "127.0.0.1:1") {
		t.Errorf("the model is %s", st.Model)
	}
}
