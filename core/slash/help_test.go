package slash_test

import (
	"regexp"
	"strings"
	"testing"

	"orebot/core/session"
	"orebot/core/slash"
)

// Help names exactly what its asker may do at a place, as it is written there.
func TestHelpListsWhatOneMayDo(t *testing.T) {
	const everyone, asker = "help stop model models think status usage whoami unlink", "help stop retry model models think status usage whoami unlink"
	const starter = "help new stop retry undo model models system think compact mute follow status usage whoami unlink export"
	c := slash.New(slash.Config{Models: installed{"m"}, Link: slash.Link{Enabled: "threads"}})
	for _, test := range []struct {
		who, prefix, place string
		r                  session.Rights
		want               string
	}{
		{"anybody", "!", "slack:C1", session.Rights{}, everyone},
		{"who asked", "!", "slack:C1", session.Rights{Asker: true}, asker},
		{"who began it", "/", "telegram:-1", session.Rights{Starter: true}, starter},
		{"an admin", "!", "slack:C1", session.Rights{Admin: true}, strings.Replace(starter, "unlink", "link unlink", 1) + " forget"},
		{"in private", "/", "", session.Rights{Private: true}, strings.NewReplacer(" mute follow", "", "unlink", "link unlink").Replace(starter) + " forget"},
	} {
		eff, err := c.Do(t.Context(), session.Command{Name: "help", In: session.Inbound{Place: test.place}, Rights: test.r, Prefix: test.prefix}, session.View{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range regexp.MustCompile("(?m)^- `"+test.prefix+"([a-z]+)( …)?`: ").FindAllStringSubmatch(eff.Text, -1) {
			got = append(got, m[1])
		}
		if names := strings.Join(got, " "); names != test.want || strings.Count(eff.Text, "\n- ") != len(got)-1 {
			t.Errorf("%s is told of %s\n%s", test.who, names, eff.Text)
		}
		own := test.r.Private || test.r.Admin || test.r.Starter
		if strings.Contains(eff.Text, "show or change the model") != own || strings.Contains(eff.Text, "show or hide its reasoning") != own {
			t.Errorf("%s is told\n%s", test.who, eff.Text)
		}
		if (test.place == "") != strings.HasSuffix(eff.Text, "Anything else is a question.") || (test.place != "") != strings.Contains(eff.Text, "as context") {
			t.Errorf("%s is told\n%s", test.who, eff.Text)
		}
	}
}

// Help names link only where conversations can be linked. Its other half stays: a link of before the operator turned it off can end.
func TestHelpListsLinkWhereOneCan(t *testing.T) {
	for _, test := range []struct {
		enabled, place string
		want           bool
	}{{"threads", "slack:C1", true}, {"threads", "", true}, {"dm", "", true}, {"dm", "slack:C1", false}, {"off", "", false}, {"", "", false}} {
		c := slash.New(slash.Config{Link: slash.Link{Enabled: test.enabled}})
		cmd := session.Command{Name: "help", In: session.Inbound{Place: test.place}, Rights: session.Rights{Private: test.place == "", Admin: true}, Prefix: "!"}
		eff, err := c.Do(t.Context(), cmd, session.View{})
		if got := strings.Contains(eff.Text, "`!link …`"); err != nil || got != test.want || !strings.Contains(eff.Text, "`!unlink`") {
			t.Errorf("%q at %q: %v, %v\n%s", test.enabled, test.place, got, err, eff.Text)
		}
	}
}
