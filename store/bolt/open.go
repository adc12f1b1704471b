package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
)

var bucketName = []byte("orebot")

const (
	fileMode           = 0o600
	dirMode            = 0o700
	defaultLockTimeout = time.Second
	minMmap            = 1 << 30
)

// Open opens the state database, and makes it, with its directory, where there is none. Only one process can have it open.
// Every error is an *OpenError, whose text is one sentence for the operator.
func Open(path string, o Options) (*Store, error) {
	return openWith(path, o, migrations())
}

func openWith(path string, o Options, steps []migration) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = defaultLockTimeout
	}
	s, err := openStore(path, o, steps)
	if err != nil {
		return nil, asOpenError(path, err)
	}
	return s, nil
}

func openStore(path string, o Options, steps []migration) (*Store, error) {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	size := mmapSize(path, o)
	db, err := openFile(path, o, size)
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, mapped: mappedFor(int64(size)), opts: o, path: path, failed: make(chan struct{}), lost: make(chan struct{})}
	if err := guarded(func() error { return s.start(steps) }); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// start brings the schema up to date and reads what the committer keeps in memory.
func (s *Store) start(steps []migration) error {
	if err := migrate(s.db, steps); err != nil {
		return err
	}
	return s.db.View(func(tx *bolt.Tx) (err error) {
		s.durable.Store(int64(tx.ID()))
		s.sums, err = readSums(tx.Bucket(bucketName))
		return err
	})
}

// openFile opens the file with bbolt. A panic of bbolt, and a page that can't be read, mean that the file is damaged.
func openFile(path string, o Options, size int) (db *bolt.DB, err error) {
	var file *os.File
	_, statErr := os.Stat(path)
	err = guarded(func() (err error) {
		db, err = openBolt(path, o, size, &file)
		return err
	})
	if err != nil && file != nil {
		unlock(file) // bbolt leaves it open, and locked, when it panics
	}
	if err == nil && errors.Is(statErr, fs.ErrNotExist) {
		err = syncDir(filepath.Dir(path)) // a new file must still be there after a power cut
	}
	return db, err
}

// guarded makes errors of the panics that a damaged file gives rise to, and of pages that the system can't read.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &OpenError{Reason: Damaged, Err: fmt.Errorf("%v", r)}
		}
	}()
	return f()
}

// openBolt opens the file with bbolt and notes it in file.
func openBolt(path string, o Options, size int, file **os.File) (*bolt.DB, error) {
	return bolt.Open(path, fileMode, &bolt.Options{
		NoFreelistSync:  true,
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: size,
		NoStatistics:    true,
		OpenFile: func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
			f, err = openLocked(name, flag, mode, o)
			*file = f
			return f, err
		},
	})
}

// mmapSize is at least 1 GiB and 1 GiB more than the file: a commit that has to map it anew waits for every reader.
func mmapSize(path string, o Options) int {
	if o.mmapSize > 0 {
		return o.mmapSize
	}
	size := int64(minMmap)
	if fi, err := os.Stat(path); err == nil {
		size += fi.Size()
	}
	return int(min(size, math.MaxInt/2+1))
}

// openLocked opens the file for bbolt, locks it and looks it over before bbolt does: some of what bbolt does with a damaged file
// can't be recovered from.
func openLocked(name string, flag int, mode os.FileMode, o Options) (*os.File, error) {
	if fi, err := os.Stat(name); err == nil && !fi.Mode().IsRegular() {
		return nil, &OpenError{Reason: Foreign, Err: errors.New("not a regular file")}
	}
	f, err := os.OpenFile(name, flag, mode)
	if err != nil {
		return nil, &OpenError{Reason: Unwritable, Err: err}
	}
	err = lock(f, o.LockTimeout)
	if err == nil {
		err = private(f, o.Logger)
	}
	if err == nil {
		err = verifyPages(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// private takes the file away from everybody but its owner.
func private(f *os.File, log *slog.Logger) error {
	fi, err := f.Stat()
	if err != nil {
		return &OpenError{Reason: Unwritable, Err: err}
	}
	if fi.Mode().Perm()&0o077 == 0 {
		return nil
	}
	log.Warn("others could read the state database; they can't any more", "path", f.Name())
	if err := f.Chmod(fileMode); err != nil {
		return &OpenError{Reason: Unwritable, Err: err}
	}
	return nil
}

// makeDir makes the directory and what is missing above it, durably.
func makeDir(dir string) error {
	if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return &OpenError{Reason: Unwritable, Err: err}
	}
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		return &OpenError{Reason: Unwritable, Err: fmt.Errorf("%s is not a directory", dir)}
	}
	return syncDir(parent)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return &OpenError{Reason: Unwritable, Err: err}
	}
	defer d.Close() //nolint:errcheck // read only
	if err := d.Sync(); err != nil {
		return &OpenError{Reason: Unwritable, Err: err}
	}
	return nil
}
