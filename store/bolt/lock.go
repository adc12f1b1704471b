package bolt

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const lockRetry = 20 * time.Millisecond

// lock takes the lock that bbolt takes too, on the same open file, so that bbolt then has it at once.
func lock(f *os.File, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return &OpenError{Reason: Unwritable, Err: fmt.Errorf("lock: %w", err)}
		case !time.Now().Before(deadline):
			return &OpenError{Reason: Locked, PID: holder(f)}
		}
		time.Sleep(lockRetry)
	}
}

// unlock lets go of a file that may still be mapped, which alone would keep the lock. It may be closed already.
func unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}

// holder looks up in Linux's table of locks (proc_locks(5)) who holds the one on the file; 0 where that can't be told.
func holder(f *os.File) int {
	fi, err := f.Stat()
	if err != nil {
		return 0
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	table, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer table.Close() //nolint:errcheck // read only
	for sc := bufio.NewScanner(table); sc.Scan(); {
		if pid := lockOf(sc.Text(), uint64(st.Ino)); pid > 0 {
			return pid
		}
	}
	return 0
}

// lockOf reads a line such as "1: FLOCK ADVISORY WRITE 4711 fe:00:1310732 0 EOF" and returns the process, if it is about that inode.
func lockOf(line string, inode uint64) int {
	f := strings.Fields(line)
	if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], ":"+strconv.FormatUint(inode, 10)) {
		return 0
	}
	pid, err := strconv.Atoi(f[4])
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
