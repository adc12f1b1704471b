package mcp_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orebot/internal/secret"
	"orebot/tool/mcp"
)

// Commands that are no proper servers: each is away, with one line for the streak, and Run ends all the same.
func TestCommandsThatAreNoServers(t *testing.T) {
	for name, script := range map[string]string{
		"exits at once":       "exit 0",
		"fails at once":       "echo no such config >&2; exit 1",
		"garbage":             "while :; do echo 'Listening on port 3000'; sleep 0.1; done",
		"binary garbage":      "head -c 100000 /dev/zero; exec sleep 1000",
		"a line without end":  "while :; do printf xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
		"closes its output":   "exec 1>&-; exec sleep 1000",
		"closes its input":    "exec 0<&-; exec sleep 1000",
		"an error for answer": `read x; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}'; exec sleep 1000`,
		"an old version":      `read x; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}'; exec sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf()
			end, log := run(t, mcp.Config{Name: "x", Command: []string{"/bin/sh", "-c", script}, Set: s.set,
				Connect: 500 * time.Millisecond, Env: map[string]secret.String{"PATH": secret.New("/usr/bin:/bin")}})
			log.until(t, "mcp server is away")
			end()
			if n := strings.Count(log.String(), "mcp server is away"); n != 1 || s.sets != 0 {
				t.Errorf("%d lines, %d lists of tools:\n%.2000s", n, s.sets, log)
			}
		})
	}
}

// A server that writes without end to stderr is heard for a while, and answers meanwhile.
func TestAFloodOnStderrHoldsNothingUp(t *testing.T) {
	s := newShelf()
	cfg := command(t, "loud", s)
	_, log := run(t, cfg)
	s.wait(t)
	log.until(t, "no more of it is logged")
	if got, err := s.call(t, "x__two"); got != "one\n\ntwo" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if n := strings.Count(log.String(), "mcp server says"); n > 1100 {
		t.Errorf("%d lines of it are logged", n)
	}
}

// A server that hangs, so that it answers nothing, a ping neither, or that cuts each connection, is found out: the call that waits for it ends, further ones end at
// once, and it is connected or started again.
func TestAServerThatHangsIsStartedAgain(t *testing.T) {
	// The hangs return the tool to call then: "freeze" stops its process, so that one in this process must never be called.
	for name, start := range map[string]func(t *testing.T, s *shelf) (cfg mcp.Config, hang func() string){
		"command": func(t *testing.T, s *shelf) (mcp.Config, func() string) {
			return command(t, "server", s), func() string { return "x__freeze" }
		},
		"http": func(t *testing.T, s *shelf) (mcp.Config, func() string) {
			h := &hanging{next: streamable(newServer())}
			return over(t, s, h), func() string { h.hangs.Store(true); return "x__two" }
		},
		"http, cut": func(t *testing.T, s *shelf) (mcp.Config, func() string) {
			h := &hanging{next: streamable(newServer()), cuts: true}
			return over(t, s, h), func() string { h.hangs.Store(true); return "x__two" }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf()
			cfg, hang := start(t, s)
			cfg.PingEvery, cfg.PingTime = 100*time.Millisecond, 2*time.Second
			_, log := run(t, cfg)
			s.wait(t)
			log.until(t, "mcp server is there")
			if got, err := s.call(t, hang()); err == nil || !strings.Contains(err.Error(), "isn't there now") {
				t.Errorf("the call that it hung in: %q, %v", got, err)
			}
			log.until(t, "mcp server is away")
			if !strings.Contains(log.String(), "mcp: ping: ") {
				t.Errorf("it isn't told that the ping had no answer:\n%s", log)
			}
			for deadline := time.Now().Add(time.Minute); ; <-time.After(10 * time.Millisecond) {
				if got, err := s.call(t, "x__two"); got == "one\n\ntwo" && err == nil {
					break
				} else if time.Now().After(deadline) {
					t.Fatalf("after it: %q, %v", got, err)
				}
			}
		})
	}
}

// hanging is a server over HTTP that, once it hangs, answers nothing until somebody connects anew.
type hanging struct {
	next  http.Handler
	cuts  bool // it closes the connection instead, without an answer
	hangs atomic.Bool
}

func (h *hanging) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Mcp-Session-Id") == "" {
		h.hangs.Store(false)
	}
	if h.hangs.Load() && h.cuts {
		panic(http.ErrAbortHandler)
	}
	if h.hangs.Load() {
		_, _ = io.Copy(io.Discard, r.Body) // only then does it notice that the client leaves
		<-r.Context().Done()
		return
	}
	h.next.ServeHTTP(w, r)
}

// freeze stops the whole process, as a machine does that has no memory left. The signal may take a moment, so it never returns.
func freeze() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	select {}
}
