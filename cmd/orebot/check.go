package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orebot/core/provider"
	"orebot/internal/config"
	"orebot/internal/ops"
	"orebot/internal/secret"
	"orebot/provider/ollama"
)

func newCheck(g *globals, std stdio) *cobra.Command {
	var offline bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Say whether the configuration and the world are right",
		Long: `Say whether all is well, one line each: ✓, or ✗ with the remedy; ! marks what has no effect or is risky. Exit code 1 if any
line has a ✗, 2 where there is nothing to check: the named file is missing, or no platform is on.

With --offline nothing is connected to: the file, the secrets and the state directory are checked. Otherwise the model
server is asked too; Slack: who the bot is, which scopes the app lacks, whether the app token works; Telegram: who the bot is, whether a
webhook takes its updates, what it hears in groups, whether it is in the configured ones; and both what time it is. A daemon that runs is asked what it knows: whether it is ready, which platform troubles it. Updates or
events are never taken away from it.`,
		Example: "  orebot check --offline -c config.toml",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return check(cmd.Context(), g.config, offline, std)
		},
	}
	cmd.Flags().BoolVar(&offline, "offline", false, "connect to nothing")
	return cmd
}

// report prints the lines of a check.
type report struct {
	w   io.Writer
	bad bool
}

func (r *report) good(format string, args ...any) { fmt.Fprintf(r.w, "✓ "+format+"\n", args...) }
func (r *report) note(format string, args ...any) { fmt.Fprintf(r.w, "! "+format+"\n", args...) }
func (r *report) fail(format string, args ...any) {
	r.bad = true
	fmt.Fprintf(r.w, "✗ "+format+"\n", args...)
}

// check prints what it finds. A wrong configuration keeps its exit code.
func check(ctx context.Context, path string, offline bool, std stdio) error {
	r := &report{w: std.out}
	cfg, src, err := config.Load(path, config.OS())
	r.configuration(cfg, src, err)
	if err == nil {
		r.state(cfg.StateDir)
		if !offline {
			r.model(ctx, cfg)
			r.platforms(ctx, cfg)
			r.daemon(ctx, ops.SocketPlaces("", cfg.StateDir, os.Getenv))
		}
	}
	switch {
	case err != nil && wrongUse(err):
		return errors.Join(errSaid, err)
	case r.bad:
		return errSaid
	default:
		return nil
	}
}

// wrongUse tells a check that has nothing to look at from one that found something.
func wrongUse(err error) bool {
	return errors.Is(err, config.ErrNoFile) || errors.Is(err, config.ErrNoPlatform)
}

func (r *report) configuration(cfg *config.Config, src config.Sources, err error) {
	var bad *config.Error
	if errors.As(err, &bad) {
		for _, p := range bad.Problems {
			r.fail("%s", p)
		}
		return
	}
	if src.File == "" {
		r.good("configuration: defaults and the environment")
	} else {
		r.good("configuration: %s", src.File)
	}
	r.secrets(cfg, src)
	for _, w := range src.Warnings {
		r.note("%s", w)
	}
}

// secrets says where each one came from, and never what it is.
func (r *report) secrets(cfg *config.Config, src config.Sources) {
	for _, s := range []struct {
		key   string
		value secret.String
	}{
		{"slack.bot_token", cfg.Slack.BotToken}, {"slack.app_token", cfg.Slack.AppToken},
		{"telegram.bot_token", cfg.Telegram.BotToken}, {"ollama.api_key", cfg.Ollama.APIKey},
	} {
		if !s.value.IsZero() {
			r.good("%s: from %s", s.key, src.Of(s.key))
		}
	}
}

// state checks that the state directory can be written, or made.
func (r *report) state(dir string) {
	at := dir
	for {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			r.fail("state_dir: %s is a file; choose a directory", at)
			return
		}
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrNotExist) || at == filepath.Dir(at) {
			r.fail("state_dir: %s can't be read: %v", at, err)
			return
		}
		at = filepath.Dir(at)
	}
	f, err := os.CreateTemp(at, ".orebot-check-")
	if err != nil {
		r.fail("state_dir: %s can't be written; give it to the user that runs orebot", at)
		return
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	if free, err := freeBytes(at); err == nil {
		r.room(dir, free)
	}
}

// leastRoom is the room that the state needs, in bytes: the database with its reserve, and some growth.
const leastRoom = 64 << 20

func (r *report) room(dir string, free uint64) {
	if free < leastRoom {
		r.fail("state_dir: %s has only %d MiB left; free at least %d MiB", dir, free>>20, leastRoom>>20)
		return
	}
	r.good("state_dir: %s, %d MiB free", dir, free>>20)
}

// model asks each server for the configured model.
func (r *report) model(ctx context.Context, cfg *config.Config) {
	net, err := newNetwork(cfg.Net)
	if err != nil {
		r.fail("%v", err)
		return
	}
	for _, host := range cfg.Ollama.Hosts {
		p, err := ollama.New(ollama.Config{Hosts: []string{host}, APIKey: cfg.Ollama.APIKey, Transport: net.transport()})
		if err != nil {
			r.fail("ollama: %v", err)
			continue
		}
		r.modelAt(ctx, secret.NewRedactor(cfg.Secrets()...).Redact(host), p, cfg.Ollama.Model)
	}
}

func (r *report) modelAt(ctx context.Context, host string, p *ollama.Provider, model string) {
	info, err := p.Info(ctx, model)
	switch provider.KindOf(err) {
	case provider.KindModelMissing:
		r.fail("ollama: %s isn't installed at %s; run: ollama pull %s", model, host, model)
	case provider.KindDenied:
		r.fail("ollama: %s wants another key; set ollama.api_key or $OLLAMA_API_KEY", host)
	case provider.KindUnreachable:
		r.fail("ollama: %s doesn't answer; is `ollama serve` running there?", host)
	default:
		if err != nil {
			r.fail("ollama: %s says nothing about %s: %v", host, model, err)
			return
		}
		r.good("ollama: %s at %s, %s", model, host, abilities(info))
	}
}

// abilities says what a server tells of a model, which may be nothing.
func abilities(m ollama.ModelInfo) string {
	length := "context unknown"
	if m.Context > 0 {
		length = fmt.Sprintf("context %d", m.Context)
	}
	return strings.Join(append([]string{length}, m.Capabilities...), ", ")
}
