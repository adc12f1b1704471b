package ollama

import (
	"encoding/json"
	"maps"

	"github.com/ollama/ollama/api"

	"orebot/core/models"
	"orebot/core/provider"
)

// traits are what a model can't do. The zero traits are a model of which nothing is known.
type traits struct {
	noTools, noThink, noLevels, noImages bool
}

// chatRequest is api.ChatRequest with the tools as they were given: its own type knows a part of JSON Schema only.
type chatRequest struct {
	api.ChatRequest
	Tools []tool `json:"tools,omitempty"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// build returns the request of one call to a model with the given traits, trained for windows of most tokens; 0: unknown.
func (p *Provider) build(c *call, t traits, most int) chatRequest {
	off := false
	see := c.see
	if t.noImages {
		see = nil
	}
	req := chatRequest{ChatRequest: api.ChatRequest{
		Model:     c.spec.Model,
		Messages:  messages(c.turns, see),
		Options:   p.options(c.spec, most),
		KeepAlive: &api.Duration{Duration: p.cfg.KeepAlive},
		Think:     thinkValue(c.spec.Think, t),
		Truncate:  &off,
		Shift:     &off,
	}}
	if !t.noTools {
		req.Tools = wireTools(c.tools)
	}
	return req
}

// options merges, from weak to strong: the configured options, the Spec's, the Spec's fields. An answer without a limit
// of its own may fill the context once: a server's default is ten times that. num_ctx is never above what the model was trained for.
func (p *Provider) options(s models.Spec, most int) map[string]any {
	o := make(map[string]any, len(p.cfg.Options)+len(s.Options)+6)
	maps.Copy(o, p.cfg.Options)
	if p.cfg.NumCtx > 0 {
		o["num_ctx"] = p.cfg.NumCtx
	}
	maps.Copy(o, s.Options)
	setIf(o, "num_ctx", s.NumCtx, s.NumCtx > 0)
	if n, ok := o["num_ctx"].(int); ok && most > 0 {
		o["num_ctx"] = min(n, most)
	}
	setIf(o, "num_predict", s.MaxTokens, s.MaxTokens > 0)
	if s.Temperature != nil {
		o["temperature"] = *s.Temperature
	}
	if s.TopP != nil {
		o["top_p"] = *s.TopP
	}
	if s.Seed != nil {
		o["seed"] = *s.Seed
	}
	setIf(o, "stop", s.Stop, s.Stop != nil)
	if _, limited := o["num_predict"]; !limited && o["num_ctx"] != nil {
		o["num_predict"] = o["num_ctx"]
	}
	return o
}

func setIf(o map[string]any, key string, v any, set bool) {
	if set {
		o[key] = v
	}
}

// thinkValue maps a Spec's Think. Unset and "auto" leave it to the model: one that reasons does, and the server parts the
// reasoning from the answer. "off" is understood by all. A level becomes plain "on" for a model that knows none, and
// nothing for one that can't reason.
func thinkValue(think string, t traits) *api.ThinkValue {
	switch think {
	case "off":
		return &api.ThinkValue{Value: false}
	case "on":
		if !t.noThink {
			return &api.ThinkValue{Value: true}
		}
	case "low", "medium", "high":
		switch {
		case t.noThink:
		case t.noLevels:
			return &api.ThinkValue{Value: true}
		default:
			return &api.ThinkValue{Value: think}
		}
	}
	return nil
}

// anyObject is the schema of arguments of which nothing is said.
const anyObject = `{"type":"object","properties":{}}`

func wireTools(tools []provider.Tool) []tool {
	out := make([]tool, 0, len(tools))
	for _, t := range tools {
		params := t.Parameters
		// A schema that the server's type can't hold makes it refuse the whole call.
		if json.Unmarshal(params, new(api.ToolFunctionParameters)) != nil {
			params = json.RawMessage(anyObject)
		}
		out = append(out, tool{Type: "function", Function: function{t.Name, t.Description, params}})
	}
	return out
}
