package ollama

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"orebot/core/provider"
)

// lookUpTime bounds a request that a server answers from memory, also while it loads a model or chats.
const lookUpTime = 10 * time.Second

// ModelInfo is what a server says of a model.
type ModelInfo struct {
	Name         string
	Family       string   // the architecture, such as "llama" or "gptoss"
	Size         int64    // bytes on the server's disk; zero where only Info was asked
	Context      int      // tokens it was trained for; zero if unknown
	NumCtx       int      // the context window its Modelfile sets; zero if none
	Capabilities []string // "completion", "tools", "thinking", "vision", …; nil if unknown
}

// Can reports whether the server says that the model has a capability.
func (m ModelInfo) Can(capability string) bool { return slices.Contains(m.Capabilities, capability) }

// Ping does a round trip to a server, the first one that answers. Nil means that Ollama is there, not merely a port.
func (p *Provider) Ping(ctx context.Context) error {
	return p.overHosts(ctx, "", false, func(h *host) error { return p.pingWithin(ctx, h, lookUpTime) })
}

func (p *Provider) pingWithin(ctx context.Context, h *host, d time.Duration) error {
	slow := fmt.Errorf("no answer within %v", d)
	ctx, cancel := context.WithTimeoutCause(ctx, d, slow)
	defer cancel()
	version, err := h.api.Version(ctx)
	switch {
	case err == nil && version == "":
		return p.fail(h, "", provider.KindUnreachable, errNotOllama)
	case err != nil && context.Cause(ctx) == slow:
		return p.fail(h, "", provider.KindTimeout, slow)
	}
	return p.apiError(ctx, h, "", err)
}

// Has reports whether the server that answers first has the model. An error means that this isn't known.
func (p *Provider) Has(ctx context.Context, model string) (bool, error) {
	_, err := p.Info(ctx, model)
	if provider.KindOf(err) == provider.KindModelMissing {
		return false, nil
	}
	return err == nil, err
}

// Info returns what the server that answers first says of one model. It is asked anew each time, and what it says holds
// for the calls that follow. A model that isn't there is a *provider.Error of KindModelMissing.
func (p *Provider) Info(ctx context.Context, model string) (ModelInfo, error) {
	var info ModelInfo
	err := p.overHosts(ctx, model, false, func(h *host) error {
		k, err := p.lookUp(ctx, h, model)
		info = k.info
		return err
	})
	return info, err
}

func (p *Provider) list(ctx context.Context, h *host) (*api.ListResponse, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lookUpTime, errSlow)
	defer cancel()
	list, err := h.api.List(ctx)
	return list, p.lookUpError(ctx, h, "", err)
}

// lookUp asks a server about a model and remembers what it says. What was learned from refusals stays: servers refuse
// levels of thinking without saying so beforehand.
func (p *Provider) lookUp(ctx context.Context, h *host, model string) (knowledge, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lookUpTime, errSlow)
	defer cancel()
	shown, err := h.api.Show(ctx, &api.ShowRequest{Model: model})
	if err := p.lookUpError(ctx, h, model, err); err != nil {
		if provider.KindOf(err) == provider.KindModelMissing {
			h.missing(model)
		}
		return knowledge{}, err
	}
	info := newModelInfo(model, shown)
	var out knowledge
	h.learn(model, func(k *knowledge) {
		k.info = info
		if info.Capabilities != nil {
			k.traits.noTools = !info.Can("tools")
			k.traits.noThink = !info.Can("thinking")
			k.traits.noImages = !info.Can("vision")
		}
		out = *k
	})
	return out, nil
}

var errSlow = fmt.Errorf("no answer within %v", lookUpTime)

// lookUpError classifies an error of a look-up; ctx is the look-up's own, with its time limit.
func (p *Provider) lookUpError(ctx context.Context, h *host, model string, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		return p.fail(h, model, provider.KindTimeout, errSlow)
	}
	return p.apiError(ctx, h, model, err)
}

func newModelInfo(name string, s *api.ShowResponse) ModelInfo {
	info := ModelInfo{Name: name, Family: s.Details.Family, NumCtx: numCtxIn(s.Parameters)}
	arch, _ := s.ModelInfo["general.architecture"].(string)
	if n, ok := s.ModelInfo[arch+".context_length"].(float64); ok && n > 0 {
		info.Context = int(n)
	}
	for _, c := range s.Capabilities {
		info.Capabilities = append(info.Capabilities, string(c))
	}
	return info
}

// numCtxIn finds num_ctx among the PARAMETER lines of a Modelfile.
func numCtxIn(parameters string) int {
	for line := range strings.Lines(parameters) {
		var n int
		if _, err := fmt.Sscanf(line, "num_ctx %d", &n); err == nil {
			return max(n, 0)
		}
	}
	return 0
}
