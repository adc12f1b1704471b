package bolt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orebot/core/access"
	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/core/session"
)

// parrot answers with the newest text.
type parrot struct{}

func (parrot) Invoke(ctx context.Context, st ledger.State, _ models.Spec, ch chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	turns := st.Turns()
	select {
	case ch <- artifact.Text{Content: "re: " + turns[len(turns)-1].Text()}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mortal stops taking Batches after some, as a process that dies does.
type mortal struct {
	*Store
	left atomic.Int64
}

func (m *mortal) Commit(ctx context.Context, b session.Batch, done func(session.Result, error)) {
	if m.left.Add(-1) < 0 {
		go done(session.Result{}, session.ErrClosed)
		return
	}
	m.Store.Commit(ctx, b, done)
}

// Lives that end at any Batch, on a real file that is opened anew each time: in the end every message has one turn and one answer.
func TestSessionsSurviveOnTheRealFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orebot.db")
	var all []session.Inbound
	for i := range 60 {
		key := fmt.Sprintf("%06d", i)
		all = append(all, session.Inbound{Key: key, Order: key, Message: key, Address: session.Address(fmt.Sprintf("slack:T1/D%d", i%5)),
			Author: session.Author{ID: fmt.Sprintf("slack:U%d", i), Known: true}, Call: session.CallDirect, Text: "<" + key + ">", At: time.Now()})
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 7 { // a message that is there at eight such deaths is given up, by design
		live(t, path, rnd.Int64N(40), all)
	}
	live(t, path, 1<<40, all)
	s := opened(t, path, Options{})
	for _, in := range all {
		e, ok, err := s.Entry(t.Context(), in.ID())
		if err != nil || !ok || e.End != session.EndAnswered {
			t.Fatalf("%s: found %v, ended %s, %v", in, ok, e.End, err)
		}
		recs, err := s.Log(t.Context(), e.Thread, 1, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		for _, r := range recs {
			fmt.Fprintln(&log, r.Turn.Role, r.Turn.Text())
		}
		if strings.Count(log.String(), "user "+in.Text) != 1 || strings.Count(log.String(), "assistant re: "+in.Text) != 1 {
			t.Fatalf("%s in the log:\n%s", in.Text, log.String())
		}
	}
}

// live is one life: everything that isn't there yet is delivered again, and it ends when all has come to its end or the store to its.
func live(t *testing.T, path string, batches int64, all []session.Inbound) {
	t.Helper()
	s := opened(t, path, Options{})
	defer s.Close()
	st := &mortal{Store: s}
	st.left.Store(batches)
	m := session.New(session.Config{Store: st, Provider: parrot{}, Spec: models.Spec{Model: "m"}, Life: fmt.Sprint(batches), OneByOne: true,
		Platforms: map[string]session.Platform{"slack": {Policy: access.Policy{Mode: access.Members}}}})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = m.Run(ctx) })
	for _, in := range all {
		m.Accept(ctx, in, func(session.Receipt) {})
	}
	waited(t, func() bool {
		tot, err := s.Totals(ctx)
		return st.left.Load() < 0 || err == nil && tot.Waiting == 0 && tot.Ended[session.EndAnswered] == uint64(len(all))
	})
	cancel()
	wg.Wait()
}

// waited polls: a real file can't be in a bubble's time.
func waited(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Minute); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("nothing more happens")
		}
	}
}
