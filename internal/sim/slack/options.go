package slack

import "time"

// Order says which of the two events of one mention goes out first.
type Order uint8

// The orders of a mention's events. Slack promises none, so a client has to stand all of them.
const (
	MessageFirst Order = iota // the message event, then its app_mention
	MentionFirst              // the app_mention, then its message event
	AnyOrder                  // drawn from Options.Seed for each mention
)

// Options shape a Server. The zero Options is a workspace "T1" with the bot UBOT/BBOT of app A1, tokens "xoxb-sim" and
// "xapp-sim", and the delays of the real service.
type Options struct {
	BotToken string // "xoxb-sim"
	AppToken string // "xapp-sim"
	Team     string // "T1"
	TeamName string // "sim"
	BotUser  string // "UBOT"
	BotName  string // "orebot"
	BotID    string // "BBOT"
	AppID    string // "A1"
	Command  string // "/orebot": the command of Slash

	// Scopes are what the bot token may do; nil grants DefaultScopes. They go out in the X-OAuth-Scopes header, and a
	// method without its scope answers missing_scope.
	Scopes []string

	PingInterval time.Duration   // between WebSocket pings, 10 s; negative: none, a deaf connection
	AckDeadline  time.Duration   // for an envelope's ack, 3 s
	Retries      []time.Duration // waits before the redeliveries of an event: 0, 1 min, 5 min
	Lifetime     time.Duration   // of one connection, 18060 s; a warning goes 10 s before its end; negative: endless

	Order      Order                    // of a mention's two events
	TwinGap    time.Duration            // between a mention's two events
	MPIMTwin   bool                     // mentions in group DMs get an app_mention too; reports disagree whether they do
	ShareAfter time.Duration            // from files.completeUploadExternal until its files stand in the conversation: sharing is asynchronous
	NoEcho     bool                     // the bot's own posts do not come back as events
	Unfurl     bool                     // each post of the bot is followed by a message_changed with the same text, as an unfurl is
	Resend     bool                     // a new connection first gets, unchanged, what a lost one left unacked
	Limits     map[string]time.Duration // the least time between two calls of a method; one that comes earlier gets a 429
	PageCap    int                      // the most messages that a page of history or replies holds: 15 for apps that are sold outside Slack's store
	Seed       uint64                   // of AnyOrder, and of which connection gets an envelope
}

// Grant makes scopes those of the bot token, as installing the app again does: the token stays the same.
func (s *Server) Grant(scopes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opt.Scopes = scopes
}

// DefaultScopes returns the scopes of a bot that talks, reads conversations and handles files.
func DefaultScopes() []string {
	return []string{
		"app_mentions:read", "channels:history", "channels:read", "chat:write", "commands", "files:read", "files:write",
		"groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history", "mpim:read",
		"reactions:write", "users:read",
	}
}

func (o Options) withDefaults() Options {
	for field, value := range map[*string]string{
		&o.BotToken: "xoxb-sim", &o.AppToken: "xapp-sim", &o.Team: "T1", &o.TeamName: "sim", &o.BotUser: "UBOT",
		&o.BotName: "orebot", &o.BotID: "BBOT", &o.AppID: "A1", &o.Command: "/orebot",
	} {
		if *field == "" {
			*field = value
		}
	}
	for field, value := range map[*time.Duration]time.Duration{
		&o.PingInterval: 10 * time.Second, &o.AckDeadline: 3 * time.Second, &o.Lifetime: 18060 * time.Second,
	} {
		if *field == 0 {
			*field = value
		}
	}
	if o.Scopes == nil {
		o.Scopes = DefaultScopes()
	}
	if o.Retries == nil {
		o.Retries = []time.Duration{0, time.Minute, 5 * time.Minute}
	}
	return o
}
