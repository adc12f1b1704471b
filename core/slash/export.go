package slash

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/session"
)

const (
	exportPage = 200
	// maxExport bounds the file in bytes of JSON: it is kept as one record.
	maxExport = session.MaxValueBytes - 32<<10
)

// export makes a file of what was shown at this address.
func (c *Commands) export(ctx context.Context, cmd session.Command, v session.View) (session.Effect, error) {
	who := &names{log: c.cfg.Log, of: map[string]string{}}
	who.note(cmd.In.Author.ID, cmd.In.Author.Name)
	pieces, err := c.pieces(ctx, v, who)
	if err != nil {
		return session.Effect{}, err
	}
	if len(pieces) == 0 {
		return said("Nothing was said here yet."), nil
	}
	name := "conversation-" + c.cfg.Now().UTC().Format("2006-01-02") + ".md"
	return session.Effect{Reply: session.Reply{Severity: loop.SeverityInfo, Text: fit(who.in(pieces)), File: name}}, nil
}

// fit joins the pieces, or as many of the newest as a record holds.
func fit(pieces []string) string {
	size, from := 0, len(pieces)
	for from > 0 {
		b, _ := json.Marshal(pieces[from-1]) // a string always can
		if size += len(b) + 2; size > maxExport {
			break
		}
		from--
	}
	text := strings.Join(pieces[from:], "\n\n")
	if from > 0 {
		text = "What came before is more than fits here; the operator can export all of it.\n\n" + text
	}
	return text + "\n"
}

// passage is a record as Markdown, below the name of who wrote it.
type passage struct {
	who  string // an id, or what the bot is called
	at   time.Time
	text string
}

// pieces reads the log for what this address was shown, and learns the names of who wrote. What was said at the address itself was shown
// there, also where its binding is younger: `undo` has returned to a conversation before `new`.
func (c *Commands) pieces(ctx context.Context, v session.View, who *names) ([]passage, error) {
	st, err := c.cfg.Log.Address(ctx, v.Address)
	if err != nil {
		return nil, err
	}
	var out []passage
	for seq := ledger.Seq(1); ; {
		recs, err := c.cfg.Log.Log(ctx, v.Thread, seq, exportPage)
		var corrupt *session.CorruptError
		if err != nil && !errors.As(err, &corrupt) {
			return nil, err
		}
		for _, r := range recs {
			if p, ok := piece(r, v.Address); ok && (r.Seq >= st.Binding.From || here(r, v.Address)) {
				out = append(out, p)
			}
			if err := who.learn(ctx, r.Turn); err != nil {
				return nil, err
			}
			seq = r.Seq + 1
		}
		switch {
		case corrupt != nil:
			return append(out, passage{text: "*Something here can't be read any more.*"}), nil
		case len(recs) < exportPage:
			return out, nil
		}
		out = newest(out)
	}
}

// here reports whether a record comes from an address, or is for it.
func here(r session.LogRecord, a session.Address) bool {
	return r.Turn != nil && r.Turn.Provenance == string(a) || r.End != nil && r.End.To == a
}

// newest drops of the pieces what can't be in the file, so that a long conversation isn't in memory as a whole. One too many stays: then
// the file says that it isn't all.
func newest(pieces []passage) []passage {
	size, from := 0, len(pieces)
	for from > 0 && size <= maxExport {
		from--
		size += len(pieces[from].text)
	}
	return slices.Clone(pieces[from:])
}

// piece is a record as a passage; ok is false for what wasn't shown.
func piece(r session.LogRecord, a session.Address) (p passage, ok bool) {
	switch {
	case r.Turn != nil && r.Turn.Role == ledger.RoleUser && !r.Turn.Draft:
		return passage{r.Turn.Author, r.Turn.Time, utterance(*r.Turn)}, true
	case r.Turn != nil && r.Turn.Final() && r.Turn.Covers == 0:
		return passage{"orebot", r.Turn.Time, thoughts(*r.Turn) + r.Turn.Text()}, true
	case r.End != nil && r.End.To == a && r.End.File == "" && !r.End.Private:
		return passage{"orebot, a notice", r.End.Time, r.End.Text}, true
	}
	return p, false
}

// utterance is what a person has said, where it wasn't taken back.
func utterance(t ledger.Turn) string {
	if len(t.Artifacts) == 0 {
		return "*Deleted.*"
	}
	return t.Text()
}

// thoughts is the reasoning that a turn was shown with, as a quotation above it.
func thoughts(t ledger.Turn) string {
	if !t.ShowReasoning || t.Reasoning() == "" {
		return ""
	}
	return "> Reasoning:\n> " + strings.ReplaceAll(t.Reasoning(), "\n", "\n> ") + "\n\n"
}
