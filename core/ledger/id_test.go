package ledger_test

import (
	"encoding/json"
	"strings"
	"testing"

	"orebot/core/ledger"
)

func TestIDText(t *testing.T) {
	thread := ledger.ThreadID{0: 0xab, 15: 0x01}
	if got, want := thread.String(), "ab000000000000000000000000000001"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	id := ledger.TurnID{Thread: thread, Seq: 42}
	if got, want := id.String(), thread.String()+".42"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if back, err := ledger.ParseTurnID(id.String()); err != nil || back != id {
		t.Errorf("got %v, %v", back, err)
	}
	if !(ledger.TurnID{}).IsZero() || id.IsZero() || (ledger.TurnID{Seq: 1}).IsZero() {
		t.Error("IsZero")
	}
	if !(ledger.ThreadID{}).IsZero() || thread.IsZero() {
		t.Error("ThreadID.IsZero")
	}
}

func TestIDsInJSON(t *testing.T) {
	in := map[ledger.ThreadID]ledger.TurnID{{1}: {Thread: ledger.ThreadID{1}, Seq: 2}}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out map[ledger.ThreadID]ledger.TurnID
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	if out[ledger.ThreadID{1}] != in[ledger.ThreadID{1}] {
		t.Errorf("got %v from %s", out, b)
	}
}

func TestParseRejects(t *testing.T) {
	hex := strings.Repeat("0", 32)
	for _, s := range []string{
		"", ".", hex, hex + ".", hex + ".x", hex + ".-1", hex + ".+1", hex + ".01", hex + ".1 ",
		hex + ".18446744073709551616", hex[1:] + ".1", hex + "0.1", strings.Repeat("A", 32) + ".1",
		strings.Repeat("g", 32) + ".1", hex + ".1.1",
	} {
		if id, err := ledger.ParseTurnID(s); err == nil {
			t.Errorf("%q gave %v", s, id)
		}
	}
}

func FuzzParseTurnID(f *testing.F) {
	f.Add(strings.Repeat("a", 32) + ".7")
	f.Add("x.7")
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := ledger.ParseTurnID(s); err == nil && id.String() != s {
			t.Errorf("%q became %q", s, id)
		}
	})
}
