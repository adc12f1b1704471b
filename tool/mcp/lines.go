package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// What stands in place of an answer that is too large: an error that the call gets, so that only this call fails.
const (
	tooLargeCode = -32099
	tooLargeText = "orebot: the answer is too large"
)

// tooLarge is that answer, to the request with an id.
func tooLarge(id []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, tooLargeCode, tooLargeText)
}

// headSize is how much is kept of a line that is too long.
const headSize = 16

// cutter reads lines of bounded length, which is no less than headSize.
type cutter struct {
	r   *bufio.Reader
	max int
}

func newCutter(r io.Reader, limit int) *cutter {
	return &cutter{r: bufio.NewReaderSize(r, 64<<10), max: limit}
}

// line returns the next line with its end. Of one that is longer than the limit it returns the head, and the outline of what stands from its
// first brace on. The last line may have no end; with an error there is no line.
func (c *cutter) line() (line []byte, long *outline, err error) {
	for {
		piece, err := c.r.ReadSlice('\n')
		switch {
		case long != nil:
			long.read(piece)
		case len(line)+len(piece) > c.max:
			long = &outline{}
			long.read(line)
			long.read(piece)
			line = bytes.Clone(append(line, piece[:min(len(piece), headSize)]...)[:headSize])
		default:
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && len(line) == 0:
			return nil, nil, err
		default:
			return line, long, nil
		}
	}
}

// messages is what a command writes, without what is no message: lines that it, or what it is started by, prints for people to read. They
// are handed to junk. A message that is too large becomes its tooLarge, or nothing where nobody waits for it.
type messages struct {
	*cutter
	io.Closer
	junk io.Writer
	rest []byte
	row  int // lines without a message between them
}

// maxJunk is how many lines in a row may be no message: who writes more doesn't speak the protocol.
const maxJunk = 1000

// Read reads whole messages, with line ends.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		line, long, err := m.line()
		if err != nil {
			return 0, err
		}
		if long != nil {
			line = append(long.answer(), '\n')
		}
		if m.row++; isMessage(line) {
			m.rest, m.row = append(bytes.TrimSpace(line), '\n'), 0
			break
		}
		_, _ = m.junk.Write(append(bytes.TrimSpace(line), '\n'))
		if m.row > maxJunk {
			return 0, errors.New("mcp: what it writes are no messages")
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// isMessage tells a message, or a batch of them, from other lines, such as those of a log, which may be JSON too.
func isMessage(line []byte) bool {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] == '[' {
		return len(line) > 0 && json.Valid(line)
	}
	var fields map[string]json.RawMessage
	return json.Unmarshal(line, &fields) == nil && string(fields["jsonrpc"]) == `"2.0"`
}

// events is a stream of events, in which a message that is too large became its tooLarge.
type events struct {
	*cutter
	rest []byte
}

// Read reads whole lines.
func (e *events) Read(p []byte) (int, error) {
	for len(e.rest) == 0 {
		line, long, err := e.line()
		if err != nil {
			return 0, err
		}
		if e.rest = line; long != nil {
			e.rest = nil
			if a := long.answer(); a != nil && bytes.HasPrefix(line, []byte("data:")) {
				e.rest = append(append([]byte("data: "), a...), '\n')
			}
		}
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}
