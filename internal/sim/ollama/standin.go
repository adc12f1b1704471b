package ollama

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// StandIn is the model of a server that was given none. It says that it is a stand-in and repeats the last user message,
// unless the message ends with a trigger:
//
//	/hello      the greeting of the tiny scripted test model
//	/long       endless counting, a numbered line of eight words at a time
//	/empty      nothing
//	/think      thinks, then answers, whatever the request says about thinking
//	/onlythink  thinks and answers nothing
//	/openthink  thinks and never stops thinking
//	/same       one token over and over, until the server ends it without done
//	/tool       calls get_time{tz:UTC}; /2tools calls add as well; /saytool says something first
//	/badtool    calls a tool so badly that the server swallows it
//	/json       {"answer": 42}
//	/emoji      letters outside ASCII
//	/die        the runner dies after three tokens
func StandIn(r Request) Reply {
	if n := len(r.Chat.Messages); n > 0 && r.Chat.Messages[n-1].Role == "tool" {
		return Say("The", " tool", " said", " so", "!")
	}
	last := strings.TrimSpace(r.Last())
	if words := strings.Fields(last); len(words) > 0 {
		if answer, ok := triggered(words[len(words)-1]); ok {
			return answer
		}
	}
	return Say(strings.SplitAfter("I am a stand-in: no language model is running here. You said: "+unlabelled(last), " ")...)
}

// unlabelled takes the name off a message that says whose it is, as a model would.
func unlabelled(s string) string {
	if name, text, ok := strings.Cut(s, "]: "); ok && strings.HasPrefix(name, "[") && !strings.Contains(name, "\n") {
		return text
	}
	return s
}

// counting counts to eight over and over, and numbers the lines, so that no line is like another.
func counting(lines int) []string {
	var out []string
	for i := range lines {
		out = append(out, strings.SplitAfter(fmt.Sprintf("one two three four five six seven eight (%d)\n", i+1), " ")...)
	}
	return out
}

func triggered(trigger string) (Reply, bool) {
	clock := ToolCall{Name: "get_time", Arguments: `{"tz":"UTC"}`}
	switch trigger {
	case "/hello":
		return Say("Hello", ", I am", " a tiny", " scripted", " model", "."), true
	case "/long":
		return Reply{Chunks: counting(2000), Endless: true,
			Between: time.Millisecond}, true
	case "/empty", "/badtool":
		return Reply{Eval: 9}, true
	case "/think":
		return Reply{Thinking: []string{"Let", " me", " think", "."}, Leak: true, Chunks: []string{"Thought", " about", " it."}}, true
	case "/onlythink":
		return Reply{Thinking: []string{"Only", " thinking", "."}, Leak: true}, true
	case "/openthink":
		return Reply{Thinking: []string{"On", " and", " on"}, Leak: true, Open: true}, true
	case "/same":
		return Reply{Chunks: slices.Repeat([]string{"same "}, 31), End: EOF, After: 31}, true
	case "/tool":
		return Reply{ToolCalls: []ToolCall{clock}}, true
	case "/2tools":
		return Reply{ToolCalls: []ToolCall{clock, {Name: "add", Arguments: `{"a":1,"b":2}`}}}, true
	case "/saytool":
		return Reply{Chunks: []string{"Let", " me", " look", "."}, ToolCalls: []ToolCall{clock}}, true
	case "/json":
		return Say(`{"answer"`, `: 42}`), true
	case "/emoji":
		return Say("Grüße", " 👋🏽", " 你好"), true
	case "/die":
		return Reply{Chunks: []string{"one ", "two ", "three "}, End: Fail, After: 3}, true
	}
	return Reply{}, false
}
