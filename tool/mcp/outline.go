package mcp

import (
	"encoding/json"
	"strings"
)

// maxToken is how much is kept of a key or value.
const maxToken = 128

// outline reads a JSON object that is too large to be kept, piece by piece, and finds whose answer it is. It takes the object for JSON;
// of what isn't, it finds anything.
type outline struct {
	depth       int  // of braces and brackets
	quoted      bool // within a string
	escaped     bool // behind a backslash
	valued      bool // behind the colon of a member
	token       []byte
	key         string
	id          string
	isRequest   bool
	hasResponse bool
}

// read takes the next piece.
func (o *outline) read(piece []byte) {
	for _, c := range piece {
		switch {
		case o.quoted:
			o.keep(c)
			o.quoted = c != '"' || o.escaped
			o.escaped = c == '\\' && !o.escaped
		case o.depth == 0 && c != '{': // what stands before the object
		case strings.IndexByte(" \t\r\n", c) >= 0:
		default:
			o.mark(c)
		}
	}
}

// mark takes a byte that stands outside strings.
func (o *outline) mark(c byte) {
	switch {
	case c == '"':
		o.quoted = true
		o.keep(c)
	case c == '{' || c == '[':
		o.keep(c)
		o.depth++
	case c == '}' || c == ']':
		if o.depth--; o.depth == 0 {
			o.member()
		}
	case o.depth == 1 && c == ':':
		o.key, o.token, o.valued = string(o.token), nil, true
	case o.depth == 1 && c == ',':
		o.member()
	default:
		o.keep(c)
	}
}

func (o *outline) keep(c byte) {
	if o.depth == 1 && len(o.token) < maxToken {
		o.token = append(o.token, c)
	}
}

// member ends one member of the object.
func (o *outline) member() {
	if o.valued {
		switch o.key {
		case `"id"`:
			o.id = string(o.token)
		case `"method"`:
			o.isRequest = true
		case `"result"`, `"error"`:
			o.hasResponse = true
		}
	}
	o.key, o.token, o.valued = "", nil, false
}

// answer returns the tooLarge that stands for the object; nil where it is no answer to a request.
func (o *outline) answer() []byte {
	if o.isRequest || !o.hasResponse || len(o.id) == maxToken || !json.Valid([]byte(o.id)) || strings.IndexAny(o.id, "{[") == 0 {
		return nil
	}
	return tooLarge([]byte(o.id))
}
