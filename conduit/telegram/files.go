package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"orebot/core/session"
)

// Downloads may take longer than calls: as long as they go on.
const (
	fetchTimeout = 5 * time.Minute
	fetchTries   = 2 // a link is good for an hour at least (docs: getFile), and a server may have lost the file behind it
)

// What Telegram can't give, in sentences for the chat.
const (
	textTooBig   = "Telegram gives me files of up to 20 MB; that one is larger."
	textGone     = "Telegram doesn't have that file any more; please send it again."
	textNotNow   = "Telegram doesn't give me that file right now; please send it again in a minute."
	textCantRead = "I can't read this kind of message; please type."
)

// fileInfo is what getFile tells.
type fileInfo struct {
	Size int64  `json:"file_size"`
	Path string `json:"file_path"`
}

// Fetch writes the file's bytes to w, as a session.Fetcher does. It asks Telegram anew where the file is, since links expire. The token
// is part of the link: it is used for this request only, and goes nowhere else. An error is a *session.FetchError.
func (a *API) Fetch(ctx context.Context, at session.Address, att session.Attachment, w io.Writer) (session.Attachment, error) {
	if kind, ok := strings.CutPrefix(att.ID, unreadable); ok {
		text := unreadables[kind]
		if text == "" {
			text = textCantRead
		}
		return att, &session.FetchError{Text: text, Err: fmt.Errorf("telegram: %s can't be read", kind)}
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	for try := 1; ; try++ {
		info, err := a.locate(ctx, att.ID)
		if err != nil {
			return att, err
		}
		att.Size = max(att.Size, info.Size)
		out := &counted{w: w}
		err = a.download(ctx, info, out)
		if err == nil {
			att.Size = out.n
			return att, nil
		}
		if !errors.Is(err, errNotThere) || out.n > 0 || try == fetchTries {
			return att, failedFetch(at, err)
		}
	}
}

// locate asks where a file is. Whoever wants it knows for how long to wait where Telegram asks for that.
func (a *API) locate(ctx context.Context, id string) (fileInfo, error) {
	raw, err := a.call(ctx, "getFile", tgbotapi.Params{"file_id": id})
	if err != nil {
		return fileInfo{}, notGiven(asCall(err))
	}
	var info fileInfo
	if err := json.Unmarshal(raw, &info); err != nil || info.Path == "" {
		return fileInfo{}, &session.FetchError{Retry: true, Text: textNotNow, Err: errors.New("telegram: getFile: the answer names no path")}
	}
	return info, nil
}

// notGiven says why getFile was refused.
func notGiven(e *callError) *session.FetchError {
	switch {
	case e.says("file is too big"):
		return &session.FetchError{Text: textTooBig, Err: e}
	case e.code == http.StatusBadRequest && !e.odd:
		return &session.FetchError{Text: textGone, Err: e}
	}
	fail := &session.FetchError{Retry: true, Text: textNotNow, Err: e}
	if e.code == http.StatusTooManyRequests {
		fail.After = max(e.wait(), time.Second)
	}
	return fail
}

var (
	errNotThere = errors.New("the file isn't there")
	errTooBig   = errors.New("the file is larger than bots may fetch")
)

// failedFetch says why a download failed. What the reader of the bytes refused is its own to explain.
func failedFetch(at session.Address, err error) error {
	err = fmt.Errorf("telegram: file of %s: %w", at, err)
	var refused *writeError
	switch {
	case errors.As(err, &refused):
		return refused.err
	case errors.Is(err, errTooBig):
		return &session.FetchError{Text: textTooBig, Err: err}
	case errors.Is(err, errNotThere):
		return &session.FetchError{Text: textGone, Err: err}
	}
	return &session.FetchError{Retry: true, Text: textNotNow, Err: err}
}

// download copies a file. A Bot API server of one's own that runs with --local tells the file's path on its disk, below a folder with
// the token as its name; where that disk isn't this one, the file is asked for like any other.
func (a *API) download(ctx context.Context, info fileInfo, w *counted) error {
	where := info.Path
	if path.IsAbs(where) {
		_, below, ok := strings.Cut(path.Clean(where), "/"+a.account.Token.Reveal()+"/")
		if !ok {
			return errors.New("the path is none of this bot's")
		}
		err := copyLocal(path.Clean(where), w)
		if !errors.Is(err, fs.ErrNotExist) {
			return a.client.Redactor.Error(err)
		}
		where = below
	} else {
		w.limit = maxDownload
	}
	return a.get(ctx, where, w)
}

func copyLocal(name string, w io.Writer) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	_, err = io.Copy(w, f)
	return err
}

// get fetches a file from the configured server. Redirects are not followed.
func (a *API) get(ctx context.Context, where string, w *counted) error {
	resp, err := a.ask(ctx, where)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // what counts of it was read
	switch {
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusGone:
		return errNotThere
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("the server answers %d", resp.StatusCode)
	case w.limit > 0 && resp.ContentLength > w.limit:
		return errTooBig
	}
	_, err = io.Copy(w, resp.Body)
	return a.client.Redactor.Error(err)
}

func (a *API) ask(ctx context.Context, where string) (*http.Response, error) {
	parts := strings.Split(where, "/")
	for i, p := range parts {
		if p == ".." {
			return nil, errors.New("the path leads elsewhere")
		}
		parts[i] = url.PathEscape(p)
	}
	link := strings.TrimRight(a.account.APIURL, "/") + "/file/bot" + a.account.Token.Reveal() + "/" + strings.Join(parts, "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil {
		return nil, a.client.Redactor.Error(err)
	}
	return a.client.Do(req)
}

// counted counts what is written, and stops beyond its limit; 0 is none.
type counted struct {
	w     io.Writer
	n     int64
	limit int64
}

func (c *counted) Write(p []byte) (int, error) {
	if c.limit > 0 && c.n+int64(len(p)) > c.limit {
		return 0, errTooBig
	}
	n, err := c.w.Write(p)
	c.n += int64(n)
	if err != nil {
		return n, &writeError{err}
	}
	return n, nil
}

// writeError is an error of whoever takes the bytes.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }
