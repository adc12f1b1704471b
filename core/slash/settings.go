package slash

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orebot/core/session"
	"orebot/core/words"
)

// model shows the conversation's model, or changes it to an installed one.
func (c *Commands) model(ctx context.Context, cmd session.Command, v session.View) (session.Effect, error) {
	if cmd.Args == "" {
		return said(fmt.Sprintf("This conversation uses `%s`. `%smodels` lists what is installed, `%smodel NAME` changes it.",
			v.Spec.Model, cmd.Prefix, cmd.Prefix)), nil
	}
	list, err := c.cfg.Models.Models(ctx)
	if err != nil {
		return said(fmt.Sprintf("The model server doesn't answer now; this conversation stays with `%s`.", v.Spec.Model)), nil
	}
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Name
	}
	want := code(cmd.Args)
	name, ok := installed(want, names)
	if !ok {
		return notInstalled(want, names, cmd.Prefix), nil
	}
	text := fmt.Sprintf("From the next message on, `%s` answers here.", name)
	return shared(done(text, session.Setting{Key: session.SettingModel, Value: name}), text), nil
}

// installed finds a model by its name, whatever the case; the tag "latest" goes without saying.
func installed(want string, names []string) (string, bool) {
	for _, w := range []string{want, want + ":latest"} {
		if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, w) }); i >= 0 {
			return names[i], true
		}
	}
	return "", false
}

// notInstalled says what there is instead.
func notInstalled(want string, names []string, p string) session.Effect {
	like := closest(want, names, 3)
	what := "Near it"
	if len(like) == 0 {
		what, like = "Here", names[:min(len(names), 5)]
	}
	if len(like) == 0 {
		return said(fmt.Sprintf("`%s` isn't installed, nor is any other model.", want))
	}
	return said(fmt.Sprintf("`%s` isn't installed. %s: `%s`. `%smodel %s`", want, what, strings.Join(like, "`, `"), p, like[0]))
}

// code makes a word fit between backquotes, in one line.
func code(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "`", "")), " ")
	if r := []rune(s); len(r) > 100 {
		return string(r[:100])
	}
	return s
}

// models lists what is installed.
func (c *Commands) models(ctx context.Context, v session.View) (session.Effect, error) {
	list, err := c.cfg.Models.Models(ctx)
	switch {
	case err != nil:
		return said("The model server doesn't answer now. Please try again in a minute."), nil
	case len(list) == 0:
		return said("No model is installed."), nil
	}
	var b strings.Builder
	for i, m := range list {
		if i == 30 {
			fmt.Fprintf(&b, "- and %d more", len(list)-i)
			break
		}
		fmt.Fprintf(&b, "- `%s`", m.Name)
		if m.Size > 0 {
			fmt.Fprintf(&b, ", %.1f GB", float64(m.Size)/1e9)
		}
		if m.Context > 0 {
			fmt.Fprintf(&b, ", %s tokens", words.Number(m.Context))
		}
		if can := abilities(m.Can); can != "" {
			b.WriteString(", " + can)
		}
		if used, _ := installed(v.Spec.Model, []string{m.Name}); used != "" {
			b.WriteString(" (used here)")
		}
		b.WriteString("\n")
	}
	return said(strings.TrimSpace(b.String())), nil
}

// abilities names what a model can do beyond answering.
func abilities(can []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(can), func(s string) bool { return s == "completion" }), ", ")
}

// maxSystem bounds instructions set in a chat, in bytes: they stand in front of every prompt.
const maxSystem = 4000

// system shows or changes the conversation's instructions.
func (c *Commands) system(cmd session.Command, v session.View) session.Effect {
	switch {
	case cmd.Args == "":
		text, whose := v.System, "My instructions here"
		if text == "" {
			text, whose = c.cfg.System, "My instructions, the default ones"
		}
		if strings.TrimSpace(text) == "" {
			return said("I have no instructions here.")
		}
		return said(whose + ":\n\n> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> "))
	case strings.EqualFold(cmd.Args, "reset"):
		return shared(done("The default instructions hold again.", session.Setting{Key: session.SettingSystem}), "The default instructions hold again, here too.")
	case len(cmd.Args) > maxSystem:
		return quiet("That is %s bytes; instructions may have %s.", words.Number(len(cmd.Args)), words.Number(maxSystem))
	}
	return shared(done(fmt.Sprintf("From the next message on I follow that. `%ssystem reset` brings the default back.", cmd.Prefix),
		session.Setting{Key: session.SettingSystem, Value: cmd.Args}), "My instructions were changed, here too.")
}

// levels are what think takes.
func levels() []string { return []string{"auto", "off", "low", "medium", "high"} }

// think shows or changes the reasoning effort.
func think(cmd session.Command, v session.View) session.Effect {
	level := strings.ToLower(cmd.Args)
	switch {
	case level == "":
		now := v.Spec.Think
		if now == "" {
			now = "auto"
		}
		return said(fmt.Sprintf("Thinking is `%s`. `%sthink auto|off|low|medium|high` changes it; `%sthink show` shows it with the answers, folded, `%sthink hide` doesn't.",
			now, cmd.Prefix, cmd.Prefix, cmd.Prefix))
	case level == "show":
		return done("From the next answer on I show the model's reasoning with it, folded.", session.Setting{Key: session.SettingReasoning, Value: level})
	case level == "hide":
		return done("I don't show the model's reasoning.", session.Setting{Key: session.SettingReasoning, Value: level})
	case !slices.Contains(levels(), level):
		return quiet("I know `%s`, and `show` and `hide`.", strings.Join(levels(), "`, `"))
	}
	return done(fmt.Sprintf("Thinking is `%s` from the next message on, as far as the model can.", level),
		session.Setting{Key: session.SettingThink, Value: level})
}

// mute says whether the bot answers without being called, at the command's place alone.
func mute(cmd session.Command, v session.View) session.Effect {
	set := session.Setting{Key: session.MuteAt(v.Address)}
	if v.State.Settings[session.SettingMute] != "" {
		set.Value = "off"
	}
	switch {
	case cmd.In.Place == "":
		return said("In a private chat I always answer.")
	case cmd.Name == "mute":
		set.Value = "on"
		return done(fmt.Sprintf("I answer here only when called. `%sfollow` changes that.", cmd.Prefix), set)
	case v.State.Shared:
		return done("I follow again. Where several people write, I still answer only when called.", set)
	}
	return done("I answer here again without being called.", set)
}
