package slash_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"orebot/core/models"
	"orebot/core/session"
	"orebot/core/slash"
)

type installed []string

func (l installed) Models(context.Context) ([]slash.Model, error) {
	if l == nil {
		return nil, errors.New("dial tcp 10.0.0.1: refused")
	}
	var out []slash.Model
	for _, n := range l {
		out = append(out, slash.Model{Name: n, Size: 4_700_000_000, Context: 131072, Can: []string{"completion", "tools"}})
	}
	return out, nil
}

func do(t *testing.T, c *slash.Commands, name, args string, in session.Inbound, r session.Rights) session.Effect {
	t.Helper()
	eff, err := c.Do(t.Context(), session.Command{Name: name, Args: args, In: in, Rights: r, Prefix: "!"},
		session.View{Spec: models.Spec{Model: "llama3.2"}})
	if err != nil {
		t.Fatal(err)
	}
	return eff
}

// The table of who may do what in a shared thread.
func TestRights(t *testing.T) {
	c := slash.New(slash.Config{Models: installed{"m"}, Log: &written{}})
	in := session.Inbound{Place: "slack:C1"}
	whos := map[string]session.Rights{"nobody": {}, "asker": {Asker: true}, "starter": {Starter: true}, "admin": {Admin: true}, "private": {Private: true}}
	for _, test := range []struct{ name, args, who string }{
		{"help", "", "nobody asker starter admin private"},
		{"new", "", "starter admin private"},
		{"undo", "", "starter admin private"},
		{"retry", "", "asker starter admin private"},
		{"model", "", "nobody asker starter admin private"},
		{"model", "m", "starter admin private"},
		{"system", "", "starter admin private"},
		{"system", "x", "starter admin private"},
		{"think", "low", "starter admin private"},
		{"compact", "", "starter admin private"},
		{"mute", "", "starter admin private"},
		{"follow", "", "starter admin private"},
		{"status", "", "nobody asker starter admin private"},
		{"whoami", "", "nobody asker starter admin private"},
		{"models", "", "nobody asker starter admin private"},
		{"usage", "", "nobody asker starter admin private"},
		{"stop", "", "nobody asker starter admin private"}, // how far it reaches is looked at below
		{"start", "", "nobody asker starter admin private"},
		{"system", "reset", "starter admin private"},
		{"think", "", "nobody asker starter admin private"},
		{"think", "show", "starter admin private"},
		{"export", "", "starter admin private"},
		{"forget", "", "admin private"},
		{"forget", "yes", "admin private"},
		{"link", "", "admin private"},
		{"link", "7Q4K-93AD", "admin private"},
		{"link", "history 3", "admin private"},
		{"unlink", "", "nobody asker starter admin private"},
	} {
		for who, r := range whos {
			eff := do(t, c, test.name, test.args, in, r)
			refused := strings.HasPrefix(eff.Text, "Only ")
			if want := !strings.Contains(test.who, who); refused != want {
				t.Errorf("%s %s by %s: %q", test.name, test.args, who, eff.Text)
			}
			if refused && (!eff.Private || strings.Contains(eff.Text, "\n") || len(eff.Set) > 0 || eff.Act != session.ActNone) {
				t.Errorf("%s: the refusal is %+v", test.name, eff)
			}
		}
	}
	if do(t, c, "stop", "", in, session.Rights{}).Others || !do(t, c, "stop", "", in, session.Rights{Starter: true}).Others {
		t.Error("stop reaches others' answers by the wrong people")
	}
}

// Report 60: Slack blocks slash commands in threads; in a channel they can't say which thread they mean.
func TestSlackSlashCommandsThatMeanAThread(t *testing.T) {
	c := slash.New(slash.Config{Models: installed{"m"}})
	in := session.Inbound{Place: "slack:C1", Call: session.CallCommand, ReplyURL: "https://hooks.slack.com/x"}
	for _, name := range []string{"stop", "retry", "undo", "new", "system"} {
		eff := do(t, c, name, "", in, session.Rights{Admin: true})
		if want := "write `!" + name + "` there"; !strings.Contains(eff.Text, want) || eff.Act != session.ActNone || !eff.Private {
			t.Errorf("%s: %+v", name, eff)
		}
	}
	if eff := do(t, c, "help", "", in, session.Rights{}); strings.Contains(eff.Text, "can't run") {
		t.Errorf("help: %q", eff.Text)
	}
	in.Place = ""
	if eff := do(t, c, "new", "", in, session.Rights{Private: true}); eff.Act != session.ActNew {
		t.Errorf("new in a DM: %+v", eff)
	}
}

func TestModelNames(t *testing.T) {
	c := slash.New(slash.Config{Models: installed{"llama3.2:latest", "qwen3:8b", "qwen3:14b"}})
	r := session.Rights{Private: true}
	for args, want := range map[string]string{
		"qwen3:8b": "qwen3:8b", "QWEN3:8B": "qwen3:8b", "llama3.2": "llama3.2:latest", "`qwen3:8b`": "qwen3:8b",
	} {
		if eff := do(t, c, "model", args, session.Inbound{}, r); len(eff.Set) != 1 || eff.Set[0].Value != want {
			t.Errorf("%s: %+v", args, eff)
		}
	}
	for args, want := range map[string]string{
		"qwen3":   "`qwen3` isn't installed. Near it: `qwen3:8b`, `qwen3:14b`. `!model qwen3:8b`",
		"nothing": "`nothing` isn't installed. Here: `llama3.2:latest`, `qwen3:8b`, `qwen3:14b`. `!model llama3.2:latest`",
	} {
		if eff := do(t, c, "model", args, session.Inbound{}, r); eff.Text != want || len(eff.Set) != 0 {
			t.Errorf("%s: %q", args, eff.Text)
		}
	}
	down := slash.New(slash.Config{Models: installed(nil)})
	for _, name := range []string{"model", "models"} {
		if eff := do(t, down, name, "x", session.Inbound{}, r); strings.Contains(eff.Text, "10.0.0.1") || eff.Text == "" || len(eff.Set) != 0 {
			t.Errorf("%s without a server: %+v", name, eff)
		}
	}
}

// No text names a command with another prefix than the place's.
func TestPrefixes(t *testing.T) {
	c := slash.New(slash.Config{Models: installed{"m"}, System: "be brief"})
	for _, name := range []string{"help", "model", "think", "system", "mute", "stop", "undo", "new", "retry", "?"} {
		in := session.Inbound{Place: "slack:C1"}
		eff := do(t, c, name, "", in, session.Rights{Private: true})
		texts := eff.Text
		if eff.Say != nil {
			for _, o := range []session.Outcome{{}, {Done: true}, {Done: true, Withdrawn: 2}, {Done: true, Back: true}} {
				texts += eff.Say(o).Text
			}
		}
		if strings.Contains(texts, "`/") {
			t.Errorf("%s: %q", name, texts)
		}
	}
}
