package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// NotRunning says that no daemon answers on any admin socket.
type NotRunning struct {
	Tried []string // a path with the reason each
}

// Error says what was tried.
func (e *NotRunning) Error() string {
	return "no daemon answers; tried " + strings.Join(e.Tried, ", ")
}

// Client talks to a running daemon over its admin socket.
type Client struct {
	path string
	http *http.Client
}

// Connect finds the first admin socket of these on which a daemon answers. Else the error is a *NotRunning.
func Connect(ctx context.Context, paths []string) (*Client, error) {
	none := &NotRunning{}
	for _, path := range paths {
		conn, err := dialSocket(ctx, path)
		if err == nil {
			_ = conn.Close()
			return newClient(path), nil
		}
		none.Tried = append(none.Tried, fmt.Sprintf("%s (%s)", path, reasonOf(err)))
	}
	return nil, none
}

func newClient(path string) *Client {
	return &Client{path: path, http: &http.Client{
		Timeout: time.Minute,
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialSocket(ctx, path)
		}, DisableKeepAlives: true},
	}}
}

func dialSocket(ctx context.Context, path string) (net.Conn, error) {
	return (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "unix", path)
}

// reasonOf is the innermost reason of an error of the network.
func reasonOf(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// Call sends in as JSON, with POST, or gets the path where in is nil, and decodes the answer into out unless that is nil. A refusal
// of the daemon is an error with its sentence.
func (c *Client) Call(ctx context.Context, path string, in, out any) error {
	method, body := http.MethodGet, io.Reader(nil)
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("admin socket: %w", err)
		}
		method, body = http.MethodPost, bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://orebot"+path, body)
	if err != nil {
		return fmt.Errorf("admin socket: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("the daemon at %s doesn't answer: %s", c.path, reasonOf(err))
	}
	defer resp.Body.Close()
	return decodeAnswer(resp, out)
}

func decodeAnswer(resp *http.Response, out any) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("admin socket: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		var said refusal
		if json.Unmarshal(data, &said) != nil || said.Error == "" {
			return fmt.Errorf("the daemon answers %s; is it of another version?", resp.Status)
		}
		return errors.New(said.Error)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("the daemon's answer can't be read; is it of another version? %w", err)
	}
	return nil
}

// refusal is how the admin socket says that something can't be done.
type refusal struct {
	Error string `json:"error"`
}
