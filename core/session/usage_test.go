package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/cognitive"
	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// costs returns what the store says: of each person, and of the thread that an address is bound to.
func costs(t *testing.T, st session.Store, a session.Address) (people map[string]session.Tokens, thread session.Tokens) {
	t.Helper()
	all, err := st.SmallList(t.Context(), "usage", "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	people = map[string]session.Tokens{}
	for _, v := range all {
		var c session.Tokens
		if err := json.Unmarshal(v.Value, &c); err != nil {
			t.Fatal(err)
		}
		person, _, _ := strings.Cut(v.Key, " ")
		people[person] = people[person].Plus(c)
	}
	at, err := st.Address(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	state, _, _, err := st.Thread(t.Context(), at.Binding.Thread)
	if err != nil {
		t.Fatal(err)
	}
	return people, state.Tokens
}

// metered answers each call with what the question asks for; each costs 100 tokens and 10, and is counted.
type metered struct {
	scripted
	total session.Tokens
	empty int // so many calls say nothing
}

func newMetered() *metered {
	p := &metered{}
	p.answer = func(_ context.Context, n int, turns []ledger.Turn) ([]artifact.Artifact, error) {
		last := turns[len(turns)-1]
		if strings.Contains(said(last), "fail") || last.Role == ledger.RoleTool && strings.Contains(whole(turns), "then break") {
			return nil, &provider.Error{Kind: provider.KindRefused, Model: "m"}
		}
		p.total = p.total.Plus(session.Tokens{In: 100, Out: 10})
		usage := artifact.Usage{PromptTokens: 100, CompletionTokens: 10, TotalTokens: 110}
		switch {
		case p.empty > 0:
			p.empty--
			return []artifact.Artifact{usage}, nil
		case last.Role == ledger.RoleUser && strings.Contains(said(last), "tool"):
			return []artifact.Artifact{artifact.ToolCall{ID: fmt.Sprint("c", n), Name: "clock", Arguments: "{}"}, usage}, nil
		case wantsSummary(turns) && strings.Contains(whole(turns), "cut off"):
			return []artifact.Artifact{artifact.Text{Content: "They"}, usage, provider.Finish{Reason: "length"}}, nil
		}
		return []artifact.Artifact{artifact.Text{Content: "Right."}, usage}, nil
	}
	return p
}

// What calls of the model have cost adds up to the same by person, day and thread, whatever became of the answers: rounds of tools, a
// call that is made again because it said nothing, one that failed behind them, summaries for whoever asked, or was answered last,
// those that were thrown away too.
func TestTheSumsOfUsageAgree(t *testing.T) {
	for name, tt := range map[string]struct {
		texts []string
		empty int
		in    int // tokens of prompts
	}{
		"answers":              {texts: []string{"a", "b", "c"}, in: 300},
		"tools":                {texts: []string{"a tool", "b"}, in: 300},
		"tools, then refused":  {texts: []string{"a tool then break", "b"}, in: 300}, // what shows that the model works costs, too
		"asked again":          {texts: []string{"a"}, empty: 1, in: 200},
		"nothing, twice":       {texts: []string{"a"}, empty: 2, in: 200},
		"retry and undo":       {texts: []string{"a", "/retry", "/undo", "b"}, in: 300},
		"a summary":            {texts: []string{"a", "b", "c", "/compact"}, in: 400},
		"a summary thrown off": {texts: []string{"a cut off", "b", "c", "/compact", "d"}, in: 500},
		"refused at once":      {texts: []string{"fail"}, in: 100},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				p := newMetered()
				p.empty = tt.empty
				b := start(t, mem, &p.scripted, fitting, commanded(mem), toolsIn)
				for _, text := range tt.texts {
					b.accept(msg(dm, "slack:U1", text))
					time.Sleep(time.Minute)
					synctest.Wait()
				}
				b.stopLife()
				people, thread := costs(t, mem, dm)
				got := people["slack:U1"]
				if got.In != tt.in || got != thread || got.In != p.total.In || got.Out != p.total.Out {
					t.Errorf("person %+v, thread %+v, calls %+v, want %d in", got, thread, p.total, tt.in)
				}
			})
		})
	}
}

func toolsIn(c *session.Config) {
	c.Pattern, c.Handlers = cognitive.ReAct{MaxRounds: 8}, []loop.Handler{&tools{}}
}

// Two people in one thread, on two days: each pays for their own, and the thread for both.
func TestUsageByPersonAndDay(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		const place = session.Address("slack:T1/C1/1")
		p := newMetered()
		b := start(t, mem, &p.scripted, toolsIn)
		for _, who := range []string{"slack:U1", "slack:U2", "slack:U1"} {
			b.accept(msg(place, who, "what?", func(in *session.Inbound) { in.Call, in.Place = session.CallMention, "slack:C1" }))
			time.Sleep(13 * time.Hour)
			synctest.Wait()
		}
		people, thread := costs(t, mem, place)
		if people["slack:U1"].In != 200 || people["slack:U2"].In != 100 || thread.In != 300 || thread.Answers != 3 {
			t.Errorf("people %+v, thread %+v", people, thread)
		}
		all, err := mem.SmallList(t.Context(), "usage", "", 10)
		if err != nil || len(all) != 3 {
			t.Errorf("%d records, want one for each person and day; %v", len(all), err)
		}
		b.stopLife()
	})
}

// Wherever a life ends, at each of its commits, with the commit or without it: the sums agree, and no answer is charged twice.
func TestUsageAcrossACrash(t *testing.T) {
	for n := range 12 {
		for _, applied := range []bool{false, true} {
			t.Run(fmt.Sprintf("commit %d, applied %v", n, applied), func(t *testing.T) {
				bubble(t, func(t *testing.T, mem *storetest.Memory) { dieCharging(t, mem, n, applied) })
			})
		}
	}
}

func dieCharging(t *testing.T, mem *storetest.Memory, n int, applied bool) {
	p := newMetered()
	st := &crashing{Memory: mem, left: n, applied: applied}
	b := start(t, mem, &p.scripted, toolsIn, func(c *session.Config) { c.Store = st })
	ins := []session.Inbound{msg(dm, "slack:U1", "a tool"), msg(dm, "slack:U1", "b")}
	for _, in := range ins {
		b.m.Accept(context.Background(), in, func(session.Receipt) {})
		time.Sleep(time.Minute)
		synctest.Wait()
	}
	b.stopLife()
	b = start(t, mem, &p.scripted, toolsIn)
	for _, in := range ins {
		b.ask(in, time.Minute)
	}
	b.stopLife()
	people, thread := costs(t, mem, dm)
	if got := people["slack:U1"]; got != thread || got.Answers != 2 || got.In < 300 || got.In > p.total.In {
		t.Errorf("person %+v, thread %+v, calls %+v", got, thread, p.total)
	}
}
