package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

const (
	formatV1  = 1
	chunked   = 0x80 // set in the format byte of a value that goes on in chunks
	chunkSize = 4 << 10
	maxChunks = 255
)

var errNoChunk = errors.New("a chunk is missing or odd")

// value is an encoded value, cut as it is stored: what lies under the record's key, and the chunks behind it.
type value struct {
	head []byte
	rest [][]byte
}

// newValue starts an encoded value; the caller appends to it and hands it to seal.
func newValue(size int) []byte { return append(make([]byte, 0, size+1), formatV1) }

// seal cuts an encoded value. It keeps the slice.
func seal(v []byte) value {
	if len(v) <= chunkSize {
		return value{head: v}
	}
	body := v[1:]
	first := chunkSize - 3
	out := value{head: make([]byte, 3, chunkSize)}
	out.head[0] = v[0] | chunked
	out.head = append(out.head, body[:first]...)
	for body = body[first:]; len(body) > 0; {
		n := min(chunkSize, len(body))
		out.rest = append(out.rest, body[:n:n])
		body = body[n:]
	}
	binary.BigEndian.PutUint16(out.head[1:], uint16(len(out.rest)))
	return out
}

func (v value) size() int {
	n := len(v.head)
	for _, c := range v.rest {
		n += len(c)
	}
	return n
}

// body returns the part of the value under the record's own key that follows the format. Writing to it changes the value.
func (v value) body() []byte {
	if len(v.rest) > 0 {
		return v.head[3:]
	}
	return v.head[1:]
}

func chunkKey(key []byte, i int) []byte {
	return binary.BigEndian.AppendUint16(key[:len(key):len(key)], uint16(i))
}

// open takes the format off what lies under a record's key and says how many chunks follow.
func open(head []byte) (body []byte, chunks int, err error) {
	if len(head) == 0 {
		return nil, 0, errors.New("the value is empty")
	}
	if f := head[0] &^ chunked; f != formatV1 {
		return nil, 0, fmt.Errorf("its format %d is unknown", f)
	}
	if head[0]&chunked == 0 {
		return head[1:], 0, nil
	}
	if len(head) < 3 {
		return nil, 0, errNoChunk
	}
	chunks = int(binary.BigEndian.Uint16(head[1:]))
	if chunks == 0 || chunks > maxChunks {
		return nil, 0, errNoChunk
	}
	return head[3:], chunks, nil
}

// read returns the body of the value under key, with its chunks; ok is false where there is none. The body may lie in the
// database's memory and is valid until the transaction ends.
func read(b *bolt.Bucket, key []byte) (body []byte, ok bool, err error) {
	head := b.Get(key)
	if head == nil {
		return nil, false, nil
	}
	body, n, err := open(head)
	if err != nil || n == 0 {
		return body, true, err
	}
	body = append(make([]byte, 0, len(body)+n*chunkSize), body...)
	for i := 1; i <= n; i++ {
		c := b.Get(chunkKey(key, i))
		if len(c) == 0 {
			return nil, true, errNoChunk
		}
		body = append(body, c...)
	}
	return body, true, nil
}

// chunksOf counts the chunks of what is stored under a key now; an unreadable value has none that are known.
func chunksOf(head []byte) int {
	_, n, err := open(head)
	if err != nil {
		return 0
	}
	return n
}
