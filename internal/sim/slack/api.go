package slack

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

type object = map[string]any

// refuse is an answer "ok": false with this error.
type refuse string

func (e refuse) Error() string { return string(e) }

// refusal is one that says more than its code.
type refusal struct {
	refuse
	more object
}

// call is one Web API call, its parameters decoded from whichever form they came in.
type call struct {
	form   url.Values
	bearer string
	base   string // where the caller reaches the server
	header http.Header

	pageCap int // see Options.PageCap
}

func (c *call) flag(name string) bool { v := c.form.Get(name); return v == "1" || v == "true" }

// method is one Web API method. run is called under the lock and must not block. A scope "*:history" is that of the
// conversation's kind, which run checks when it has found it.
type method struct {
	scope string
	app   bool // takes the app token, in the header only
	run   func(*Server, *call) (object, error)
}

func methods() map[string]method {
	return map[string]method{
		"auth.test":                    {run: (*Server).authTest},
		"apps.connections.open":        {run: (*Server).openConnection, app: true},
		"chat.postMessage":             {run: (*Server).postMessage, scope: "chat:write"},
		"chat.postEphemeral":           {run: (*Server).postEphemeral, scope: "chat:write"},
		"chat.update":                  {run: (*Server).updateMessage, scope: "chat:write"},
		"chat.delete":                  {run: (*Server).deleteMessage, scope: "chat:write"},
		"conversations.replies":        {run: (*Server).replies},
		"conversations.history":        {run: (*Server).history},
		"conversations.info":           {run: (*Server).info},
		"users.conversations":          {run: (*Server).conversations},
		"conversations.open":           {run: (*Server).openConversation, scope: "im:write"},
		"users.info":                   {run: (*Server).userInfo, scope: "users:read"},
		"reactions.add":                {run: (*Server).addReaction, scope: "reactions:write"},
		"reactions.remove":             {run: (*Server).removeReaction, scope: "reactions:write"},
		"assistant.threads.setStatus":  {run: (*Server).setStatus, scope: "chat:write"},
		"files.info":                   {run: (*Server).fileInfo, scope: "files:read"},
		"files.getUploadURLExternal":   {run: (*Server).uploadURL, scope: "files:write"},
		"files.completeUploadExternal": {run: (*Server).completeUpload, scope: "files:write"},
	}
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	name := methodOf(r)
	c, err := readCall(r)
	s.mu.Lock()
	if err == nil {
		c.base, c.header, c.pageCap = baseOf(r), w.Header(), s.opt.PageCap
	}
	if wait := s.limited(name); wait > 0 {
		s.mu.Unlock()
		refuseFor(w, wait)
		return
	}
	answer, scopes := s.answer(name, c, err), s.opt.Scopes
	s.mu.Unlock()
	w.Header().Set("X-OAuth-Scopes", strings.Join(scopes, ","))
	writeJSON(w, http.StatusOK, answer)
}

func (s *Server) answer(name string, c *call, err error) object {
	var out object
	if err == nil {
		out, err = s.run(name, c)
	}
	if err == nil {
		if out == nil {
			out = object{}
		}
		out["ok"] = true
		return out
	}
	s.refused(name, err)
	out = object{"ok": false, "error": err.Error()}
	if r, ok := err.(refusal); ok {
		for k, v := range r.more {
			out[k] = v
		}
	}
	return out
}

func (s *Server) refused(method string, err error) {
	at := time.Since(s.start)
	s.seen.refusals = append(s.seen.refusals, Refusal{At: at, Method: method, Error: err.Error()})
	s.changed()
}

func (s *Server) run(name string, c *call) (object, error) {
	m, ok := s.api[name]
	if !ok {
		return nil, refusal{"unknown_method", object{"req_method": name}}
	}
	if err := s.authorize(m, c); err != nil {
		return nil, err
	}
	if m.scope != "" {
		if err := s.scope(m.scope); err != nil {
			return nil, err
		}
	}
	return m.run(s, c)
}

func (s *Server) authorize(m method, c *call) error {
	got, want, other := c.bearer, s.opt.BotToken, s.opt.AppToken
	if m.app {
		want, other = other, want
	} else if got == "" {
		got = c.form.Get("token")
	}
	switch got {
	case want:
		return nil
	case "":
		return refuse("not_authed")
	case other:
		return refuse("not_allowed_token_type")
	}
	return refuse("invalid_auth")
}

func (s *Server) scope(need string) error {
	if slices.Contains(s.opt.Scopes, need) {
		return nil
	}
	return refusal{"missing_scope", object{"needed": need, "provided": strings.Join(s.opt.Scopes, ",")}}
}

// readCall accepts parameters in the query, as a form, as multipart, or as one JSON object.
func readCall(r *http.Request) (*call, error) {
	c := &call{}
	if kind, value, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(kind, "Bearer") {
		c.bearer = value
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "application/json" {
		form, err := readJSON(r.Body)
		c.form = form
		return c, err
	}
	err := r.ParseForm()
	if kind == "multipart/form-data" {
		err = r.ParseMultipartForm(1 << 20)
	}
	if err != nil {
		return nil, refuse("invalid_form_data")
	}
	c.form = r.Form
	return c, nil
}

// readJSON takes an object's fields as parameters, values other than strings as JSON. An empty body has none.
func readJSON(body io.Reader) (url.Values, error) {
	var fields map[string]json.RawMessage
	if err := json.NewDecoder(body).Decode(&fields); err != nil && err != io.EOF {
		return nil, refuse("invalid_json")
	}
	form := url.Values{}
	for k, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		form.Set(k, text)
	}
	return form, nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v))
}

// encode is JSON as Slack writes it, with <, > and & as they are.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // only maps, strings, numbers and JSON that was decoded before come here
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (s *Server) authTest(*call) (object, error) {
	return object{
		"url": "https://" + s.opt.TeamName + ".slack.com/", "team": s.opt.TeamName, "user": s.opt.BotName,
		"team_id": s.opt.Team, "user_id": s.opt.BotUser, "bot_id": s.opt.BotID, "is_enterprise_install": false,
	}, nil
}
