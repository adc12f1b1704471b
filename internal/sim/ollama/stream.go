package ollama

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
)

// answer lets the model speak, as a stream of lines or as one object.
func (s *Server) answer(w http.ResponseWriter, j *job) {
	if j.reply.Raw != nil {
		j.reply.Raw.write(w)
		s.rec.finished(j.ctx)
		return
	}
	stream := j.req.Chat.Stream == nil || *j.req.Chat.Stream
	if stream && j.reply.Headers {
		startStream(w)
	}
	if pause(j.ctx, j.reply.Delay) != nil {
		return
	}
	var out sink = &whole{w: w}
	if stream {
		out = &lines{w: w, sent: j.reply.Headers, wrote: func() { s.rec.update(j.ctx, func(c *Request) { c.Lines++ }) }}
	}
	if j.speak(out) {
		s.rec.finished(j.ctx)
	}
}

func (r *Raw) write(w http.ResponseWriter) {
	kind := r.Type
	if kind == "" {
		kind = "application/x-ndjson"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(r.Status)
	_, _ = w.Write([]byte(r.Body))
}

// speak sends line after line until the answer ends as the reply wants, or the client leaves. It reports whether all that
// was to be sent is.
func (j *job) speak(out sink) bool {
	n, reason := 0, "stop"
	for msg := range j.messages() {
		if j.reply.End != Done && n >= j.reply.After {
			break
		}
		if n == j.limit() {
			reason = "length"
			break
		}
		if n > 0 && pause(j.ctx, j.reply.Between) != nil || j.ctx.Err() != nil {
			return false
		}
		out.line(api.ChatResponse{Model: j.req.Chat.Model, CreatedAt: time.Now().UTC(), Message: msg})
		j.begun = true
		n++
	}
	switch j.reply.End {
	case Cut:
		panic(http.ErrAbortHandler)
	case EOF:
		out.end()
	case Fail:
		text := j.reply.Error
		if text == "" {
			text = crash
		}
		out.fail(text)
	default:
		out.last(j.final(n, reason))
		out.end()
	}
	return true
}

// limit returns how many tokens the model may produce: num_predict, else ten contexts; without shift no more than the
// context has left.
func (j *job) limit() int {
	n := 10 * j.numCtx
	if j.set.numPredict > 0 {
		n = j.set.numPredict
	}
	if shift := j.req.Chat.Shift; shift != nil && !*shift {
		n = min(n, j.numCtx-j.req.PromptTokens)
	}
	return n
}

// messages yields the answer line by line.
func (j *job) messages() iter.Seq[api.Message] {
	return func(yield func(api.Message) bool) {
		_ = j.thoughts(yield) && j.content(yield) && j.calls(yield)
	}
}

func (j *job) thoughts(yield func(api.Message) bool) bool {
	r := j.reply
	if len(r.Thinking) == 0 || !j.think && !r.Leak {
		return true
	}
	if j.think {
		return each(r.Thinking, thinkingLine, yield)
	}
	tags := append([]string{"<think>"}, r.Thinking...)
	if !r.Open {
		tags = append(tags, "</think>")
	}
	return each(tags, contentLine, yield)
}

func (j *job) content(yield func(api.Message) bool) bool {
	line := contentLine
	if j.think && j.reply.Open {
		line = thinkingLine
	}
	for {
		if !each(j.reply.Chunks, line, yield) {
			return false
		}
		if !j.reply.Endless || len(j.reply.Chunks) == 0 {
			return true
		}
	}
}

// calls yields each tool call whole, on a line of its own; for a request without tools the model's raw text.
func (j *job) calls(yield func(api.Message) bool) bool {
	for i, c := range j.reply.ToolCalls {
		msg := contentLine(fmt.Sprintf(`<tool_call>{"name":%q,"arguments":%s}`, c.Name, c.Arguments))
		if len(j.req.Chat.Tools) > 0 {
			msg = api.Message{Role: "assistant", ToolCalls: []api.ToolCall{c.wire(j.req.N, i)}}
		}
		if !yield(msg) {
			return false
		}
	}
	return true
}

func (c ToolCall) wire(request, index int) api.ToolCall {
	id := c.ID
	if id == "" {
		id = fmt.Sprintf("call_%04d%04d", request, index)
	}
	out := api.ToolCall{ID: id, Function: api.ToolCallFunction{Index: index, Name: c.Name}}
	_ = json.Unmarshal([]byte(c.Arguments), &out.Function.Arguments)
	return out
}

func each(chunks []string, line func(string) api.Message, yield func(api.Message) bool) bool {
	for _, c := range chunks {
		if !yield(line(c)) {
			return false
		}
	}
	return true
}

func contentLine(s string) api.Message  { return api.Message{Role: "assistant", Content: s} }
func thinkingLine(s string) api.Message { return api.Message{Role: "assistant", Thinking: s} }

// final is the line that ends an answer of n tokens.
func (j *job) final(n int, reason string) api.ChatResponse {
	if reason == "stop" {
		n++ // the token that ends the text is counted
	}
	if j.reply.DoneReason != "" {
		reason = j.reply.DoneReason
	}
	return api.ChatResponse{
		Model: j.req.Chat.Model, CreatedAt: time.Now().UTC(), Message: api.Message{Role: "assistant"},
		Done: true, DoneReason: reason,
		Metrics: api.Metrics{
			TotalDuration: time.Since(j.start), LoadDuration: j.loaded.Sub(j.start),
			PromptEvalCount: override(j.reply.Prompt, j.req.PromptTokens), EvalCount: override(j.reply.Eval, n),
		},
	}
}

func override(given, counted int) int {
	if given == 0 {
		return counted
	}
	return max(given, 0)
}

// sink is how an answer leaves: line by line, or whole.
type sink interface {
	line(api.ChatResponse)
	last(api.ChatResponse)
	fail(text string)
	end()
}

func startStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
}

type lines struct {
	w     http.ResponseWriter
	sent  bool
	wrote func()
}

func (l *lines) line(r api.ChatResponse) {
	l.write(r)
	l.wrote()
}

func (l *lines) last(r api.ChatResponse) { l.line(r) }

func (l *lines) write(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		return
	}
	if !l.sent {
		l.w.Header().Set("Content-Type", "application/x-ndjson")
	}
	l.sent = true
	_, _ = l.w.Write(append(b, '\n'))
	_ = http.NewResponseController(l.w).Flush()
}

func (l *lines) fail(text string) {
	if !l.sent {
		refuse(l.w, http.StatusInternalServerError, text)
		return
	}
	l.write(map[string]string{"error": text})
}

func (l *lines) end() {
	if !l.sent {
		startStream(l.w)
	}
}

type whole struct {
	w                 http.ResponseWriter
	content, thinking strings.Builder
	out               api.ChatResponse
	calls             []api.ToolCall
}

func (o *whole) line(r api.ChatResponse) {
	o.content.WriteString(r.Message.Content)
	o.thinking.WriteString(r.Message.Thinking)
	o.calls = append(o.calls, r.Message.ToolCalls...)
	o.out = r
}

func (o *whole) last(r api.ChatResponse) { o.line(r) }
func (o *whole) fail(text string)        { refuse(o.w, http.StatusInternalServerError, text) }

func (o *whole) end() {
	o.out.Message.Content, o.out.Message.Thinking = o.content.String(), o.thinking.String()
	o.out.Message.ToolCalls = o.calls
	reply(o.w, http.StatusOK, o.out)
}
