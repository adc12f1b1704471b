package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orebot/core/tool"
	"orebot/tool/mcp"
)

// object is a schema that takes any arguments.
var object = json.RawMessage(`{"type":"object"}`)

// largeServer has a tool whose result is more than a message may be, and one that is at work meanwhile.
func largeServer() *sdk.Server {
	s := newServer()
	begun, free := make(chan struct{}), make(chan struct{})
	s.AddTool(&sdk.Tool{Name: "huge", InputSchema: object}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		<-begun
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat(`"id":7,\{"`, 20<<10)}}}, nil
	})
	s.AddTool(&sdk.Tool{Name: "beside", InputSchema: object}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		close(begun)
		<-free
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
	})
	s.AddTool(&sdk.Tool{Name: "free", InputSchema: object}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		close(free)
		return &sdk.CallToolResult{}, nil
	})
	return s
}

// TestAResultThatIsTooLargeFailsAlone: the model is told so; the server stays, and so does what it does beside.
func TestAResultThatIsTooLargeFailsAlone(t *testing.T) {
	for name, start := range map[string]func(t *testing.T, s *shelf) mcp.Config{
		"command": func(t *testing.T, s *shelf) mcp.Config { return command(t, "large", s) },
		"http":    func(t *testing.T, s *shelf) mcp.Config { return over(t, s, streamable(largeServer())) },
		"http, without a stream": func(t *testing.T, s *shelf) mcp.Config {
			large := largeServer()
			return over(t, s, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return large }, &sdk.StreamableHTTPOptions{JSONResponse: true}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf()
			cfg := start(t, s)
			cfg.MaxMessage = 100 << 10
			_, log := run(t, cfg)
			s.wait(t)
			log.until(t, "mcp server is there")
			var beside sync.WaitGroup
			beside.Go(func() {
				if got, err := s.call(t, "x__beside"); got != "done" || err != nil {
					t.Errorf("the call beside it: %q, %v", got, err)
				}
			})
			_, err := s.call(t, "x__huge")
			if f, ok := errors.AsType[*tool.Failure](err); !ok || !strings.Contains(f.Text, "more than 100 KiB") {
				t.Errorf("got %v", err)
			}
			if _, err := s.call(t, "x__free"); err != nil {
				t.Error(err)
			}
			beside.Wait()
			if got, err := s.call(t, "x__two"); got != "one\n\ntwo" || err != nil || strings.Contains(log.String(), "is away") {
				t.Errorf("after it: %q, %v\n%s", got, err, log)
			}
		})
	}
}

// chatter writes what isn't a message between messages, as much software does that isn't only a server.
type chatter struct {
	mu  sync.Mutex
	out io.Writer
}

func (c *chatter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.out, "Debug: SECRET-TOKEN\n\n{\"level\":\"info\",\"msg\":\"logged\"}\n[1\n\"jsonrpc\"\n\xff\xfe\n{\"x\":\"%s\"}\n", strings.Repeat("x", 200<<10))
	n, err := c.out.Write(p)
	fmt.Fprint(c.out, "more of it\n")
	return n, err
}

func (c *chatter) Close() error { return nil }

// TestWhatACommandPrintsBetweenItsMessages does no harm, and stands in the log at debug level, without secrets.
func TestWhatACommandPrintsBetweenItsMessages(t *testing.T) {
	s := newShelf()
	cfg := command(t, "chatter", s)
	cfg.MaxMessage = 100 << 10
	_, log := run(t, cfg)
	s.wait(t)
	log.until(t, "mcp server is there")
	if got, err := s.call(t, "x__two"); got != "one\n\ntwo" || err != nil || strings.Contains(log.String(), "is away") {
		t.Errorf("got %q, %v\n%s", got, err, log)
	}
	log.until(t, "more of it")
	if !strings.Contains(log.String(), "Debug: [redacted]") || !strings.Contains(log.String(), "logged") || strings.Contains(log.String(), "SECRET") {
		t.Errorf("the log:\n%s", log)
	}
}

// TestABusyServerIsNoDeadOne: one that answers nothing while a call runs, as those do that do one thing at a time, keeps its call.
func TestABusyServerIsNoDeadOne(t *testing.T) {
	srv, busy, missed := newServer(), sync.Mutex{}, make(chan struct{}, 100)
	srv.AddTool(&sdk.Tool{Name: "work", InputSchema: object}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		busy.Lock()
		defer busy.Unlock()
		for range 3 { // by the third ping, two have waited in vain for as long as they do
			select {
			case <-missed:
			case <-t.Context().Done():
			}
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "worked"}}}, nil
	})
	srv.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method == "ping" && !busy.TryLock() {
				missed <- struct{}{}
				busy.Lock()
			} else if method != "ping" {
				return next(ctx, method, r)
			}
			busy.Unlock()
			return next(ctx, method, r)
		}
	})
	s := newShelf()
	cfg := over(t, s, streamable(srv))
	cfg.PingEvery, cfg.PingTime = 50*time.Millisecond, 2*time.Second
	_, log := run(t, cfg)
	s.wait(t)
	log.until(t, "mcp server is there")
	if got, err := s.call(t, "x__work"); got != "worked" || err != nil || strings.Contains(log.String(), "is away") {
		t.Errorf("got %q, %v\n%s", got, err, log)
	}
}
