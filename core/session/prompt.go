package session

import (
	"encoding/json"
	"slices"
	"strings"

	"orebot/core/artifact"
	"orebot/core/ledger"
)

// prompt makes the artifacts of a user turn, and says which of them came from which message. Of each message come what it quotes, its
// own text and its files, in this order, each an artifact of its own, so that an edit can replace one of them. A text that goes on
// where the client cut it stands in one artifact with the text before it.
func prompt(entries []StoredEntry, files map[EntryID][]artifact.Artifact) (arts []artifact.Artifact, parts []ledger.Part) {
	texts := map[int]int{} // where the text of a part stands
	for i, e := range entries {
		in, p := e.Inbound, ledger.Part{}
		if q := quoted(in.Quotes); q != "" {
			arts, p.Quotes = append(arts, artifact.Text{Content: q}), 1
		}
		switch at, before := texts[i-1]; {
		case blank(in.Text):
		case before && in.Continues && p.Quotes == 0 && parts[i-1].Files == 0:
			whole := arts[at].(artifact.Text).Content + in.Text
			arts[at], p.Joined, texts[i] = artifact.Text{Content: whole}, true, at
		default:
			texts[i] = len(arts)
			arts, p.Text = append(arts, artifact.Text{Content: in.Text}), 1
		}
		arts, p.Files = append(arts, files[e.ID]...), len(files[e.ID])
		parts = append(parts, p)
	}
	return arts, parts
}

// spoken returns a job's messages as the model is to read them.
func (j *job) spoken() []StoredEntry {
	if !j.bare {
		return j.entries
	}
	entries := slices.Clone(j.entries)
	entries[len(entries)-1].Inbound.Text = answerAbove
	return entries
}

// plainParts reports whether parts say no more than that each message gave one text.
func plainParts(parts []ledger.Part) bool {
	for _, p := range parts {
		if p != (ledger.Part{Text: 1}) {
			return false
		}
	}
	return true
}

// partsOf returns the parts of a user turn; ok is false where it can't be told which artifact came from which message.
func partsOf(t ledger.Turn) (parts []ledger.Part, ok bool) {
	switch n := len(t.Entries); {
	case len(t.Parts) > 0:
		total := 0
		for _, p := range t.Parts {
			total += p.Len()
		}
		return t.Parts, len(t.Parts) == n && total == len(t.Artifacts)
	case n == 1:
		return []ledger.Part{{Text: len(t.Artifacts)}}, true
	case n == len(t.Artifacts):
		parts = make([]ledger.Part, n)
		for i := range parts {
			parts[i].Text = 1
		}
		return parts, true
	}
	return nil, false
}

// Limits of what is quoted to the model, in bytes.
const (
	maxQuote  = 4 << 10
	maxQuotes = 16 << 10
)

// quoted returns what a message refers to, as Markdown; empty where that is nothing.
func quoted(quotes []Quote) string {
	var out []string
	size := 0
	for _, q := range quotes {
		if blank(q.Text) || size > maxQuotes {
			continue
		}
		size += min(len(q.Text), maxQuote)
		out = append(out, heading(q)+"\n\n"+blockquote(clip(q.Text, maxQuote)))
	}
	return strings.Join(out, "\n\n")
}

// heading says whose words follow, and why they are there.
func heading(q Quote) string {
	who := strings.Join(strings.Fields(q.Author), " ")
	switch {
	case q.Own && q.Kind == QuoteForward:
		return "Forwarded, from you:"
	case q.Own && q.Kind == QuotePart:
		return "In reply to this part of your message:"
	case q.Own:
		return "In reply to your message:"
	case q.Kind == QuoteForward && who == "":
		return "Forwarded:"
	case q.Kind == QuoteForward:
		return "Forwarded from " + clip(who, 200) + ":"
	case who == "":
		return "In reply to:"
	default:
		return "In reply to " + clip(who, 200) + ":"
	}
}

// blockquote puts the mark of a quotation before each line, so that nothing in the text can look like the writer's own words.
func blockquote(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n").Replace(s)
	return "> " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n> ")
}

// clip cuts a text to about n bytes, between characters, and shows that it did.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " …"
}

// empty reports whether there is nothing in a message to answer: no text, no file, nothing that it passes on.
func empty(in Inbound) bool {
	return blank(in.Text) && len(in.Attachments) == 0 && !forwards(in)
}

// forwards reports whether a message passes something on.
func forwards(in Inbound) bool {
	for _, q := range in.Quotes {
		if q.Kind == QuoteForward && !blank(q.Text) {
			return true
		}
	}
	return false
}

// encodeArtifacts returns artifacts as an Amendment holds them.
func encodeArtifacts(arts []artifact.Artifact) (json.RawMessage, error) {
	raw := make([]json.RawMessage, len(arts))
	for i, a := range arts {
		var err error
		if raw[i], err = artifact.Marshal(a); err != nil {
			return nil, err
		}
	}
	return json.Marshal(raw)
}
