package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"orebot/core/ledger"
	"orebot/core/session"
)

// requireStrace skips where strace can't inject faults.
func requireStrace(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("strace is a tool of Linux")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace isn't installed")
	}
	if out, err := exec.Command(strace, "-f", "-qq", "-o", "/dev/null", "-e", "inject=fdatasync:error=EIO:when=1", "true").CombinedOutput(); err != nil {
		t.Skipf("strace can't run here: %v %s", err, out)
	}
	return strace
}

// TestAWriteThatFails lets the n-th sync or write of a process fail. Its writers have to learn that they don't know, the process has to
// end, and what it was told is durable has to be there afterwards.
func TestAWriteThatFails(t *testing.T) {
	strace, child := requireStrace(t), buildChild(t)
	type fault struct{ call, errno string }
	sizes := map[fault][]int{
		{"fdatasync", "EIO"}:   {5, 6, 7, 8, 21, 40},
		{"pwrite64", "ENOSPC"}: {8, 9, 40, 101},
		{"pwrite64", "EIO"}:    {10, 11, 60},
	}
	for f, whens := range sizes {
		for _, when := range whens {
			t.Run(fmt.Sprintf("%s %s %d", f.call, f.errno, when), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "orebot.db")
				inject := fmt.Sprintf("inject=%s:error=%s:when=%d", f.call, f.errno, when)
				failsOnce(t, exec.Command(strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace="+f.call, "-e", inject,
					child, path, "r", "8", "400"), path)
			})
		}
	}
}

// failsOnce runs a child that has to fail, then one that has to succeed on the same file.
func failsOnce(t *testing.T, cmd *exec.Cmd, path string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("the process ended with %v, want exit status 3\n%s", err, stderr.String())
	}
	got := acknowledged{turns: make(map[ledger.TurnID]session.EntryID)}
	got.read(t, stdout.Bytes())
	if got.unknown == 0 || len(got.other) > 0 {
		t.Errorf("%d writers learned that they don't know; %v", got.unknown, got.other)
	}
	t.Logf("%d entries and %d turns acknowledged, %d outcomes unknown", len(got.entries), len(got.turns), got.unknown)
	got.verify(t, path)
	again := exec.Command(cmd.Args[len(cmd.Args)-5], path, "again", "8", "3")
	out, err := again.Output()
	if err != nil {
		t.Fatalf("the next process: %v", err)
	}
	got.read(t, out)
	got.verify(t, path)
}
