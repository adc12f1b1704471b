package observe

// The keys of slog attributes. Log messages are constant texts; what varies stands under one of these, so that a search
// finds a thread or an address wherever it is spoken of. Texts of users are logged at debug level only, under KeyText.
const (
	KeyAddress   = "address"   // a session.Address, such as slack:T1/C1/17.01
	KeyAttempt   = "attempt"   // which try of a repeated operation, from 1
	KeyAuthor    = "author"    // who wrote, such as slack:U1
	KeyBytes     = "bytes"     // a size
	KeyComponent = "component" // a part of the daemon, as /readyz names it
	KeyCount     = "count"     // how many
	KeyEntry     = "entry"     // the dedupe key of an incoming message
	KeyError     = "err"       // an error's whole chain; tint colours this key
	KeyHost      = "host"      // a model host's URL
	KeyImage     = "image"     // a blob, as blob:sha256/…
	KeyKey       = "key"       // a configuration key, dotted
	KeyMethod    = "method"    // a platform's API method
	KeyModel     = "model"     // a model's name
	KeyOutcome   = "outcome"   // how an entry ended, one of the Outcome values
	KeyPlatform  = "platform"  // slack or telegram
	KeyReason    = "reason"    // why something was ignored, refused or isn't ready
	KeyRef       = "ref"       // the correlation id that a notice shows to the user
	KeySeq       = "seq"       // a sequence number in a thread's log
	KeyServer    = "server"    // an MCP server, by its configured name
	KeyState     = "state"     // where a connection or a stream stands
	KeyText      = "text"      // what a user or the model wrote; debug level only
	KeyThread    = "thread"    // a ledger.ThreadID
	KeyTool      = "tool"      // a tool that a model may call
	KeyTook      = "took"      // a duration
	KeyTurn      = "turn"      // a ledger.TurnID
	KeyWait      = "wait"      // how long until the next try
)

// Log messages that operators search and alert on. Their texts are part of the interface.
const (
	MsgModelUnreachable   = "model unreachable"
	MsgCredentialsRefused = "platform refused credentials"
	MsgAnotherPoller      = "another poller uses this bot token"
	MsgStorePaused        = "store paused"
	MsgStoreResumed       = "store resumed"
	MsgTurnGivenUp        = "turn given up"
	MsgLimitReached       = "limit reached"
)
