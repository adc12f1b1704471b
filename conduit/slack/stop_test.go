package slack

import (
	"testing"
	"time"

	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// TestO14Stopped: whatever is under way when the process is told to stop, every envelope was acknowledged, and after the restart each
// question has one answer: of a turn in the middle, of a part that was just posted, and of one whose outcome nobody knows. Fact O.14.
func TestO14Stopped(t *testing.T) {
	for name, after := range map[string]time.Duration{
		"at once": 0, "in the turn": 2 * time.Second, "as the turn ends": 4 * time.Second, "in the parts": 4500 * time.Millisecond, "later": 9 * time.Second,
	} {
		for how, f := range map[string]fault.Fault{"well": {}, "cut": {Cut: true}, "late": {CutDo: 3 * time.Second}, "hangs": {Hang: true}} {
			t.Run(name+", "+how, func(t *testing.T) {
				inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
					ann, dm := r.chatOf("ann")
					r.model.say(long)
					r.model.think(4 * time.Second)
					r.Faults.Next("chat.postMessage", fault.Fault{}, f)
					r.Say(ann, dm, "go")
					time.Sleep(after)
					r.stop()
					<-r.done
					time.Sleep(time.Second)
					r.start()
					time.Sleep(10 * time.Minute)
					r.wholeAnswer(dm)
					for _, d := range r.Deliveries() {
						if !d.Acked && after > 0 { // what came in as it stopped comes again
							t.Errorf("envelope %s isn't acked", d.Envelope)
						}
					}
				})
			})
		}
	}
}
