package play

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"orebot/core/session"
	"orebot/core/slash"
	"orebot/core/tool"
)

// picture is the beginning of a PNG file.
const picture = "\x89PNG\r\n\x1a\n0000IHDR0000000000000000"

// files is what the platform has: a session.Fetcher.
type files map[string]string

// Fetch implements session.Fetcher.
func (f files) Fetch(_ context.Context, _ session.Address, att session.Attachment, w io.Writer) (session.Attachment, error) {
	text, ok := f[att.Name]
	switch {
	case !ok || text == "missing":
		return att, &session.FetchError{Text: "That file is gone.", Err: errors.New("404")}
	case text == "picture":
		text = picture
	}
	_, err := io.WriteString(w, text)
	return att, err
}

// blobs keeps files in memory: session.Blobs.
type blobs struct {
	mu   sync.Mutex
	kept map[string][]byte
}

// Put implements session.Blobs.
func (b *blobs) Put(_ context.Context, fill func(w io.Writer) error) (string, int64, error) {
	var buf bytes.Buffer
	if err := fill(&buf); err != nil {
		return "", 0, err
	}
	sum := sha256.Sum256(buf.Bytes())
	url := "blob:sha256/" + hex.EncodeToString(sum[:])
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept[url] = buf.Bytes()
	return url, int64(buf.Len()), nil
}

// Open implements session.Blobs.
func (b *blobs) Open(_ context.Context, url string) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return io.NopCloser(bytes.NewReader(b.kept[url])), nil
}

// shelf lists the installed models: slash.Models.
type shelf []slash.Model

func newShelf(s string) (out shelf) {
	for _, m := range split(s) {
		words := strings.Fields(m)
		out = append(out, slash.Model{Name: words[0], Size: 1 << 30, Context: 8192, Can: words[1:]})
	}
	return out
}

// Models implements slash.Models.
func (s shelf) Models(context.Context) ([]slash.Model, error) { return s, nil }

// vision is session.Config.Vision.
func (s shelf) vision(_ context.Context, model string) (sees bool, others []string, err error) {
	for _, m := range s {
		can := slices.Contains(m.Can, "vision")
		if m.Name == model {
			sees = can
		} else if can {
			others = append(others, m.Name)
		}
	}
	return sees, others, nil
}

// dice is a tool whose calls wait for the play's lines.
type dice struct {
	lines chan string
	freed chan struct{}
	inUse chan struct{}
}

func newDice() *dice {
	return &dice{make(chan string), make(chan struct{}, 100), make(chan struct{}, 100)}
}

func (d *dice) tool() tool.Tool {
	return tool.Tool{Name: "dice", Description: "Throws dice.", Call: func(ctx context.Context, _ json.RawMessage) (string, error) {
		d.inUse <- struct{}{}
		select {
		case s := <-d.lines:
			return s, nil
		case <-ctx.Done():
			d.freed <- struct{}{}
			return "", ctx.Err()
		}
	}}
}

// archive is what the platform tells of before: a session.Historian.
type archive struct {
	mu   sync.Mutex
	said map[session.Address][]session.Said
}

func newArchive() *archive { return &archive{said: map[session.Address][]session.Said{}} }

// Before implements session.Historian.
func (h *archive) Before(_ context.Context, in session.Inbound, limit int) ([]session.Said, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []session.Said
	for _, s := range h.said[in.Address] {
		if s.Order < in.Order && s.Text != "" {
			out = append(out, s)
		}
	}
	return out[max(0, len(out)-limit):], nil
}

func (h *archive) add(in session.Inbound) {
	h.put(in.Address, session.Said{Author: in.Author, Text: in.Text, Message: in.Message, Order: in.Order})
}

func (h *archive) put(a session.Address, s session.Said) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said[a] = append(h.said[a], s)
}

// change makes a message say something else; nothing: it isn't there any more.
func (h *archive) change(a session.Address, message, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.said[a], func(s session.Said) bool { return s.Message == message })
	if i >= 0 {
		h.said[a][i].Text = text
	}
}
