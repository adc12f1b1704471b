package archtest

// module is the path that all packages of the project begin with.
const module = "orebot"

// anything allows every package of the project but commands and test code.
const anything = "..."

// row says what the packages at or below a path may import of the project. The longest path that fits a package counts.
// Packages below one row may import each other.
type row struct {
	path string
	may  []string // paths that stand for themselves and what is below them
}

// table is the law, outermost packages last.
func table() []row {
	types := []string{"core/artifact", "core/ledger", "core/models", "core/provider"}
	withLoop := append([]string{"core/loop"}, types...)
	inner := append([]string{"core/cognitive", "core/tool", "core/transform", "core/access", "core/observe", "core/words"}, withLoop...)
	platform := []string{"conduit", "conduit/markup", "core", "internal/secret"}
	return []row{
		{"core/artifact", nil},
		{"core/models", nil},
		{"core/observe", nil},
		{"core/words", nil},
		{"core/ledger", []string{"core/artifact"}},
		{"core/provider", []string{"core/artifact", "core/ledger", "core/models"}},
		{"core/loop", types},
		{"core/cognitive", withLoop},
		{"core/tool", append([]string{"core/observe"}, withLoop...)},
		{"core/transform", withLoop},
		{"core/access", []string{"core/ledger"}},
		{"core/session", inner},
		{"core/slash", append([]string{"core/session"}, inner...)},
		{"conduit/markup", nil},
		{"conduit", []string{"core"}},
		{"conduit/slack", platform},
		{"conduit/telegram", platform},
		{"provider", []string{"core", "internal/secret"}},
		{"store/bolt", []string{"core"}},
		{"store/blob", []string{"core"}},
		{"tool/mcp", []string{"core", "internal/secret"}},
		{"internal/secret", nil},
		{"internal/config", []string{"core/words", "internal/secret"}},
		{"internal/ops", []string{anything}},
		{"internal/demo", []string{anything}},
		{"internal/sim", nil},
		{"cmd", []string{anything}},
	}
}

// homes says which packages may import a module from outside; a package of core never may. What isn't listed is free.
func homes() map[string][]string {
	return map[string][]string{
		"go.etcd.io/bbolt":                {"store/bolt"},
		"github.com/BurntSushi/toml":      {"internal/config"},
		"github.com/prometheus":           {"internal/ops"},
		"github.com/coreos/go-systemd":    {"internal/ops"},
		"github.com/lmittmann/tint":       {"internal/ops"},
		"github.com/slack-go/slack":       {"conduit/slack"},
		"github.com/go-telegram-bot-api":  {"conduit/telegram"},
		"github.com/ollama/ollama":        {"provider/ollama", "internal/sim/ollama"},
		"github.com/gorilla/websocket":    {"conduit/slack", "internal/sim/slack"},
		"github.com/yuin/goldmark":        {"conduit/markup"},
		"github.com/spf13/cobra":          {"cmd"},
		"github.com/modelcontextprotocol": {"tool/mcp"},
		"testing":                         nil, // test code only
	}
}

// testCode lists packages that hold nothing but tests: they may import anything, and only test code imports them.
func testCode() []string {
	return []string{"core/session/storetest", "conduit/conduittest", "internal/e2e", "internal/archtest", "internal/play"}
}
