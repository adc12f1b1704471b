package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orebot/core/tool"
	"orebot/internal/secret"
	"orebot/tool/mcp"
)

// role names, in the environment of this test binary, what it is to be in place of the tests.
const role = "MCP_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "server":
		os.Exit(standIn())
	case "loud":
		go func() {
			for {
				fmt.Fprintln(os.Stderr, strings.Repeat("much ", 50))
			}
		}()
		os.Exit(standIn())
	case "large":
		_ = largeServer().Run(context.Background(), &sdk.StdioTransport{})
		os.Exit(0)
	case "chatter":
		_ = newServer().Run(context.Background(), &sdk.IOTransport{Reader: os.Stdin, Writer: &chatter{out: os.Stdout}})
		os.Exit(0)
	case "stubborn": // ignores the end of its input and SIGTERM, and has a child that does too
		signalIgnore()
		child := exec.Command("/bin/sh", "-c", "trap '' TERM; echo $$ >&2; while :; do read x < /dev/zero; done")
		child.Stderr = os.Stderr
		_ = child.Start()
		fmt.Fprintln(os.Stderr, os.Getpid())
		_ = newServer().Run(context.Background(), &sdk.StdioTransport{})
		select {}
	}
}

// standIn is an MCP server on stdin and stdout that says on stderr what its environment is.
func standIn() int {
	fmt.Fprintln(os.Stderr, "environment: "+strings.Join(os.Environ(), " "))
	fmt.Fprintln(os.Stderr, strings.Repeat("x", 5000))
	if newServer().Run(context.Background(), &sdk.StdioTransport{}) != nil {
		return 1
	}
	return 0
}

type nothing struct{}

// newServer has tools of every kind.
func newServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name string, content ...sdk.Content) {
		s.AddTool(&sdk.Tool{Name: name, Description: name + " it", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{Content: content, IsError: name == "fail"}, nil
			})
	}
	add("two", &sdk.TextContent{Text: "one"}, &sdk.TextContent{Text: "two"})
	add("fail", &sdk.TextContent{Text: "no such page"})
	add("picture", &sdk.ImageContent{MIMEType: "image/png", Data: []byte("12345")})
	add("link", &sdk.ResourceLink{URI: "file:///a.txt", Name: "a.txt"})
	add("files", &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "x:1", Text: "inside"}},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "x:2", MIMEType: "application/zip", Blob: []byte("123")}})
	add("a.b", &sdk.TextContent{Text: "dotted"})
	add("a_b", &sdk.TextContent{Text: "underscored"})
	s.AddTool(&sdk.Tool{Name: "exit", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { os.Exit(3); return nil, nil })
	s.AddTool(&sdk.Tool{Name: "freeze", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { freeze(); return nil, nil })
	return s
}

// shelf keeps what a server offers.
type shelf struct {
	mu    sync.Mutex
	sets  int
	tools map[string]tool.Tool
	news  chan struct{}
}

func newShelf() *shelf { return &shelf{news: make(chan struct{}, 100)} }

func (s *shelf) set(tools []tool.Tool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sets++
	s.tools = map[string]tool.Tool{}
	for _, t := range tools {
		s.tools[t.Name] = t
	}
	s.news <- struct{}{}
	return nil
}

func (s *shelf) wait(t *testing.T) {
	t.Helper()
	select {
	case <-s.news:
	case <-time.After(time.Minute):
		t.Fatal("the tools were never listed")
	}
}

// names returns what is offered, in order.
func (s *shelf) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.tools))
}

func (s *shelf) call(t *testing.T, name string) (string, error) {
	t.Helper()
	return s.callWith(t, name, `{}`)
}

func (s *shelf) callWith(t *testing.T, name, args string) (string, error) {
	t.Helper()
	s.mu.Lock()
	tl, ok := s.tools[name]
	s.mu.Unlock()
	if !ok {
		return "", fmt.Errorf("there is no %s", name)
	}
	return tl.Call(t.Context(), json.RawMessage(args))
}

// logbook is a log that tests read.
type logbook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// until waits for the log to hold a text.
func (l *logbook) until(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !strings.Contains(l.String(), text); {
		if time.Now().After(deadline) {
			t.Fatalf("the log never said %q:\n%s", text, l)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// run runs a server until the test's end, and returns what ends it earlier and waits.
func run(t *testing.T, cfg mcp.Config) (end func(), log *logbook) {
	t.Helper()
	log = &logbook{}
	cfg.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := mcp.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	end = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(2 * time.Minute):
			t.Error("Run doesn't end")
		}
	})
	t.Cleanup(end)
	return end, log
}

// command is this binary in a role, with a secret in its environment.
func command(t *testing.T, as string, s *shelf) mcp.Config {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcp.Config{Name: "x", Command: []string{exe}, Set: s.set,
		Env: map[string]secret.String{role: secret.New(as), "TOKEN": secret.New("SECRET-TOKEN")}}
}

func over(t *testing.T, s *shelf, h http.Handler) mcp.Config {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return mcp.Config{Name: "x", URL: secret.New(srv.URL + "/mcp?key=SECRET-KEY"), Set: s.set}
}

func streamable(s *sdk.Server) http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
}

// TestResultsBecomeText, over both transports: texts are joined, what isn't text is named, errors are the model's to read.
func TestResultsBecomeText(t *testing.T) {
	want := map[string]string{
		"x__two":     "one\n\ntwo",
		"x__fail":    "failure: no such page",
		"x__picture": "[an image that can't be shown here: image/png, 5 bytes]",
		"x__link":    "a.txt: file:///a.txt",
		"x__files":   "inside\n\n[x:2 that can't be shown here: application/zip, 3 bytes]",
		"x__a_b":     "underscored",
	}
	for name, start := range map[string]func(t *testing.T, s *shelf) mcp.Config{
		"command": func(t *testing.T, s *shelf) mcp.Config { return command(t, "server", s) },
		"http":    func(t *testing.T, s *shelf) mcp.Config { return over(t, s, streamable(newServer())) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf()
			end, log := run(t, start(t, s))
			s.wait(t)
			log.until(t, "mcp server is there")
			for tl, text := range want {
				got, err := s.call(t, tl)
				if f, ok := errors.AsType[*tool.Failure](err); ok {
					got = "failure: " + f.Text
				}
				if got != text {
					t.Errorf("%s: got %q, %v", tl, got, err)
				}
			}
			if _, err := s.callWith(t, "x__two", `{"a":1}`); err != nil {
				t.Error(err)
			}
			if !strings.Contains(log.String(), "x__a_b is taken") {
				t.Errorf("the collision isn't told:\n%s", log)
			}
			end()
			if _, err := s.call(t, "x__two"); err == nil || !strings.Contains(err.Error(), "isn't there now") {
				t.Errorf("a call after the end: %v", err)
			}
			if strings.Contains(log.String(), "SECRET") {
				t.Errorf("the log holds a secret:\n%s", log)
			}
		})
	}
}

// TestACommandsEnvironmentIsItsOwn: nothing of the daemon's is inherited, PATH neither; what it says is logged, a long line cut.
func TestACommandsEnvironmentIsItsOwn(t *testing.T) {
	s := newShelf()
	_, log := run(t, command(t, "server", s))
	s.wait(t)
	log.until(t, "environment: ")
	if want := `"environment: ` + role + `=[redacted] TOKEN=[redacted]"`; !strings.Contains(log.String(), want) {
		t.Errorf("the environment isn't %s:\n%s", want, log)
	}
	log.until(t, "xxxx")
	if strings.Contains(log.String(), strings.Repeat("x", 1100)) {
		t.Error("a long line wasn't cut")
	}
}

// TestADeadServerIsStartedAgain: the call that it died in is answered, its tools stay offered, and after a while it is there again.
func TestADeadServerIsStartedAgain(t *testing.T) {
	s := newShelf()
	_, log := run(t, command(t, "server", s))
	s.wait(t)
	log.until(t, "mcp server is there")
	if _, err := s.call(t, "x__exit"); err == nil || !strings.Contains(err.Error(), "isn't there now") {
		t.Errorf("got %v", err)
	}
	log.until(t, "mcp server is away")
	for deadline := time.Now().Add(time.Minute); ; <-time.After(10 * time.Millisecond) {
		if got, err := s.call(t, "x__two"); got == "one\n\ntwo" && err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("got %q, %v", got, err)
		}
	}
}

// TestNoOrphans: a command that heeds neither the end of its input nor SIGTERM is killed, and so is its child.
func TestNoOrphans(t *testing.T) {
	s := newShelf()
	cfg := command(t, "stubborn", s)
	end, log := run(t, cfg)
	s.wait(t)
	log.until(t, "mcp server is there")
	var pids []int
	for deadline := time.Now().Add(time.Minute); len(pids) < 2; <-time.After(10 * time.Millisecond) {
		pids = nil
		for line := range strings.Lines(log.String()) {
			var pid int
			if _, text, ok := strings.Cut(line, "text="); ok {
				if _, err := fmt.Sscan(text, &pid); err == nil {
					pids = append(pids, pid)
				}
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("two processes never told their numbers:\n%s", log)
		}
	}
	end()
	for _, pid := range pids {
		for deadline := time.Now().Add(2 * time.Minute); syscall.Kill(pid, 0) == nil && !zombie(pid); <-time.After(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d lives on", pid)
			}
		}
	}
}

// zombie reports whether a process is dead and merely not reaped, which is its new parent's to do.
func zombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(data), ") Z ")
}

// TestChangedToolsAreListedAgain.
func TestChangedToolsAreListedAgain(t *testing.T) {
	s := newShelf()
	srv := newServer()
	_, log := run(t, over(t, s, streamable(srv)))
	s.wait(t)
	log.until(t, "mcp server is there")
	sdk.AddTool(srv, &sdk.Tool{Name: "late"}, func(context.Context, *sdk.CallToolRequest, nothing) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "here"}}}, nil, nil
	})
	s.wait(t)
	if got, err := s.call(t, "x__late"); got != "here" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestOnlyTheListedTools, and a listed one that isn't there is named.
func TestOnlyTheListedTools(t *testing.T) {
	s := newShelf()
	cfg := over(t, s, streamable(newServer()))
	cfg.Tools = []string{"two", "a.b", "tow"}
	_, log := run(t, cfg)
	s.wait(t)
	log.until(t, "the server has no such tool")
	if got := s.names(); !slices.Equal(got, []string{"x__a_b", "x__two"}) {
		t.Errorf("got %v", got)
	}
}

// TestServersThatAnswerWrongly are away, and their addresses stand in no log line.
func TestServersThatAnswerWrongly(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the key went elsewhere") }))
	t.Cleanup(elsewhere.Close) // behind the parallel tests, before which this one returns
	for name, h := range map[string]http.HandlerFunc{
		"a page":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"a refusal": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"too much":   func(w http.ResponseWriter, _ *http.Request) { flood(w) },
		"cut":        func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"empty json": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "application/json") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf()
			end, log := run(t, over(t, s, h))
			log.until(t, "mcp server is away")
			end()
			if strings.Contains(log.String(), "SECRET") || strings.Contains(log.String(), "/mcp") {
				t.Errorf("the log holds the address:\n%s", log)
			}
		})
	}
}

// flood is JSON without an end.
func flood(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"x":"`)
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range 64 {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func TestWrongConfigurations(t *testing.T) {
	set := func([]tool.Tool) error { return nil }
	for name, cfg := range map[string]mcp.Config{
		"no name":      {URL: secret.New("http://h/"), Set: set},
		"neither":      {Name: "x", Set: set},
		"both":         {Name: "x", URL: secret.New("http://h/"), Command: []string{"c"}, Set: set},
		"no set":       {Name: "x", Command: []string{"c"}},
		"another kind": {Name: "x", URL: secret.New("ftp://SECRET-HOST/"), Set: set},
		"no url":       {Name: "x", URL: secret.New("http://SECRET\x7f/"), Set: set},
	} {
		if _, err := mcp.New(cfg); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
