package main

import (
	"context"
	"sync"
	"time"

	"orebot/provider/ollama"
)

// How long a server may take to say what a model can read, since an answer waits for it, how long that is believed, how soon a server
// that didn't say is asked again, and how many models are remembered.
const (
	contextWait  = 2 * time.Second
	contextKept  = 10 * time.Minute
	contextRetry = 30 * time.Second
	contextMost  = 256
)

// reported is what a server has said of a model.
type reported struct {
	tokens int
	until  time.Time
}

// contextOf tells how many tokens a model was trained to read, as the server reports it; 0 where it doesn't say.
func contextOf(server *ollama.Provider) func(ctx context.Context, model string) int {
	var mu sync.Mutex
	known := map[string]reported{}
	return func(ctx context.Context, model string) int {
		mu.Lock()
		r, ok := known[model]
		mu.Unlock()
		if ok && time.Now().Before(r.until) {
			return r.tokens
		}
		asking, end := context.WithTimeout(ctx, contextWait)
		info, err := server.Info(asking, model)
		end()
		if ctx.Err() != nil {
			return r.tokens
		}
		r.until = time.Now().Add(contextRetry)
		if err == nil { // else what was said last holds
			r = reported{info.Context, time.Now().Add(contextKept)}
		}
		mu.Lock()
		defer mu.Unlock()
		if len(known) >= contextMost {
			clear(known)
		}
		known[model] = r
		return r.tokens
	}
}
