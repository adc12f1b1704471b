package slash

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"orebot/core/access"
	"orebot/core/loop"
	"orebot/core/session"
)

// Model is an installed model.
type Model struct {
	Name    string
	Size    int64    // bytes on disk
	Context int      // tokens; 0: unknown
	Can     []string // "tools", "thinking", "vision", …
}

// Models lists the installed models.
type Models interface {
	Models(ctx context.Context) ([]Model, error)
}

// Log reads a thread's log and small values; a session.Reader is one.
type Log interface {
	session.Reader
}

// Config is what the commands need. Models and Log are required.
type Config struct {
	Models Models
	Log    Log
	System string // the instructions where none are set
	// Start, if not nil, is asked about the payload of a `start`; ok is false where it means nothing.
	Start func(ctx context.Context, c session.Command) (r session.Reply, ok bool, err error)
	Now   func() time.Time // default: time.Now
	Link  Link             // the zero value: conversations can't be linked
}

// Commands implements session.Commander.
type Commands struct {
	cfg   Config
	tries access.Knocks // of link codes
}

var _ session.Commander = (*Commands)(nil)

// New returns the commands.
func New(cfg Config) *Commands {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Commands{cfg: cfg}
}

// Do decides what a command comes to.
func (c *Commands) Do(ctx context.Context, cmd session.Command, v session.View) (session.Effect, error) {
	if sp, ok := find(cmd.Name); ok && cmd.In.Threadless() && (sp.thread || sp.args && cmd.Args != "" && cmd.Name != "start") {
		return quiet("Slack can't run slash commands in threads: write `!%s` there.", cmd.Name), nil
	}
	if !allowed(cmd) {
		return quiet("%s", refusal(cmd.Name)), nil
	}
	eff, err := c.effect(ctx, cmd, v)
	if sp, ok := find(cmd.Name); ok && !sp.args && saysMore(cmd.Args) && !eff.Ask {
		eff.Beside = fmt.Sprintf("I read nothing behind `%s%s`; send the rest as a message of its own.", cmd.Prefix, cmd.Name)
	}
	return eff, err
}

// saysMore reports whether words stand behind a command, not marks alone, as in /help? and /stop!@bot.
func saysMore(args string) bool {
	return slices.ContainsFunc(strings.Fields(args), func(word string) bool {
		r, _ := utf8.DecodeRuneInString(word)
		return unicode.IsLetter(r) || unicode.IsNumber(r)
	})
}

// effect is what a command comes to that may be given.
func (c *Commands) effect(ctx context.Context, cmd session.Command, v session.View) (session.Effect, error) {
	switch cmd.Name {
	case "model":
		return c.model(ctx, cmd, v)
	case "models":
		return c.models(ctx, v)
	case "usage":
		return c.usage(ctx, cmd, v)
	case "export":
		return c.export(ctx, cmd, v)
	case "start":
		return c.start(ctx, cmd)
	case "link":
		return c.link(ctx, cmd, v)
	}
	return c.plain(ctx, cmd, v), nil
}

// plain are the commands that need nobody's help.
func (c *Commands) plain(ctx context.Context, cmd session.Command, v session.View) session.Effect {
	switch cmd.Name {
	case "help":
		return said(c.help(cmd))
	case "whoami":
		return private(whoami(cmd, v))
	case "status":
		return said(status(ctx, v))
	case "system":
		return c.system(cmd, v)
	case "think":
		return think(cmd, v)
	case "mute", "follow":
		return mute(cmd, v)
	case "forget":
		return c.forget(cmd, v)
	case "unlink":
		return unlink(cmd)
	}
	if eff, ok := act(cmd); ok {
		return eff
	}
	return suggest(cmd)
}

// Guarded reports whether what a command comes to depends on its author being an administrator. It makes Commands a session.Guard.
func (c *Commands) Guarded(cmd session.Command) bool {
	switch r := cmd.Rights; {
	case r.Private, r.Admin:
		return false
	case cmd.Name == "help", cmd.Name == "whoami", cmd.Name == "forget", cmd.Name == "link":
		return true
	case r.Starter:
		return false
	case cmd.Name == "stop":
		return !r.Asker
	}
	return !allowed(cmd)
}

// allowed applies the table of who may give which command.
func allowed(cmd session.Command) bool {
	r := cmd.Rights
	own := r.Private || r.Admin || r.Starter
	switch cmd.Name {
	case "forget", "link":
		return r.Private || r.Admin
	case "new", "undo", "mute", "follow", "export", "compact":
		return own
	case "model", "think", "system":
		return own || cmd.Args == "" && cmd.Name != "system"
	case "retry":
		return own || r.Asker
	}
	return true
}

func refusal(name string) string {
	switch name {
	case "retry":
		return "Only who asked, who began this conversation, or an admin can have it answered again."
	case "link":
		return "Only an admin can link a conversation of several people."
	case "forget":
		return "Only an admin can delete a conversation of several people."
	}
	return "Only who began this conversation, or an admin, can do that."
}

// said is an effect that only says something.
func said(text string) session.Effect {
	return session.Effect{Reply: session.Reply{Severity: loop.SeverityInfo, Text: text}}
}

// private is one for the asker alone.
func private(text string) session.Effect {
	eff := said(text)
	eff.Private = true
	return eff
}

// quiet is a refusal: one line, for the asker alone.
func quiet(format string, args ...any) session.Effect { return private(fmt.Sprintf(format, args...)) }

// shared lets linked places be told of an effect, too.
func shared(eff session.Effect, text string) session.Effect {
	eff.Shared = text
	return eff
}

// done is an effect that changes settings.
func done(text string, set ...session.Setting) session.Effect {
	return session.Effect{Reply: session.Reply{Severity: loop.SeveritySuccess, Text: text}, Set: set}
}
