package slack

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// troubles are what any call may meet once, or again and again for a while.
var troubles = map[string][]fault.Fault{
	"429":            {{Status: 429, Retry: 3 * time.Second}, {Status: 429, Retry: 3 * time.Second}},
	"429 of no time": {{Status: 429}},
	"limited":        {refusal("ratelimited")},
	"502 page":       {{Status: 502, Body: "<html><h1>Bad gateway</h1></html>"}, {Status: 502, Body: "<html>"}},
	"cut before":     {{Reset: true}, {Reset: true}},
	"cut behind":     {{Cut: true}},
	"done late":      {{CutDo: 5 * time.Second}},
	"hangs":          {{Hang: true}},
	"rubbish":        {{Status: 200, Body: "{}"}, {Status: 200, Body: "<html>"}},
	"no":             {refusal("fatal_error")},
}

// TestEveryMethodMeetsTrouble: whatever one method of Slack's meets, each question is answered once, in order, in its place. What is
// only good to know (names, what stood before, a sign) is done without. FS 16, 17. Facts A6.4, A7.12, B.4; report 16.
func TestEveryMethodMeetsTrouble(t *testing.T) {
	prepare := func(r *rig) {
		reading(r)
		files := r.config
		r.config = func(c *session.Config) {
			files(c)
			p := c.Platforms[Name]
			p.Presenter, p.Beat = r.api, Beat
			c.Platforms[Name] = p
		}
		r.conduit = func(c *Config) { c.MaxParts, c.CatchUp = 1, time.Hour }
	}
	methods := strings.Fields("chat.postMessage chat.postEphemeral chat.delete conversations.replies conversations.history users.info users.conversations " +
		"files files.info files.getUploadURLExternal files.completeUploadExternal upload assistant.threads.setStatus reactions.add reactions.remove " +
		"apps.connections.open")
	for _, method := range methods {
		for name, faults := range troubles {
			t.Run(method+" "+name, func(t *testing.T) {
				inRigWith(t, simslack.Options{Resend: true}, prepare, func(t *testing.T, r *rig) {
					ann, dm := r.chatOf("ann")
					ben := r.AddUser("ben")
					ch := r.AddChannel("dev", ann, ben, "UBOT")
					root := r.Say(ben, ch, "look at this")
					r.Faults.Next(method, faults...)
					r.model.think(2 * time.Second)
					r.model.say(func(prompt string) string {
						if strings.Contains(prompt, "long") {
							return long("")
						}
						return "re: " + prompt
					})
					r.say(ann, ch, "@orebot one for <@"+ben+">", simslack.InThread(root))
					r.Cut()
					time.Sleep(2 * time.Minute) // what is said while nobody listens may be answered behind what is said later
					r.say(ann, dm, "long")
					r.Share(ann, dm, "two", []simslack.SharedFile{{Name: "a.txt", MIME: "text/plain", Data: []byte("inside"), Check: true}})
					time.Sleep(20 * time.Minute)
					r.checkTrouble(dm, ch, root)
				})
			})
		}
	}
}

// checkTrouble looks at what stands there in the end.
func (r *rig) checkTrouble(dm, ch, root string) {
	r.t.Helper()
	var got []string
	for _, m := range append(r.Thread(ch, root), r.Thread(dm, "")...) {
		switch {
		case m.BotID == "":
		case strings.Contains(m.Text, "one for"):
			got = append(got, "one")
		case strings.HasPrefix(m.Text, "w00000 "):
			got = append(got, "long")
		case len(m.Files) > 0, strings.Contains(m.Text, "w01399"): // where files are refused it goes on in messages
			got = append(got, "rest")
		case strings.Contains(m.Text, "two"):
			got = append(got, "two")
		}
		if len(m.Reactions) > 0 || r.Status(m.Channel, m.TS) != "" {
			r.t.Errorf("a sign is left on %q", m.Text)
		}
	}
	if !slices.Equal(got, []string{"one", "long", "rest", "two"}) {
		r.t.Errorf("answers %q; people saw\n%s\nlog\n%s", got, simslack.Script(r.Transcript()), r.logs)
	}
}
