package conduit

import (
	"strings"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// These end an answer that was cut: by the lack of room to finish, or because the model didn't find its end.
const (
	limitNote  = "*Stopped at the length limit; say 'go on'.*"
	repeatNote = "*Stopped here, because it only repeated itself from then on.*"
)

// cutNote returns the note for what cut an answer, or "".
func cutNote(reason string) string {
	switch reason {
	case "length":
		return limitNote
	case "repeat":
		return repeatNote
	}
	return ""
}

// sourceOf returns the Markdown that shows a turn, with a note where the answer was cut. It depends on the turn alone, so that
// offsets into it hold for ever.
func sourceOf(t ledger.Turn) string {
	text := t.Text()
	for _, a := range t.Artifacts {
		if f, ok := a.(artifact.Finish); ok && cutNote(f.Reason) != "" {
			return strings.TrimRight(text, " \n") + openFence(text) + "\n\n" + cutNote(f.Reason)
		}
	}
	return text
}

// openFence returns what closes the code block that a text ends in; "" where it ends in none.
func openFence(text string) string {
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		run := fenceOf(line)
		switch {
		case fence == "":
			fence = run
		case strings.HasPrefix(run, fence) && run == line:
			fence = ""
		}
	}
	if fence == "" {
		return ""
	}
	return "\n" + fence
}

// fenceOf returns the run of three or more backticks or tildes that a line begins with. Behind backticks no other may follow.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		n := len(line) - len(rest)
		if n >= 3 && (c == "~" || !strings.Contains(rest, "`")) {
			return line[:n]
		}
	}
	return ""
}
