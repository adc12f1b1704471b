package access

import "sync"

// Note is what the operator has decided of a person or a place.
type Note uint8

// The notes.
const (
	Unknown Note = iota // nothing was decided
	Allowed
	Revoked
)

// Book holds what the operator has decided at run time, by id of a person or place. It is the copy in memory of what is stored, so
// that nobody waits for the disk to know who may come in. It is safe for concurrent use; a nil Book is empty.
type Book struct {
	mu    sync.RWMutex
	notes map[string]Note
}

// NewBook returns an empty Book.
func NewBook() *Book { return &Book{notes: map[string]Note{}} }

// Put notes a decision, which holds from now on; Unknown takes an earlier one back.
func (b *Book) Put(id string, n Note) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n == Unknown {
		delete(b.notes, id)
		return
	}
	b.notes[id] = n
}

func (b *Book) noted(id string) Note {
	if b == nil {
		return Unknown
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.notes[id]
}
