package telegram

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/telegram"
)

// menuOf is a menu of n commands in private chats and of four in groups.
func menuOf(n int) func(*Config) {
	return func(c *Config) {
		c.Menu = func(private bool) []Command {
			if !private {
				return menuList(4)
			}
			return menuList(n)
		}
	}
}

func menuList(n int) []Command {
	out := make([]Command, n)
	for i := range out {
		out[i] = Command{fmt.Sprintf("c%d", i), fmt.Sprintf("does %d", i)}
	}
	return out
}

// Menus are set for private chats and for groups, and again only when they have changed.
// Facts A3.6.
func TestMenusAreSetWhenTheyChange(t *testing.T) {
	inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
		for i, want := range []int{2, 2, 3} { // the third life has one command more in private
			n := 10
			if i == 2 {
				n = 9
			}
			l := b.start(menuOf(n))
			l.rest(10 * time.Second)
			calls := b.Calls("setMyCommands")
			if len(calls) != want {
				t.Fatalf("life %d: %d menus were set, want %d", i+1, len(calls), want)
			}
		}
		for _, c := range b.Calls("setMyCommands")[:2] {
			var list []Command
			if err := json.Unmarshal([]byte(c.Params["commands"]), &list); err != nil {
				t.Fatal(err)
			}
			private := strings.Contains(c.Params["scope"], "all_private_chats")
			if len(list) == 10 != private || len(list) == 4 == private || list[0] != (Command{"c0", "does 0"}) {
				t.Errorf("%v", c.Params)
			}
		}
	})
}

// A menu waits as long as Telegram says, and that it can't be set keeps nothing from working.
// Facts A3.6; report 14.
func TestMenusAreNoCondition(t *testing.T) {
	for name, c := range map[string]struct {
		get, set []fault.Fault
		calls    int // of setMyCommands
		logged   int
	}{
		"told to wait": {nil, []fault.Fault{sim.TooMany(20 * time.Second)}, 3, 0},
		"bad gateway":  {[]fault.Fault{badGateway, badGateway}, []fault.Fault{badGateway}, 3, 0},
		"refused":      {nil, []fault.Fault{sim.Refusal(400, "Bad Request: BOT_COMMAND_INVALID")}, 2, 1},
		"for ever":     {nil, []fault.Fault{badGateway, badGateway, badGateway, badGateway, badGateway}, 6, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, sim.Options{}, func(t *testing.T, b *bench) {
				b.Faults.Next("getMyCommands", c.get...)
				b.Faults.Next("setMyCommands", c.set...)
				l := b.start(menuOf(10))
				time.Sleep(time.Second)
				b.Say(b.ada, b.chat, "hello")
				l.rest(5 * time.Minute)
				b.want(b.chat, "re: hello")
				calls := b.Calls("setMyCommands")
				if len(calls) != c.calls || b.logged("commands not registered") != c.logged {
					t.Errorf("%d calls, %d lines\n%s", len(calls), b.logged("commands not registered"), b.log.String())
				}
				if name == "told to wait" && calls[1].At-calls[0].At < 20*time.Second {
					t.Errorf("tried again after %v", calls[1].At-calls[0].At)
				}
			})
		})
	}
}

// Facts A3.6.
func TestMenusAsTelegramTakesThem(t *testing.T) {
	menu := []Command{{"help", "a\nb"}, {"Bad", "x"}, {"", "x"}, {"empty", " "}, {strings.Repeat("x", 33), "x"}, {"long", strings.Repeat("ä", 300)}}
	got := fitting(append(menu, menuList(200)...))
	if len(got) != maxMenu || got[0] != (Command{"help", "a b"}) || got[1] != (Command{"long", strings.Repeat("ä", 256)}) || got[2].Name != "c0" {
		t.Errorf("%d: %v", len(got), got[:3])
	}
}
