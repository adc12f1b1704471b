package slash

import (
	"context"
	"fmt"
	"strings"

	"orebot/core/session"
	"orebot/core/words"
)

// status tells what the conversation runs with.
func status(ctx context.Context, v session.View) string {
	lines := []string{"Model: `" + v.Spec.Model + "`"}
	if v.Spec.Think != "" {
		lines[0] += ", thinking `" + v.Spec.Think + "`"
	}
	lines = append(lines, "Context: about "+used(ctx, v)+" tokens", "Queue: "+queue(v))
	if v.System != "" {
		lines = append(lines, "Instructions: set here")
	}
	if v.State.Muted(v.Address) {
		lines = append(lines, "Muted: I answer only when called")
	}
	if links := linksOf(v); links != "" {
		lines = append(lines, "Linked with: "+links)
	}
	return "- " + strings.Join(lines, "\n- ")
}

// used tells how full the context is, where it is known how much it holds.
func used(ctx context.Context, v session.View) string {
	window := 0
	if v.Window != nil {
		window = v.Window(ctx)
	}
	if window <= 0 {
		return words.Number(v.Used)
	}
	return words.Number(min(v.Used, window)) + " of " + words.Number(window)
}

func queue(v session.View) string {
	switch {
	case v.Running && v.Waiting > 0:
		return fmt.Sprintf("one in progress, %d waiting", v.Waiting)
	case v.Running:
		return "one in progress"
	case v.Waiting > 0:
		return fmt.Sprintf("%d waiting", v.Waiting)
	}
	return "nothing"
}

// usage tells what the conversation and its asker have cost.
func (c *Commands) usage(ctx context.Context, cmd session.Command, v session.View) (session.Effect, error) {
	u, err := session.UsageOf(ctx, c.cfg.Log, cmd.In.Author.ID, c.cfg.Now().UTC())
	if err != nil {
		return session.Effect{}, err
	}
	text := "- This conversation: " + spent(v.State.Tokens)
	text += "\n- You, today: " + spent(u.Today)
	text += "\n- You, the last 30 days: " + spent(u.Month)
	return private(text), nil
}

// spent prints what answers have cost.
func spent(t session.Tokens) string {
	if t.Answers == 1 {
		return words.Number(t.In+t.Out) + " tokens in 1 answer"
	}
	return fmt.Sprintf("%s tokens in %s answers", words.Number(t.In+t.Out), words.Number(t.Answers))
}
