package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"orebot/core/artifact"
	"orebot/core/provider"
)

// line is one line of a stream: a piece of the answer, or an error.
type line struct {
	api.ChatResponse
	Error json.RawMessage `json:"error"`
}

// stream turns the lines of one answer into artifacts.
type stream struct {
	ctx  context.Context
	ch   chan<- artifact.Artifact
	dog  *watchdog
	idle time.Duration
	warm func() // to be called with the first artifact

	begun func() error // to be called with each line; not nil: the answer isn't wanted any more

	pressed bool            // see there
	held    strings.Builder // of a pressed one's text

	split    thinkSplitter
	spoken   repeatGuard
	pondered repeatGuard
	sent     bool // some artifact went out
	said     bool // a text or a tool call did
	thought  bool
	loops    bool // it repeats itself without end
	calls    int
	size     int // bytes of text, reasoning and tool calls so far
	last     line
}

// maxAnswer is how much text, reasoning and tool calls one answer may hold, in bytes. A server that ignores num_predict can't fill the memory.
const maxAnswer = 256 << 10

// maxCalls is how many tool calls of one answer are taken: a model that calls without end isn't heard any longer.
const maxCalls = 64

// drainTime is how long the end of the body is waited for after the last line, so that the connection can be used again.
const drainTime = 250 * time.Millisecond

// read sends what the lines hold until one says done. It returns a *failure, or the error of the context.
func (s *stream) read(body io.Reader) error {
	lines := newLineReader(body, maxLine)
	for {
		raw, err := lines.next()
		s.dog.stop()
		if err != nil {
			return s.broken(err)
		}
		if err := s.begun(); err != nil {
			return err
		}
		if err := s.take(raw); err != nil {
			return err
		}
		if s.loops { // the rest isn't read, which makes the server stop
			return s.cutLoop()
		}
		if s.last.Done {
			break
		}
		if s.calls >= maxCalls { // likewise; what was called is answered, and the model goes on from there
			return s.finish()
		}
		if s.size > maxAnswer { // likewise
			s.last.DoneReason = finishLength
			return s.finish()
		}
		s.dog.arm(s.idle, errSilent)
	}
	if err := s.finish(); err != nil {
		return err
	}
	s.dog.arm(drainTime, nil)
	_, _ = lines.next()
	s.dog.stop()
	return nil
}

// broken gives the end of a stream without done its name. Servers up to 0.17 end so what repeats one token.
func (s *stream) broken(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		return &failure{provider.KindIncomplete, err}
	case s.spoken.aborted() || s.pondered.aborted():
		return &failure{provider.KindRepeats, errRepeats}
	default:
		return &failure{provider.KindIncomplete, errors.New("the stream ended before the answer was complete")}
	}
}

// cutLoop ends an answer that repeats itself: with what was good of it, if anything was.
func (s *stream) cutLoop() error {
	if !s.said || !s.spoken.good() && s.calls == 0 {
		return &failure{provider.KindRepeats, errRepeats}
	}
	s.last.DoneReason = finishRepeat
	return s.finish()
}

// Why an answer ended before it was complete.
const (
	finishLength = "length"
	finishRepeat = "repeat"
)

// take sends what one line holds.
func (s *stream) take(raw []byte) error {
	s.last = line{}
	if err := json.Unmarshal(raw, &s.last); err != nil {
		return s.garbled(raw, err)
	}
	if len(s.last.Error) > 0 && string(s.last.Error) != "null" {
		text := errorText(s.last.Error)
		return &failure{lineKind(text), &refusal{text: text}}
	}
	return s.message(s.last.Message)
}

// garbled says what a line that isn't an answer's means: before any other, that something else than Ollama is there.
func (s *stream) garbled(raw []byte, err error) error {
	if !s.sent && !bytes.HasPrefix(raw, []byte("{")) {
		return &failure{provider.KindUnreachable, errNotOllama}
	}
	return &failure{provider.KindIncomplete, fmt.Errorf("a line of the stream is no answer: %w", err)}
}

func (s *stream) message(m api.Message) error {
	if m.Thinking != "" {
		s.split.native = true
		if err := s.reasoning(m.Thinking); err != nil {
			return err
		}
	}
	if m.Content != "" {
		if err := s.content(s.split.add(m.Content)); err != nil {
			return err
		}
	}
	for _, c := range m.ToolCalls[:min(len(m.ToolCalls), maxCalls-s.calls)] {
		if err := s.call(c); err != nil {
			return err
		}
	}
	return nil
}

// call sends a whole tool call, after what is still held of the text before it. A server that numbers no calls gets them
// numbered, by the time that it says.
func (s *stream) call(c api.ToolCall) error {
	if c.Function.Name == "" {
		return nil
	}
	if err := s.rest(); err != nil {
		return err
	}
	if c.ID == "" {
		c.ID = "call_" + strconv.FormatInt(s.last.CreatedAt.UnixNano(), 36) + "_" + strconv.Itoa(s.calls)
	}
	s.calls++
	s.said = true
	args := c.Function.Arguments.String()
	s.size += len(c.Function.Name) + len(args)
	return s.send(artifact.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: args})
}

func (s *stream) content(reasoning, text string) error {
	if err := s.reasoning(reasoning); err != nil || text == "" {
		return err
	}
	s.said = true
	s.size += len(text)
	if err := s.freeReasoning(); err != nil {
		return err
	}
	out, over := s.spoken.add(text)
	s.loops = s.loops || over
	if out == "" {
		return nil
	}
	return s.text(out)
}

func (s *stream) reasoning(text string) error {
	if text == "" {
		return nil
	}
	s.thought = s.thought || strings.TrimSpace(text) != ""
	s.size += len(text)
	out, over := s.pondered.add(text)
	s.loops = s.loops || over
	if out == "" {
		return nil
	}
	return s.send(artifact.ReasoningDelta{Content: out})
}

// freeReasoning sends what is held of the reasoning: text comes behind it.
func (s *stream) freeReasoning() error {
	if out := s.pondered.release(); out != "" {
		return s.send(artifact.ReasoningDelta{Content: out})
	}
	return nil
}

// finish ends a complete answer: its rest, what it cost, and why it ended if not by itself. One that says nothing is an
// error, and costs nothing that anyone could show.
func (s *stream) finish() error {
	if err := s.rest(); err != nil {
		return err
	}
	if !s.said {
		return &failure{provider.KindEmpty, s.nothing()}
	}
	if err := s.letGo(); err != nil {
		return err
	}
	if in, out := s.last.PromptEvalCount, s.last.EvalCount; in+out > 0 {
		if err := s.send(artifact.Usage{PromptTokens: in, CompletionTokens: out, TotalTokens: in + out}); err != nil {
			return err
		}
	}
	if r := s.last.DoneReason; r == finishLength || r == finishRepeat {
		return s.send(provider.Finish{Reason: r})
	}
	return nil
}

// rest sends what is still held of the text; of an answer that repeats itself, nothing.
func (s *stream) rest() error {
	if s.loops {
		return nil
	}
	if err := s.content(s.split.end()); err != nil {
		return err
	}
	if err := s.freeReasoning(); err != nil {
		return err
	}
	if out := s.spoken.release(); out != "" {
		return s.text(out)
	}
	return nil
}

// nothing says how an answer came to be empty.
func (s *stream) nothing() error {
	switch {
	case s.thought && s.last.DoneReason == finishLength:
		return errors.New("the model spent all its tokens on reasoning")
	case s.thought:
		return errors.New("the model only reasoned")
	case s.last.EvalCount > 1:
		return errors.New("the answer is empty, though tokens were made: a malformed tool call, perhaps")
	default:
		return errors.New("the answer is empty")
	}
}

// send waits for the consumer, or for the end of the call.
func (s *stream) send(a artifact.Artifact) error {
	if !s.sent && s.warm != nil {
		s.warm()
	}
	select {
	case s.ch <- a:
		s.sent = true
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}
