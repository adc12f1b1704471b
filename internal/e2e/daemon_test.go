package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// daemon is one running process.
type daemon struct {
	t    testing.TB
	w    *world
	cmd  *exec.Cmd
	log  string
	done chan struct{}
}

// start runs the daemon on the world's configuration. Its log goes to a file.
func (w *world) start(env ...string) *daemon {
	w.t.Helper()
	w.daemons++
	d := &daemon{t: w.t, w: w, log: filepath.Join(w.dir, fmt.Sprintf("log-%d", w.daemons)), done: make(chan struct{})}
	f, err := os.Create(d.log)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	w.logs = append(w.logs, d.log)
	d.cmd = exec.Command(binary, "run", "-c", w.config())
	d.cmd.Stdout, d.cmd.Stderr = f, f
	d.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir}, env...)
	if err := d.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		_ = d.cmd.Wait()
		close(d.done)
	}()
	w.t.Cleanup(d.kill)
	return d
}

// kill is kill -9.
func (d *daemon) kill() {
	_ = d.cmd.Process.Kill()
	<-d.done
}

// stop is SIGTERM; it returns the exit code.
func (d *daemon) stop() int {
	d.t.Helper()
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	return d.wait(patience)
}

// wait returns the exit code of a daemon that ends.
func (d *daemon) wait(limit time.Duration) int {
	d.t.Helper()
	select {
	case <-d.done:
		return d.cmd.ProcessState.ExitCode()
	case <-time.After(limit):
		_ = d.cmd.Process.Signal(syscall.SIGQUIT)
		<-d.done
		d.t.Fatalf("the daemon didn't end within %s; log:\n%s", limit, d.w.lastLog())
		return -1
	}
}

// get asks the daemon's health listener.
func (d *daemon) get(path string) (int, string) {
	resp, err := http.Get("http://" + d.w.health + path)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

// eventually waits for a condition of the process that nothing announces.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("it never came true: %s", what)
		}
		<-tick.C
	}
}

// ready waits until /readyz says so.
func (d *daemon) ready() *daemon {
	d.t.Helper()
	var body string
	deadline, tick := time.After(patience), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for code := 0; code != http.StatusOK; {
		select {
		case <-d.done:
			d.t.Fatalf("the daemon ended with %d before it was ready; log:\n%s", d.cmd.ProcessState.ExitCode(), d.w.lastLog())
		case <-deadline:
			d.t.Fatalf("the daemon isn't ready: %s\nlog:\n%s", body, d.w.lastLog())
		case <-tick.C:
			code, body = d.get("/readyz")
		}
	}
	return d
}

// figure reads one metric; labels as Prometheus prints them, "{a=\"b\"}" or "".
func (d *daemon) figure(name string) float64 {
	d.t.Helper()
	_, body := d.get("/metrics")
	for line := range strings.Lines(body) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			var v float64
			if _, err := fmt.Sscan(rest, &v); err != nil {
				d.t.Fatal(err)
			}
			return v
		}
	}
	return 0
}

// log returns all that the newest daemon has logged.
func (w *world) log() string {
	if len(w.logs) == 0 {
		return ""
	}
	data, err := os.ReadFile(w.logs[len(w.logs)-1])
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err.Error()
	}
	return string(data)
}

// lastLog is what of it a failing test tells. What a test looks for may long have passed it.
func (w *world) lastLog() string {
	lines := strings.Split(w.log(), "\n")
	return strings.Join(lines[max(0, len(lines)-60):], "\n")
}

// gone reports whether a process has ended. One that nobody has waited for yet has, too: where the tests run, there may be no init.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) != nil
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}
