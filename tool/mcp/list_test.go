package mcp_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// plain adds a tool that says its name.
func plain(s *sdk.Server, name string) {
	s.AddTool(&sdk.Tool{Name: name, InputSchema: object}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: name}}}, nil
	})
}

// TestLongNamesStayApart: of names that are too long for a model each becomes another one, the same each time.
func TestLongNamesStayApart(t *testing.T) {
	srv := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	long := strings.Repeat("long.", 20)
	plain(srv, long+"1")
	plain(srv, long+"2")
	s := newShelf()
	run(t, over(t, s, streamable(srv)))
	s.wait(t)
	said := map[string]bool{}
	for name := range s.tools {
		if !regexp.MustCompile(`^x__(long_){10}lo_[0-9a-f]{8}$`).MatchString(name) {
			t.Errorf("a tool is called %q", name)
		}
		got, err := s.call(t, name)
		if said[got] = true; err != nil {
			t.Error(err)
		}
	}
	if len(said) != 2 || !said[long+"1"] {
		t.Errorf("got %v", said)
	}
}

// TestAServerWithTooManyTools: so many are offered, and the log says in one line that there are more; those that the operator chose are found.
func TestAServerWithTooManyTools(t *testing.T) {
	srv := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	for i := range 300 {
		plain(srv, fmt.Sprintf("t%03d", i))
	}
	s := newShelf()
	_, log := run(t, over(t, s, streamable(srv)))
	s.wait(t)
	log.until(t, "mcp server is there")
	if len(s.tools) != 128 || strings.Count(log.String(), "left out") != 1 || !strings.Contains(log.String(), "172 more") {
		t.Errorf("%d tools\n%s", len(s.tools), log)
	}
	s = newShelf()
	cfg := over(t, s, streamable(srv))
	cfg.Tools = []string{"t299"}
	run(t, cfg)
	s.wait(t)
	if got, err := s.call(t, "x__t299"); got != "t299" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestUnchangedToolsAreNoNews: a server that says its tools have changed, where they haven't, fills no log and begins no prompt anew.
func TestUnchangedToolsAreNoNews(t *testing.T) {
	s, srv, listed := newShelf(), newServer(), make(chan struct{}, 100)
	srv.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			res, err := next(ctx, method, r)
			if method == "tools/list" {
				listed <- struct{}{}
			}
			return res, err
		}
	})
	plain(srv, "same")
	_, log := run(t, over(t, s, streamable(srv)))
	s.wait(t)
	log.until(t, "mcp server is there")
	<-listed
	plain(srv, "same")
	<-listed
	plain(srv, "late")
	s.wait(t)
	log.until(t, "mcp server has other tools")
	if s.sets != 2 || strings.Count(log.String(), "has other tools") != 1 || s.tools["x__late"].Name == "" {
		t.Errorf("%d sets\n%s", s.sets, log)
	}
}
