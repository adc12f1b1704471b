package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// globals are the flags that stand anywhere.
type globals struct {
	config string
}

func newRoot(std stdio) *cobra.Command {
	var g globals
	root := &cobra.Command{
		Use:   "orebot",
		Short: "Talk to a language model in Slack and Telegram",
		Long: `orebot lets team members talk to a language model in Slack threads and DMs, and Telegram users in chats.
Models are served by Ollama. One operator runs it, under systemd or by hand.

Try it without any account:   orebot demo
Run a bot at once:            TELEGRAM_BOT_TOKEN=… orebot run
See whether all is well:      orebot check --offline`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("orebot {{.Version}}\n")
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see: %s --help", err, cmd.CommandPath())}
	})
	root.PersistentFlags().StringVarP(&g.config, "config", "c", "", "configuration `file`; default: $OREBOT_CONFIG, "+
		"$CONFIGURATION_DIRECTORY/config.toml,\n$XDG_CONFIG_HOME/orebot/config.toml, /etc/orebot/config.toml")
	root.AddCommand(newRun(&g, std), newCheck(&g, std), newDemo(std), newAccess(&g, std), newQueue(&g, std),
		newManifest(std), newVersion(std))
	root.CompletionOptions.HiddenDefaultCmd = false
	return root
}

// noArgs refuses arguments, with the exit code of a wrong call.
func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasParent():
		return usageError{fmt.Errorf("%s takes no arguments, and got %q; see: %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())}
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usageError{fmt.Errorf("there is no command %q; did you mean %s?", args[0], strings.Join(near, " or "))}
	}
	return usageError{fmt.Errorf("there is no command %q; see: orebot --help", args[0])}
}
