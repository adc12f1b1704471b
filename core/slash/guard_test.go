package slash_test

import (
	"fmt"
	"testing"

	"orebot/core/session"
	"orebot/core/slash"
)

// Whether somebody is an administrator is asked wherever it makes a difference.
func TestGuardedIsWhatDependsOnAdministrators(t *testing.T) {
	c := slash.New(slash.Config{Models: installed{"m"}, Log: &written{}})
	var _ session.Guard = c
	shape := func(eff session.Effect) string { return fmt.Sprint(eff.Reply, eff.Act, eff.Others, eff.Set) }
	in := session.Inbound{Place: "telegram:-1", Author: session.Author{ID: "telegram:7"}}
	names := []string{"help", "new", "stop", "retry", "undo", "model", "models", "system", "think", "mute", "follow", "status", "link", "unlink", "whoami", "usage", "compact", "export", "forget", "link", "unlink"}
	guarded := 0
	for _, name := range names {
		for _, args := range []string{"", "m", "low"} {
			for _, r := range []session.Rights{{}, {Asker: true}, {Starter: true}, {Starter: true, Asker: true}, {Private: true}} {
				admin := r
				admin.Admin = true
				if c.Guarded(session.Command{Name: name, Args: args, In: in, Rights: r}) {
					guarded++
					continue
				}
				without, with := do(t, c, name, args, in, r), do(t, c, name, args, in, admin)
				if name == "stop" && r.Asker || (name == "whoami" || name == "help") && r.Private { // their own is theirs to stop; nobody administers a private chat
					continue
				}
				if shape(without) != shape(with) {
					t.Errorf("%s %s by %+v depends on it: %s, %s", name, args, r, shape(without), shape(with))
				}
			}
		}
	}
	if guarded == 0 || c.Guarded(session.Command{Name: "status", In: in}) || c.Guarded(session.Command{Name: "model", In: in}) {
		t.Error("what anyone may do is guarded, or nothing is")
	}
}

func TestOffered(t *testing.T) {
	for name, want := range map[string]bool{"stop": true, "cancel": true, "new": true, "retry": true, "help": true, "undo": false, "nope": false, "": false} {
		if slash.Offered(false, name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
