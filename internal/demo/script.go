package demo

import (
	"context"
	"fmt"
	"io"
	"time"
)

// scene is one step of the story: a line to read, then a line typed.
type scene struct {
	tell  string
	typed string
}

var story = []scene{
	{"Ana asks in a Slack DM.", "What is a ledger, in one sentence?"},
	{"She asks in a channel; the answer comes in the thread.", "c which of us two is a bot?"},
	{"In her thread she needn't call it again.", "r and what did I just ask you?"},
	{"Bob asks on Telegram. The conversations don't mix.", "t hello from the other side"},
}

// Script plays a story of about twenty seconds, for people who only want to look.
func (st *Stage) Script(ctx context.Context, out io.Writer, daemon func(context.Context) error) error {
	return st.play(ctx, out, daemon, func(ctx context.Context, s *screen) error {
		thread := ""
		for _, sc := range story {
			s.print(fmt.Sprintf("\n— %s\n", sc.tell))
			if !pause(ctx, 1500*time.Millisecond) {
				return nil
			}
			st.speak(sc.typed, &thread, s)
			st.silence(ctx)
			if !pause(ctx, 1500*time.Millisecond) {
				return nil
			}
		}
		s.print("\n— Every message above went through the disk twice: when it was taken, and when its answer was kept.\n")
		return nil
	})
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
