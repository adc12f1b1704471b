package slash

import (
	"context"
	"errors"
	"fmt"

	"orebot/core/ledger"
	"orebot/core/session"
)

// names knows people by what they are called. A turn of a private chat names its author by id only, since the model needn't know; the
// message that it came from has the name, as long as it is kept.
type names struct {
	log Log
	of  map[string]string // by id
}

// note takes a name down; the newest counts.
func (n *names) note(id, name string) {
	if name = short(name, 80); id != "" && name != "" {
		n.of[id] = name
	}
}

// learn takes down who wrote a turn. nil is nobody.
func (n *names) learn(ctx context.Context, t *ledger.Turn) error {
	switch {
	case t == nil || t.Role != ledger.RoleUser:
		return nil
	case t.Speaker != "":
		n.note(t.Author, t.Speaker)
		return nil
	case n.of[t.Author] != "" || len(t.Entries) == 0:
		return nil
	}
	id, err := session.ParseEntryID(t.Entries[0])
	if err != nil {
		return nil
	}
	e, _, err := n.log.Entry(ctx, id)
	var corrupt *session.CorruptError
	if err != nil && !errors.As(err, &corrupt) {
		return err
	}
	n.note(e.Inbound.Author.ID, e.Inbound.Author.Name)
	return nil
}

// in puts the names above the passages.
func (n *names) in(all []passage) []string {
	out := make([]string, len(all))
	for i, p := range all {
		who := p.who
		if name := n.of[who]; name != "" {
			who = name
		}
		if out[i] = p.text; who != "" {
			out[i] = fmt.Sprintf("**%s**, %s\n\n%s", who, p.at.UTC().Format("2006-01-02 15:04"), p.text)
		}
	}
	return out
}
