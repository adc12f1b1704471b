package ops

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"orebot/core/observe"
	"orebot/core/session"
	"orebot/internal/secret"
)

// Admin is what the admin socket offers beside health and figures.
type Admin struct {
	Access   *Access
	Queue    *Queue
	Health   *Health
	Redactor *secret.Redactor
	Logger   *slog.Logger
}

// maxRequest bounds the body of a request.
const maxRequest = 64 << 10

// Register adds the routes to a mux, as JSON under /v1/: health, access, access/approve, access/allow, access/revoke, queue, queue/retry,
// queue/drop. A refusal has a status of 400 and up, and an object with the sentence under "error".
func (a *Admin) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /v1/health", answer(a, func(context.Context, struct{}) (Readiness, error) { return a.Health.readiness(a.Redactor), nil }))
	mux.HandleFunc("GET /v1/access", answer(a, func(ctx context.Context, _ struct{}) (AccessList, error) { return a.Access.List(ctx) }))
	mux.HandleFunc("POST /v1/access/approve", answer(a, a.Access.Approve))
	mux.HandleFunc("POST /v1/access/allow", answer(a, a.Access.Allow))
	mux.HandleFunc("POST /v1/access/revoke", answer(a, a.Access.Revoke))
	mux.HandleFunc("GET /v1/queue", answer(a, func(ctx context.Context, _ struct{}) (QueueList, error) { return a.Queue.List(ctx) }))
	mux.HandleFunc("POST /v1/queue/retry", answer(a, a.Queue.Retry))
	mux.HandleFunc("POST /v1/queue/drop", answer(a, a.Queue.Drop))
}

// Name is a request that names something: a code, an id.
type Name struct {
	Name string `json:"name"`
}

// answer makes a handler of a function. What isn't meant for the operator's eyes is logged, and said in general.
func answer[In, Out any](a *Admin, f func(context.Context, In) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in In
		if r.Method == http.MethodPost {
			if err := decodeRequest(http.MaxBytesReader(w, r.Body, maxRequest), &in); err != nil {
				writeJSON(w, http.StatusBadRequest, refusal{"the request isn't what this daemon expects; is the command of another version?"})
				return
			}
		}
		out, err := f(r.Context(), in)
		var said *session.DoorError
		switch {
		case errors.As(err, &said):
			writeJSON(w, http.StatusConflict, refusal{said.Text})
		case err != nil:
			a.Logger.Error("admin request", observe.KeyMethod, r.URL.Path, observe.KeyError, err)
			writeJSON(w, http.StatusInternalServerError, refusal{"the daemon couldn't do it; its log says why"})
		default:
			writeJSON(w, http.StatusOK, out)
		}
	}
}

// decodeRequest reads one JSON value, and nothing behind it.
func decodeRequest(body io.Reader, in any) error {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a lost client is its own matter
}
