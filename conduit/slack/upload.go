package slack

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
	"orebot/core/observe"
	"orebot/core/session"
)

const (
	maxUploads = 5               // how often an upload that fails for no reason of Slack's is tried before the text goes as messages
	showWait   = 8 * time.Second // how long a shared file may take until it stands in the conversation
	showPoll   = time.Second / 2 // the first wait between two looks; it doubles
)

// uploads counts the failures in a row of each item's upload.
type uploads struct {
	mu     sync.Mutex
	failed map[string]int
}

// again reports whether one more try is worth it.
func (u *uploads) again(name string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.failed == nil {
		u.failed = map[string]int{}
	}
	u.failed[name]++
	return u.failed[name] < maxUploads
}

func (u *uploads) over(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.failed, name)
}

// upload posts a part as a file with a message. Nothing is seen before the last of its three calls: what fails before that has surely
// not been posted. The file is shared some time after that call: upload waits for it, so that what is posted next stands behind it.
func (p *poster) upload(ctx context.Context, a session.Address, at place, it conduit.Item, b body) ([]string, error) {
	id, err := p.store(ctx, b.file)
	if err != nil {
		return nil, p.unstored(a, b.file, err)
	}
	p.uploads.over(b.file.name)
	done, err := p.api.client.CompleteUploadExternalContext(ctx, slackgo.CompleteUploadExternalParameters{
		Files:   []slackgo.FileSummary{{ID: id, Title: b.file.title}},
		Channel: at.channel, ThreadTimestamp: at.thread, InitialComment: b.text,
	})
	if err == nil && len(done.Files) == 0 {
		err = errNoAnswer
	}
	if err != nil {
		return nil, p.unshared(a, it, err)
	}
	return p.seen(ctx, at, it), nil
}

// store hands the bytes to Slack.
func (p *poster) store(ctx context.Context, f file) (id string, err error) {
	at, err := p.api.client.GetUploadURLExternalContext(ctx, slackgo.GetUploadURLExternalParameters{FileName: f.name, FileSize: len(f.data)})
	if err == nil && (at.UploadURL == "" || at.FileID == "") {
		err = errNoAnswer
	}
	if err != nil {
		return "", err
	}
	err = p.api.client.UploadToURL(ctx, slackgo.UploadToURLParameters{
		UploadURL: at.UploadURL, Reader: strings.NewReader(f.data), Filename: f.name,
	})
	return at.FileID, nameless(err)
}

// unstored is the error of an upload of which nothing is seen. A passing failure that doesn't pass is one of files alone, such as a
// proxy that lets no upload through.
func (p *poster) unstored(a session.Address, f file, err error) error {
	e := classify(fmt.Errorf("slack: upload for %s: %w", a.Place(), p.api.clean(withScopes(err))))
	switch {
	case e.Class == conduit.RetryAfter, deadFor(err):
		return e
	case (e.Class == conduit.Retry || e.Class == conduit.Unknown) && p.uploads.again(f.name):
		e.Class = conduit.Retry
		return e
	}
	p.uploads.over(f.name)
	return p.noFile(e)
}

// unshared is the error of a file's post.
func (p *poster) unshared(a session.Address, it conduit.Item, err error) error {
	e := classify(fmt.Errorf("slack: file to %s: %w", a.Place(), p.api.clean(withScopes(err))))
	switch e.Class {
	case conduit.Malformed, conduit.TooBig:
		return p.noFile(e)
	case conduit.Gone:
		if answersCommand(it) {
			return p.noFile(e)
		}
	case conduit.Dead:
		if !deadFor(err) {
			return p.noFile(e)
		}
	}
	return e
}

// deadFor reports whether credentials are refused, and not for files alone.
func deadFor(err error) bool {
	code := codeOf(err)
	return dead(code) && code != "missing_scope" && code != "not_allowed_token_type" && code != "team_access_not_granted"
}

// noFile says that the text has to go as messages. The operator is told once.
func (p *poster) noFile(e *conduit.Error) error {
	if p.noFiles.CompareAndSwap(false, true) {
		p.log.Warn("files can't be posted; long answers go on as messages, files:write may be missing", observe.KeyError, e)
	}
	e.Class = conduit.NoFile
	return e
}

// seen waits until a file that was shared stands in the conversation, and returns its message's ts; nothing where that can't be told.
func (p *poster) seen(ctx context.Context, at place, it conduit.Item) []string {
	ctx, cancel := context.WithTimeout(ctx, showWait)
	defer cancel()
	for wait := showPoll; ; wait *= 2 {
		ts, err := p.look(ctx, at, func(m object, me identity) bool { return mine(m, me) && holdsFile(m, it) }, it)
		if ts != "" {
			return []string{ts}
		}
		if err != nil || conduit.Sleep(ctx, wait) != nil {
			return nil
		}
	}
}
