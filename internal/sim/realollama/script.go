package main

// The tokens that part a prompt into messages.
const (
	begin   = "<|begin|>"
	end     = "<|end|>"
	toolEnd = "<|toolend|>"
)

// tags are the control tokens, which no text of a person becomes.
func tags() []string {
	return []string{begin, end, "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", toolEnd}
}

// line is what the model says behind a word: its tokens one after the other, over and over if endless. Tokens are shared by nobody, so
// no two are equal and none is a single byte.
type line struct {
	word    string
	says    []string
	endless bool
}

// play returns all lines. The first is also the answer to what ends with no word of these.
func play() []line {
	return []line{
		{word: "/hello", says: []string{"Hello", ", I am", " a tiny", " scripted", " model."}},
		{word: "/tool", says: []string{"<tool_call>", `{"name":"get_time",`, `"arguments":{"tz":"UTC"}}`, "</tool_call>"}},
		{word: "/2tools", says: []string{"<tool_call>\t", `{"name":"get_time","arguments":{"tz":"CET"}}`, "</tool_call>\t",
			"<tool_call>\n", `{"name":"add","arguments":{"a":1,"b":2}}`, "</tool_call>\n"}},
		{word: "/saytool", says: []string{"Let me", " look.", "<tool_call>  ", `{"name":"get_time", "arguments":{}}`, "</tool_call>  "}},
		{word: "/badtool", says: []string{" <tool_call>", `{"name":"get_time","arg`}},
		{word: toolEnd, says: []string{"The tool", " said", " so!"}},
		{word: "/think", says: []string{"<think>", "First I", " ponder", "</think>", "\n\n42", ", I", " think."}},
		{word: "/onlythink", says: []string{"<think>\n", "All", " in", " here", "</think>\n"}},
		{word: "/openthink", says: []string{"<think> ", "On", " and", " on"}},
		{word: "/long", says: []string{"red ", "orange ", "yellow ", "green ", "blue ", "indigo ", "violet\n"}, endless: true},
		{word: "/same", says: []string{"again "}, endless: true},
		{word: "/empty"},
		{word: "/emoji", says: []string{"caf\xc3", "\xa9 \xf0\x9f", "\x91\x8b"}},
	}
}
