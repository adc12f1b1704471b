package slack

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// thinker is a model that thinks before it answers.
type thinker struct{ thought, answer string }

func (m thinker) Invoke(_ context.Context, _ ledger.State, _ models.Spec, ch chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	ch <- artifact.Reasoning{Content: m.thought}
	ch <- artifact.Text{Content: m.answer}
	return nil
}

// botLines are what the bot has posted in a channel.
func (r *rig) botLines(channel string) (out []simslack.Line) {
	for _, l := range r.Transcript() {
		if l.Kind == simslack.Post && l.Channel == channel && l.User != "" && strings.HasPrefix(l.User, "UBOT") {
			out = append(out, l)
		}
	}
	return out
}

// The reasoning stands below the answer's first part, where Slack folds it, and is text: it pings nobody, and changes no part.
func TestReasoningIsFolded(t *testing.T) {
	for _, m := range []thinker{
		{"carry the one", "Four."},
		{"<!channel> <@U1> & *bold* @here \u202e" + strings.Repeat("\nx", 900), "Four."},
		{strings.Repeat("hm ", 9000), long("")},
	} {
		inRigWith(t, simslack.Options{}, func(r *rig) {
			r.config = func(c *session.Config) { c.Provider, c.ShowReasoning = m, true }
		}, func(t *testing.T, r *rig) {
			ann, dm := r.chatOf("ann")
			r.say(ann, dm, "2 + 2?")
			time.Sleep(20 * time.Second)
			got := r.botLines(dm)
			var texts []string
			for i, l := range got {
				texts = append(texts, strings.Fields(l.Text)...)
				if len(l.Pings) > 0 || (l.Folded != "") != (i == 0) {
					t.Errorf("post %d pings %v and folds %.80q", i, l.Pings, l.Folded)
				}
			}
			if want := strings.Fields(m.answer); len(got) == 0 || !slices.Equal(texts, want) {
				t.Fatalf("%d posts say %d words, want %d", len(got), len(texts), len(want))
			}
			if f := got[0].Folded; !strings.HasPrefix(f, m.thought[:5]) || len(m.thought) > 2000 && !strings.HasSuffix(f, " characters)") {
				t.Errorf("folds %q", f)
			}
		})
	}
}

// Slack's refusal of the whole, or its wish for less, costs the reasoning, never the answer.
func TestReasoningGivesWay(t *testing.T) {
	it := conduit.Item{Source: "Four.", Reasoning: "carry the one"}
	for how, want := range map[conduit.Shape]string{{}: "carry the one", {Repeat: true}: "carry the one", {Plain: true}: "", {Shrink: 1}: ""} {
		if p, err := (Renderer{}).Part(it, 0, how); err != nil || p.Body.(body).folded != want || !strings.HasSuffix(p.Text, "Four.") {
			t.Errorf("%+v: %+v, %v", how, p.Body, err)
		}
	}
	inRigWith(t, simslack.Options{}, func(r *rig) {
		r.config = func(c *session.Config) { c.Provider, c.ShowReasoning = thinker{"hm", "Four."}, true }
	}, func(t *testing.T, r *rig) {
		ann, dm := r.chatOf("ann")
		r.Faults.Next("chat.postMessage", refusal("invalid_attachments"))
		r.say(ann, dm, "2 + 2?")
		time.Sleep(20 * time.Second)
		if got := r.botLines(dm); len(got) != 1 || got[0].Text != "Four." || got[0].Folded != "" {
			t.Errorf("%+v", got)
		}
	})
}

// A post whose outcome nobody knows is found again with its reasoning, after the setting has changed too: nothing is doubled.
func TestReasoningOfAPostThatIsFoundAgain(t *testing.T) {
	show := func(on bool) func(c *session.Config) {
		return func(c *session.Config) { c.Provider, c.ShowReasoning = thinker{"hm", "Four."}, on }
	}
	inRigWith(t, simslack.Options{}, func(r *rig) { r.config = show(true) }, func(t *testing.T, r *rig) {
		ann, dm := r.chatOf("ann")
		r.Faults.Next("chat.postMessage", fault.Fault{Cut: true})
		r.say(ann, dm, "2 + 2?")
		time.Sleep(time.Second)
		r.end()
		r.config = show(false)
		r.start()
		time.Sleep(30 * time.Second)
		r.say(ann, dm, "3 + 1?")
		time.Sleep(20 * time.Second)
		if got := r.botLines(dm); len(got) != 2 || got[0].Folded != "hm" || got[1].Folded != "" {
			t.Errorf("%+v", got)
		}
	})
}
