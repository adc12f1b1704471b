package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the daemon under test, built once.
var binary string

func TestMain(m *testing.M) {
	if path := os.Getenv(slowTool); path != "" {
		os.Exit(serveSlowTool(path))
	}
	if os.Getenv(oddTools) != "" {
		os.Exit(serveOddTools())
	}
	dir, err := os.MkdirTemp("", "orebot-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "orebot")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "orebot/cmd/orebot")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
