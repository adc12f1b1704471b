package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orebot/core/observe"
	"orebot/core/tool"
)

// Limits of what one server may offer.
const (
	maxTools       = 128
	maxListed      = 1024 // of which tools may choose
	maxPages       = 16
	maxDescription = 2 << 10 // bytes of one tool's
	maxSchema      = 16 << 10
	maxName        = 64
)

// list asks for the tools and hands them over, where they aren't the same as before; news says whether they weren't.
func (s *Server) list(ctx context.Context, session *mcp.ClientSession) (news bool, err error) {
	found, err := within(ctx, s.cfg.Connect, func(ctx context.Context) ([]*mcp.Tool, error) { return pages(ctx, session) })
	if err != nil {
		return false, fmt.Errorf("mcp: list tools: %w", err)
	}
	found = slices.DeleteFunc(found, func(t *mcp.Tool) bool { return t == nil })
	slices.SortStableFunc(found, func(a, b *mcp.Tool) int { return strings.Compare(precedence(a.Name), precedence(b.Name)) })
	sum := sumOf(found)
	if sum == s.listed {
		return false, nil
	}
	tools, complaints := s.translate(found)
	if err := s.cfg.Set(tools); err != nil {
		complaints = append(complaints, err.Error())
	}
	for _, c := range complaints {
		s.log.Warn("mcp tool left out", observe.KeyReason, s.redact.Redact(c))
	}
	s.listed, s.offered = sum, len(tools)
	return true, nil
}

// sumOf is another one where a tool is described otherwise.
func sumOf(tools []*mcp.Tool) string {
	h := sha256.New()
	for _, t := range tools {
		_ = json.NewEncoder(h).Encode([]any{t.Name, t.Description, t.InputSchema})
	}
	return string(h.Sum(nil))
}

// pages collects the tools of all pages, up to the limits.
func pages(ctx context.Context, session *mcp.ClientSession) (all []*mcp.Tool, err error) {
	params := &mcp.ListToolsParams{}
	for range maxPages {
		page, err := session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" || len(all) >= maxListed {
			break
		}
		params = &mcp.ListToolsParams{Cursor: page.NextCursor}
	}
	return all[:min(len(all), maxListed)], nil
}

// translate makes the wanted ones of a server's tools the model's, and says what is left out. They come in the order of precedence: of two
// that come to the same name the one that is written so wins.
func (s *Server) translate(found []*mcp.Tool) (tools []tool.Tool, complaints []string) {
	found = slices.DeleteFunc(slices.Clone(found), func(t *mcp.Tool) bool { return !s.wanted(t.Name) })
	taken, over := map[string]bool{}, 0
	for _, t := range found {
		name := s.nameOf(t)
		schema, err := json.Marshal(t.InputSchema)
		switch {
		case t.Name == "" || len(name) > maxName:
			complaints = append(complaints, fmt.Sprintf("%q: the name can't be called", tool.Clip(t.Name, 80)))
		case taken[name]:
			complaints = append(complaints, fmt.Sprintf("%q: %s is taken by another tool", t.Name, name))
		case err != nil || len(schema) > maxSchema:
			complaints = append(complaints, name+": the schema of its arguments is too large")
		case len(tools) == maxTools:
			over++
		default:
			taken[name] = true
			tools = append(tools, s.tool(name, t, schema))
		}
	}
	if over > 0 {
		complaints = append(complaints, fmt.Sprintf("%d more: a server may have %d; choose with `tools`", over, maxTools))
	}
	for _, w := range s.cfg.Tools {
		if !slices.ContainsFunc(found, func(t *mcp.Tool) bool { return t.Name == w }) {
			complaints = append(complaints, fmt.Sprintf("%q: the server has no such tool", w))
		}
	}
	return tools, complaints
}

func (s *Server) wanted(name string) bool {
	return len(s.cfg.Tools) == 0 || slices.Contains(s.cfg.Tools, name)
}

// precedence sorts names that need no change before those that do.
func precedence(name string) string {
	if sanitised(name) == name {
		return "0" + name
	}
	return "1" + name
}

// nameOf is what the model calls a tool. Of a name that is too long the beginning stays, and a sum of it all, so that it remains its own.
func (s *Server) nameOf(t *mcp.Tool) string {
	name := s.cfg.Name + "__" + sanitised(t.Name)
	if keep := maxName - 9; len(name) > maxName && len(s.cfg.Name)+2 < keep {
		sum := sha256.Sum256([]byte(t.Name))
		name = name[:keep] + fmt.Sprintf("_%x", sum[:4])
	}
	return name
}

// sanitised makes a name one that models can call: what isn't a letter, a digit, _ or - is _.
func sanitised(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// tool is one of the server's as the model's.
func (s *Server) tool(name string, t *mcp.Tool, schema json.RawMessage) tool.Tool {
	if string(schema) == "null" {
		schema = nil
	}
	theirs := t.Name
	return tool.Tool{
		Name: name, Label: "Using " + s.cfg.Name + ": " + sanitised(t.Name),
		Description: tool.Clip(t.Description, maxDescription), Parameters: schema,
		Call: func(ctx context.Context, args json.RawMessage) (string, error) { return s.call(ctx, theirs, args) },
	}
}
