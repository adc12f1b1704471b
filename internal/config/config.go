package config

import (
	"net/url"

	"orebot/internal/secret"
)

// Config is the whole configuration. After Load it is complete and valid, and nobody changes it.
type Config struct {
	StateDir      string   `toml:"state_dir"`      // where database, blobs and socket live; Load fills in the default place
	ShutdownGrace Duration `toml:"shutdown_grace"` // how long a running turn may finish after SIGTERM
	Log           Log      `toml:"log"`
	Net           Net      `toml:"net"`
	Slack         Slack    `toml:"slack"`
	Telegram      Telegram `toml:"telegram"`
	Ollama        Ollama   `toml:"ollama"`
	Chat          Chat     `toml:"chat"`
	Access        Access   `toml:"access"`
	Link          Link     `toml:"link"`
	Limits        Limits   `toml:"limits"`
	Session       Session  `toml:"session"`
	MCP           []MCP    `toml:"mcp"`
	HTTP          HTTP     `toml:"http"`
}

// Log says what is logged and how.
type Log struct {
	Level  string `toml:"level"`  // debug, info, warn or error
	Format string `toml:"format"` // auto, tint, journal or json
}

// Net says how the outside is reached.
type Net struct {
	ProxyURL secret.String `toml:"proxy_url"` // for HTTP and WebSocket; may hold a password
	CAFile   string        `toml:"ca_file"`   // a PEM file with certificates that are trusted too
}

// Slack configures the Slack conduit.
type Slack struct {
	On            bool          `toml:"-"` // whether the platform is in use
	BotToken      secret.String `toml:"bot_token"`
	BotTokenFile  string        `toml:"bot_token_file"`
	AppToken      secret.String `toml:"app_token"`
	AppTokenFile  string        `toml:"app_token_file"`
	APIURL        string        `toml:"api_url"` // ends in a slash
	Command       string        `toml:"command"` // the registered slash command, with its slash
	Access        string        `toml:"access"`  // members or allowlist
	Users         []string      `toml:"users"`   // ids such as U012AB3CD
	Channels      []string      `toml:"channels"`
	AllowGuests   bool          `toml:"allow_guests"`
	AllowExternal bool          `toml:"allow_external"`
	AllowBots     bool          `toml:"allow_bots"`
	FollowThreads bool          `toml:"follow_threads"`
	CatchUp       Duration      `toml:"catch_up"` // 0: never look back
	Pace          string        `toml:"pace"`     // auto or off
}

// Telegram configures the Telegram conduit.
type Telegram struct {
	On           bool          `toml:"-"` // whether the platform is in use
	BotToken     secret.String `toml:"bot_token"`
	BotTokenFile string        `toml:"bot_token_file"`
	APIURL       string        `toml:"api_url"` // ends without a slash
	Access       string        `toml:"access"`  // pairing, allowlist or open
	Users        []int64       `toml:"users"`   // positive
	Groups       []int64       `toml:"groups"`  // negative
	Gather       Duration      `toml:"gather"`  // how long a message waits for forwards behind it; 0: not at all
	Pace         string        `toml:"pace"`    // auto or off
}

// Ollama configures the model servers.
type Ollama struct {
	Hosts             []string       `toml:"hosts"` // base URLs with scheme and port, without a slash at the end
	APIKey            secret.String  `toml:"api_key"`
	APIKeyFile        string         `toml:"api_key_file"`
	Model             string         `toml:"model"`
	NumCtx            int            `toml:"num_ctx"`        // tokens
	KeepAlive         Duration       `toml:"keep_alive"`     // negative: for ever
	MaxConcurrent     int            `toml:"max_concurrent"` // turns in flight per host
	FirstTokenTimeout Duration       `toml:"first_token_timeout"`
	IdleTimeout       Duration       `toml:"idle_timeout"`
	RetryFor          Duration       `toml:"retry_for"`
	Think             string         `toml:"think"`   // auto, off, low, medium or high
	Options           map[string]any `toml:"options"` // passed through to the model
}

// Chat configures conversations.
type Chat struct {
	SystemPrompt     string   `toml:"system_prompt"` // the text, also where it came from a file; empty: none
	SystemPromptFile string   `toml:"system_prompt_file"`
	Queue            string   `toml:"queue"`      // collect or fifo
	CompactAt        float64  `toml:"compact_at"` // share of num_ctx
	ShowReasoning    bool     `toml:"show_reasoning"`
	MaxParts         int      `toml:"max_parts"`
	MaxAge           Duration `toml:"max_age"`
	SlowNotice       Duration `toml:"slow_notice"` // 0: none
	MaxToolRounds    int      `toml:"max_tool_rounds"`
}

// Access names people with more rights.
type Access struct {
	Admins []string `toml:"admins"` // "slack:U1", "telegram:8246"
}

// Link says which conversations may be joined across platforms.
type Link struct {
	Enabled string `toml:"enabled"` // off, dm or threads
}

// Limits bounds what one person may use.
type Limits struct {
	UserPerMinute      int `toml:"user_per_minute"`
	UserWaiting        int `toml:"user_waiting"`
	UserTokensPerDay   int `toml:"user_tokens_per_day"` // 0: no limit
	MaxInputBytes      int `toml:"max_input_bytes"`
	MaxAttachmentBytes int `toml:"max_attachment_bytes"`
}

// Session configures how long conversations live, in memory and on disk.
type Session struct {
	IdleEvict Duration `toml:"idle_evict"`
	Retention Duration `toml:"retention"` // 0: kept for good
}

// MCP is one server whose tools the model may call. Exactly one of URL and Command is set.
type MCP struct {
	Name    string                   `toml:"name"`
	URL     string                   `toml:"url"`
	Command []string                 `toml:"command"`
	Env     map[string]secret.String `toml:"env"`   // the whole environment of Command
	Tools   []string                 `toml:"tools"` // empty: all
}

// HTTP configures the listener for health and metrics.
type HTTP struct {
	Listen string `toml:"listen"` // host:port; empty: none
}

// Secrets returns every secret that is set, for a secret.Redactor.
func (c *Config) Secrets() []secret.String {
	all := []secret.String{c.Net.ProxyURL, c.Slack.BotToken, c.Slack.AppToken, c.Telegram.BotToken, c.Ollama.APIKey}
	all = append(all, proxyPassword(c.Net.ProxyURL))
	for _, m := range c.MCP {
		if u, err := url.Parse(m.URL); err == nil && (u.User != nil || u.RawQuery != "") {
			all = append(all, secret.New(m.URL), secret.New(u.Redacted()), secret.New(u.RawQuery))
		}
		for _, v := range m.Env {
			all = append(all, v)
		}
	}
	var set []secret.String
	for _, s := range all {
		if !s.IsZero() {
			set = append(set, s)
		}
	}
	return set
}
