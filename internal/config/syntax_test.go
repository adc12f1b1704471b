package config

import (
	"strings"
	"testing"
)

// What is wrong near a secret is told by its remedy, and never with the secret.
func TestSyntaxNearASecretSaysWhatToDo(t *testing.T) {
	const hidden = "123456:HIDDEN"
	for name, tt := range map[string]struct{ file, want string }{
		"a key twice":       {"[telegram]\nbot_token = \"" + hidden + "\"\nbot_token = \"" + hidden + "\"\n", "line 3: is there twice; keep one of them"},
		"a table left open": {"[telegram\nbot_token = \"" + hidden + "\"\n", "line 2: is not TOML; the table's name at or above this line lacks its ]"},
		"no quotes":         {"[telegram]\nbot_token = " + hidden + "\n", "line 2: is not TOML; put the secret in double quotes, on one line"},
	} {
		var got []string
		d := decoder{set: map[string]bool{}, problem: func(_, text string) { got = append(got, text) }}
		if d.decode([]byte(tt.file), &Config{}) {
			t.Errorf("%s: it passes for TOML", name)
		}
		text := strings.Join(got, "; ")
		if text != tt.want {
			t.Errorf("%s: %q, want %q", name, text, tt.want)
		}
	}
}
