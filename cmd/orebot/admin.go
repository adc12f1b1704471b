package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"orebot/core/access"
	"orebot/core/session"
	"orebot/internal/config"
	"orebot/internal/ops"
	"orebot/store/bolt"
)

// adminFlags are those of the subcommands that talk to a daemon.
type adminFlags struct {
	g        *globals
	socket   string
	stateDir string
	json     bool
}

func (f *adminFlags) add(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.socket, "socket", "", "talk to the daemon at this `path`; default: $OREBOT_SOCKET, $RUNTIME_DIRECTORY/orebot.sock,\n"+
		"/run/orebot/orebot.sock, $XDG_RUNTIME_DIR/orebot/orebot.sock, <state_dir>/orebot.sock")
	flags.StringVar(&f.stateDir, "state-dir", "", "the daemon's state `directory`; default: the configuration's")
	flags.BoolVar(&f.json, "json", false, "print JSON")
}

// connect finds the daemon. What is wrong with the configuration doesn't matter to one that runs; the error is that of a stopped one.
func (f *adminFlags) connect(ctx context.Context) (*ops.Client, *config.Config, error) {
	cfg, _, wrong := config.Load(f.g.config, config.OS())
	if errors.Is(wrong, config.ErrNoFile) {
		return nil, cfg, wrong
	}
	paths := ops.SocketPlaces(f.socket, cfg.StateDir, os.Getenv)
	if f.stateDir != "" {
		cfg.StateDir = f.stateDir
		if f.socket == "" { // of this daemon and no other
			paths = []string{filepath.Join(f.stateDir, "orebot.sock")}
		}
	}
	c, err := ops.Connect(ctx, paths)
	if err != nil && wrong != nil && !errors.Is(wrong, config.ErrNoPlatform) {
		err = errors.Join(err, wrong)
	}
	return c, cfg, err
}

// openStopped opens the state of a daemon that doesn't run; none is why it is thought not to.
func openStopped(cfg *config.Config, none error) (*bolt.Store, error) {
	var not *ops.NotRunning
	path := filepath.Join(cfg.StateDir, "orebot.db")
	var wrong *config.Error
	switch _, err := os.Stat(path); {
	case !errors.As(none, &not), errors.As(none, &wrong):
		return nil, none
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w; and there is no state in %s: name it with --state-dir or -c", none, cfg.StateDir)
	}
	store, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		return nil, fmt.Errorf("%w; and the state can't be opened: %w", none, err)
	}
	return store, nil
}

// configured are the policies of the configuration, for each platform whether it is on or not.
func configured(cfg *config.Config) map[string]access.Policy {
	return map[string]access.Policy{"slack": slackPolicy(cfg.Slack), "telegram": telegramPolicy(cfg.Telegram)}
}

// stoppedDoors is access to the state of a stopped daemon.
func stoppedDoors(store session.Store, cfg *config.Config) *ops.Access {
	return &ops.Access{Doors: ops.NewDoors(store, configured(cfg))}
}

// oneArg takes exactly one argument; what names it.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("%s takes one %s; see: %s --help", cmd.CommandPath(), what, cmd.CommandPath())}
		}
		return nil
	}
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// table prints rows in columns. A row that begins with a tab is a heading's.
func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		for i := range r {
			r[i] = printable(r[i], 100)
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(r, "\t"), "\t"))
	}
	return t.Flush()
}

// printable makes a text of other people's harmless for a terminal, and at most so many characters long.
func printable(s string, n int) string {
	out := make([]rune, 0, min(len(s), n))
	for _, r := range s {
		if len(out) == n {
			out[n-1] = '…'
			break
		}
		if !unicode.IsPrint(r) {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}

// ago prints an age in its largest unit.
func ago(t time.Time, now time.Time) string {
	switch d := max(now.Sub(t), 0); {
	case t.IsZero():
		return "-"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d d", int(d.Hours()/24))
	}
}
