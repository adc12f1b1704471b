package main

import (
	"context"

	"orebot/core/session"
	"orebot/core/slash"
	"orebot/core/transform/systemprompt"
	"orebot/provider/ollama"
)

// commands builds what people can ask of the bot itself in a chat.
func (d *daemon) commands() *slash.Commands {
	return slash.New(slash.Config{
		Models: installed{d.model}, Log: d.store, System: d.cfg.Chat.SystemPrompt,
		Link: slash.Link{Enabled: d.cfg.Link.Enabled, Ways: d.ways()},
	})
}

// ways tells where a link code is written on the platforms that are on.
func (d *daemon) ways() map[string]func(string) string {
	ways := map[string]func(string) string{}
	if d.cfg.Slack.On {
		ways["slack"] = func(code string) string { return "on Slack, write `!link " + code + "` to me" }
	}
	if d.cfg.Telegram.On {
		ways["telegram"] = func(code string) string {
			text := "on Telegram, write `/link " + code + "` to me"
			if name := d.bot.Load(); name != nil && *name != "" {
				text += ", or open <https://t.me/" + *name + "?start=" + code + ">"
			}
			return text
		}
	}
	return ways
}

// installed lists the models of the server that answers first.
type installed struct{ server *ollama.Provider }

func (i installed) Models(ctx context.Context) ([]slash.Model, error) {
	list, err := i.server.Models(ctx)
	out := make([]slash.Model, len(list))
	for n, m := range list {
		out[n] = slash.Model{Name: m.Name, Size: m.Size, Context: m.Context, Can: m.Capabilities}
	}
	return out, err
}

// instructions are those of the conversation, else the configured ones.
func instructions(fallback string) systemprompt.Prompt {
	return func(ctx context.Context) (string, error) {
		if own, ok := session.SystemFrom(ctx); ok {
			return own, nil
		}
		return fallback, nil
	}
}
