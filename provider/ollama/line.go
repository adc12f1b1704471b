package ollama

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the longest line of a stream that is read: a whole tool call with large arguments fits many times.
const maxLine = 4 << 20

var errLineTooLong = errors.New("a line of the stream is longer than 4 MiB")

// lineReader reads lines of any length up to a limit. Its memory follows the longest line seen.
type lineReader struct {
	r     *bufio.Reader
	long  []byte // holds a line that is longer than r's buffer
	limit int
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReader(r), limit: limit}
}

// next returns the next line that isn't blank, without the white space around it; it is valid until the next call. A last
// line without a newline counts. At the end it returns io.EOF, for a line over the limit errLineTooLong.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.line()
		if line = bytes.TrimSpace(line); len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *lineReader) line() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.long)+len(part) > l.limit {
			return nil, errLineTooLong
		}
		if err == nil && len(l.long) == 0 {
			return part, nil
		}
		l.long = append(l.long, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, err
		}
	}
}
