package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"orebot/internal/secret"
)

// Handler serves GET /livez, /readyz and /metrics. /readyz answers 200 "ready", or 503 with a line for each reason, then the notes; with
// Accept: application/json both as an object. Reasons pass the redactor. Figures that Health knows are set with each
// scrape.
func Handler(h *Health, m *Metrics, r *secret.Redactor) *http.ServeMux {
	m.BeforeScrape(func() { h.Publish(m) })
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { livez(w, h) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, req *http.Request) { readyz(w, req, h, r) })
	mux.Handle("GET /metrics", m.Handler())
	return mux
}

func livez(w http.ResponseWriter, h *Health) {
	if err := h.Live(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

func readyz(w http.ResponseWriter, req *http.Request, h *Health, r *secret.Redactor) {
	is := h.readiness(r)
	status := http.StatusOK
	if !is.Ready {
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Cache-Control", "no-store")
	if strings.Contains(req.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(is) // a lost client is its own matter
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprint(w, lines(is.Reasons), noteLines(is.Notes))
}

// Readiness is the JSON form of /readyz.
type Readiness struct {
	Ready   bool     `json:"ready"`
	Reasons []Reason `json:"reasons,omitempty"`
	Notes   []Note   `json:"notes,omitempty"`
}

// readiness is what holds now, as it may be shown.
func (h *Health) readiness(r *secret.Redactor) Readiness {
	reasons := h.NotReady()
	for i := range reasons {
		reasons[i].Reason = r.Redact(reasons[i].Reason)
		reasons[i].Component = r.Redact(reasons[i].Component)
	}
	return Readiness{len(reasons) == 0, reasons, redacted(h.Notes(), r)}
}

func lines(reasons []Reason) string {
	if len(reasons) == 0 {
		return "ready\n"
	}
	var b strings.Builder
	for _, r := range reasons {
		fmt.Fprintf(&b, "%s: %s (since %s)\n", r.Component, r.Reason, r.Since.UTC().Format(time.RFC3339))
	}
	return b.String()
}

// Listen opens the address of [http] listen.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("http.listen %s: %w; choose another address or free this one", addr, err)
	}
	return ln, nil
}

// Serve answers requests on ln until ctx ends; then it gives those in progress a second, and returns nil. What goes wrong with single
// connections is logged at debug level.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, log *slog.Logger) error {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if srv.Shutdown(grace) != nil {
			_ = srv.Close()
		}
	})
	err := srv.Serve(ln)
	if !stop() {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("http: serve %s: %w", ln.Addr(), err)
}
