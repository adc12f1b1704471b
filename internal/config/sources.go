package config

// Origin is a kind of place that a value can come from.
type Origin string

// The origins. FromFile covers inline values and files that the configuration names.
const (
	FromDefault    Origin = ""
	FromFile       Origin = "file"
	FromCredential Origin = "credential"
	FromEnv        Origin = "environment"
)

// Source says where the effective value of a key came from.
type Source struct {
	Origin Origin
	Name   string // the file's path, the credential's or the variable's name
}

// String returns the source for a person: "default", "file /etc/orebot/config.toml", "environment SLACK_BOT_TOKEN".
func (s Source) String() string {
	if s.Origin == FromDefault {
		return "default"
	}
	return string(s.Origin) + " " + s.Name
}

// Sources says where a configuration came from.
type Sources struct {
	File     string            // the file that was read; "" where there is none
	Values   map[string]Source // by dotted key; a key that nobody gave isn't in it
	Warnings []string          // sentences about what works and shouldn't stay so
}

// Of returns the source of a dotted key such as "slack.bot_token".
func (s Sources) Of(key string) Source { return s.Values[key] }
