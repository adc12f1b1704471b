package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// post makes a request with a JSON body, as text that HTML-escapes nothing: a prompt full of code is shorter so.
func (h *host) post(ctx context.Context, path string, v any) (*http.Request, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %s: %w", path, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.base.JoinPath(path).String(), &body)
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", path, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/x-ndjson")
	req.Header.Set("User-Agent", "orebot")
	if !h.auth.IsZero() {
		req.Header.Set("Authorization", h.auth.Reveal())
	}
	return req, nil
}

// head returns the first 64 KiB of a body; what can't be read is missing.
func head(r io.Reader) []byte {
	b, _ := io.ReadAll(io.LimitReader(r, 64<<10))
	return b
}
