package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// What bbolt's pages look like (its internal/common package). Numbers are in the machine's own byte order.
const (
	pageHeader   = 16 // id 8, flags 2, count 2, overflow 4
	metaSize     = 64 // magic 4, version 4, page size 4, flags 4, root 8, sequence 8, freelist 8, pages 8, transaction 8, checksum 8
	metaMagic    = 0xED0CDAED
	metaVersion  = 2
	elementSize  = 16
	branchPage   = 0x01
	leafPage     = 0x02
	bucketLeaf   = 0x01
	noFreelist   = ^uint64(0)
	maxPageShift = 14
)

var native = binary.NativeEndian

// meta is one of bbolt's two root pages.
type meta struct {
	pageSize              int64
	root, freelist, pages uint64
	txid                  uint64
}

// verifyPages looks over the structure of a file: its root, its length, and, where bbolt is going to look for free pages because
// the last stop wasn't a clean one, each page in use. It doesn't look at what the pages say. Without it, bbolt would panic in a
// goroutine of its own. An empty file is fine.
func verifyPages(f *os.File) error {
	fi, err := f.Stat()
	if err != nil {
		return &OpenError{Reason: Unwritable, Err: err}
	}
	if fi.Size() == 0 {
		return nil
	}
	m, err := readMeta(f, fi.Size())
	if err != nil {
		return err
	}
	if want := int64(m.pages) * m.pageSize; fi.Size() < want || want <= 0 {
		return damaged("it ends after %d of %d bytes", fi.Size(), want)
	}
	if m.freelist != noFreelist {
		return nil
	}
	return walk(f, m)
}

func damaged(format string, args ...any) error {
	return &OpenError{Reason: Damaged, Err: fmt.Errorf(format, args...)}
}

// readMeta returns the newest valid root. The second one's place depends on the page size, which only the roots know.
func readMeta(f io.ReaderAt, size int64) (meta, error) {
	best, err := metaAt(f, 0)
	ours := err == nil || errors.Is(err, errBadMeta)
	places := []int64{best.pageSize}
	if err != nil {
		places = places[:0]
		for i := range maxPageShift + 1 {
			places = append(places, 1024<<i)
		}
	}
	for _, at := range places {
		if at >= size {
			break
		}
		m, merr := metaAt(f, at)
		if merr == nil && (err != nil || m.txid > best.txid) {
			best, err = m, nil
			break
		}
		ours = ours || errors.Is(merr, errBadMeta)
	}
	switch {
	case err == nil:
		return best, nil
	case ours:
		return meta{}, damaged("both of its roots are unreadable")
	}
	return meta{}, &OpenError{Reason: Foreign, Err: errors.New("it isn't a bbolt file")}
}

var (
	errNoMeta  = errors.New("no root")
	errBadMeta = errors.New("damaged root")
)

func metaAt(f io.ReaderAt, at int64) (meta, error) {
	var buf [metaSize]byte
	if _, err := f.ReadAt(buf[:], at+pageHeader); err != nil {
		return meta{}, errNoMeta
	}
	if native.Uint32(buf[:]) != metaMagic {
		return meta{}, errNoMeta
	}
	h := fnv.New64a()
	h.Write(buf[:56]) //nolint:errcheck // a hash never fails
	m := meta{
		pageSize: int64(native.Uint32(buf[8:])),
		root:     native.Uint64(buf[16:]),
		freelist: native.Uint64(buf[32:]),
		pages:    native.Uint64(buf[40:]),
		txid:     native.Uint64(buf[48:]),
	}
	ok := native.Uint32(buf[4:]) == metaVersion && native.Uint64(buf[56:]) == h.Sum64()
	if !ok || m.pageSize < 512 || m.pageSize > 1024<<maxPageShift || m.pages > 1<<40 {
		return meta{}, errBadMeta
	}
	return m, nil
}
