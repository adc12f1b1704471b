package ops

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// openTerminal returns a pseudo-terminal's both sides.
func openTerminal(t *testing.T) (outside, inside *os.File) {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { _ = outside.Close() })
	var n uint32
	var unlock int32
	ioctl(t, outside, syscall.TIOCGPTN, unsafe.Pointer(&n))
	ioctl(t, outside, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	inside, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { _ = inside.Close() })
	return outside, inside
}

func ioctl(t *testing.T, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg)); errno != 0 {
		t.Skipf("no pseudo-terminals here: %v", errno)
	}
}

func TestColourOnATerminal(t *testing.T) {
	for value, coloured := range map[string]bool{"": true, "1": false} {
		outside, inside := openTerminal(t)
		t.Setenv("NO_COLOR", value)
		log, _ := NewLogger(inside, FormatAuto, "info", nil)
		log.Info("hello", "k", "\x1b[2J", "spelt", `a \x1b[2J \u009b`, "other", "a \a \b \u009b2J")
		got, err := bufio.NewReader(outside).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(got, "\x1b[") != coloured || strings.ContainsAny(got, "\a\b\u009b") || strings.Contains(got, "\x1b[2J") || !strings.Contains(got, "hello") {
			t.Errorf("NO_COLOR=%q: %q", value, got)
		}
	}
}
