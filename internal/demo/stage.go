package demo

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"orebot/internal/config"
	"orebot/internal/secret"
	simollama "orebot/internal/sim/ollama"
	simslack "orebot/internal/sim/slack"
	simtelegram "orebot/internal/sim/telegram"
	"orebot/provider/ollama"
)

const (
	botToken      = "xoxb-demo-bot-token"
	appToken      = "xapp-demo-app-token"
	telegramToken = "42:DEMODEMODEMODEMODEMODEMODEMODEMO"
)

// Stage is the world around the daemon: two platforms with a few people, and a model.
type Stage struct {
	Slack    *simslack.Server
	Telegram *simtelegram.Server
	Model    string // what answers, for people

	ana      string // a Slack user
	dm       string // her DM with the bot
	channel  string // a channel of hers that the bot is in
	bob      simtelegram.User
	chat     int64 // his chat with the bot
	cfg      *config.Config
	stop     []func()
	servers  sync.WaitGroup
	standIns *simollama.Server
}

// NewStage opens the platforms on loopback ports and looks for a model: at ollamaHost where one answers there, else a stand-in.
func NewStage(ctx context.Context, stateDir, ollamaHost string) (*Stage, error) {
	s := &Stage{
		Slack:    simslack.New(simslack.Options{BotToken: botToken, AppToken: appToken}),
		Telegram: simtelegram.New(simtelegram.Options{Token: telegramToken}),
		cfg:      config.Default(),
	}
	s.people()
	slackURL, err := s.open(s.Slack.Handler())
	if err == nil {
		s.cfg.Slack.APIURL = slackURL + "/api/"
		s.cfg.Telegram.APIURL, err = s.open(s.Telegram.Handler())
	}
	if err == nil {
		err = s.model(ctx, ollamaHost)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.cfg.StateDir = stateDir
	s.cfg.Slack.On, s.cfg.Telegram.On = true, true
	s.cfg.Slack.BotToken, s.cfg.Slack.AppToken = secret.New(botToken), secret.New(appToken)
	s.cfg.Telegram.BotToken = secret.New(telegramToken)
	s.cfg.Telegram.Access = "open"
	return s, nil
}

// Config is what the daemon runs with. Nothing in it comes from a file or from the environment.
func (s *Stage) Config() *config.Config { return s.cfg }

func (s *Stage) people() {
	s.ana = s.Slack.AddUser("ana")
	s.dm = s.Slack.OpenDM(s.ana)
	s.channel = s.Slack.AddChannel("general", s.ana, "UBOT")
	s.bob = s.Telegram.AddUser("Bob", "bob")
	s.chat = s.Telegram.PrivateChat(s.bob)
}

// open serves a handler on a loopback port and returns its base URL.
func (s *Stage) open(h http.Handler) (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	s.servers.Go(func() { _ = srv.Serve(ln) }) // ends with Close
	s.stop = append(s.stop, func() { _ = srv.Close() })
	return "http://" + ln.Addr().String(), nil
}

// model chooses the configured default model where a real server has it, else that server's first one, else the stand-in.
func (s *Stage) model(ctx context.Context, host string) error {
	seen := (*secret.Redactor)(nil).Redact(host) // it may carry a password
	if name := installed(ctx, host, s.cfg.Ollama.Model); name != "" {
		s.cfg.Ollama.Hosts, s.cfg.Ollama.Model = []string{host}, name
		s.Model = name + " at " + seen
		return nil
	}
	const name = "stand-in"
	s.standIns = simollama.New(simollama.Options{
		Models: []simollama.Model{{Name: name, Context: s.cfg.Ollama.NumCtx}}, Parallel: s.cfg.Ollama.MaxConcurrent, Answer: answer,
	})
	url, err := s.open(s.standIns.Handler())
	s.cfg.Ollama.Hosts, s.cfg.Ollama.Model = []string{url}, name
	s.Model = "a stand-in, since no Ollama answers at " + seen
	return err
}

// answer is the stand-in with the pace of a small model.
func answer(r simollama.Request) simollama.Reply {
	reply := simollama.StandIn(r)
	reply.Delay, reply.Between = 300*time.Millisecond, 20*time.Millisecond
	return reply
}

// installed returns the model to use of a real server; "" where none answers.
func installed(ctx context.Context, host, wanted string) string {
	p, err := ollama.New(ollama.Config{Hosts: []string{host}})
	if err != nil {
		return ""
	}
	defer p.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	models, err := p.Models(ctx)
	if err != nil || len(models) == 0 {
		return ""
	}
	for _, m := range models {
		if strings.TrimSuffix(m.Name, ":latest") == wanted {
			return m.Name
		}
	}
	return models[0].Name
}

// Close ends the platforms. The daemon must have ended before.
func (s *Stage) Close() {
	for _, f := range s.stop {
		f()
	}
	s.Slack.Close()
	s.Telegram.Close()
	if s.standIns != nil {
		s.standIns.Close()
	}
	s.servers.Wait()
}
