package bolt

import (
	"fmt"
	"testing"

	"orebot/core/ledger"
	"orebot/core/session"
)

// Each commit of Erase leaves a file in which everything fits together, and from which Erase goes on.
func TestEachStepOfEraseIsWhole(t *testing.T) {
	s := fresh(t)
	id := ledger.ThreadID{1}
	for n := range 9 {
		b := session.Batch{ID: session.NewBatchID(), Thread: id, After: ledger.Seq(150 * n)}
		for i := range 150 {
			seq := b.After + ledger.Seq(i+1)
			b.Log = append(b.Log, session.LogRecord{Seq: seq, Kind: session.KindTip, Tip: &session.TipMove{}})
			b.Index = append(b.Index, session.IndexWrite{Address: "slack:T1/D1", Message: fmt.Sprint(seq), Ref: session.MessageRef{Thread: id, Seq: seq}})
		}
		b.State = &session.Thread{Last: b.After + 150, Tip: b.After + 150, Window: b.After + 1}
		if _, err := session.CommitWait(t.Context(), s, b); err != nil {
			t.Fatal(err)
		}
	}
	steps := 0
	for more := true; more; steps++ {
		var err error
		if more, err = s.eraseOnce(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Fatalf("after step %d: %v", steps, err)
		}
		st, _, ok, err := s.Thread(t.Context(), id)
		if err != nil || ok && (st.Tip > st.Last || st.Window > st.Last) || ok != more {
			t.Fatalf("after step %d: %+v, %v, %v", steps, st, ok, err)
		}
	}
	if steps < 8 {
		t.Errorf("%d steps for 4050 keys", steps)
	}
}
