package observe

// Counter names a figure that only grows. Its comment gives the labels, in the order in which Add takes their values.
type Counter string

// Gauge names a figure that goes up and down.
type Gauge string

// Histogram names a distribution of durations in seconds.
type Histogram string

// The figures of orebot. The names are part of the interface: dashboards and alerts use them.
const (
	Messages      Counter = "orebot_messages_total"       // platform, outcome: Received, or how it ended
	Tokens        Counter = "orebot_tokens_total"         // direction (In, Out), model
	Ignored       Counter = "orebot_ignored_total"        // platform, reason
	Duplicates    Counter = "orebot_duplicates_total"     // platform
	Reconnects    Counter = "orebot_reconnects_total"     // platform
	Repeats       Counter = "orebot_repeats_total"        // platform; parts sent again with the repeat label
	PollConflicts Counter = "orebot_poll_conflicts_total" // no label
	ToolCalls     Counter = "orebot_tool_calls_total"     // server (or BuiltIn, or NoTool), outcome: one of the Tool values

	ModelUp        Gauge = "orebot_model_up"                                // host
	PlatformReady  Gauge = "orebot_platform_ready"                          // platform
	PlatformLast   Gauge = "orebot_platform_last_success_timestamp_seconds" // platform; Unix time
	StoreFree      Gauge = "orebot_store_free_bytes"                        // no label
	EntryOldest    Gauge = "orebot_entry_oldest_seconds"                    // no label; age of the oldest open entry
	DeliveryOldest Gauge = "orebot_delivery_oldest_seconds"                 // platform; age of the oldest undelivered turn
	LiveThreads    Gauge = "orebot_live_threads"                            // no label

	StoreCommit     Histogram = "orebot_store_commit_seconds" // no label
	ToolSeconds     Histogram = "orebot_tool_seconds"         // server, as of ToolCalls; how long a call ran
	TurnSeconds     Histogram = "orebot_turn_seconds"         // no label; from submission to the final turn
	DeliverySeconds Histogram = "orebot_delivery_seconds"     // platform; from the final turn to its last part
)

// Values of the label outcome. Received counts what was accepted; the others are the ends, and received less their sum
// is what still waits.
const (
	Received             = "received"
	OutcomeAnswered      = "answered"
	OutcomeNoticed       = "noticed"
	OutcomeRefused       = "refused"
	OutcomeWithdrawn     = "withdrawn"
	OutcomeUndeliverable = "undeliverable"
)

// Values of the label server beside the names of configured servers: for tools of orebot's own, and for calls of a tool that isn't there.
// The names of tools are no label: a server may offer any number of them.
const (
	BuiltIn = "built-in"
	NoTool  = "none"
)

// Values of the label outcome of a tool's call.
const (
	ToolOK      = "ok"
	ToolFailed  = "failed"  // the tool, or its server, said why, and the model was told
	ToolBroke   = "broke"   // it panicked, or failed in a way that is in the log
	ToolTimeout = "timeout" // it had no result in time
	ToolSkipped = "skipped" // it wasn't run: unknown, wrong arguments, beyond a limit
	ToolStopped = "stopped" // the turn ended first
)

// Values of the label direction: In is what the model read, Out what it wrote.
const (
	In  = "in"
	Out = "out"
)

// Counters takes figures. Labels are values in the documented order; an implementation drops a call with a wrong number
// of them. Calls never block and are safe for concurrent use.
type Counters interface {
	Add(c Counter, delta float64, labels ...string)
	Set(g Gauge, value float64, labels ...string)
	Observe(h Histogram, seconds float64, labels ...string)
}

// Nop is a Counters that forgets everything.
type Nop struct{}

// Add does nothing.
func (Nop) Add(Counter, float64, ...string) {}

// Set does nothing.
func (Nop) Set(Gauge, float64, ...string) {}

// Observe does nothing.
func (Nop) Observe(Histogram, float64, ...string) {}
