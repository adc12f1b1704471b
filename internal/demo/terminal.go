package demo

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	simslack "orebot/internal/sim/slack"
	simtelegram "orebot/internal/sim/telegram"
)

const help = `You are ana on Slack and Bob on Telegram. Type a line:

  hello             ana writes to orebot in a Slack DM
  c hello           ana mentions orebot in #general; the answer comes in the thread
  r and then?       ana goes on in that thread
  t hello           Bob writes to orebot on Telegram
  quit              (or Ctrl-D) ends the demo

`

// Run plays the daemon between the platforms: it starts daemon, waits until both are connected, and lets somebody type on in
// until the input or ctx ends. Then the daemon is stopped as an operator would.
func (st *Stage) Run(ctx context.Context, in io.Reader, out io.Writer, daemon func(context.Context) error) error {
	return st.play(ctx, out, daemon, func(ctx context.Context, s *screen) error {
		s.print(help)
		return st.typing(ctx, in, s)
	})
}

// play runs the daemon and the audience around an act. When it returns, both have ended.
func (st *Stage) play(ctx context.Context, out io.Writer, daemon func(context.Context) error, act func(context.Context, *screen) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &screen{w: out}
	s.print("orebot demo: local Slack and Telegram, and the real daemon between them. The model is " + st.Model + ".\n")
	stop, quit := context.WithCancel(ctx)
	scene, over := context.WithCancel(ctx)
	var cast, audience sync.WaitGroup
	var failed error
	cast.Go(func() {
		failed = daemon(stop)
		over() // nobody is left to answer
	})
	audience.Go(func() { st.watch(ctx, s) })
	err := st.connected(scene)
	if err == nil {
		err = act(scene, s)
	}
	quit()
	cast.Wait()
	cancel()
	audience.Wait()
	if failed != nil {
		return fmt.Errorf("demo: the daemon ended: %w", failed)
	}
	return err
}

// connected waits until the daemon has reached Slack, which takes it longer than Telegram, or the scene is over.
func (st *Stage) connected(scene context.Context) error {
	ctx, cancel := context.WithTimeout(scene, 20*time.Second)
	defer cancel()
	if err := st.Slack.WaitConnected(ctx); err != nil && scene.Err() == nil {
		return fmt.Errorf("demo: the daemon doesn't reach Slack: %w", err)
	}
	return nil
}

// typing lets somebody type.
func (st *Stage) typing(ctx context.Context, in io.Reader, s *screen) error {
	lines := make(chan string)
	go func() { // ends with the process where the input doesn't
		defer close(lines)
		for r, err := bufio.NewReader(in), error(nil); err == nil; {
			var line string
			if line, err = r.ReadString('\n'); line == "" {
				continue
			}
			select {
			case lines <- strings.TrimRight(line, "\r\n"):
			case <-ctx.Done():
				return
			}
		}
	}()
	thread := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-lines:
			if !ok || line == "quit" {
				st.silence(ctx)
				return nil
			}
			st.speak(line, &thread, s)
		}
	}
}

// speak carries out one typed line.
func (st *Stage) speak(line string, thread *string, s *screen) {
	who, text, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch {
	case strings.TrimSpace(line) == "":
	case who == "t" && text != "":
		s.say("telegram  Bob   ", text)
		st.Telegram.Say(st.bob, st.chat, text)
	case who == "c" && text != "":
		*thread = st.Slack.Say(st.ana, st.channel, "<@UBOT> "+text)
	case who == "r" && text != "" && *thread != "":
		st.Slack.Say(st.ana, st.channel, text, simslack.InThread(*thread))
	default:
		st.Slack.Say(st.ana, st.dm, line)
	}
}

// silence waits until everybody who wrote has an answer, for at most half a minute, so that piped input is answered too.
func (st *Stage) silence(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	_ = st.Slack.WaitFor(ctx, st.slackAnswered)
	_ = st.Telegram.WaitFor(ctx, func([]simtelegram.Line) bool { return st.telegramAnswered() })
}

// slackAnswered: in each thread, and in the DM, the bot has the last word.
func (st *Stage) slackAnswered(lines []simslack.Line) bool {
	last := map[string]string{}
	for _, l := range lines {
		if l.Kind != simslack.Post {
			continue
		}
		key := l.Channel
		if l.Channel == st.channel {
			key = l.Thread
			if key == "" {
				key = l.TS
			}
		}
		last[key] = l.User
	}
	for _, user := range last {
		if user == st.ana {
			return false
		}
	}
	return true
}

func (st *Stage) telegramAnswered() bool {
	msgs := st.Telegram.Chat(st.chat)
	return len(msgs) == 0 || msgs[len(msgs)-1].From.ID == st.Telegram.Bot().ID
}
