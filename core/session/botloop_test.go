package session

import (
	"fmt"
	"testing"
)

func TestBotsInARow(t *testing.T) {
	var b botRows
	n := 0
	say := func(a Address, place string, bot bool) bool {
		n++
		return b.loops(Inbound{Key: fmt.Sprint(n), Address: a, Place: place, Author: Author{ID: "x", Bot: bot}})
	}
	row := func(a Address, place string, want int) {
		t.Helper()
		got := 0
		for !say(a, place, true) {
			if got++; got > want {
				break
			}
		}
		if got != want {
			t.Errorf("%d messages of bots in a row at %s, want %d", got, a, want)
		}
	}
	row("slack:T1/C1/1.1", "slack:C1", maxBotsInARow)
	row("slack:T1/C1/1.1", "slack:C1", 0)
	say("slack:T1/C1/1.1", "slack:C1", false)
	row("slack:T1/C1/1.1", "slack:C1", maxBotsInARow)
	row("slack:T1/D1", "", maxBotsInARow)
	begun := maxBotsInARow
	for i := 2; begun < maxBotsAtAPlace; i++ { // each in a conversation of its own
		if say(Address(fmt.Sprintf("slack:T1/C1/%d.1", i)), "slack:C1", true) {
			t.Fatalf("refused after %d", begun)
		}
		begun++
	}
	if !say("slack:T1/C1/99.1", "slack:C1", true) {
		t.Error("bots go on for ever by opening conversations")
	}
	if say("slack:T1/C2/99.1", "slack:C2", true) {
		t.Error("another channel pays for it")
	}
	in := Inbound{Key: "twin", Address: "slack:T1/D9", Author: Author{Bot: true}}
	for range 20 {
		if b.loops(in) {
			t.Fatal("the same message counts more than once")
		}
	}
	for i := range 3 * maxBotRows {
		say(Address(fmt.Sprintf("slack:T1/D%d", i)), "", true)
	}
	if len(b.rows) > maxBotRows {
		t.Errorf("%d remembered", len(b.rows))
	}
}
