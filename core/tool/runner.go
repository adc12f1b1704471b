package tool

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/observe"
)

// Defaults and limits of a Runner.
const (
	DefaultTimeout = time.Minute
	DefaultOutput  = 16 << 10

	minOutput  = 512 // of one result, however many share
	maxCalls   = 16  // of one turn that are run
	maxRepeats = 3   // how often the same call is run for one question
)

// Runner is the loop.Handler that runs tool calls. Its fields aren't changed once it is in use; it may serve many Steps.
type Runner struct {
	// Registry has the tools.
	Registry *Registry
	// Rounds is how often the model may use tools for one question; calls beyond it aren't run, and their results say so. Zero is no limit.
	Rounds int
	// Timeout bounds each call; zero is DefaultTimeout.
	Timeout time.Duration
	// Output is how many bytes the results of one round may have together; zero is DefaultOutput.
	Output int
	// Counters takes what became of each call, by the group of its tool. Nil takes nothing.
	Counters observe.Counters
	// Logger hears of what broke, and at debug level of each call. Nil is silence.
	Logger *slog.Logger
}

var _ loop.Handler = (*Runner)(nil)

// Handle runs the calls of the turn that a ToolCall stands in, with the first of them, and emits their results. An error means that
// ctx has ended, and that what it ended has no result.
func (r *Runner) Handle(ctx context.Context, art artifact.Artifact, e loop.Emitter) error {
	call, ok := art.(artifact.ToolCall)
	if !ok {
		return nil
	}
	rd := roundOf(ctx, call)
	if len(rd.calls) == 0 {
		return nil
	}
	b := &batch{r: r, e: e, calls: rd.calls, done: make(chan outcome, len(rd.calls)), limit: r.share(len(rd.calls))}
	b.results = make([]*artifact.ToolResult, len(rd.calls))
	return b.run(ctx, rd)
}

// share is the limit of each of n results.
func (r *Runner) share(n int) int {
	total := r.Output
	if total <= 0 {
		total = DefaultOutput
	}
	return max(total/n, minOutput)
}

// batch is the calls that run side by side.
type batch struct {
	r       *Runner
	e       loop.Emitter
	calls   []artifact.ToolCall
	done    chan outcome
	results []*artifact.ToolResult
	told    int // results emitted
	running map[int]string
	limit   int
}

type outcome struct {
	i    int
	text string
	bad  bool
}

func (b *batch) run(ctx context.Context, rd round) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	b.start(ctx, rd)
	defer b.rest(ctx)
	for b.told < len(b.calls) {
		select {
		case o := <-b.done:
			b.take(ctx, o)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// start begins every call that may run; the others have their results at once.
func (b *batch) start(ctx context.Context, rd round) {
	b.running = map[int]string{}
	for i, c := range b.calls {
		e, args, complaint := b.r.admit(c, i, rd)
		if complaint != "" {
			b.r.count(b.r.Registry.find(c.Name), observe.ToolSkipped)
			b.done <- outcome{i, complaint, true}
			continue
		}
		b.running[i] = e.label()
		b.e.Emit(ctx, loop.ActivityEvent{Active: true, Description: e.label()})
		go func() {
			text, bad := b.r.call(ctx, e, args)
			b.done <- outcome{i, text, bad}
		}()
	}
}

// take notes what a call came to, and emits the results whose turn it is.
func (b *batch) take(ctx context.Context, o outcome) {
	b.ended(ctx, o.i)
	if o.text = strings.ToValidUTF8(o.text, "\uFFFD"); strings.TrimSpace(o.text) == "" {
		o.text = "(no output)"
	}
	b.results[o.i] = &artifact.ToolResult{ToolCallID: b.calls[o.i].ID, Content: Clip(o.text, b.limit), IsError: o.bad}
	for b.told < len(b.calls) && b.results[b.told] != nil {
		res := *b.results[b.told]
		b.told++
		b.e.Emit(ctx, loop.TurnCompleteEvent{Turn: ledger.Turn{Role: ledger.RoleTool, Artifacts: []artifact.Artifact{res}}})
	}
}

// ended announces that a call is over.
func (b *batch) ended(ctx context.Context, i int) {
	if label, ok := b.running[i]; ok {
		delete(b.running, i)
		b.e.Emit(ctx, loop.ActivityEvent{Description: label})
	}
}

// rest announces the end of what nobody waits for any more.
func (b *batch) rest(ctx context.Context) {
	for i := range b.calls {
		b.ended(ctx, i)
	}
}

// admit finds the tool of call i and reads its arguments; or says, to the model, why it isn't run.
func (r *Runner) admit(c artifact.ToolCall, i int, rd round) (e *entry, args []byte, complaint string) {
	times := rd.before[fingerprint(c)]
	for _, o := range rd.calls[:i] {
		if fingerprint(o) == fingerprint(c) {
			times++
		}
	}
	switch e = r.Registry.find(c.Name); {
	case r.Rounds > 0 && rd.number > r.Rounds:
		return nil, nil, fmt.Sprintf("not run: you have used tools %d times for this question, which is the limit. Answer now with what you know.", r.Rounds)
	case i >= maxCalls:
		return nil, nil, fmt.Sprintf("not run: at most %d calls at once", maxCalls)
	case e == nil:
		return nil, nil, fmt.Sprintf("there is no tool %q; there are: %s", clipped(c.Name, 80), clipped(strings.Join(r.Registry.names(), ", "), 2000))
	case times >= maxRepeats:
		return nil, nil, fmt.Sprintf("not run: you have made this very call %d times for this question. Use its results, or try something else.", times)
	}
	args, err := e.arguments(c.Arguments)
	if err != nil {
		return nil, nil, err.Error()
	}
	return e, args, ""
}

// call runs a tool for no longer than the time limit, and than its turn, whether or not it heeds its context.
func (r *Runner) call(turn context.Context, e *entry, args []byte) (text string, bad bool) {
	limit := r.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(turn, limit)
	defer cancel()
	begin := time.Now()
	select {
	case a := <-background(ctx, e, args):
		if a.err == nil {
			r.ran(e, observe.ToolOK, begin)
			r.logger().Debug("tool ran", observe.KeyTool, e.Name, observe.KeyBytes, len(a.text), observe.KeyTook, time.Since(begin))
			return a.text, false
		}
		if ctx.Err() == nil {
			r.ran(e, outcomeOf(a.err), begin)
			return r.failed(e, a.err), true
		}
	case <-ctx.Done():
	}
	if turn.Err() != nil { // somebody stopped it: nobody reads the result
		r.ran(e, observe.ToolStopped, begin)
		return "", true
	}
	r.ran(e, observe.ToolTimeout, begin)
	r.logger().Warn("tool took too long", observe.KeyTool, e.Name, observe.KeyTook, time.Since(begin))
	return fmt.Sprintf("%s didn't answer within %s", e.Name, limit), true
}
