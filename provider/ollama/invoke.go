package ollama

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/observe"
	"orebot/core/provider"
)

// call is what one Invoke asks.
type call struct {
	turns []ledger.Turn
	spec  models.Spec
	tools []provider.Tool
	ch    chan<- artifact.Artifact

	pictures map[string][]byte // by URL; nil until the first server is asked whose model may see
}

// Invoke asks the model that spec names; see provider.Provider. Text and reasoning come as deltas, tool calls whole, the
// Usage after them, and a Finish at the very end of an answer that ran into its limit. An error is a *provider.Error, or
// the error of ctx if that has ended; then the connection is closed, which stops the server's work.
func (p *Provider) Invoke(ctx context.Context, st ledger.State, spec models.Spec, ch chan<- artifact.Artifact,
	opts ...provider.InvokeOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &call{spec: spec, tools: provider.Apply(opts...).Tools, ch: ch}
	if st != nil {
		c.turns = st.Turns()
	}
	if spec.Model == "" {
		return &provider.Error{Kind: provider.KindRefused, Err: errors.New("no model is named")}
	}
	if !asks(messages(c.turns, anyPicture)) {
		return &provider.Error{Kind: provider.KindRefused, Model: spec.Model, Err: errors.New("there is nothing to answer")}
	}
	err := p.overHosts(ctx, spec.Model, true, func(h *host) error { return p.onHost(ctx, h, c) })
	return p.withInstalled(ctx, err)
}

// asks reports whether there is more than a system message. A server takes an empty list as the wish to load a model.
func asks(msgs []api.Message) bool {
	return slices.ContainsFunc(msgs, func(m api.Message) bool { return m.Role != "system" })
}

// onHost asks one server, and once more without it for each thing that the server says the model can't do.
func (p *Provider) onHost(ctx context.Context, h *host, c *call) error {
	k, err := p.about(ctx, h, c.spec.Model)
	if err != nil {
		return err
	}
	t := k.traits
	for mended := false; ; {
		if !t.noImages && c.pictures == nil {
			c.pictures = p.pictures(ctx, c.turns)
		}
		req := p.build(c, t, k.info.Context)
		if !asks(req.Messages) { // a picture alone, that is gone or that the model can't see
			return p.fail(h, c.spec.Model, provider.KindRefused, errors.New("there is nothing but images, and the model sees none of them"))
		}
		if err := provider.Check(ctx); err != nil {
			return err
		}
		err := p.attempt(ctx, h, req, c.ch)
		if again := errors.Is(err, errStuck) && !mended; again || errors.Is(err, errNoFirstToken) && h.queue.suspected(c.spec.Model) {
			if mended = true; p.mend(ctx, h, c.spec.Model) != nil {
				return ctx.Err()
			}
			if again {
				continue
			}
		}
		lesson, learned := learnFrom(err, req)
		if !learned {
			switch kind := provider.KindOf(err); {
			case kind == provider.KindModelMissing:
				h.missing(c.spec.Model)
			case kind == provider.KindNoLoad:
				h.lack(c.spec.Model, true)
			case err == nil:
				h.lack(c.spec.Model, false)
			}
			return err
		}
		lesson(&t)
		h.learn(c.spec.Model, func(k *knowledge) { lesson(&k.traits) })
		p.log.WarnContext(ctx, "the model can't do what was asked; asking without", observe.KeyModel, c.spec.Model, observe.KeyError, err)
	}
}

// about returns what is known of the call's model, and looks it up where nothing is: its window bounds num_ctx. A look-up that fails
// leaves the rest to the chat, unless nobody is there.
func (p *Provider) about(ctx context.Context, h *host, model string) (knowledge, error) {
	if k, ok := h.recall(model); ok {
		return k, nil
	}
	k, err := p.lookUp(ctx, h, model)
	if err != nil && ctx.Err() == nil && provider.KindOf(err) != provider.KindModelMissing {
		h.unknown(model)
	}
	if _, answered := errors.AsType[*refusal](err); provider.KindOf(err) == provider.KindUnreachable && !answered {
		return k, err
	}
	return k, ctx.Err()
}

// learnFrom reads from a refusal what to leave out. Each lesson takes something from the request that it doesn't have
// afterwards, so that lessons come to an end.
func learnFrom(err error, req chatRequest) (func(*traits), bool) {
	r, ok := errors.AsType[*refusal](err)
	if !ok || r.status < 400 {
		return nil, false
	}
	pictures := slices.ContainsFunc(req.Messages, func(m api.Message) bool { return len(m.Images) > 0 })
	switch {
	case len(req.Tools) > 0 && strings.Contains(r.text, "does not support tools"):
		return func(t *traits) { t.noTools = true }, true
	case req.Think.IsString() && containsAny(r.text, "think value", "ChatRequest.think"): // the latter before 0.11
		return func(t *traits) { t.noLevels = true }, true
	case req.Think.Bool() && strings.Contains(r.text, "does not support thinking"):
		return func(t *traits) { t.noThink = true }, true
	case pictures && containsAny(r.text, "multimodal", "does not support image", "missing data required for image"):
		return func(t *traits) { t.noImages = true }, true
	}
	return nil, false
}

// attempt posts one request and reads the answer.
func (p *Provider) attempt(parent context.Context, h *host, req chatRequest, ch chan<- artifact.Artifact) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	dog := newWatchdog(cancel)
	defer dog.stop()
	dog.arm(p.cfg.FirstTokenTimeout, errNoFirstToken)
	w := p.await(ctx, h, req, cancel)
	warm := p.watchLoading(parent, h, req.Model, w.loads)
	defer warm()
	s := &stream{ctx: ctx, ch: ch, dog: dog, idle: p.cfg.IdleTimeout, warm: warm, begun: w.begun, pressed: pressed(req)}
	err := p.exchange(ctx, h, req, s)
	w.over(s.last.Done)
	if err == nil {
		p.log.DebugContext(parent, "answered", observe.KeyModel, req.Model, observe.KeyHost, h.name, "prompt_tokens", s.last.PromptEvalCount,
			"completion_tokens", s.last.EvalCount, "load", s.last.LoadDuration, observe.KeyTook, s.last.TotalDuration)
		p.weigh(parent, h, readingOf(req, s.last.PromptEvalCount), req.Model)
		return nil
	}
	if parent.Err() != nil {
		return parent.Err()
	}
	kind := provider.KindUnknown
	if cause := context.Cause(ctx); errors.Is(cause, errNoFirstToken) || errors.Is(cause, errSilent) || errors.Is(cause, errStuck) {
		kind, err = provider.KindTimeout, cause
	} else if f, ok := errors.AsType[*failure](err); ok {
		kind, err = f.kind, f.cause
	}
	e := p.fail(h, req.Model, kind, err)
	e.Partial = s.sent
	if r, ok := errors.AsType[*refusal](err); ok {
		e.After = r.after
	}
	return e
}

// weigh learns from what a server has read of a prompt, and tells where that is too little.
func (p *Provider) weigh(ctx context.Context, h *host, r reading, model string) {
	cut := false
	h.learn(model, func(k *knowledge) {
		if cut = r.cut(k.per); !cut {
			k.per = r.learned(k.per)
		}
	})
	if !cut {
		return
	}
	p.log.WarnContext(ctx, "the server has cut the prompt", observe.KeyModel, model, observe.KeyHost, h.name,
		"prompt_tokens", r.tokens, "bytes", r.bytes, "num_ctx", r.window)
	provider.Report(ctx, provider.Progress{Model: model, Cut: &provider.Cut{Bytes: r.bytes, Tokens: r.tokens, Window: r.window}})
}

// exchange does the round trip and hands the stream to s.
func (p *Provider) exchange(ctx context.Context, h *host, req chatRequest, s *stream) error {
	httpReq, err := h.post(ctx, "/api/chat", req)
	if err != nil {
		return &failure{provider.KindRefused, err}
	}
	resp, err := p.http.Do(httpReq)
	if err != nil {
		return &failure{transportKind(err), err}
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		r := newRefusal(resp, head(resp.Body))
		return &failure{r.kind(), r}
	}
	return s.read(resp.Body)
}

// failure is an error whose meaning is known where it arises.
type failure struct {
	kind  provider.Kind
	cause error
}

// Error returns the cause.
func (f *failure) Error() string { return f.cause.Error() }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.cause }
