package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// walk looks at the pages in memory: reading each with a call of its own takes ten times as long. A page that can't be read is a
// fault, which openFile recovers from.
func walk(f *os.File, m meta) (err error) {
	data, err := syscall.Mmap(int(f.Fd()), 0, int(int64(m.pages)*m.pageSize), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return &OpenError{Reason: Unwritable, Err: fmt.Errorf("map: %w", err)}
	}
	defer func() { err = errors.Join(err, syscall.Munmap(data)) }()
	w := &walker{data: data, meta: m, seen: make([]bool, m.pages)}
	return w.page(m.root, place{})
}

// walker visits the pages in use, from the root. It refuses whatever bbolt would: bbolt says so by a panic, while a goroutine of its
// own goes on reading what has been closed by then.
type walker struct {
	data []byte
	meta meta
	seen []bool
}

// place is where in a tree a page lies: below how many others, and between which keys of its parent.
type place struct {
	depth  int
	lo, hi []byte // at least lo, less than hi; nil: no bound
}

const maxDepth = 64

func (w *walker) page(id uint64, at place) error {
	p, err := w.read(id)
	if err != nil {
		return err
	}
	if at.depth > maxDepth {
		return damaged("page %d lies too deep", id)
	}
	return w.elements(id, p, at)
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

// element is one element of a page.
type element struct {
	key   []byte
	child uint64 // in a branch: the page below
	sub   []byte // in a leaf: the value, if it is a bucket
}

// elements checks a page's elements and follows those that refer to pages.
func (w *walker) elements(id uint64, p []byte, at place) error {
	flags, count := native.Uint16(p[8:]), int(native.Uint16(p[10:]))
	if flags != branchPage && flags != leafPage || pageHeader+count*elementSize > len(p) || flags == branchPage && count == 0 {
		return damaged("page %d isn't one", id)
	}
	all := make([]element, count)
	for i := range all {
		var ok bool
		if all[i], ok = elementAt(p, pageHeader+i*elementSize, flags); !ok {
			return damaged("page %d: an element lies outside", id)
		}
	}
	if !ordered(all, at) {
		return damaged("page %d: its keys are out of order", id)
	}
	for i, e := range all {
		below := place{depth: at.depth + 1, lo: e.key, hi: at.hi}
		if i+1 < count {
			below.hi = all[i+1].key
		}
		if err := w.follow(e, flags, below); err != nil {
			return err
		}
	}
	return nil
}

func ordered(all []element, at place) bool {
	for i, e := range all {
		switch {
		case i == 0 && at.lo != nil && bytes.Compare(e.key, at.lo) < 0,
			i > 0 && bytes.Compare(e.key, all[i-1].key) <= 0,
			at.hi != nil && bytes.Compare(e.key, at.hi) >= 0:
			return false
		}
	}
	return true
}

// elementAt reads the element whose head lies at a place in a page; ok is false where it reaches beyond the page.
func elementAt(p []byte, at int, flags uint16) (e element, ok bool) {
	h := p[at:]
	if flags == branchPage {
		pos := uint64(at) + uint64(native.Uint32(h))
		end := pos + uint64(native.Uint32(h[4:]))
		if end > uint64(len(p)) {
			return e, false
		}
		return element{key: p[pos:end], child: native.Uint64(h[8:])}, true
	}
	pos := uint64(at) + uint64(native.Uint32(h[4:]))
	mid := pos + uint64(native.Uint32(h[8:]))
	end := mid + uint64(native.Uint32(h[12:]))
	if end > uint64(len(p)) {
		return e, false
	}
	e.key = p[pos:mid]
	if native.Uint32(h)&bucketLeaf != 0 {
		e.sub = p[mid:end]
	}
	return e, true
}

// follow goes on to the page below a branch's element, or to the bucket in a leaf's; one so small that it lies in its parent's page
// is looked over there.
func (w *walker) follow(e element, flags uint16, below place) error {
	if flags == branchPage {
		return w.page(e.child, below)
	}
	if e.sub == nil {
		return nil
	}
	if len(e.sub) < 16 {
		return damaged("a bucket is cut short")
	}
	own := place{depth: below.depth}
	if root := native.Uint64(e.sub); root != 0 {
		return w.page(root, own)
	}
	if len(e.sub) < 16+pageHeader || own.depth > maxDepth {
		return damaged("a bucket is cut short")
	}
	return w.elements(0, e.sub[16:], own)
}
