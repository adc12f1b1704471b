package access

import (
	"strings"
	"testing"
)

func TestDecide(t *testing.T) {
	member := Person{ID: "slack:U1", Known: true}
	members := Policy{Mode: Members, AnyPlace: true}
	for _, c := range []struct {
		name   string
		policy Policy
		who    Person
		place  string
		want   Outcome
		reason string
	}{
		{"a member", members, member, "slack:C1", Allow, ""},
		{"somebody not looked up yet", members, Person{ID: "slack:U2"}, "", Ask, "unknown"},
		{"guests may, others may not", Policy{Mode: Members, Guests: true}, Person{ID: "slack:U2"}, "", Ask, "unknown"},
		{"a guest where guests may", Policy{Mode: Members, Guests: true}, Person{ID: "slack:U2", Guest: true, Known: true}, "", Allow, ""},
		{"no need to look up where everybody may", Policy{Mode: Members, Guests: true, External: true}, Person{ID: "slack:U2"}, "", Allow, ""},
		{"a guest", members, Person{ID: "slack:U2", Guest: true}, "", Refuse, "guest"},
		{"a guest who is listed", Policy{Mode: Members, Users: []string{"slack:U2"}}, Person{ID: "slack:U2", Guest: true}, "", Allow, ""},
		{"another workspace", members, Person{ID: "slack:U9", External: true, Known: true}, "", Refuse, "external"},
		{"another workspace, allowed", Policy{Mode: Members, External: true}, Person{ID: "slack:U9", External: true}, "", Allow, ""},
		{"a bot", members, Person{ID: "slack:B1", Bot: true}, "", Ignore, "bot"},
		{"a bot, even listed", Policy{Mode: Open, Users: []string{"slack:B1"}}, Person{ID: "slack:B1", Bot: true}, "", Ignore, "bot"},
		{"a bot, allowed", Policy{Mode: Members, Bots: true}, Person{ID: "slack:B1", Bot: true}, "", Allow, ""},
		{"empty allow-list means nobody", Policy{Mode: Allowlist}, member, "", Refuse, "allowlist"},
		{"zero policy means nobody", Policy{}, member, "", Refuse, "allowlist"},
		{"listed", Policy{Users: []string{"slack:U1"}}, member, "", Allow, ""},
		{"a stranger", Policy{Mode: Pairing}, Person{ID: "telegram:7", Known: true}, "", Refuse, "stranger"},
		{"open", Policy{Mode: Open, AnyPlace: true}, Person{ID: "telegram:7"}, "telegram:-5", Allow, ""},
		{"a group that isn't listed", Policy{Mode: Open}, member, "telegram:-5", Refuse, "place"},
		{"a listed user in a group that isn't", Policy{Users: []string{"slack:U1"}}, member, "telegram:-5", Refuse, "place"},
		{"a listed group", Policy{Mode: Open, Places: []string{"telegram:-5"}}, member, "telegram:-5", Allow, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.policy.Decide(c.who, c.place)
			if got.Outcome != c.want || got.Reason != c.reason {
				t.Errorf("got %v %q, want %v %q", got.Outcome, got.Reason, c.want, c.reason)
			}
			if (got.Outcome == Refuse) != (got.Text != "") || strings.Contains(got.Text, "\n") {
				t.Errorf("text %q with outcome %v", got.Text, got.Outcome)
			}
		})
	}
}
