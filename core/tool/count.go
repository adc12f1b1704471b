package tool

import (
	"cmp"
	"errors"
	"time"

	"orebot/core/observe"
)

// ran counts a call that was run.
func (r *Runner) ran(e *entry, outcome string, begin time.Time) {
	r.count(e, outcome)
	if r.Counters != nil {
		r.Counters.Observe(observe.ToolSeconds, time.Since(begin).Seconds(), groupOf(e))
	}
}

// count counts what became of a call; e is nil where there is no such tool.
func (r *Runner) count(e *entry, outcome string) {
	if r.Counters != nil {
		r.Counters.Add(observe.ToolCalls, 1, groupOf(e), outcome)
	}
}

func groupOf(e *entry) string {
	if e == nil {
		return observe.NoTool
	}
	return cmp.Or(e.group, observe.BuiltIn)
}

// outcomeOf tells an error that the model reads from one that is in the log.
func outcomeOf(err error) string {
	if _, ok := errors.AsType[*Failure](err); ok {
		return observe.ToolFailed
	}
	return observe.ToolBroke
}
