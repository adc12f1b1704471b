package ollama

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ollama/ollama/api"
)

// settings are the options of a request that the scripted models heed.
type settings struct {
	numCtx, numPredict int
}

// The types a server asks of each option it knows; it warns of others in its log and goes on.
var (
	integers = []string{"num_ctx", "num_batch", "num_gpu", "main_gpu", "num_thread", "num_keep", "seed", "num_predict",
		"top_k", "repeat_last_n"}
	floats = []string{"top_p", "min_p", "typical_p", "temperature", "repeat_penalty", "presence_penalty", "frequency_penalty"}
)

func parseOptions(options map[string]any) (settings, error) {
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if err := checkOption(key, options[key]); err != nil {
			return settings{}, err
		}
	}
	number := func(key string) int {
		f, _ := options[key].(float64)
		return int(f)
	}
	return settings{numCtx: number("num_ctx"), numPredict: number("num_predict")}, nil
}

func checkOption(key string, v any) error {
	if v == nil {
		return nil
	}
	want, ok := "", true
	switch {
	case slices.Contains(integers, key):
		want = "integer"
		_, ok = v.(float64)
	case slices.Contains(floats, key):
		want = "float32"
		_, ok = v.(float64)
	case key == "use_mmap":
		want = "boolean"
		_, ok = v.(bool)
	case key == "stop":
		want = "array"
		_, ok = v.([]any)
	}
	if !ok {
		return fmt.Errorf("option %q must be of type %s", key, want)
	}
	return nil
}

// count returns what one message costs, with the template of the scripted test models: a token a byte, one for the tag in
// front, and one for the tag at the end of what isn't a person's.
func count(m api.Message) int {
	n := 1
	if m.Role == "assistant" || m.Role == "tool" {
		n++
	}
	n += len(m.Content) + len("[img-0]")*len(m.Images)
	for _, c := range m.ToolCalls {
		n += len(c.Function.Name) + len(c.Function.Arguments.String())
	}
	return n
}

// countAll returns the whole prompt: one token to begin with, and the messages.
func countAll(msgs []api.Message) int {
	n := 1
	for _, m := range msgs {
		n += count(m)
	}
	return n
}

func toolTokens(tools api.Tools) int {
	if len(tools) == 0 {
		return 0
	}
	b, err := json.Marshal(tools)
	if err != nil {
		return 0
	}
	return len(b)
}

// fit does what a server does to a history that overflows: it leaves out the oldest messages that aren't the system's, one
// by one, but never the last; if that isn't enough it cuts the middle, so that the prompt is exactly numCtx long.
func fit(msgs []api.Message, extra, numCtx int) (tokens, dropped int) {
	kept := slices.Clone(msgs)
	for countAll(kept)+extra > numCtx {
		i := slices.IndexFunc(kept, func(m api.Message) bool { return m.Role != "system" })
		if i < 0 || i == len(kept)-1 {
			return numCtx, dropped
		}
		kept = slices.Delete(kept, i, i+1)
		dropped++
	}
	return countAll(kept) + extra, dropped
}
