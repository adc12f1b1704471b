package demo

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	simslack "orebot/internal/sim/slack"
	simtelegram "orebot/internal/sim/telegram"
)

// screen prints what people see, one act a paragraph.
type screen struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *screen) say(who, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.w, "%s  %s\n", who, strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", len(who)+2)))
}

func (s *screen) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprint(s.w, text)
}

// watch prints what the bot does on both platforms, until ctx ends.
func (st *Stage) watch(ctx context.Context, s *screen) {
	var both sync.WaitGroup
	both.Go(func() {
		shown := 0
		for st.Slack.WaitFor(ctx, func(lines []simslack.Line) bool { return len(lines) > shown }) == nil {
			lines := st.Slack.Transcript()
			for _, l := range lines[shown:] {
				st.slackLine(s, l)
			}
			shown = len(lines)
		}
	})
	both.Go(func() {
		shown := 0
		for st.Telegram.WaitFor(ctx, func(lines []simtelegram.Line) bool { return len(lines) > shown }) == nil {
			lines := st.Telegram.Transcript()
			for _, l := range lines[shown:] {
				st.telegramLine(s, l)
			}
			shown = len(lines)
		}
	})
	both.Wait()
}

func (st *Stage) slackLine(s *screen, l simslack.Line) {
	where := "slack dm"
	if l.Channel == st.channel {
		where = "#general"
	}
	switch {
	case l.Kind == simslack.Post && l.User == st.ana:
		s.say(where+"  ana   ", l.Text)
	case l.Kind == simslack.Post || l.Kind == simslack.Ephemeral:
		s.say(where+"  orebot", l.Text)
	}
}

func (st *Stage) telegramLine(s *screen, l simtelegram.Line) {
	if l.Action == "send" {
		s.say("telegram  orebot", l.Text)
	}
}
