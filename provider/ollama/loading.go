package ollama

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"orebot/core/provider"
)

// coldAfter is how long a first token may take before it is asked whether the model is there at all.
const coldAfter = 3 * time.Second

// watchLoading tells whoever listens under ctx that the server loads the model, where no first token comes and the server doesn't
// list the model as running; cold is called first. warm is called with the first token or with the end of the call; it waits for nothing.
func (p *Provider) watchLoading(ctx context.Context, h *host, model string, cold func()) (warm func()) {
	ctx, cancel := context.WithCancel(ctx)
	told := make(chan bool, 1)
	t := time.AfterFunc(coldAfter, func() { told <- p.reportCold(ctx, h, model, cold) })
	return func() {
		cancel()
		if !t.Stop() {
			select {
			case was := <-told:
				if was {
					provider.Report(ctx, provider.Progress{Model: model})
				}
			default:
			}
		}
	}
}

// reportCold asks which models run, and tells where this one isn't among them.
func (p *Provider) reportCold(ctx context.Context, h *host, model string, cold func()) bool {
	ask, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	list, err := h.api.ListRunning(ask)
	if err != nil || ctx.Err() != nil || running(list.Models, model) {
		return false
	}
	cold()
	provider.Report(ctx, provider.Progress{Model: model, Loading: true})
	return true
}

// running reports whether a model is among those listed; the tag "latest" goes without saying.
func running(list []api.ProcessModelResponse, model string) bool {
	return slices.ContainsFunc(list, func(m api.ProcessModelResponse) bool {
		return strings.EqualFold(m.Name, model) || strings.EqualFold(m.Name, model+":latest")
	})
}
