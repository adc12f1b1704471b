package config

import "time"

// defaultPrompt fits a chat. It stays under 400 characters: each costs a little on every call.
const defaultPrompt = "You are an assistant in a chat. Answer briefly and to the point, in the language of the question. " +
	"Use simple Markdown where it helps: short lists, code blocks with their language. " +
	"Say so when you are unsure or don't know; never invent facts, names or links. " +
	"Several people may write in one conversation: mind who asked what."

// Default returns the configuration of an empty file in an empty environment. Its StateDir is empty: the default place
// depends on the environment.
func Default() *Config {
	return &Config{
		ShutdownGrace: seconds(20),
		Log:           Log{Level: "info", Format: "auto"},
		Slack: Slack{
			APIURL: "https://slack.com/api/", Command: "/orebot", Access: "members",
			FollowThreads: true, CatchUp: hours(6), Pace: "auto",
		},
		Telegram: Telegram{APIURL: "https://api.telegram.org", Access: "pairing", Gather: Duration(300 * time.Millisecond), Pace: "auto"},
		Ollama:   defaultOllama(),
		Chat: Chat{
			SystemPrompt: defaultPrompt, Queue: "collect", CompactAt: 0.75,
			MaxParts: 3, MaxAge: hours(6), SlowNotice: seconds(60), MaxToolRounds: 8,
		},
		Link:    Link{Enabled: "dm"},
		Limits:  Limits{UserPerMinute: 20, UserWaiting: 5, MaxInputBytes: 256 << 10, MaxAttachmentBytes: 20 << 20},
		Session: Session{IdleEvict: seconds(600)},
	}
}

func defaultOllama() Ollama {
	return Ollama{
		Hosts: []string{"http://127.0.0.1:11434"}, Model: "llama3.2", NumCtx: 8192, KeepAlive: seconds(1800),
		MaxConcurrent: 4, FirstTokenTimeout: seconds(300), IdleTimeout: seconds(120), RetryFor: seconds(120),
		Think: "auto",
	}
}

func seconds(n int) Duration { return Duration(time.Duration(n) * time.Second) }
func hours(n int) Duration   { return Duration(time.Duration(n) * time.Hour) }
