package session

import (
	"context"

	"orebot/core/ledger"
	"orebot/core/loop"
)

// retells adds to the records of a change one for each question that it rewrites and that other places have been shown, so that these
// follow. An amendment names its question itself.
func (s *Stream) retells(recs, rewrites []LogRecord) []LogRecord {
	for _, r := range rewrites {
		if r.Turn != nil && r.Turn.Role == ledger.RoleUser && r.Turn.Provenance != "" && s.linked(Address(r.Turn.Provenance)) {
			recs = append(recs, LogRecord{Kind: KindRetold, Retold: &Retold{Turn: r.Seq}})
		}
	}
	return recs
}

// follow marks what a Batch says of questions as due at the places where they weren't written.
func (s *Stream) follow(b *Batch, from Address) {
	var last ledger.Seq
	for _, r := range b.Log {
		if r.Kind == KindRetold || r.Kind == KindAmendment {
			last = r.Seq
		}
	}
	if last != 0 {
		s.showElsewhere(b, from, last)
	}
}

// followed lets the couriers of those places know, once the Batch is durable. Nothing is shown of the event itself.
func (s *Stream) followed(b Batch) {
	for _, d := range b.Due {
		ctx := loop.WithThreadID(loop.WithProvenance(context.Background(), string(d.Address)), s.thread.String())
		n := loop.Notice{Content: "A question that was shown here reads otherwise now.", Severity: loop.SeverityInfo}
		s.live.step.Emit(ctx, loop.NoticeEvent{Notice: n, Ctx: WithSeq(ctx, uint64(d.Seq))})
	}
}
