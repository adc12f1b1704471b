package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orebot/internal/sim/ollama"
)

// oddTools makes this test binary, by its environment, an MCP server whose tools do what real ones do on bad days.
const oddTools = "E2E_ODD_TOOLS"

// prattle prints a line before each message, as what starts a server does, or a library that it uses.
type prattle struct{ io.WriteCloser }

func (p prattle) Write(b []byte) (int, error) {
	_, _ = fmt.Fprintln(p.WriteCloser, "Debugger listening on", os.Getenv(oddTools))
	return p.WriteCloser.Write(b)
}

func serveOddTools() int {
	s := mcp.NewServer(&mcp.Implementation{Name: "odd", Version: "1"}, nil)
	add := func(name, schema string, f func(args map[string]any) string) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var args map[string]any
			_ = json.Unmarshal(r.Params.Arguments, &args)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: f(args)}}}, nil
		})
	}
	const numbers = `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"additionalProperties":false}`
	add("sum", numbers, func(args map[string]any) string {
		a, _ := args["a"].(float64)
		b, _ := args["b"].(float64)
		return fmt.Sprint("sum ", a+b)
	})
	add("pid", numbers, func(map[string]any) string { return fmt.Sprint("pid ", os.Getpid()) })
	add("huge", numbers, func(map[string]any) string { return strings.Repeat("much ", 2<<20) })
	add("long", numbers, func(map[string]any) string { return "HEAD " + strings.Repeat("more ", 40<<10) + "TAIL" })
	add("die", numbers, func(map[string]any) string { os.Exit(3); return "" })
	if s.Run(context.Background(), &mcp.IOTransport{Reader: os.Stdin, Writer: prattle{os.Stdout}}) != nil {
		return 1
	}
	return 0
}

// callsTools calls the tools that the question names, TOOL or TOOL{arguments} each, all at once, and answers with their results; a question
// that begins with "on and on" is never answered, one with "to the end" only once no tools are offered.
func callsTools(r ollama.Request) ollama.Reply {
	last := r.Chat.Messages[len(r.Chat.Messages)-1]
	rest, endless := strings.CutPrefix(r.Last(), "on and on ")
	if late, ok := strings.CutPrefix(r.Last(), "to the end "); ok && len(r.Chat.Tools) == 0 {
		return ollama.Say("at last")
	} else if ok {
		rest, endless = late, true
	}
	if last.Role == "tool" && !endless {
		var results []string
		for i := len(r.Chat.Messages) - 1; r.Chat.Messages[i].Role == "tool"; i-- {
			text := r.Chat.Messages[i].Content
			results = append([]string{text[:min(len(text), 100)] + "|" + text[max(0, len(text)-30):]}, results...)
		}
		return ollama.Say(strings.Join(results, " / "))
	}
	var calls []ollama.ToolCall
	for word := range strings.FieldsSeq(rest) {
		name, args, _ := strings.Cut(word, "{")
		if endless {
			args = fmt.Sprintf(`"a":%d}`, len(r.Chat.Messages))
		}
		if args == "" {
			args = "}"
		}
		calls = append(calls, ollama.ToolCall{Name: "odd__" + name, Arguments: "{" + args})
	}
	return ollama.Reply{ToolCalls: calls}
}

// TestAnOddServer: one and the same server goes on after a result that is larger than a message may be, between lines that are no messages; what
// it dies in is told to the model, and it is there again for the next question. Arguments in quotes are numbers where the tool wants those. The
// results of calls that are made at once come in their order. What is long keeps its head and its tail. With the daemon ends the server.
func TestAnOddServer(t *testing.T) {
	w := newWorld(t, options{abilities: []string{"tools"}, answer: callsTools})
	w.moreTOML = fmt.Sprintf("[[mcp]]\nname = \"odd\"\ncommand = [%q]\nenv = {%s = %q}\n[chat]\nmax_tool_rounds = 2\n", self(t), oddTools, ollamaKey+"-odd")
	d := w.start().ready()
	eventually(t, "the server is there", func() bool { return strings.Contains(w.log(), "mcp server is there") })
	p := w.person("ana")
	ask := func(question string, want ...string) string {
		t.Helper()
		before := len(ours(w.slack.Transcript(), p.dm))
		w.slack.Say(p.user, p.dm, question)
		eventually(t, "an answer to "+question, func() bool { return len(ours(w.slack.Transcript(), p.dm)) > before })
		got := ours(w.slack.Transcript(), p.dm)[before]
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q isn't in %q", question, part, got)
			}
		}
		return got
	}
	var pid int
	if _, err := fmt.Sscanf(ask("pid"), "pid %d", &pid); err != nil {
		t.Fatal(err)
	}
	ask("huge", "the result has more than 8192 KiB")
	ask(`pid sum{"a":"2","b":3} sum{"a":"x"} sum`, fmt.Sprint("pid ", pid), "/ sum 5", "don't fit the tool", "/ sum 0")
	ask("long", "HEAD more", "TAIL")
	ask("on and on sum", "I used tools 2 times and came to no answer. Please ask for less at once")
	ask("to the end sum", "at last")
	ask("die", "odd isn't there now; whether this call had an effect isn't known")
	eventually(t, "it is there again", func() bool { return strings.Count(w.log(), "mcp server is there") >= 2 })
	if _, err := fmt.Sscanf(ask("pid"), "pid %d", &pid); err != nil {
		t.Fatal(err)
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	eventually(t, "the server ends with the daemon", func() bool { return gone(pid) })
	if strings.Contains(w.allLogs(), "the model server cut the prompt") {
		t.Error("a prompt without tools is taken for one that was cut")
	}
	for _, r := range w.ollama.Chats() {
		if n := len(r.Raw); n > 100<<10 {
			t.Errorf("a prompt of %d bytes", n)
		}
	}
	w.noSecrets()
}
