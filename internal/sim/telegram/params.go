package telegram

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// params are a call's parameters in whatever way they came: query, form, multipart or JSON.
type params struct {
	text  map[string]string // JSON values other than strings as their JSON text
	files map[string]upload
}

// upload is a file that came with a call.
type upload struct {
	name, mime string
	data       []byte
}

// readParams reads the whole body, so that the server notices when the client leaves.
func readParams(w http.ResponseWriter, r *http.Request) (params, error) {
	p := params{text: map[string]string{}, files: map[string]upload{}}
	p.addValues(r.URL.Query())
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	defer func() { _, _ = io.Copy(io.Discard, r.Body) }()
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	var err error
	switch kind {
	case "application/json":
		err = p.readJSON(r)
	case "multipart/form-data":
		err = p.readMultipart(r)
	case "application/x-www-form-urlencoded":
		err = p.readForm(r)
	}
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		err = &apiError{code: http.StatusRequestEntityTooLarge, text: "Request Entity Too Large"}
	}
	return p, err
}

func (p params) addValues(v url.Values) {
	for k := range v {
		p.text[k] = v.Get(k)
	}
}

func (p params) readForm(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	v, err := url.ParseQuery(string(body))
	p.addValues(v)
	return err
}

func (p params) readJSON(r *http.Request) error {
	var body map[string]json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return badRequest("can't parse request body JSON object")
	}
	for k, raw := range body {
		p.text[k] = string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil {
			p.text[k] = s
		}
	}
	return nil
}

func (p params) readMultipart(r *http.Request) error {
	parts, err := r.MultipartReader()
	if err != nil {
		return err
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		if part.FileName() == "" {
			p.text[part.FormName()] = string(data)
			continue
		}
		p.files[part.FormName()] = upload{part.FileName(), part.Header.Get("Content-Type"), data}
	}
}

// shown is what the transcript keeps: a file stands there with its name.
func (p params) shown() map[string]string {
	out := make(map[string]string, len(p.text)+len(p.files))
	for k, v := range p.text {
		out[k] = v
	}
	for k, f := range p.files {
		out[k] = f.name
	}
	return out
}

func (p params) str(name string) string { return p.text[name] }

// num reads a number; what isn't one counts as 0, as on the real server.
func (p params) num(name string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSpace(p.text[name]), 10, 64)
	return n
}

func (p params) flag(name string) bool {
	switch strings.ToLower(strings.TrimSpace(p.text[name])) {
	case "true", "yes", "1":
		return true
	}
	return false
}

// object decodes a JSON parameter into v. It reports false when the parameter is absent, empty or null.
func (p params) object(name string, v any) (bool, error) {
	raw := strings.TrimSpace(p.text[name])
	if raw == "" || raw == "null" {
		return false, nil
	}
	if err := json.Unmarshal([]byte(raw), v); err != nil {
		return false, badRequest("can't parse %s JSON object", strings.ReplaceAll(name, "_", " "))
	}
	return true, nil
}
