package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"orebot/core/session"
)

var _ session.Blobs = (*Store)(nil)

// The form of every URL: it begins with Scheme, and is Length bytes long with the hexadecimal digits that follow.
const (
	Scheme = "blob:sha256/"
	Length = len(Scheme) + 2*sha256.Size
)

const tempPrefix = ".new-"

// ErrURL says that a text is no URL of this store.
var ErrURL = errors.New("blob: not the URL of a blob")

// Store is a directory of blobs. One process at a time owns it; its methods are safe for concurrent use.
type Store struct {
	dir string
	mu  sync.Mutex // held while names change: a sweep doesn't take away what is just being put again
}

// Open makes the directory where it is missing, readable by its owner alone, and removes what an earlier process left half-written.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	s := &Store{dir: dir}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return s, err
}

// Put implements session.Blobs: it keeps what fill writes, and returns its URL and size in bytes. An error of fill is returned as it
// is and leaves nothing. After an error of the disk the blob may be there, whole, for the next sweep.
func (s *Store) Put(ctx context.Context, fill func(w io.Writer) error) (url string, n int64, err error) {
	f, err := os.CreateTemp(s.dir, tempPrefix) // with mode 0600
	if err != nil {
		return "", 0, fmt.Errorf("blob: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // where it was renamed, it isn't there
		}
	}()
	w := &sink{ctx: ctx, f: f, sum: sha256.New()}
	if err := fill(w); err != nil {
		_ = f.Close()
		return "", 0, err
	}
	if err := errors.Join(w.err, ctx.Err(), f.Sync(), f.Close()); err != nil {
		return "", 0, fmt.Errorf("blob: %w", err)
	}
	name := hex.EncodeToString(w.sum.Sum(nil))
	if err := s.publish(f.Name(), name); err != nil {
		return "", 0, fmt.Errorf("blob: %w", err)
	}
	return Scheme + name, w.n, nil
}

// publish gives a blob its name, in place of an earlier copy of the same bytes, whose age begins anew.
func (s *Store) publish(temp, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.Rename(temp, filepath.Join(s.dir, name)); err != nil {
		return err
	}
	return syncDir(s.dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Open implements session.Blobs. The error for a blob that isn't there is fs.ErrNotExist, for a text that is no URL ErrURL.
func (s *Store) Open(ctx context.Context, url string) (io.ReadCloser, error) {
	name, ok := nameOf(url)
	if !ok {
		return nil, ErrURL
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	return f, nil
}

// nameOf returns the file's name; ok is false for anything but the URLs that Put returns.
func nameOf(url string) (name string, ok bool) {
	name, ok = strings.CutPrefix(url, Scheme)
	return name, ok && isName(name)
}

func isName(name string) bool {
	return len(name) == hex.EncodedLen(sha256.Size) && strings.Trim(name, "0123456789abcdef") == ""
}

// sink counts and hashes what is written to a file. It refuses to go on once its context has ended or a write has failed, whatever
// fill makes of that.
type sink struct {
	ctx context.Context
	f   *os.File
	sum hash.Hash
	n   int64
	err error
}

// Write implements io.Writer.
func (w *sink) Write(p []byte) (int, error) {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.f.Write(p)
	w.sum.Write(p[:n])
	w.n += int64(n)
	w.err = err
	return n, err
}
