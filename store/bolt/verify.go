package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"orebot/core/ledger"
	"orebot/core/session"
)

// maxProblems is how many problems Check names before it gives up.
const maxProblems = 20

// Check reads everything and returns what doesn't fit together: values that can't be decoded, chunks that belong to nothing, logs
// with gaps or another length than their thread state says, indexes without their records and records without their indexes, cursors
// beyond their log, sums that differ from a count. Nil means that all is well. It reads in one transaction, which keeps the file from
// reusing pages as long as it runs.
func (s *Store) Check(ctx context.Context) error {
	c := &inspection{ctx: ctx}
	err := s.view(ctx, func(b *bolt.Bucket) error {
		c.b = b
		return c.run()
	})
	return errors.Join(append(c.problems, err)...)
}

// inspection is one Check.
type inspection struct {
	ctx      context.Context
	b        *bolt.Bucket
	problems []error
	counted  sums
	chunks   int             // of the last record: how many are to follow
	last     []byte          // the key of the last record
	thread   ledger.ThreadID // the log being read
	seq      ledger.Seq      // its last record so far
}

func (c *inspection) run() error {
	cur := c.b.Cursor()
	n := 0
	for k, v := cur.First(); k != nil && len(c.problems) < maxProblems; k, v = cur.Next() {
		if n++; n%1024 == 0 && c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		if c.isChunk(k) {
			continue
		}
		c.record(k, v)
	}
	c.note(c.closeLog(ledger.ThreadID{}))
	if len(c.problems) < maxProblems {
		c.checkSums()
	}
	return nil
}

func (c *inspection) note(err error) {
	if err != nil {
		c.problems = append(c.problems, err)
	}
}

// isChunk reports whether k is the next chunk of the last record.
func (c *inspection) isChunk(k []byte) bool {
	if c.chunks == 0 {
		return false
	}
	_, n, _ := open(c.b.Get(c.last))
	if bytes.Equal(k, chunkKey(c.last, n-c.chunks+1)) {
		c.chunks--
		return true
	}
	return false
}

// record checks one record under its own key.
func (c *inspection) record(k, v []byte) {
	_, n, err := open(v)
	c.last, c.chunks = bytes.Clone(k), n
	if err != nil {
		c.note(corrupt(k, err))
		return
	}
	body, _, err := read(c.b, k)
	if err == nil {
		err = c.family(k, body)
	}
	c.note(corrupt(bytes.Clone(k), err))
}

func (c *inspection) family(k, body []byte) error {
	switch k[0] {
	case famThread:
		return c.threadKey(k, body)
	case famEntry:
		return c.entry(k, body)
	case famWaiting, famHeard, famExpiry:
		return c.entryIndex(k)
	case famBinding:
		_, _, err := decodeRecord[session.Binding](body)
		return err
	case famCursor:
		return c.cursor(k, body)
	case famPresence:
		_, _, err := decodeRecord[session.Presence](body)
		return err
	case famDue:
		return c.due(k, body)
	case famMessage, famShown:
		return c.shown(k, body)
	case famSmall:
		_, _, err := revisionOf(body)
		return err
	case famSums, famSchema:
		return nil
	}
	return fmt.Errorf("its family %q is unknown", k[0])
}

// threadKey checks that a log is dense from its first record on, and at the thread's state, which sorts behind the log, its end.
func (c *inspection) threadKey(k, body []byte) error {
	if len(k) < stateKeyLen {
		return errShort
	}
	id := ledger.ThreadID(k[1:17])
	if id != c.thread {
		c.note(c.closeLog(id))
	}
	if k[17] == threadState {
		t, _, err := decodeThread(body)
		if err == nil && t.Last != c.seq {
			err = fmt.Errorf("its log ends at %d, its state at %d", c.seq, t.Last)
		}
		c.seq = 0
		return err
	}
	if k[17] != threadLog || len(k) != logKeyLen {
		return errors.New("its key is odd")
	}
	seq := ledger.Seq(binary.BigEndian.Uint64(k[18:]))
	r, err := decodeLog(seq, body)
	if err == nil && seq != c.seq+1 {
		err = fmt.Errorf("it follows record %d", c.seq)
	}
	if err == nil && r.Turn != nil && r.Turn.Stamped() && r.Turn.ID != (ledger.TurnID{Thread: id, Seq: seq}) {
		err = fmt.Errorf("it holds turn %s", r.Turn.ID)
	}
	c.seq = seq
	return err
}

// closeLog says that the log read so far had no thread state behind it.
func (c *inspection) closeLog(next ledger.ThreadID) error {
	id, seq := c.thread, c.seq
	c.thread, c.seq = next, 0
	if seq == 0 {
		return nil
	}
	return corrupt(stateKey(id), errors.New("its log has no state"))
}

func (c *inspection) checkSums() {
	stored, err := readSums(c.b)
	if err != nil {
		c.note(err)
		return
	}
	c.counted.Expired = stored.Expired
	if !stored.equal(c.counted) {
		c.note(fmt.Errorf("session: the sums are %+v, a count gives %+v", stored, c.counted))
	}
}
