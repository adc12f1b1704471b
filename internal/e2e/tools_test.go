package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
)

// slowTool names, in the environment of this test binary, the file that the server's tool notes its calls in.
const slowTool = "E2E_SLOW_TOOL"

// serveSlowTool is an MCP server with one tool, which never comes to its end.
func serveSlowTool(path string) int {
	s := mcp.NewServer(&mcp.Implementation{Name: "slow", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "wait", Description: "waits"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, err
		}
		_, _ = fmt.Fprintf(f, "%d %d %s\n", os.Getpid(), len(os.Environ()), os.Getenv("E2E_TOKEN"))
		_ = f.Close()
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	if s.Run(context.Background(), &mcp.StdioTransport{}) != nil {
		return 1
	}
	return 0
}

// usesTool calls a tool for a question, and answers with its result.
func usesTool(name string) func(ollama.Request) ollama.Reply {
	return func(r ollama.Request) ollama.Reply {
		if last := r.Chat.Messages[len(r.Chat.Messages)-1]; last.Role == "tool" {
			return ollama.Say("it says: ", last.Content)
		}
		return ollama.Reply{Chunks: []string{"Let me look."}, ToolCalls: []ollama.ToolCall{{Name: name, Arguments: `{}`}}}
	}
}

// ours returns what the bot posted in a channel.
func ours(lines []slack.Line, channel string) (out []string) {
	for _, l := range lines {
		if l.Kind == slack.Post && l.User == "UBOT" && l.Channel == channel {
			out = append(out, l.Text)
		}
	}
	return out
}

// TestAToolCallThenTheAnswer: what a model says when it calls a tool is no answer; people see the one that follows, once (report 12).
func TestAToolCallThenTheAnswer(t *testing.T) {
	w := newWorld(t, options{answer: usesTool("get_time"), abilities: []string{"tools"}})
	d := w.start().ready()
	ana := w.slack.AddUser("ana")
	dm := w.slack.OpenDM(ana)
	w.slack.Say(ana, dm, "what time is it?")
	w.slackSees("the answer", posted(dm, "", "it says: "))
	w.slack.Say(ana, dm, "and now?")
	w.slackSees("two answers", func(lines []slack.Line) bool { return len(ours(lines, dm)) >= 2 })
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	got := ours(w.slack.Transcript(), dm)
	if len(got) != 2 || strings.Contains(strings.Join(got, "\n"), "Let me look") || !strings.Contains(got[0], "time zone") {
		t.Errorf("people saw %q", got)
	}
	for i, r := range w.ollama.Chats() {
		if len(r.Chat.Tools) != 1 || r.Chat.Tools[0].Function.Name != "get_time" {
			t.Errorf("call %d: tools %v", i, r.Chat.Tools)
		}
	}
}

// TestKilledWhileAToolRuns: after kill -9 the call isn't made again, the model learns that it may have run, and people get one answer.
// The tool's process has ended with the daemon; it was given its own environment only.
func TestKilledWhileAToolRuns(t *testing.T) {
	w := newWorld(t, options{answer: usesTool("slow__wait"), abilities: []string{"tools"}})
	calls := filepath.Join(w.dir, "calls")
	w.moreTOML = fmt.Sprintf("[[mcp]]\nname = \"slow\"\ncommand = [%q]\nenv = {%s = %q, E2E_TOKEN = %q}\n", self(t), slowTool, calls, ollamaKey+"-mcp")
	d := w.start().ready()
	eventually(t, "the server is there", func() bool { return strings.Contains(w.log(), "mcp server is there") })
	ana := w.slack.AddUser("ana")
	dm := w.slack.OpenDM(ana)
	w.slack.Say(ana, dm, "wait for it")
	eventually(t, "the tool runs", func() bool { return len(read(calls)) == 1 })
	d.kill()
	var pid, vars int
	var token string
	if _, err := fmt.Sscan(read(calls)[0], &pid, &vars, &token); err != nil || vars != 2 || token != ollamaKey+"-mcp" {
		t.Errorf("the tool's process has %d variables, %q, %v", vars, token, err)
	}
	eventually(t, "the tool's process ends", func() bool { return gone(pid) })
	d = w.start()
	w.slackSees("the answer", posted(dm, "", "it says: error: interrupted, may have run"))
	if code := d.ready().stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := read(calls); len(got) != 1 {
		t.Errorf("the tool ran %d times", len(got))
	}
	if got := ours(w.slack.Transcript(), dm); len(got) != 1 {
		t.Errorf("people saw %q", got)
	}
}

// TestAServerThatIsntThereHoldsNobodyUp: neither the start, nor an answer, nor the stop.
func TestAServerThatIsntThereHoldsNobodyUp(t *testing.T) {
	w := newWorld(t, options{abilities: []string{"tools"}})
	w.moreTOML = "[[mcp]]\nname = \"gone\"\nurl = \"http://" + free(t) + "/mcp?key=" + ollamaKey + "-q\"\n" +
		"[[mcp]]\nname = \"mute\"\ncommand = [\"/bin/sleep\", \"1000\"]\n[[mcp]]\nname = \"none\"\ncommand = [\"/nonexistent/server\"]\n"
	d := w.start().ready()
	ana := w.slack.AddUser("ana")
	dm := w.slack.OpenDM(ana)
	w.slack.Say(ana, dm, "hello")
	w.slackSees("the answer", posted(dm, "", "re: hello"))
	eventually(t, "the log tells of both", func() bool { return strings.Count(w.log(), "mcp server is away") >= 2 })
	begin := time.Now()
	if code := d.stop(); code != 0 || time.Since(begin) > 2*time.Minute {
		t.Errorf("exit code %d after %v", code, time.Since(begin))
	}
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns the lines of a file that may not be there.
func read(path string) []string {
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// Calls of tools are counted by server and by what became of them.
func TestToolsAreCounted(t *testing.T) {
	w := newWorld(t, options{abilities: []string{"tools"}, answer: func(r ollama.Request) ollama.Reply {
		name := "get_time"
		if strings.Contains(r.Last(), "wrong") {
			name = "no_such_tool"
		}
		return usesTool(name)(r)
	}})
	d := w.start().ready()
	p := w.person("ana")
	w.slack.Say(p.user, p.dm, "time?")
	w.slackSees("the answer", posted(p.dm, "", "time zone"))
	w.slack.Say(p.user, p.dm, "wrong")
	w.slackSees("the answer", posted(p.dm, "", "there is no tool"))
	for _, labels := range []string{`{outcome="ok",server="built-in"}`, `{outcome="skipped",server="none"}`} {
		eventually(t, "one call is counted as "+labels, func() bool { return d.figure("orebot_tool_calls_total"+labels) == 1 })
	}
}
