package bolt_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/store/bolt"
)

// buildChild builds the victim as a static binary: strace can inject into every thread of it, and no race detector slows it down.
func buildChild(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crashchild")
	cmd := exec.Command("go", "build", "-o", path, "./internal/crashchild")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// acknowledged is what a child's complete lines say is durable.
type acknowledged struct {
	entries []session.EntryID
	turns   map[ledger.TurnID]session.EntryID
	unknown int
	other   []string
}

func (a *acknowledged) read(t *testing.T, out []byte) {
	t.Helper()
	out = out[:bytes.LastIndexByte(out, '\n')+1]
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		kind, rest, _ := strings.Cut(sc.Text(), " ")
		switch kind {
		case "open", "closed":
		case "unknown":
			a.unknown++
		case "entry":
			id, err := session.ParseEntryID(rest)
			if err != nil {
				t.Fatal(err)
			}
			a.entries = append(a.entries, id)
		case "turn":
			a.turn(t, rest)
		default:
			a.other = append(a.other, sc.Text())
		}
	}
}

func (a *acknowledged) turn(t *testing.T, line string) {
	t.Helper()
	f := strings.SplitN(line, " ", 3)
	thread, err := ledger.ParseThreadID(f[0])
	seq, err2 := strconv.ParseUint(f[1], 10, 64)
	id, err3 := session.ParseEntryID(f[2])
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	a.turns[ledger.TurnID{Thread: thread, Seq: ledger.Seq(seq)}] = id
}

// verify opens the file and proves that all of it is there and that no Batch is there in part.
func (a *acknowledged) verify(t *testing.T, path string) {
	t.Helper()
	s, err := bolt.Open(path, bolt.Options{LockTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // only read
	ctx := t.Context()
	if err := s.Check(ctx); err != nil {
		t.Fatalf("check: %v", err)
	}
	for _, id := range a.entries {
		if _, ok, err := s.Entry(ctx, id); err != nil || !ok {
			t.Fatalf("entry %s was acknowledged and is gone (%v)", id, err)
		}
	}
	for id, entry := range a.turns {
		log, err := s.Log(ctx, id.Thread, id.Seq, 1)
		if err != nil || len(log) != 1 || log[0].Turn == nil || log[0].Turn.Entries[0] != entry.String() {
			t.Fatalf("turn %s was acknowledged and is gone (%v)", id, err)
		}
	}
	whole(ctx, t, s)
}

// whole proves that each exchange is there with all of its parts: the turn, the end of its entry, the cursor and the due note.
func whole(ctx context.Context, t *testing.T, s *bolt.Store) {
	t.Helper()
	for n := range writers {
		a := session.Address(fmt.Sprintf("slack:T1/C%d", n))
		id := session.ThreadOf(session.EntryID{Address: a, Key: "opener"})
		th, _, _, err := s.Thread(ctx, id)
		st, err2 := s.Address(ctx, a)
		list, err3 := s.EntriesAt(ctx, a, 1<<20)
		log, err4 := s.Log(ctx, id, 1, 1<<20)
		if err := errors.Join(err, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		ended := make(map[string]ledger.Seq)
		for _, e := range list {
			if e.State == session.EntryEnded {
				ended[e.ID.String()] = e.EndSeq
			}
		}
		for _, r := range log {
			if ended[r.Turn.Entries[0]] != r.Seq {
				t.Fatalf("%s: turn %d is there, the end of its entry isn't", a, r.Seq)
			}
		}
		if len(log) != len(ended) || st.Cursor.Seq != th.Last || st.Due != th.Last || ledger.Seq(len(log)) != th.Last {
			t.Fatalf("%s: %d records, %d ends, cursor %d, due %d, last %d", a, len(log), len(ended), st.Cursor.Seq, st.Due, th.Last)
		}
	}
}

const writers = 8

func TestKilledAtAnyInstant(t *testing.T) {
	child, path := buildChild(t), filepath.Join(t.TempDir(), "orebot.db")
	rounds, limit := 40, time.Now().Add(15*time.Second)
	if testing.Short() {
		rounds = 8
	}
	all := acknowledged{turns: make(map[ledger.TurnID]session.EntryID)}
	round := 0
	for ; round < rounds && (round < 30 || time.Now().Before(limit)); round++ {
		out := killedOnce(t, child, path, round)
		all.read(t, out)
		if round%5 == 4 || round == rounds-1 {
			all.verify(t, path)
			continue
		}
		latest := acknowledged{turns: make(map[ledger.TurnID]session.EntryID)}
		latest.read(t, out)
		latest.verify(t, path)
	}
	if len(all.turns) < round/2 || len(all.other) > 0 {
		t.Errorf("only %d turns in %d rounds; %v", len(all.turns), round, all.other)
	}
	t.Logf("%d rounds, %d entries and %d turns acknowledged", round, len(all.entries), len(all.turns))
}

// killedOnce runs a child, kills it some time after it has opened the file or, in each second round, has said that a turn is durable, and
// returns what it printed.
func killedOnce(t *testing.T, child, path string, round int) []byte {
	t.Helper()
	cmd := exec.Command(child, path, fmt.Sprintf("r%d", round), strconv.Itoa(writers), "100000")
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r := bufio.NewReader(stdout)
	for begun, err := false, error(nil); !begun && err == nil; {
		var line string
		line, err = r.ReadString('\n')
		out.WriteString(line)
		begun = round%2 == 0 || strings.HasPrefix(line, "turn ")
	}
	timer := time.AfterFunc(time.Duration(rand.IntN(120_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_, _ = out.ReadFrom(r)
	_ = cmd.Wait() // killed
	return out.Bytes()
}
