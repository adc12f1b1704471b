package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"syscall"
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

// walk looks at the pages in memory: reading each with a call of its own takes ten times as long. A page that can't be read is a
// fault, which openFile recovers from.
func walk(f *os.File, m meta) (err error) {
	data, err := syscall.Mmap(int(f.Fd()), 0, int(int64(m.pages)*m.pageSize), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return &OpenError{Reason: Unwritable, Err: fmt.Errorf("map: %w", err)}
	}
	defer func() { err = errors.Join(err, syscall.Munmap(data)) }()
	w := &walker{data: data, meta: m, seen: make([]bool, m.pages)}
	return w.page(m.root, 0)
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

// walker visits the pages in use, from the root.
type walker struct {
	data []byte
	meta meta
	seen []bool
}

const maxDepth = 64

func (w *walker) page(id uint64, depth int) error {
	p, err := w.read(id)
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return damaged("page %d lies too deep", id)
	}
	return w.elements(id, p, depth)
}

// read returns a page with its overflow, after marking it as seen.
func (w *walker) read(id uint64) ([]byte, error) {
	if id < 2 || id >= w.meta.pages {
		return nil, damaged("it refers to page %d of %d", id, w.meta.pages)
	}
	head := w.data[int64(id)*w.meta.pageSize:]
	n := uint64(native.Uint32(head[12:])) + 1
	if native.Uint64(head) != id || n > w.meta.pages-id {
		return nil, damaged("page %d isn't one", id)
	}
	for i := id; i < id+n; i++ {
		if w.seen[i] {
			return nil, damaged("page %d is used twice", i)
		}
		w.seen[i] = true
	}
	return head[:int64(n)*w.meta.pageSize], nil
}

// elements checks the bounds of a page's elements and follows those that refer to pages.
func (w *walker) elements(id uint64, p []byte, depth int) error {
	flags, count := native.Uint16(p[8:]), int(native.Uint16(p[10:]))
	if flags != branchPage && flags != leafPage || pageHeader+count*elementSize > len(p) || flags == branchPage && count == 0 {
		return damaged("page %d isn't one", id)
	}
	for i := range count {
		at := pageHeader + i*elementSize
		child, err := w.element(p, at, flags, depth)
		if err != nil {
			return fmt.Errorf("page %d: %w", id, err)
		}
		if child == 0 {
			continue
		}
		if err := w.page(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// element returns the page that an element refers to; 0 where it holds a value.
func (w *walker) element(p []byte, at int, flags uint16, depth int) (child uint64, err error) {
	e := p[at:]
	if flags == branchPage {
		pos, ksize := uint64(native.Uint32(e)), uint64(native.Uint32(e[4:]))
		if uint64(at)+pos+ksize > uint64(len(p)) {
			return 0, damaged("an element lies outside")
		}
		return native.Uint64(e[8:]), nil
	}
	pos, ksize, vsize := uint64(native.Uint32(e[4:])), uint64(native.Uint32(e[8:])), uint64(native.Uint32(e[12:]))
	end := uint64(at) + pos + ksize + vsize
	if end > uint64(len(p)) {
		return 0, damaged("an element lies outside")
	}
	if native.Uint32(e)&bucketLeaf == 0 {
		return 0, nil
	}
	return w.bucket(p[end-vsize:end], depth)
}

// bucket returns the root page of a bucket; one so small that it lies in its parent's page is looked over at once.
func (w *walker) bucket(v []byte, depth int) (root uint64, err error) {
	if len(v) < 16 {
		return 0, damaged("a bucket is cut short")
	}
	if root = native.Uint64(v); root != 0 {
		return root, nil
	}
	if len(v) < 16+pageHeader {
		return 0, damaged("a bucket is cut short")
	}
	return 0, w.elements(0, v[16:], depth)
}
