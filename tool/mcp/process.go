package mcp

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// How long a command may take to end by itself, after its input was closed and after SIGTERM.
const (
	quitTime = 2 * time.Second
	termTime = 3 * time.Second
)

// process is a started command.
type process struct {
	in   io.WriteCloser
	out  io.ReadCloser
	cmd  *exec.Cmd
	done chan struct{} // closed when it is reaped
	once sync.Once
}

// start starts the command, in a process group of its own.
func (s *Server) start() (*process, error) {
	cmd := exec.Command(s.cfg.Command[0], s.cfg.Command[1:]...)
	cmd.Env = []string{} // which isn't nil: nil is the daemon's own
	for k, v := range s.cfg.Env {
		cmd.Env = append(cmd.Env, k+"="+v.Reveal())
	}
	slices.Sort(cmd.Env)
	cmd.SysProcAttr = apartAttr()
	cmd.Stderr = s.said()
	cmd.WaitDelay = termTime // who inherited stderr may hold it open
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("mcp: start: %w", err)
	}
	ours, theirs, err := os.Pipe() // not StdoutPipe: what was written before the end is read after it
	if err != nil {
		return nil, fmt.Errorf("mcp: start: %w", err)
	}
	cmd.Stdout = theirs
	p := &process{in: in, out: ours, cmd: cmd, done: make(chan struct{})}
	if err := p.launch(theirs); err != nil {
		_, _ = in.Close(), ours.Close()
		return nil, fmt.Errorf("mcp: start %s: %w", s.cfg.Command[0], err)
	}
	return p, nil
}

// launch starts the command on a thread that lives as long as it does: a command that is to die with its parent dies with the thread
// that started it.
func (p *process) launch(theirs *os.File) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		err := p.cmd.Start()
		_ = theirs.Close()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
		}
	}()
	return <-started
}

// end ends the command and everything in its group, and returns when it is gone.
func (p *process) end() {
	p.once.Do(func() {
		_ = p.in.Close()
		if !p.over(quitTime) {
			p.signal(syscall.SIGTERM)
			p.over(termTime)
		}
		p.signal(syscall.SIGKILL) // also what it leaves behind
		<-p.done
		_ = p.out.Close()
	})
}

// over waits for the command's end, for no longer than d.
func (p *process) over(d time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(d):
		return false
	}
}

// signal reaches the whole group, which has the number of its first process.
func (p *process) signal(sig syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, sig) }
