package ollama

import "strings"

// The tags around reasoning that a server left in the content.
const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// thinkSplitter parts the content of one answer into reasoning and text. Only a <think> at the very start of the answer,
// white space aside, opens reasoning, and a stray </think> there is dropped: later on both are text, because a model may
// write about them. White space before the text is held back until text follows, so an answer of nothing else is empty.
// The zero value is ready.
type thinkSplitter struct {
	state splitState
	held  string // undecided: a prefix of a tag, or leading white space
	// native says that the server parts reasoning itself: a <think> in the content is then meant as text.
	native bool
}

type splitState uint8

const (
	atStart    splitState = iota // nothing but white space so far
	inThink                      // after <think>
	afterThink                   // after </think>: white space is dropped
	inText
)

// add takes a piece of content and returns what of it and of earlier pieces is decided.
func (s *thinkSplitter) add(piece string) (reasoning, text string) {
	s.held += piece
	for {
		r, t, again := s.step()
		reasoning += r
		text += t
		if !again {
			return reasoning, text
		}
	}
}

// step decides as much of what is held as one state can; again says that the state has changed.
func (s *thinkSplitter) step() (reasoning, text string, again bool) {
	switch s.state {
	case atStart:
		return s.start()
	case inThink:
		r, again := s.think()
		return r, "", again
	case afterThink:
		s.held = strings.TrimLeft(s.held, " \t\r\n")
		if s.held != "" {
			s.state = inText
		}
		return "", "", s.held != ""
	default:
		text, s.held = s.held, ""
		return "", text, false
	}
}

func (s *thinkSplitter) start() (reasoning, text string, again bool) {
	body := strings.TrimLeft(s.held, " \t\r\n")
	if rest, ok := strings.CutPrefix(body, thinkOpen); ok && !s.native {
		s.held, s.state = rest, inThink
		return "", "", true
	}
	if rest, ok := strings.CutPrefix(body, thinkClose); ok {
		s.held, s.state = rest, afterThink
		return "", "", true
	}
	if strings.HasPrefix(thinkOpen, body) || strings.HasPrefix(thinkClose, body) {
		return "", "", false // nothing yet, or the beginning of a tag
	}
	s.state = inText
	return "", "", true
}

func (s *thinkSplitter) think() (reasoning string, again bool) {
	if r, rest, ok := strings.Cut(s.held, thinkClose); ok {
		s.held, s.state = rest, afterThink
		return r, true
	}
	n := len(s.held) - partial(s.held, thinkClose)
	reasoning, s.held = s.held[:n], s.held[n:]
	return reasoning, false
}

// end returns what is still held when the answer is over. White space alone is nothing.
func (s *thinkSplitter) end() (reasoning, text string) {
	held := s.held
	s.held = ""
	switch {
	case s.state == inThink:
		return held, ""
	case strings.TrimSpace(held) == "":
		return "", ""
	default:
		s.state = inText
		return "", held
	}
}

// partial returns the length of the longest end of s that is a proper beginning of tag.
func partial(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}
