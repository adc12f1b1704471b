package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"orebot/core/artifact"
)

// Limits of what a prompt takes of text files, in bytes: of one, and of those of a turn together, which has to fit a record.
const (
	maxText  = 96 << 10
	maxTexts = 192 << 10
)

// textFile makes a text of a file's bytes, fenced and under its name. A line says what can't be read of it.
func textFile(att Attachment, data []byte, room int) (artifact.Artifact, string, error) {
	text, ok := decodeText(data)
	switch {
	case !ok:
		return nil, notRead(att), nil
	case blank(text):
		return nil, called(att) + " is empty.", nil
	case room < 1<<10:
		return nil, "I left out " + called(att) + ": the files are too long together.", nil
	}
	line := ""
	if most := min(maxText, room); len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
		line = fmt.Sprintf("I read only the first %d KB of %s.", most>>10, called(att))
	}
	return artifact.Text{Content: fenced(att, text)}, line, nil
}

// fenced puts a text into a Markdown fence that nothing in it can close.
func fenced(att Attachment, text string) string {
	fence := "```"
	for run, i := 0, 0; i < len(text); i++ {
		if text[i] != '`' {
			run = 0
			continue
		}
		if run++; run >= len(fence) {
			fence = strings.Repeat("`", run+1)
		}
	}
	name := oneName(att.Name)
	if name == "" {
		name = "(without a name)"
	}
	return "File " + name + ":\n\n" + fence + language(name) + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}

// language is what a fence says of a file: its extension, where that is a plain word.
func language(name string) string {
	ext := strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")
	if len(ext) > 10 || strings.ContainsFunc(ext, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		return ""
	}
	return ext
}

// decodeText reads text in UTF-8, in UTF-16 with a byte order mark, or else in Windows' Latin alphabet. ok is false for what is no
// text.
func decodeText(b []byte) (text string, ok bool) {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		return decodeWide(b[2:], binary.LittleEndian)
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		return decodeWide(b[2:], binary.BigEndian)
	case bytes.HasPrefix(b, []byte("%PDF-")):
		return "", false
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if n := len(b); n > maxText {
		b = bytes.TrimRightFunc(b[:n-3], func(r rune) bool { return r == utf8.RuneError }) // the last character may be cut
	}
	if controls(b) {
		return "", false
	}
	if utf8.Valid(b) {
		return unixLines(string(b)), true
	}
	high := 0
	out := make([]rune, len(b))
	for i, c := range b {
		if out[i] = rune(c); c >= 0x80 {
			high++
			if c < 0xa0 {
				out[i] = windows1252[c-0x80]
			}
		}
	}
	return unixLines(string(out)), high*3 <= len(b)
}

// windows1252 are the characters from 80 to 9F, where Windows' alphabet isn't Latin-1.
var windows1252 = [...]rune{
	'€', 0xfffd, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0xfffd, 'Ž', 0xfffd,
	0xfffd, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0xfffd, 'ž', 'Ÿ',
}

// decodeWide reads UTF-16.
func decodeWide(b []byte, order binary.ByteOrder) (string, bool) {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	text := string(utf16.Decode(units))
	return unixLines(text), !controls([]byte(text))
}

// controls reports whether bytes hold what no text holds.
func controls(b []byte) bool {
	return bytes.ContainsFunc(b, func(r rune) bool {
		return r < ' ' && !strings.ContainsRune("\t\n\r\f\v\b\x1b", r) || r == 0x7f
	})
}

func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
