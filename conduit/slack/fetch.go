package slack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
	"orebot/core/session"
)

const (
	fetchTime    = 5 * time.Minute // for one file
	maxRedirects = 5
)

var (
	errSignIn = errors.New("Slack shows its sign-in page")
	errLeaves = errors.New("the address leads away from Slack")
)

var _ session.Fetcher = (*API)(nil)

// Fetch reads a file that somebody shared. The token goes to Slack's hosts and the API's own alone, whatever redirects say. Slack
// answers with a sign-in page, and 200, where the app may not read a file: a page is taken for one unless the file is a page itself and
// came without a detour.
func (api *API) Fetch(ctx context.Context, _ session.Address, att session.Attachment, w io.Writer) (session.Attachment, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	if att.URL == "" {
		known, err := api.fileInfo(ctx, att)
		if err != nil {
			return att, err
		}
		att = known
	}
	if !api.ours(att.URL) {
		return att, &session.FetchError{Text: called(att) + " is kept outside Slack, where I can't read it; please upload it here.", Err: errLeaves}
	}
	resp, err := api.download(ctx, att.URL)
	if err != nil {
		return att, notFetched(att, api.clean(nameless(err)))
	}
	defer func() { _ = resp.Body.Close() }()
	body := bufio.NewReaderSize(resp.Body, 4096)
	if err := refusedFile(resp, body, att); err != nil {
		return att, notFetched(att, err)
	}
	return att, pour(w, body, att)
}

// pour copies a file's bytes, and tells a reader that fails from a writer that has enough.
func pour(w io.Writer, body io.Reader, att session.Attachment) error {
	to := &sink{w: w}
	_, err := io.Copy(to, body)
	switch {
	case to.err != nil:
		return fmt.Errorf("slack: file %s: %w", att.ID, to.err)
	case err != nil:
		return notFetched(att, nameless(err))
	}
	return nil
}

// sink is a writer that remembers its error.
type sink struct {
	w   io.Writer
	err error
}

// Write writes.
func (s *sink) Write(p []byte) (n int, err error) {
	n, s.err = s.w.Write(p)
	return n, s.err
}

// download asks for a file's bytes.
func (api *API) download(ctx context.Context, from string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	bearer := "Bearer " + api.account.BotToken.Reveal()
	req.Header.Set("Authorization", bearer)
	client := &http.Client{Transport: api.account.Transport, CheckRedirect: func(next *http.Request, before []*http.Request) error {
		if len(before) > maxRedirects || !api.ours(next.URL.String()) {
			return errLeaves
		}
		next.Header.Set("Authorization", bearer)
		return nil
	}}
	return client.Do(req)
}

// refusedFile says why an answer isn't the file; nil: it is.
func refusedFile(resp *http.Response, body *bufio.Reader, att session.Attachment) error {
	if err := refusedBy(resp); err != nil {
		return err
	}
	kind := resp.Header.Get("Content-Type")
	if kind == "" {
		head, _ := body.Peek(512) // less, where the file is shorter
		kind = http.DetectContentType(head)
	}
	moved := resp.Request != nil && resp.Request.Response != nil
	if strings.HasPrefix(kind, "text/html") && (moved || !strings.HasPrefix(att.MIME, "text/html")) {
		return errSignIn
	}
	return nil
}

// fileInfo asks what a file is of which the event told too little.
func (api *API) fileInfo(ctx context.Context, att session.Attachment) (session.Attachment, error) {
	o, err := api.ask(ctx, "files.info", url.Values{"file": {att.ID}})
	if err != nil {
		return att, notFetched(att, api.clean(err))
	}
	f := o.object("file")
	known, ok := fileOf(f)
	switch {
	case !ok || known.ID != att.ID:
		return att, notFetched(att, errNoAnswer)
	case f.text("mode") == "tombstone":
		return att, notFetched(known, slackgo.SlackErrorResponse{Err: "file_deleted"})
	case f.text("mode") == "hidden_by_limit":
		return att, &session.FetchError{Text: called(known) + " is hidden because of the workspace's plan; please upload it again."}
	}
	return known, nil
}

// notFetched makes of what went wrong a sentence for the chat.
func notFetched(att session.Attachment, err error) error {
	name := called(att)
	fail := &session.FetchError{Err: fmt.Errorf("slack: file %s: %w", att.ID, err)}
	switch code := codeOf(err); {
	case code == "file_deleted" || code == "file_not_found" || statusIs(err, http.StatusNotFound, http.StatusGone):
		fail.Text = name + " isn't there any more."
	case code == "missing_scope" || errors.Is(err, errSignIn) || statusIs(err, http.StatusForbidden, http.StatusUnauthorized):
		fail.Text = "Slack doesn't let me read " + name + ". Operator: does the app have the scope files:read?"
	case errors.Is(err, errLeaves):
		fail.Text = name + " is kept outside Slack, where I can't read it; please upload it here."
	default:
		known := classify(err)
		fail.Retry = known.Class == conduit.Retry || known.Class == conduit.RetryAfter || known.Class == conduit.Unknown
		fail.After = known.After
		fail.Text = "Slack doesn't give me " + name + " just now; please try again in a minute."
	}
	return fail
}

func statusIs(err error, codes ...int) bool {
	var status slackgo.StatusCodeError
	if !errors.As(err, &status) {
		return false
	}
	for _, c := range codes {
		if status.Code == c {
			return true
		}
	}
	return false
}

// called is how a sentence names a file.
func called(att session.Attachment) string {
	if name := strings.NewReplacer("`", "'", "|", "/").Replace(oneLine(att.Name)); name != "" {
		return "`" + name + "`"
	}
	return "One of the files"
}
