package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Grace is how old a blob must be before a sweep may take it: a turn that names it may not be durable yet.
const Grace = time.Hour

// Sweep removes the blobs that nothing refers to and that were put more than Grace before now, with what failed writes have left
// behind; it returns how many blobs. mark calls keep with the URL of every blob that is referred to; it isn't called where no blob
// is old enough, and where it fails nothing is removed.
func (s *Store) Sweep(ctx context.Context, now time.Time, mark func(ctx context.Context, keep func(url string)) error) (int, error) {
	old, err := s.olderThan(now.Add(-Grace))
	if err != nil || len(old) == 0 {
		return 0, err
	}
	kept := map[string]bool{}
	err = mark(ctx, func(url string) {
		if name, ok := nameOf(url); ok {
			kept[name] = true
		}
	})
	if err != nil {
		return 0, fmt.Errorf("blob: sweep: %w", err)
	}
	n := 0
	for _, name := range old {
		if kept[name] || ctx.Err() != nil {
			continue
		}
		gone, rerr := s.removeOlder(name, now.Add(-Grace))
		err = errors.Join(err, rerr)
		if gone && isName(name) {
			n++
		}
	}
	return n, errors.Join(err, ctx.Err())
}

// olderThan lists the blobs, and the leftovers, that were last put before a time.
func (s *Store) olderThan(t time.Time) (names []string, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("blob: sweep: %w", err)
	}
	for _, e := range entries {
		if !isName(e.Name()) && !strings.HasPrefix(e.Name(), tempPrefix) {
			continue // not ours
		}
		if info, err := e.Info(); err == nil && info.ModTime().Before(t) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// removeOlder removes a file unless it has been put again meanwhile.
func (s *Store) removeOlder(name string, t time.Time) (gone bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := filepath.Join(s.dir, name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("blob: sweep: %w", err)
	case !info.ModTime().Before(t):
		return false, nil
	}
	if err := os.Remove(path); err != nil {
		return false, fmt.Errorf("blob: sweep: %w", err)
	}
	return true, nil
}
