package access

import (
	"strings"
	"testing"
)

// Report 79: an empty list, and a policy of which nothing is set, let nobody in.
func TestDecide(t *testing.T) {
	member := Person{ID: "slack:U1", Known: true}
	members := Policy{Mode: Members, AnyPlace: true}
	book := NewBook()
	for id, n := range map[string]Note{"telegram:7": Allowed, "telegram:8": Revoked, "telegram:-5": Allowed, "telegram:-6": Revoked,
		"slack:U9": Allowed, "telegram:9": Unknown} {
		book.Put(id, n)
	}
	noted := Policy{Mode: Pairing, Book: book, Users: []string{"telegram:1"}, Places: []string{"telegram:-1"}}
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
		{"let in", noted, Person{ID: "telegram:7"}, "", Allow, ""},
		{"let in and out again", Policy{Mode: Open, Book: book}, Person{ID: "telegram:8"}, "", Refuse, "revoked"},
		{"taken back, but listed", Policy{Book: book, Users: []string{"telegram:8"}}, Person{ID: "telegram:8"}, "", Allow, ""},
		{"nothing noted", noted, Person{ID: "telegram:9"}, "", Refuse, "stranger"},
		{"let in, at an open place", noted, Person{ID: "telegram:7"}, "telegram:-5", Allow, ""},
		{"let in, at a listed place", noted, Person{ID: "telegram:7"}, "telegram:-1", Allow, ""},
		{"let in, at another place", noted, Person{ID: "telegram:7"}, "telegram:-9", Refuse, "place"},
		{"a stranger at an open place", noted, Person{ID: "telegram:9"}, "telegram:-5", Refuse, "stranger"},
		{"a closed place where all are open", Policy{Mode: Open, AnyPlace: true, Book: book}, Person{ID: "telegram:9"}, "telegram:-6", Refuse, "place"},
		{"who writes as an open group", noted, Person{ID: "telegram:-5"}, "telegram:-5", Allow, ""},
		{"somebody of another workspace, let in", Policy{Mode: Members, Book: book}, Person{ID: "slack:U9", External: true}, "", Allow, ""},
		{"a bot that is let in is still one", noted, Person{ID: "telegram:7", Bot: true}, "", Ignore, "bot"},
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
