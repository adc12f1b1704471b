package slack

import (
	"fmt"
	"testing"
	"time"

	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// TestPerson: fact A3.5.
func TestPerson(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		guest, member, stranger := r.AddUser("gus", simslack.Guest()), r.AddUser("mia"), r.AddUser("eve", simslack.External("T9"))
		for id, want := range map[string]session.Author{
			guest:    {Name: "gus", Guest: true, Known: true},
			member:   {Name: "mia", Known: true},
			stranger: {Name: "eve", External: true, Known: true},
			"UNOONE": {External: true, Known: true},
			"UBOT":   {Name: "orebot", Bot: true, Known: true},
		} {
			want.ID = personID(id)
			got, err := r.api.Person(t.Context(), "slack:T1/D1", session.Author{ID: want.ID})
			if err != nil || got != want {
				t.Errorf("%s: %+v, %v", id, got, err)
			}
		}
		seen := session.Author{ID: personID(member), External: true}
		if got, err := r.api.Person(t.Context(), "", seen); err != nil || !got.External {
			t.Errorf("what the event told of %s is forgotten: %+v, %v", member, got, err)
		}
		before := len(r.Calls("users.info"))
		if _, err := r.api.Person(t.Context(), "", session.Author{ID: personID(member)}); err != nil || len(r.Calls("users.info")) != before {
			t.Errorf("asked again within the hour, or %v", err)
		}
		time.Sleep(peopleAge)
		r.Faults.Next("users.info", fault.Fault{Status: 500})
		if _, err := r.api.Person(t.Context(), "", session.Author{ID: personID(member)}); err == nil {
			t.Error("no error, and nobody was asked")
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	var c cache
	now := time.Unix(0, 0)
	for i := range 2*peopleMax + 1 {
		c.put(session.Author{ID: fmt.Sprint(i)}, now)
	}
	if n := len(c.known); n > peopleMax {
		t.Errorf("%d kept", n)
	}
	later := now.Add(peopleAge)
	if _, ok := c.get(fmt.Sprint(2*peopleMax), later); ok {
		t.Error("believed for too long")
	}
}
