package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"orebot/core/observe"
	"orebot/internal/config"
	"orebot/internal/ops"
	"orebot/internal/secret"
)

func newRun(g *globals, std stdio) *cobra.Command {
	var level string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the daemon",
		Long: `Run the daemon until SIGTERM, SIGINT or SIGHUP. Turns in flight may then finish within shutdown_grace; the rest is
resumed at the next start. Another signal a second later ends it at once, and nothing is lost.

Exit code 1: the start or the state failed; 2: wrong usage or configuration; 3: every platform refuses the credentials.`,
		Example: "  orebot run -c /etc/orebot/config.toml\n  TELEGRAM_BOT_TOKEN=… orebot run --log-level debug",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilTold(cmd.Context())
			defer stop()
			hurry(ctx, stop) // which loses nothing
			return runDaemon(ctx, g.config, level, std)
		},
	}
	cmd.Flags().StringVar(&level, "log-level", "", "log from this `level` on: debug, info, warn or error; default: the configuration's")
	return cmd
}

func runDaemon(ctx context.Context, path, level string, std stdio) error {
	if level != "" {
		if _, err := ops.ParseLevel(level); err != nil {
			return usageError{fmt.Errorf("--log-level: %w", err)}
		}
	}
	cfg, src, err := config.Load(path, config.OS())
	if err != nil {
		return err
	}
	if level != "" {
		cfg.Log.Level = level
	}
	redactor := secret.NewRedactor(cfg.Secrets()...)
	log, _ := ops.NewLogger(std.err, cfg.Log.Format, cfg.Log.Level, redactor)
	warn(log, src)
	return serve(ctx, cfg, environment{log: log, redactor: redactor, socket: ops.SocketPlace(cfg.StateDir, os.Getenv)})
}

// warn says what is in the configuration and shouldn't be.
func warn(log *slog.Logger, src config.Sources) {
	for _, w := range src.Warnings {
		log.Warn("configuration", observe.KeyReason, w)
	}
}
