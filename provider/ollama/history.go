package ollama

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/ollama/ollama/api"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// messages maps a conversation to what Ollama takes. All system turns become one message in front, because newer servers
// refuse a system message anywhere else. Reasoning never goes back. Turns of unknown roles, and turns with nothing to say,
// are left out; consecutive turns of one role stay apart. images says whether pictures are sent along.
func messages(turns []ledger.Turn, images bool) []api.Message {
	m := mapper{images: images, tools: map[string]string{}}
	var system []string
	for _, t := range turns {
		switch t.Role {
		case ledger.RoleSystem:
			if text := t.Text(); strings.TrimSpace(text) != "" {
				system = append(system, text)
			}
		case ledger.RoleUser, ledger.RoleAssistant:
			m.speech(t)
		case ledger.RoleTool:
			m.results(t)
		}
	}
	if len(system) == 0 {
		return m.out
	}
	head := api.Message{Role: "system", Content: strings.Join(system, "\n\n")}
	return append([]api.Message{head}, m.out...)
}

type mapper struct {
	images bool
	tools  map[string]string // names of the tools called, by call id
	out    []api.Message
}

func (m *mapper) speech(t ledger.Turn) {
	msg := api.Message{Role: string(t.Role), Content: t.Text()}
	for _, a := range t.Artifacts {
		switch a := a.(type) {
		case artifact.ToolCall:
			m.tools[a.ID] = a.Name
			msg.ToolCalls = append(msg.ToolCalls, wireCall(a, len(msg.ToolCalls)))
		case artifact.Image:
			if data, ok := dataURL(a.URL); ok && m.images {
				msg.Images = append(msg.Images, data)
			}
		}
	}
	if strings.TrimSpace(msg.Content) != "" || len(msg.ToolCalls) > 0 || len(msg.Images) > 0 {
		m.out = append(m.out, msg)
	}
}

// results maps each result of a tool turn to a message of its own, with the name of the tool that was called.
func (m *mapper) results(t ledger.Turn) {
	for _, a := range t.Artifacts {
		r, ok := a.(artifact.ToolResult)
		if !ok {
			continue
		}
		content := r.Content
		if r.IsError {
			content = "error: " + content
		}
		m.out = append(m.out, api.Message{
			Role: "tool", Content: content, ToolName: m.tools[r.ToolCallID], ToolCallID: r.ToolCallID,
		})
	}
}

// wireCall gives a call back with its arguments as an object: a server refuses a string. Arguments that are no object,
// which no Ollama sends, are kept under one key.
func wireCall(c artifact.ToolCall, index int) api.ToolCall {
	args := api.NewToolCallFunctionArguments()
	if text := strings.TrimSpace(c.Arguments); text != "" && text != "null" {
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			args = api.NewToolCallFunctionArguments()
			args.Set("arguments", c.Arguments)
		}
	}
	return api.ToolCall{ID: c.ID, Function: api.ToolCallFunction{Index: index, Name: c.Name, Arguments: args}}
}

// dataURL returns the bytes of a base64 data: URL. Other URLs would have to be fetched, which a provider doesn't do.
func dataURL(u string) (api.ImageData, bool) {
	head, body, ok := strings.Cut(u, ",")
	if !ok || !strings.HasPrefix(head, "data:") || !strings.HasSuffix(head, ";base64") {
		return nil, false
	}
	data, err := base64.StdEncoding.DecodeString(body)
	return data, err == nil && len(data) > 0
}

// hasImages reports whether a turn shows a picture that could be sent.
func hasImages(turns []ledger.Turn) bool {
	for _, t := range turns {
		for _, a := range t.Artifacts {
			if i, ok := a.(artifact.Image); ok && strings.HasPrefix(i.URL, "data:") {
				return true
			}
		}
	}
	return false
}
