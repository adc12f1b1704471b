package slash_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/slash"
)

// written is a log of two people in a private chat, and the messages that are still kept, by key.
type written struct {
	session.Reader
	from  ledger.Seq // of the address's binding
	turns []ledger.Turn
	kept  map[string]session.Author
	err   error
}

func (w *written) Address(context.Context, session.Address) (session.AddressState, error) {
	return session.AddressState{Binding: session.Binding{From: w.from}}, nil
}

func (w *written) SmallList(context.Context, string, string, int) ([]session.SmallValue, error) {
	return nil, nil
}

func (w *written) Log(_ context.Context, _ ledger.ThreadID, from ledger.Seq, _ int) (out []session.LogRecord, err error) {
	for i := int(from); i <= len(w.turns); i++ {
		out = append(out, session.LogRecord{Seq: ledger.Seq(i), Kind: session.KindTurn, Turn: &w.turns[i-1]})
	}
	return out, nil
}

func (w *written) Entry(_ context.Context, id session.EntryID) (session.StoredEntry, bool, error) {
	who, ok := w.kept[id.Key]
	return session.StoredEntry{Entry: session.Entry{ID: id, Inbound: session.Inbound{Author: who}}}, ok, w.err
}

// An export names people, not ids, where a name is known: from the message that is kept, from the turn, or from who asks.
func TestExportNamesPeople(t *testing.T) {
	turn := func(who, speaker, key string) ledger.Turn {
		id := session.EntryID{Address: "slack:T1/D1", Key: key}
		return ledger.Turn{Role: ledger.RoleUser, Author: who, Speaker: speaker, Entries: []string{id.String()},
			Artifacts: []artifact.Artifact{artifact.Text{Content: "by " + who}}}
	}
	log := &written{
		turns: []ledger.Turn{turn("slack:U1", "", "gone"), turn("slack:U2", "Bea", "b"), turn("slack:U3", "", "c"), turn("slack:U4", "", "d"), turn("slack:U1", "", "a")},
		kept:  map[string]session.Author{"a": {ID: "slack:U1", Name: "Ana\n**x** `y`"}, "c": {ID: "slack:U3"}, "d": {ID: "slack:U4", Name: "other"}},
	}
	ask := func() session.Effect {
		in := session.Inbound{Author: session.Author{ID: "slack:U4", Name: "Dee"}}
		return do(t, slash.New(slash.Config{Log: log}), "export", "", in, session.Rights{Private: true})
	}
	text := ask().Text
	for _, want := range []string{"**Ana x y**, 0001", "**Bea**", "**slack:U3**", "**Dee**"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "U1**") || strings.Contains(text, "other") {
		t.Errorf("says\n%s", text)
	}
	log.err = &session.CorruptError{Err: errors.New("odd")}
	if text := ask().Text; !strings.Contains(text, "by slack:U1") {
		t.Errorf("with messages that can't be read:\n%s", text)
	}
}

// Where a conversation goes on at an address that was bound to it before, what was said there before is exported too; what was said
// elsewhere before it joined isn't.
func TestExportOfAConversationThatIsReturnedTo(t *testing.T) {
	const a, b = session.Address("slack:T1/D1"), session.Address("telegram:1")
	turn := func(role ledger.Role, from session.Address, text string) ledger.Turn {
		return ledger.Turn{Role: role, Provenance: string(from), Artifacts: []artifact.Artifact{artifact.Text{Content: text}}}
	}
	log := &written{from: 4, turns: []ledger.Turn{turn(ledger.RoleUser, a, "mine"), turn(ledger.RoleAssistant, a, "to me"),
		turn(ledger.RoleUser, b, "before"), turn(ledger.RoleUser, b, "since")}}
	c := slash.New(slash.Config{Log: log})
	eff, err := c.Do(t.Context(), session.Command{Name: "export", Rights: session.Rights{Private: true}}, session.View{Address: a})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"mine": true, "to me": true, "before": false, "since": true} {
		if strings.Contains(eff.Text, text) != want {
			t.Errorf("%q: %v in\n%s", text, !want, eff.Text)
		}
	}
}
