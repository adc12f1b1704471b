package main

import (
	"context"
	"sync"
	"time"
	_ "time/tzdata" // zones by name also where the machine has none

	"orebot/core/cognitive"
	"orebot/core/session"
	"orebot/core/tool"
	"orebot/core/transform/budget"
	"orebot/internal/secret"
	"orebot/tool/mcp"
)

// Shares of the context window: what the descriptions of tools may take, and the results of one round.
const (
	toolShare   = 4
	resultShare = 4
	maxResults  = 64 << 10
)

// builtIn is the group of the tools that are always there; no server can have this name.
const builtIn = ""

// wireTools builds what the model may call. No server is asked or started yet.
func (d *daemon) wireTools(net network) error {
	groups := []string{builtIn}
	for _, m := range d.cfg.MCP {
		groups = append(groups, m.Name)
	}
	window := d.cfg.Ollama.NumCtx * budget.BytesPerToken
	d.tools = tool.NewRegistry(window/toolShare, groups...)
	if err := d.tools.Set(builtIn, []tool.Tool{tool.Clock(time.Now, time.Local)}); err != nil {
		return err
	}
	for _, m := range d.cfg.MCP {
		s, err := mcp.New(mcp.Config{
			Name: m.Name, URL: secret.New(m.URL), Command: m.Command, Env: m.Env, Tools: m.Tools,
			Set:       func(tools []tool.Tool) error { return d.tools.Set(m.Name, tools) },
			Transport: net.transport(), Logger: d.env.log,
		})
		if err != nil {
			return err
		}
		d.servers = append(d.servers, s)
	}
	return nil
}

// runServers keeps the MCP servers connected until ctx ends.
func (d *daemon) runServers(ctx context.Context, wg *sync.WaitGroup) {
	for _, s := range d.servers {
		wg.Go(func() { _ = s.Run(ctx) })
	}
}

// useTools lets the conversations use the tools. A model that can't isn't told of them: the provider knows, or learns it.
func (d *daemon) useTools(c *session.Config) {
	rounds := d.cfg.Chat.MaxToolRounds
	c.Pattern = cognitive.ReAct{MaxRounds: rounds}
	c.Invoke = append(c.Invoke, d.tools.Offer())
	c.Handlers = append(c.Handlers, &tool.Runner{
		Registry: d.tools, Rounds: rounds, Logger: d.env.log, Counters: d.metrics,
		Output: min(d.cfg.Ollama.NumCtx*budget.BytesPerToken/resultShare, maxResults),
	})
}
