package slash_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/slash"
)

// endless is the log of a conversation with so many turns, each of them as long as said.
type endless struct {
	session.Reader
	turns, bytes int
	broken       ledger.Seq // can't be read; 0: none
	most         uint64     // bytes of the heap when a page was read
}

func (l *endless) Address(context.Context, session.Address) (session.AddressState, error) {
	return session.AddressState{}, nil
}

func (l *endless) Log(_ context.Context, _ ledger.ThreadID, from ledger.Seq, limit int) (out []session.LogRecord, err error) {
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	l.most = max(l.most, mem.HeapAlloc)
	for seq := from; int(seq) <= l.turns && len(out) < limit; seq++ {
		if seq == l.broken {
			return out, &session.CorruptError{Seq: seq, Err: errors.New("odd")}
		}
		text := fmt.Sprintf("turn %d %s", seq, strings.Repeat("x", l.bytes))
		t := ledger.Turn{Role: ledger.RoleUser, Author: "slack:U1", Artifacts: []artifact.Artifact{artifact.Text{Content: text}}}
		out = append(out, session.LogRecord{Seq: seq, Kind: session.KindTurn, Turn: &t})
	}
	return out, nil
}

func export(t *testing.T, l *endless) string {
	t.Helper()
	c := slash.New(slash.Config{Models: installed{"m"}, Log: l})
	return do(t, c, "export", "", session.Inbound{}, session.Rights{Private: true}).Text
}

// Of a long conversation the newest part is exported, and no more than that is in memory.
func TestAnExportOfALongConversation(t *testing.T) {
	l := &endless{turns: 2000, bytes: 20 << 10}
	text := export(t, l)
	if !strings.HasPrefix(text, "What came before is more than fits here") || !strings.Contains(text, "turn 2000 ") || len(text) > session.MaxValueBytes {
		t.Errorf("%d bytes, which begin with %.60q", len(text), text)
	}
	if l.most > 20<<20 {
		t.Errorf("%d MiB were in memory", l.most>>20)
	}
	if text := export(t, &endless{turns: 3, bytes: 10}); !strings.HasPrefix(text, "**slack:U1**") || strings.Count(text, "turn ") != 3 {
		t.Errorf("a short one is %q", text)
	}
}

// What stands before a record that can't be read is exported, wherever that is.
func TestAnExportOfABrokenConversation(t *testing.T) {
	for _, at := range []ledger.Seq{1, 4, 201} {
		text := export(t, &endless{turns: 300, bytes: 1, broken: at})
		if n := strings.Count(text, "turn "); n != int(at)-1 || !strings.Contains(text, "can't be read any more") {
			t.Errorf("broken at %d: %d turns, %.60q", at, n, text)
		}
	}
}
