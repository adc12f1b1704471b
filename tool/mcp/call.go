package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orebot/core/observe"
	"orebot/core/tool"
)

// call calls one tool. That the server is away, or refuses, is for the model to know; what else fails is for the log.
func (s *Server) call(ctx context.Context, name string, args json.RawMessage) (string, error) {
	session := s.get()
	if session == nil {
		return "", s.away()
	}
	s.calls.Add(1)
	defer s.calls.Add(-1)
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if e, ok := answered(err); ok && e.Code == tooLargeCode && e.Message == tooLargeText {
		return "", &tool.Failure{Text: fmt.Sprintf("the result has more than %d KiB and was thrown away; if the call had an effect, it stands. Ask for a part of it.", s.cfg.MaxMessage>>10)}
	} else if ok {
		return "", &tool.Failure{Text: "the server refuses: " + s.redact.Redact(e.Message)}
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("mcp call failed", observe.KeyTool, name, observe.KeyError, s.redact.Error(err))
		return "", s.away()
	}
	if err != nil {
		return "", ctx.Err()
	}
	text := textOf(res)
	if res.IsError {
		return "", &tool.Failure{Text: text}
	}
	return text, nil
}

// The SDK's error for what its HTTP transport couldn't deliver (jsonrpc2.ErrRejected): it looks like an answer, but no server gave it.
const (
	rejectedCode = -32005
	rejectedText = "rejected by transport"
)

// answered returns the error that the server itself answered with, if it is one.
func answered(err error) (*jsonrpc.Error, bool) {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	return e, ok && (e.Code != rejectedCode || e.Message != rejectedText)
}

func (s *Server) away() error {
	return &tool.Failure{Text: fmt.Sprintf("%s isn't there now; whether this call had an effect isn't known. Do without it.", s.cfg.Name)}
}

// textOf is what a model reads of a result: its texts; of what isn't text, what it was. Structured content counts where there is nothing
// else.
func textOf(res *mcp.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		if p := part(c); p != "" {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 && res.StructuredContent != nil {
		if b, err := json.Marshal(res.StructuredContent); err == nil {
			parts = append(parts, string(b))
		}
	}
	return strings.Join(parts, "\n\n")
}

func part(c mcp.Content) string {
	switch c := c.(type) {
	case *mcp.TextContent:
		return c.Text
	case *mcp.ImageContent:
		return note("an image", c.MIMEType, len(c.Data))
	case *mcp.AudioContent:
		return note("a recording", c.MIMEType, len(c.Data))
	case *mcp.ResourceLink:
		return strings.TrimSpace(fmt.Sprintf("%s: %s\n%s", firstOf(c.Title, c.Name, "a resource"), c.URI, c.Description))
	case *mcp.EmbeddedResource:
		if c.Resource == nil {
			return ""
		}
		if len(c.Resource.Blob) > 0 {
			return note(firstOf(c.Resource.URI, "a file"), c.Resource.MIMEType, len(c.Resource.Blob))
		}
		return c.Resource.Text
	default:
		return ""
	}
}

// note stands for what a model can't be shown.
func note(what, kind string, size int) string {
	return fmt.Sprintf("[%s that can't be shown here: %s, %d bytes]", what, firstOf(kind, "of unknown type"), size)
}

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}
