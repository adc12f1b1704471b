package ollama

import (
	"encoding/json"
	"strings"

	"github.com/ollama/ollama/api"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// messages maps a conversation to what Ollama takes. All system turns become one message in front, because newer servers
// refuse a system message anywhere else. Reasoning never goes back. Turns of unknown roles, and turns with nothing to say,
// are left out; consecutive turns of one role stay apart. see returns the bytes of a picture that is sent along; nil sends none.
func messages(turns []ledger.Turn, see func(url string) []byte) []api.Message {
	m := mapper{see: see, tools: map[string]string{}}
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
	see   func(url string) []byte
	tools map[string]string // names of the tools called, by call id
	out   []api.Message
}

func (m *mapper) speech(t ledger.Turn) {
	msg := api.Message{Role: string(t.Role), Content: t.Text()}
	for _, a := range t.Artifacts {
		switch a := a.(type) {
		case artifact.ToolCall:
			m.tools[a.ID] = a.Name
			msg.ToolCalls = append(msg.ToolCalls, wireCall(a, len(msg.ToolCalls)))
		case artifact.Image:
			if m.see == nil {
				continue
			}
			if data := m.see(a.URL); len(data) > 0 {
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
