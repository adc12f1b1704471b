package slack

import (
	"testing"
	"time"

	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// TestSignsAreForeseen: before Slack is asked to show a status, a reaction or the line that it takes long, the store holds what the next
// life has to clear. Whenever a process is killed, nothing stays. Fact A8.3; report 28.
func TestSignsAreForeseen(t *testing.T) {
	refused := fault.Fault{Status: 404}
	for name, c := range map[string]struct {
		faults map[string][]fault.Fault
		after  time.Duration
		kind   string
	}{
		"status":   {map[string][]fault.Fault{statusMethod: {{Hang: true}}}, time.Second, statusSign},
		"reaction": {map[string][]fault.Fault{statusMethod: {refused}, "reactions.add": {{Hang: true}}}, time.Second, reactionSign},
		"slow":     {map[string][]fault.Fault{statusMethod: {refused}, "chat.postMessage": {{Hang: true}}}, 31 * time.Second, slowSign},
	} {
		t.Run(name, func(t *testing.T) {
			inRigWith(t, simslack.Options{}, signing, func(t *testing.T, r *rig) {
				ann, dm := r.chatOf("ann")
				r.model.think(time.Minute)
				for method, list := range c.faults {
					r.Faults.Next(method, list...)
				}
				ts := r.Say(ann, dm, "hello")
				time.Sleep(c.after)
				st, err := r.mem.Address(t.Context(), place{"T1", dm, ""}.address())
				if err != nil || st.PresenceRev == (session.Revision{}) || st.Presence != (session.Presence{Kind: c.kind, Message: ts}) {
					t.Errorf("while Slack is asked, the store holds %+v, %v", st.Presence, err)
				}
				time.Sleep(5 * time.Minute)
				if left := append(r.marks(dm), r.Status(dm, ts)); len(left) != 1 || left[0] != "" {
					t.Errorf("%q is left", left)
				}
			})
		})
	}
}

// signing lets the session show signs, and that an answer takes long after half a minute.
func signing(r *rig) {
	r.config = func(c *session.Config) {
		p := c.Platforms[Name]
		p.Presenter, p.Beat = r.api, Beat
		c.Platforms[Name] = p
		c.SlowNotice = 30 * time.Second
	}
}

// marks are the reactions in a DM.
func (r *rig) marks(dm string) (all []string) {
	for _, m := range r.Thread(dm, "") {
		all = append(all, m.Reactions...)
	}
	return all
}
