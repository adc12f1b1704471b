package ollama

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/ollama/ollama/api"
)

// job is an accepted chat on its way through the server.
type job struct {
	ctx     context.Context
	req     Request
	model   Model
	set     settings
	numCtx  int
	think   bool
	start   time.Time
	loaded  time.Time
	reply   Reply
	release func(lost bool)
	begun   bool // a line was sent
}

// chat checks, loads, waits for a slot and answers, in the order in which a real server does, so that a request with two
// faults is refused for the same one. Unless Options.Lenient is set it also refuses what the renderers of newer servers
// refuse: a system message that isn't the first one, a history without a user message, images for a model without vision.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	j := &job{ctx: r.Context(), start: time.Now()}
	if err := s.accept(r, j); err != nil {
		refuseWith(w, err)
		return
	}
	chat := j.req.Chat
	if len(chat.Messages) == 0 && chat.KeepAlive != nil && chat.KeepAlive.Duration == 0 {
		s.unload(j.model)
		s.idle(w, chat, "unload")
		return
	}
	if err := s.prepare(j); err != nil {
		refuseWith(w, err)
		return
	}
	if j.release == nil {
		s.idle(w, chat, "load")
		return
	}
	defer func() { j.release(j.begun && j.ctx.Err() != nil && s.loses()) }()
	s.answer(w, j)
}

// accept decodes the body and finds the model.
func (s *Server) accept(r *http.Request, j *job) error {
	var chat api.ChatRequest
	err := decode(r.Body, &chat)
	j.req = s.rec.update(j.ctx, func(c *Request) { c.Chat = chat })
	if err != nil {
		return err
	}
	if chat.TopLogprobs < 0 || chat.TopLogprobs > 20 {
		return &refusal{http.StatusBadRequest, "top_logprobs must be between 0 and 20"}
	}
	j.model, err = s.find(chat.Model)
	return err
}

// prepare does all that comes before the first token. Without messages it only loads, and leaves release nil.
func (s *Server) prepare(j *job) error {
	chat := j.req.Chat
	if err := j.abilities(); err != nil {
		return err
	}
	var err error
	if j.set, err = parseOptions(chat.Options); err != nil {
		return &refusal{http.StatusInternalServerError, err.Error()}
	}
	j.numCtx = s.numCtxOf(j.model, j.set)
	if len(chat.Messages) > 0 {
		j.reply = s.opt.Answer(j.req)
	}
	r, err := s.load(j.ctx, j.model, j.numCtx, j.reply.Load)
	if err != nil {
		return err
	}
	j.loaded = time.Now()
	if len(chat.Messages) == 0 {
		return nil
	}
	if err := s.render(j); err != nil {
		return err
	}
	j.release, err = s.hold(j.ctx, j.model, r, chat.KeepAlive)
	return err
}

// abilities refuses what the model can't do, and decides whether it thinks: unless told, a model that can does.
func (j *job) abilities() error {
	chat := j.req.Chat
	j.think = j.model.can("thinking")
	if chat.Think != nil {
		j.think = chat.Think.Bool()
	}
	if j.think && !j.model.can("thinking") {
		return &refusal{http.StatusBadRequest, fmt.Sprintf("%q does not support thinking", chat.Model)}
	}
	if len(chat.Tools) > 0 && !j.model.can("tools") {
		return &refusal{http.StatusBadRequest,
			fmt.Sprintf("registry.ollama.ai/library/%s does not support tools", j.model.tagged())}
	}
	return nil
}

// render counts the prompt, drops what doesn't fit, and refuses what a template, a sampler or a renderer can't take.
func (s *Server) render(j *job) error {
	chat := j.req.Chat
	if err := checkMessages(chat.Messages, j.model); err != nil && !s.opt.Lenient {
		return err
	}
	if chat.Think != nil && chat.Think.IsString() && !j.model.Levels {
		return &refusal{http.StatusBadRequest,
			fmt.Sprintf("think value %q is not supported for this model", chat.Think.String())}
	}
	if err := checkFormat(chat.Format); err != nil && !j.think { // a format applies once the thinking is over
		return err
	}
	tokens, dropped := fit(chat.Messages, toolTokens(chat.Tools), j.numCtx)
	if chat.Truncate != nil && !*chat.Truncate {
		if countAll(chat.Messages)+toolTokens(chat.Tools) > j.numCtx {
			return &refusal{http.StatusBadRequest, "the input length exceeds the context length"}
		}
	}
	j.req = s.rec.update(j.ctx, func(c *Request) { c.PromptTokens, c.Dropped = tokens, dropped })
	return nil
}

func checkMessages(msgs []api.Message, m Model) error {
	asked := false
	for i, msg := range msgs {
		if msg.Role == "system" && i > 0 {
			return &refusal{http.StatusInternalServerError, "system message must be at the beginning"}
		}
		if len(msg.Images) > 0 && !m.can("vision") {
			return &refusal{http.StatusBadRequest, "Multimodal data provided, but model does not support multimodal requests."}
		}
		asked = asked || msg.Role == "user"
	}
	if !asked {
		return &refusal{http.StatusInternalServerError, "no user query found in messages"}
	}
	return nil
}

func checkFormat(format json.RawMessage) error {
	text := string(format)
	if text == "" || text == "null" || text == `""` || text == `"json"` || text[0] == '{' {
		return nil
	}
	return &refusal{http.StatusInternalServerError,
		fmt.Sprintf("invalid format: %q; expected \"json\" or a valid JSON Schema object", text)}
}

// idle answers a chat without messages.
func (s *Server) idle(w http.ResponseWriter, chat api.ChatRequest, reason string) {
	reply(w, http.StatusOK, api.ChatResponse{
		Model: chat.Model, CreatedAt: time.Now().UTC(), Message: api.Message{Role: "assistant"}, Done: true, DoneReason: reason,
	})
}
