package blob

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "state", "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// writes is a fill that writes these bytes in pieces.
func writes(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.Copy(w, io.LimitReader(bytes.NewReader(data), int64(len(data))))
		return err
	}
}

func put(t *testing.T, s *Store, data string) string {
	t.Helper()
	url, n, err := s.Put(t.Context(), writes([]byte(data)))
	if err != nil || n != int64(len(data)) {
		t.Fatalf("put: %d bytes, %v", n, err)
	}
	return url
}

func content(t *testing.T, s *Store, url string) string {
	t.Helper()
	r, err := s.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func files(t *testing.T, s *Store) []string {
	t.Helper()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestTheSameBytesHaveTheSameURL(t *testing.T) {
	s := open(t)
	const hello = "blob:sha256/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // sha256sum of "hello"
	if url := put(t, s, "hello"); url != hello {
		t.Errorf("url %s, want %s", url, hello)
	}
	put(t, s, "hello")
	empty := put(t, s, "")
	big := put(t, s, strings.Repeat("x", 3<<20))
	if n := len(files(t, s)); n != 3 {
		t.Errorf("%d files, want 3", n)
	}
	again, err := Open(s.dir) // another life of the process
	if err != nil {
		t.Fatal(err)
	}
	if content(t, again, hello) != "hello" || content(t, again, empty) != "" || len(content(t, again, big)) != 3<<20 {
		t.Error("what was put came back changed")
	}
}

func TestOnlyTheOwnerMayRead(t *testing.T) {
	s := open(t)
	url := put(t, s, "private")
	for path, want := range map[string]fs.FileMode{s.dir: 0o700, filepath.Join(s.dir, strings.TrimPrefix(url, Scheme)): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v; want %v", filepath.Base(path), info.Mode(), err, want)
		}
	}
}

func TestAFailedFillLeavesNothing(t *testing.T) {
	s := open(t)
	tooBig := errors.New("it is too big")
	_, _, err := s.Put(t.Context(), func(w io.Writer) error {
		_, _ = w.Write([]byte("a part of it"))
		return tooBig
	})
	if err != tooBig { //nolint:errorlint // as it is
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err = s.Put(ctx, func(w io.Writer) error {
		_, _ = w.Write([]byte("a part of it"))
		cancel()
		_, _ = w.Write([]byte("the rest, whose error nobody looks at"))
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the context ended", err)
	}
	if names := files(t, s); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestOddURLsAreRefused(t *testing.T) {
	s := open(t)
	if err := os.WriteFile(filepath.Join(filepath.Dir(s.dir), "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	hex := strings.TrimPrefix(put(t, s, "hello"), Scheme)
	for _, url := range []string{
		"", Scheme, "../secret", Scheme + "../secret", Scheme + "..%2fsecret", "/etc/passwd", "file:///etc/passwd", hex, "sha256/" + hex,
		Scheme + strings.ToUpper(hex), Scheme + hex + "/", Scheme + hex[1:], Scheme + hex + "0", "blob:sha512/" + hex,
		Scheme + strings.Repeat("../", 21) + "x", Scheme + hex[:63] + "\x00", " " + Scheme + hex,
	} {
		if r, err := s.Open(t.Context(), url); !errors.Is(err, ErrURL) {
			t.Errorf("%q: %v", url, err)
			if r != nil {
				_ = r.Close()
			}
		}
	}
	if _, err := s.Open(t.Context(), Scheme+strings.Repeat("0", 64)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing blob: %v", err)
	}
}

// What a kill -9 leaves in the middle of a Put is a file of the temporary kind, which nobody can name.
func TestHalfWrittenBlobsAreGoneAfterOpen(t *testing.T) {
	s := open(t)
	kept := put(t, s, "kept")
	started := make(chan struct{})
	unwind := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _, _ = s.Put(context.Background(), func(w io.Writer) error {
			_, _ = w.Write([]byte("half of"))
			close(started)
			<-unwind
			return errors.New("killed")
		})
	})
	<-started
	if n := len(files(t, s)); n != 2 {
		t.Fatalf("%d files in the middle of a put", n)
	}
	again, err := Open(s.dir) // as the next process would
	if err != nil {
		t.Fatal(err)
	}
	if names := files(t, again); len(names) != 1 || content(t, again, kept) != "kept" {
		t.Errorf("after open: %v", names)
	}
	close(unwind)
	wg.Wait()
}

func age(t *testing.T, s *Store, name string, d time.Duration) {
	t.Helper()
	at := time.Now().Add(-d)
	if err := os.Chtimes(filepath.Join(s.dir, name), at, at); err != nil {
		t.Fatal(err)
	}
}

func TestSweepTakesWhatIsOldAndNotReferredTo(t *testing.T) {
	s := open(t)
	names := map[string]string{}
	for _, what := range []string{"old", "old but named", "new", "put again"} {
		url := put(t, s, what)
		names[what] = strings.TrimPrefix(url, Scheme)
		if what != "new" {
			age(t, s, names[what], 2*time.Hour)
		}
	}
	for _, other := range []string{".new-left", "README"} {
		if err := os.WriteFile(filepath.Join(s.dir, other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		age(t, s, other, 2*time.Hour)
	}
	mark := func(_ context.Context, keep func(string)) error {
		keep(Scheme + names["old but named"])
		keep("https://example.org/picture.png")
		put(t, s, "put again") // while the references are being gathered
		return nil
	}
	n, err := s.Sweep(t.Context(), time.Now(), mark)
	if err != nil || n != 1 {
		t.Errorf("%d swept, %v; want 1", n, err)
	}
	left := strings.Join(files(t, s), " ")
	for what, name := range names {
		if strings.Contains(left, name) == (what == "old") {
			t.Errorf("%s: wrong after the sweep", what)
		}
	}
	if strings.Contains(left, ".new-left") || !strings.Contains(left, "README") {
		t.Errorf("left: %s", left)
	}
}

func TestSweepRemovesNothingWhenReferencesAreUnknown(t *testing.T) {
	s := open(t)
	name := strings.TrimPrefix(put(t, s, "old"), Scheme)
	called := 0
	mark := func(context.Context, func(string)) error { called++; return errors.New("the log can't be read") }
	if n, err := s.Sweep(t.Context(), time.Now(), mark); n != 0 || err != nil || called != 0 {
		t.Errorf("with nothing old: %d swept, %v, marked %d times", n, err, called)
	}
	age(t, s, name, 2*time.Hour)
	if n, err := s.Sweep(t.Context(), time.Now(), mark); n != 0 || err == nil || called != 1 {
		t.Errorf("%d swept, %v", n, err)
	}
	if len(files(t, s)) != 1 {
		t.Error("it is gone")
	}
}

func TestManyPutTheSameAtOnce(t *testing.T) {
	s := open(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			data := bytes.Repeat([]byte{byte(i % 4)}, 100_000)
			url, _, err := s.Put(context.Background(), writes(data))
			if err != nil {
				t.Error(err)
				return
			}
			r, err := s.Open(context.Background(), url)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			if got, _ := io.ReadAll(r); !bytes.Equal(got, data) {
				t.Error("another's bytes")
			}
		})
	}
	wg.Wait()
	if n := len(files(t, s)); n != 4 {
		t.Errorf("%d files, want 4", n)
	}
}
