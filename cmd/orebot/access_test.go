package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"orebot/internal/ops"
)

// Names are strangers' own: they can't move the operator's cursor, colour the terminal, forge a line or fill the screen.
func TestTheListOfStrangersIsHarmless(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	list := ops.AccessList{
		Waiting: []ops.Waiter{
			{ID: "telegram:7", Name: "Eve\x1b[2J\nallowed  telegram:666\t\u202eevE", Handle: "eve", Code: "7Q4K", Since: now.Add(-5 * time.Minute)},
			{ID: "telegram:8", Name: strings.Repeat("x", 500), Since: now.Add(-3 * time.Hour)},
		},
		Allowed: []ops.Admitted{{ID: "telegram:1", By: ops.ByConfiguration}},
		Revoked: []ops.Admitted{{ID: "telegram:9", Handle: "nine", By: ops.ByOperator, Since: now.Add(-72 * time.Hour)}},
	}
	var out bytes.Buffer
	if err := table(&out, accessRows(list, now)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"STATE    ID          NAME                                      SINCE",
		"waits    telegram:7  Eve [2J allowed  telegram:666  evE (@eve)  5 min  orebot access approve 7Q4K",
		"waits    telegram:8  " + strings.Repeat("x", 39) + "…  3 h    code expired; orebot access allow telegram:8",
		"allowed  telegram:1  -                                         -      by the configuration",
		"revoked  telegram:9  @nine                                     3 d    by the operator",
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d lines:\n%s", len(got), out.String())
	}
	for i := range got {
		if strings.Join(strings.Fields(got[i]), " ") != strings.Join(strings.Fields(want[i]), " ") {
			t.Errorf("line %d\n got %q\nwant %q", i, got[i], want[i])
		}
	}
	if strings.ContainsAny(out.String(), "\x1b\u202e\t") {
		t.Errorf("control characters in %q", out.String())
	}
}

func TestQueueRows(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if rows := queueRows(ops.QueueList{}, now); len(rows) != 1 || rows[0][0] != "Nothing waits." {
		t.Errorf("an empty queue: %v", rows)
	}
	rows := queueRows(ops.QueueList{More: true, Items: []ops.QueueItem{
		{ID: "3f9a1c07", Kind: ops.KindMessage, Where: "telegram:7", Who: "Ana", Since: now.Add(-90 * time.Second), Why: "next here"},
		{ID: "00000001", Kind: ops.KindUpdate, Where: "telegram/5", Why: "set aside"},
	}}, now)
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join(r, "|"))
	}
	want := "ID|WHAT|WHERE|WHO|AGE|WHY, 3f9a1c07|message|telegram:7|Ana|1 min|next here, 00000001|update|telegram/5||-|set aside, …|and more"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}
