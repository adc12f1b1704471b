package slash

import (
	"context"
	"fmt"
	"strings"

	"orebot/core/session"
)

// help lists the commands that its asker may give at this place, as they are written there.
func (c *Commands) help(cmd session.Command) string {
	var b strings.Builder
	for _, sp := range specs() {
		line, ok := lineFor(cmd, sp)
		if !ok || sp.name == "link" && c.unlinkable(cmd) != "" {
			continue
		}
		name := cmd.Prefix + sp.name
		if sp.args && line == sp.line {
			name += " …"
		}
		fmt.Fprintf(&b, "- `%s`: %s\n", name, line)
	}
	if cmd.In.Place == "" {
		b.WriteString("\nAnything else is a question.")
	} else {
		b.WriteString("\nMention me or reply to me to ask. What is written here without calling me I may read as context for my next answer.")
	}
	return b.String()
}

// lineFor is what help says of a command to who asks; ok is false where they may not give it, or where it means nothing.
func lineFor(cmd session.Command, sp spec) (line string, ok bool) {
	cmd.Name, cmd.Args = sp.name, ""
	if sp.hidden || sp.shared && cmd.In.Place == "" || !allowed(cmd) {
		return "", false
	}
	if cmd.Args = "x"; sp.look != "" && !allowed(cmd) {
		return sp.look, true
	}
	return sp.line, true
}

// suggest answers what looks like a command and is none.
func suggest(cmd session.Command) session.Effect {
	p := cmd.Prefix
	if name := near(cmd.Args); name != "" {
		eff := quiet("I don't know `%s%s`. Did you mean `%s%s`?", p, cmd.Args, p, name)
		if sp, _ := find(name); !sp.args {
			eff.Offers = []string{sp.name}
		}
		return eff
	}
	return quiet("I don't know `%s%s`. `%shelp` lists what you can write.", p, cmd.Args, p)
}

// whoami tells the ids that a configuration needs.
func whoami(cmd session.Command, v session.View) string {
	in := cmd.In
	lines := []string{"You: `" + in.Author.ID + "`"}
	if in.Place != "" {
		lines = append(lines, "This place: `"+in.Place+"`")
	}
	lines = append(lines, "This conversation: `"+v.Thread.String()+"` at `"+string(v.Address)+"`")
	if cmd.Rights.Admin {
		lines = append(lines, "You are an admin here.")
	}
	return "- " + strings.Join(lines, "\n- ")
}

// start greets, and hands a payload on.
func (c *Commands) start(ctx context.Context, cmd session.Command) (session.Effect, error) {
	if c.cfg.Start != nil && cmd.Args != "" {
		if r, ok, err := c.cfg.Start(ctx, cmd); ok || err != nil {
			return session.Effect{Reply: r}, err
		}
	}
	return said(session.Greeting(cmd.In) + " `" + cmd.Prefix + "help` says what else you can write."), nil
}
