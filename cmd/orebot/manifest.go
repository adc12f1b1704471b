package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

//go:embed slack-manifest.json
var slackManifest string

// What Slack allows, in characters.
const (
	maxAppName = 35
	maxCommand = 32
)

func newManifest(std stdio) *cobra.Command {
	name, command, link := "orebot", "/orebot", false
	cmd := &cobra.Command{
		Use:   "slack-manifest",
		Short: "Print the manifest of the Slack app, or a link that creates the app",
		Long: `Print the manifest of the Slack app: its scopes, events and slash command. Paste it where Slack says "From a manifest", or
open the link that --url prints. What to do next: docs/slack.md.

Two bots in one workspace, for staging and production, need a name and a command each; set slack.command to the same.`,
		Example: "  orebot slack-manifest --url\n  orebot slack-manifest --name orebot-staging --command /orebot-staging",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			m, err := manifestFor(name, command)
			if err != nil {
				return usageError{err}
			}
			if link {
				m = "https://api.slack.com/apps?new_app=1&manifest_json=" + url.QueryEscape(compact(m)) + "\n"
			}
			_, err = fmt.Fprint(std.out, m)
			return err
		},
	}
	cmd.Flags().StringVar(&name, "name", name, "what the app and its bot are called")
	cmd.Flags().StringVar(&command, "command", command, "the slash command; slack.command has to say the same")
	cmd.Flags().BoolVar(&link, "url", false, `print a link to Slack's "create app" page`)
	return cmd
}

// manifestFor is the manifest with a name and a command of one's choice.
func manifestFor(name, command string) (string, error) {
	name = strings.TrimSpace(name)
	switch n := utf8.RuneCountInString(name); {
	case n == 0 || n > maxAppName || strings.ContainsAny(name, "\n\t"):
		return "", fmt.Errorf("--name: Slack takes 1 to %d characters, and this has %d", maxAppName, n)
	case !strings.HasPrefix(command, "/") || strings.ToLower(command) != command || strings.ContainsAny(command[1:], "/ \t\n") || len(command) < 2,
		utf8.RuneCountInString(command) > maxCommand:
		return "", fmt.Errorf("--command: %q can't be a slash command; it is a slash, then up to %d lower-case characters without spaces, such as /orebot",
			command, maxCommand-1)
	}
	r := strings.NewReplacer(`name": "orebot"`, `name": `+inJSON(name), `"command": "/orebot"`, `"command": `+inJSON(command),
		`"Ask orebot /`, `"Ask `+strings.Trim(inJSON(name), `"`)+` /`)
	return r.Replace(slackManifest), nil
}

func inJSON(s string) string {
	b, _ := json.Marshal(s) // a string always can be
	return string(b)
}

// compact is JSON without the blanks that nobody reads in a link.
func compact(m string) string {
	var v json.RawMessage
	if json.Unmarshal([]byte(m), &v) != nil {
		return m
	}
	b, err := json.Marshal(v)
	if err != nil {
		return m
	}
	return string(b)
}
