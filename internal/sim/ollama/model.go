package ollama

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
)

// Model is an installed model.
type Model struct {
	Name         string // without ":latest"
	Size         int64
	Context      int      // the length it was trained for; num_ctx is capped to it
	Capabilities []string // "completion", "tools", "thinking", "vision"
	Levels       bool     // takes think as "low", "medium" or "high"; others refuse a level
	Parameters   string   // the PARAMETER lines of its Modelfile
}

// DefaultModels returns tiny (tools, thinking), plain (text only) and vision (tools, thinking, vision), trained for 8192
// tokens each.
func DefaultModels() []Model {
	return []Model{
		{Name: "tiny", Size: 1_400_000, Context: 8192, Capabilities: []string{"completion", "tools", "thinking"}},
		{Name: "plain", Size: 1_400_000, Context: 8192, Capabilities: []string{"completion"}},
		{Name: "vision", Size: 1_400_000, Context: 8192, Capabilities: []string{"completion", "vision", "tools", "thinking"}},
	}
}

func (m Model) can(capability string) bool { return slices.Contains(m.Capabilities, capability) }

// find resolves a name as a server does: the tag is "latest" unless given.
func (s *Server) find(name string) (Model, error) {
	n := model.ParseName(name)
	if !n.IsValid() {
		return Model{}, &refusal{http.StatusBadRequest, "model is required"}
	}
	for _, m := range s.opt.Models {
		if model.ParseName(m.Name).EqualFold(n) {
			return m, nil
		}
	}
	return Model{}, &refusal{http.StatusNotFound, fmt.Sprintf("model '%s' not found", name)}
}

// tagged returns the name as lists show it.
func (m Model) tagged() string { return model.ParseName(m.Name).DisplayShortest() }

func (m Model) digest() string {
	sum := sha256.Sum256([]byte(m.Name))
	return hex.EncodeToString(sum[:])
}

func (m Model) details() api.ModelDetails {
	return api.ModelDetails{
		Format: "gguf", Family: "llama", Families: []string{"llama"}, ParameterSize: "656.64K", QuantizationLevel: "F16",
	}
}

func (s *Server) tags(w http.ResponseWriter, _ *http.Request) {
	out := api.ListResponse{Models: []api.ListModelResponse{}}
	for _, m := range s.opt.Models {
		out.Models = append(out.Models, api.ListModelResponse{
			Name: m.tagged(), Model: m.tagged(), Size: m.Size, Digest: m.digest(), Details: m.details(),
			ModifiedAt: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC),
		})
	}
	reply(w, http.StatusOK, out)
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	var req struct{ Model, Name string } // name is what older clients send
	if err := decode(r.Body, &req); err != nil {
		refuseWith(w, err)
		return
	}
	m, err := s.find(cmp.Or(req.Model, req.Name))
	if err != nil {
		refuseWith(w, err)
		return
	}
	reply(w, http.StatusOK, m.shown())
}

func (m Model) shown() api.ShowResponse {
	out := api.ShowResponse{
		Modelfile:  "FROM " + m.Name + ".gguf\n",
		Parameters: m.Parameters,
		Template:   "{{ .Prompt }}",
		Details:    m.details(),
		ModelInfo: map[string]any{
			"general.architecture": "llama", "llama.context_length": m.Context, "llama.block_count": 1,
		},
		ModifiedAt: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC),
	}
	for _, c := range m.Capabilities {
		out.Capabilities = append(out.Capabilities, model.Capability(c))
	}
	return out
}

func (s *Server) ps(w http.ResponseWriter, _ *http.Request) {
	out := api.ProcessResponse{Models: []api.ProcessModelResponse{}}
	for _, m := range s.opt.Models {
		r := s.loaded(m)
		if r == nil {
			continue
		}
		out.Models = append(out.Models, api.ProcessModelResponse{
			Name: m.tagged(), Model: m.tagged(), Size: m.Size, Digest: m.digest(), Details: m.details(),
			ExpiresAt: r.expires, ContextLength: r.numCtx,
		})
	}
	reply(w, http.StatusOK, out)
}

// decode reads the first JSON value of a body as gin does, and says what gin says.
func decode(body io.Reader, v any) error {
	err := json.NewDecoder(body).Decode(v)
	switch {
	case errors.Is(err, io.EOF):
		return &refusal{http.StatusBadRequest, "missing request body"}
	case err != nil:
		return &refusal{http.StatusBadRequest, err.Error()}
	}
	return nil
}

// numCtxOf returns the context a request gets: its own num_ctx, the Modelfile's, the server's, capped to the trained
// length, at least 4 and 2048 for a model with vision.
func (s *Server) numCtxOf(m Model, o settings) int {
	n := s.opt.Context
	for line := range strings.Lines(m.Parameters) {
		var v int
		if _, err := fmt.Sscanf(line, "num_ctx %d", &v); err == nil {
			n = v
		}
	}
	if o.numCtx > 0 {
		n = o.numCtx
	}
	floor := 4
	if m.can("vision") {
		floor = 2048
	}
	if m.Context > 0 {
		n = min(n, m.Context)
	}
	return max(n, floor)
}

// until returns when a model that was used now leaves memory.
func until(keep *api.Duration) time.Time {
	d := 5 * time.Minute
	if keep != nil {
		d = keep.Duration
	}
	if d == math.MaxInt64 {
		return time.Date(2319, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Now().Add(d)
}
