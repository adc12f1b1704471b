package session

import (
	"context"

	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/models"
)

// Commander understands what people ask of the bot itself. It owns the grammar, the rights and the words; the Stream owns what
// happens. It is safe for concurrent use.
type Commander interface {
	// Parse reads a message as a command; ok is false where it is one for the model, or for nobody. It is pure.
	Parse(in Inbound) (name, args string, ok bool)
	// Now reports whether a command runs beside a turn; the others keep their place in the queue.
	Now(name, args string) bool
	// Do decides what a command comes to. It may ask others, until ctx ends. An error is for the log; the chat gets a line.
	Do(ctx context.Context, c Command, v View) (Effect, error)
}

// Command is a message that was read as one.
type Command struct {
	Name   string
	Args   string
	In     Inbound
	Rights Rights
	Prefix string // how people write a command there: "/" or "!"
}

// Rights say who somebody is in a conversation.
type Rights struct {
	Private bool // it is their own chat with the bot
	Admin   bool
	Starter bool // opened the conversation, or nobody has yet
	Asker   bool // wrote what is being answered, or else what was answered last
}

// View is the conversation as a command finds it: a copy.
type View struct {
	Thread  ledger.ThreadID
	Address Address
	State   Thread
	Spec    models.Spec   // in effect
	System  string        // the instructions set here; empty: the default
	Path    []ledger.Turn // the live window of the active path
	Running bool          // a message is being answered
	Waiting int           // messages behind it
	Used    int           // what the path takes in a prompt, with all that is always there, in tokens

	// Window returns how many tokens the model reads here; 0: unknown. It may ask the server.
	Window func(ctx context.Context) int
}

// Reply is what the chat is told.
type Reply struct {
	Text     string
	Severity loop.Severity
	Private  bool
	Offers   []string
	File     string
}

// Act is what a command makes the Stream do.
type Act uint8

// The acts.
const (
	ActNone    Act = iota
	ActStop        // cancel the answer in progress and withdraw the asker's older messages
	ActRetry       // answer the last message again
	ActUndo        // take back the last exchange
	ActNew         // a fresh conversation at this address
	ActForget      // delete the conversation for good
	ActCompact     // summarise older turns
	ActLink        // join this address to another place's conversation
	ActUnlink      // end the links of this address
)

// Effect is what a command comes to. It is committed with its end record and the closing of its message, or not at all.
type Effect struct {
	Reply
	Act    Act
	Others bool                // of ActStop: the answer in progress may be another person's
	Say    func(Outcome) Reply // of an Act: the reply, once it is known what became of it; pure
	Set    []Setting
	Small  []SmallWrite // written along; a Conflict lets the command be done again
	Join   *Join        // of ActLink: where to
	Ask    bool         // of ActNew: what stands behind the command, and the files with it, is asked in the fresh conversation
	Beside string       // a line that is told beside the reply, or the answer
	Shared string       // without an Act: what other places that are linked to this one are told; empty: nothing
}

// Outcome is what became of an Act.
type Outcome struct {
	Done      bool   // something was stopped, taken back, begun
	Withdrawn int    // waiting messages that ended with it
	Question  string // of ActUndo: what was taken back
	Back      bool   // of ActUndo: the conversation before the last `new` goes on
	Far       bool   // of ActUndo and ActRetry: it lies too far back
	Theirs    bool   // of ActStop: what runs is another person's
	Failed    bool   // of ActCompact: the model gave no summary
}

// The keys of the settings that the session knows.
const (
	SettingModel  = "model"
	SettingSystem = "system"
	SettingThink  = "think"
	SettingMute   = "mute" // of all places, before it was each one's own; see MuteAt

	SettingReasoning = "reasoning" // "show" or "hide": whether answers are shown with the model's reasoning
)

// MuteAt is the key of the setting that says of an address whether only who calls is answered there: "on", or "off".
func MuteAt(a Address) string { return SettingMute + " " + string(a) }

// Muted reports whether only who calls is answered at an address. Places that are linked are muted each for itself.
func (t Thread) Muted(a Address) bool {
	if v := t.Settings[MuteAt(a)]; v != "" {
		return v == "on"
	}
	return t.Settings[SettingMute] == "on"
}

type systemKey struct{}

// SystemFrom returns the instructions that were set for the conversation whose turn runs under ctx, if any.
func SystemFrom(ctx context.Context) (string, bool) {
	s, _ := ctx.Value(systemKey{}).(string)
	return s, s != ""
}

// Threadless reports whether a command came from where its platform can't tell which conversation is meant: Slack's slash commands
// carry no thread, so that in a channel they name the channel alone. A button stands in the conversation that it is about.
func (in Inbound) Threadless() bool {
	return in.Call == CallCommand && in.Signal == SignalNone && in.ReplyURL != "" && in.Place != ""
}
