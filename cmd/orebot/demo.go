package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"orebot/internal/config"
	"orebot/internal/demo"
	"orebot/internal/ops"
	"orebot/internal/secret"
)

func newDemo(std stdio) *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Try it here, without any account",
		Long: `Try orebot without any account: Slack and Telegram simulators on loopback, the real daemon between them, and this
terminal to type into as a user of either. Where an Ollama answers at $OLLAMA_HOST (or 127.0.0.1:11434) it is asked, else a
built-in stand-in that says it is one. Configuration files and real tokens are not looked at.`,
		Example: "  orebot demo\n  orebot demo --script\n  echo 'hello' | orebot demo",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilTold(cmd.Context())
			defer stop()
			signal.Ignore(syscall.SIGPIPE) // a reader that leaves early doesn't keep the demo from tidying up
			return runDemo(ctx, o, std)
		},
	}
	cmd.Flags().StringVar(&o.stateDir, "state-dir", "", "keep the conversations in this `directory`; default: a temporary one")
	cmd.Flags().BoolVar(&o.script, "script", false, "play a story of twenty seconds instead")
	cmd.Flags().StringVar(&o.logFile, "log", "", "write the daemon's log to this `file`; default: not at all")
	return cmd
}

type demoOptions struct {
	stateDir string
	script   bool
	logFile  string
}

func runDemo(ctx context.Context, o demoOptions, std stdio) error {
	if o.stateDir == "" {
		dir, err := os.MkdirTemp("", "orebot-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.stateDir = filepath.Join(dir, "state")
	}
	var logTo io.Writer = io.Discard
	if o.logFile != "" {
		f, err := os.OpenFile(o.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		logTo = f
	}
	stage, err := demo.NewStage(ctx, o.stateDir, demoHost())
	if err != nil {
		return err
	}
	defer stage.Close()
	daemon := func(ctx context.Context) error {
		cfg := stage.Config()
		redactor := secret.NewRedactor(cfg.Secrets()...)
		log, _ := ops.NewLogger(logTo, ops.FormatAuto, "debug", redactor)
		return serve(ctx, cfg, environment{log: log, redactor: redactor})
	}
	if o.script {
		return stage.Script(ctx, std.out, daemon)
	}
	return stage.Run(ctx, std.in, std.out, daemon)
}

// demoHost is where a real Ollama may be.
func demoHost() string {
	if h := os.Getenv("OLLAMA_HOST"); h != "" {
		return h
	}
	return config.Default().Ollama.Hosts[0]
}
