package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"orebot/core/artifact"
	"orebot/core/observe"
)

// Lines about files, as the chat reads them.
const (
	noFiles  = "I can't read files yet; please paste the text."
	noVoice  = "I can't listen to voice messages; please type."
	noAnswer = "I couldn't fetch %s; please send it again, or paste the text."
)

// fetchTime bounds one attempt to read a file, and fetchSilence how long nothing of it may come, which is less where less patience is
// configured, but leastSilence.
const (
	fetchTime    = 2 * time.Minute
	fetchSilence = 30 * time.Second
	leastSilence = 5 * time.Second
)

var errFetchSilent = errors.New("session: nothing of the file comes")

// fetchPatience bounds for how long the files of one turn are tried again, however patient the model's servers are waited for: the text is
// answered without what hasn't come by then.
const fetchPatience = 2 * time.Minute

// attach reads the files of a job's messages: what a text says, and where a picture is kept. Lines about the rest are shown beside the
// answer. It may block, and touches nothing but the job.
func (s *Stream) attach(ctx context.Context, j *job) (files map[EntryID][]artifact.Artifact, lines []string, err error) {
	files = map[EntryID][]artifact.Artifact{}
	room, until := maxTexts, time.Now().Add(min(s.m.cfg.RetryFor, fetchPatience))
	for _, e := range j.entries {
		for _, att := range e.Inbound.Attachments {
			got, line, err := s.fetch(ctx, j.addr, att, room, until)
			if err != nil {
				return nil, nil, err
			}
			if got != nil {
				files[e.ID] = append(files[e.ID], got)
			}
			if t, ok := got.(artifact.Text); ok {
				room -= len(t.Content)
			}
			if line != "" && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return files, lines, nil
}

// fetch reads one file, once at least and again as long as the next try may be made by then. A platform that asks to be left alone for
// longer isn't waited for. The error is ctx's cause; any other failure is a line.
func (s *Stream) fetch(ctx context.Context, a Address, att Attachment, room int, until time.Time) (artifact.Artifact, string, error) {
	f := s.m.cfg.Platforms[a.Conduit()].Fetcher
	if f == nil {
		return nil, noFiles, nil
	}
	if line := s.unreadable(att); line != "" {
		return nil, line, nil
	}
	for try := 0; ; try++ {
		got, line, err := s.read(ctx, f, a, att, room)
		if cause := context.Cause(ctx); cause != nil {
			return nil, "", cause
		}
		if err == nil {
			return got, line, nil
		}
		var fe *FetchError
		known := errors.As(err, &fe)
		wait := backoff(try)
		if known {
			wait = max(wait, fe.After)
		}
		if known && !fe.Retry || time.Now().Add(wait).After(until) {
			s.m.cfg.Logger.Warn("file unreadable", observe.KeyAddress, a, observe.KeyError, err)
			if known && fe.Text != "" {
				return nil, fe.Text, nil
			}
			return nil, fmt.Sprintf(noAnswer, called(att)), nil
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, "", err
		}
	}
}

// unreadable says why a file isn't even fetched, as far as its description tells.
func (s *Stream) unreadable(att Attachment) string {
	ext := strings.ToLower(path.Ext(att.Name))
	switch kind, _, _ := strings.Cut(att.MIME, "/"); {
	case kind == "audio" || slices.Contains([]string{".ogg", ".oga", ".mp3", ".m4a", ".wav", ".opus", ".flac"}, ext):
		return noVoice
	case kind == "video" || binaryExt(ext):
		return cantRead(att)
	case att.Size > s.m.cfg.MaxAttachmentBytes:
		return s.tooBig(att)
	}
	return ""
}

func binaryExt(ext string) bool {
	return slices.Contains(strings.Fields(".xlsx .xls .docx .doc .pptx .ppt .odt .ods .odp .pdf .zip .gz .tgz .bz2 .xz .7z .rar .tar .exe .dll .so "+
		".dmg .iso .jar .apk .bin .mp4 .mov .mkv .avi .webm .heic .tiff .psd .sqlite .db .parquet .woff .woff2 .ttf"), ext)
}

func cantRead(att Attachment) string {
	what := strings.ToLower(path.Ext(oneName(att.Name)))
	if what == "" || len(what) > 12 {
		what = "this kind of file"
	}
	return "I can't read " + what + "; text, images and code work."
}

// notRead says of a file that was looked at that it isn't what its name may say.
func notRead(att Attachment) string {
	return called(att) + " is neither text nor a picture that I can read."
}

func (s *Stream) tooBig(att Attachment) string {
	return fmt.Sprintf("%s is too big for me; %s is the limit.", called(att), size(s.m.cfg.MaxAttachmentBytes))
}

// size prints a number of bytes as people do, rounded down.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}

// called names a file in a sentence.
func called(att Attachment) string {
	if name := oneName(att.Name); name != "" {
		return "`" + name + "`"
	}
	return "a file"
}

// oneName makes of what a platform calls a file a name of one short line, in which no Markdown can begin.
func oneName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == '`' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, path.Base(strings.ReplaceAll(name, `\`, "/")))
	if name == "." || name == "/" {
		return ""
	}
	return clip(strings.TrimSpace(name), 100)
}

// read fetches a file once. A picture goes where blobs are kept, a text becomes part of the prompt.
func (s *Stream) read(ctx context.Context, f Fetcher, a Address, att Attachment, room int) (artifact.Artifact, string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	ctx, heard, end := awake(ctx, min(fetchSilence, max(leastSilence, s.m.cfg.RetryFor)))
	defer end()
	w := &sieve{limit: s.m.cfg.MaxAttachmentBytes, heard: heard}
	var url string
	fill := func(out io.Writer) (err error) {
		w.out = out
		var now Attachment
		if now, err = f.Fetch(ctx, a, att, w); err == nil {
			if now.Name != "" {
				att.Name = now.Name
			}
			err = w.verdict()
		}
		return err
	}
	var err error
	if s.m.cfg.Blobs != nil {
		url, _, err = s.m.cfg.Blobs.Put(ctx, fill)
	} else {
		err = fill(nil)
	}
	switch {
	case errors.Is(err, errTooBig):
		return nil, s.tooBig(att), nil
	case errors.Is(err, errNoPicture):
		return textFile(att, w.text, room)
	case err != nil:
		return nil, "", err
	case url == "":
		return nil, cantRead(att), nil
	}
	return artifact.Image{URL: url}, "", nil
}

// awake returns a context that ends once heard hasn't been called for so long.
func awake(ctx context.Context, silence time.Duration) (within context.Context, heard, end func()) {
	within, cancel := context.WithCancelCause(ctx)
	t := time.AfterFunc(silence, func() { cancel(errFetchSilent) })
	return within, func() { t.Reset(silence) }, func() { t.Stop(); cancel(nil) }
}

var (
	errTooBig    = errors.New("session: the file is beyond the limit")
	errNoPicture = errors.New("session: the file is no picture")
)

// sieve takes a file's bytes and looks at the first of them: a picture goes through, anything else is kept, up to what a text may have.
type sieve struct {
	heard func()    // called with each Write
	out   io.Writer // nil: nowhere to keep a picture
	limit int64
	n     int64
	head  []byte
	image bool
	known bool
	text  []byte
}

// sniffed is how many bytes tell a picture from anything else.
const sniffed = 16

// Write implements io.Writer.
func (w *sieve) Write(p []byte) (int, error) {
	w.heard()
	if w.n += int64(len(p)); w.n > w.limit {
		return 0, errTooBig
	}
	if w.known {
		return len(p), w.pass(p)
	}
	w.head = append(w.head, p...)
	if len(w.head) < sniffed {
		return len(p), nil
	}
	return len(p), w.decide()
}

// decide looks at what has come so far.
func (w *sieve) decide() error {
	head := w.head
	w.known, w.image, w.head = true, isPicture(w.head), nil
	return w.pass(head)
}

func (w *sieve) pass(p []byte) error {
	if w.image {
		if w.out == nil {
			return nil
		}
		_, err := w.out.Write(p)
		return err
	}
	if room := 2*maxText + 4 - len(w.text); room > 0 { // UTF-16 takes two bytes for one
		w.text = append(w.text, p[:min(len(p), room)]...)
	}
	return nil
}

// verdict says what the file was, once it is complete; nil for a picture.
func (w *sieve) verdict() error {
	if !w.known {
		if err := w.decide(); err != nil {
			return err
		}
	}
	if !w.image {
		return errNoPicture
	}
	return nil
}

// isPicture tells by its first bytes whether a file is a picture that models can be shown, whatever it is called.
func isPicture(b []byte) bool {
	s := string(b)
	return strings.HasPrefix(s, "\x89PNG\r\n\x1a\n") || strings.HasPrefix(s, "\xff\xd8\xff") || strings.HasPrefix(s, "GIF87a") ||
		strings.HasPrefix(s, "GIF89a") || len(s) >= 12 && s[:4] == "RIFF" && s[8:12] == "WEBP"
}
