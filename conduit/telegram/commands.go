package telegram

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"orebot/conduit"
	"orebot/core/observe"
)

// Command is an entry of the menu that Telegram shows to who types a slash.
type Command struct {
	Name        string `json:"command"`     // without the slash
	Description string `json:"description"` // one line
}

// Limits of a menu's entries (docs: BotCommand).
const (
	maxMenu        = 100
	maxDescription = 256
)

var commandName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// menuTries is how often a menu is tried to be set. Commands work without.
const menuTries = 5

// menus sets the menu of each scope, where it isn't set already. It is no failure that one can't be set.
func (t *Telegram) menus(ctx context.Context) {
	if t.cfg.Menu == nil {
		return
	}
	for scope, private := range map[string]bool{"all_private_chats": true, "all_group_chats": false} {
		if err := t.menu(ctx, scope, fitting(t.cfg.Menu(private))); err != nil && ctx.Err() == nil {
			t.log.Warn("commands not registered", observe.KeyState, scope, observe.KeyError, err)
		}
	}
}

// menu sets one scope's menu, and tries again where that may help.
func (t *Telegram) menu(ctx context.Context, scope string, want []Command) error {
	wait := backoff{min: time.Second, max: time.Minute}
	for try := 1; ; try++ {
		err := t.setMenu(ctx, tgbotapi.Params{"scope": `{"type":"` + scope + `"}`}, want)
		if err == nil {
			return nil
		}
		e := asCall(err)
		if e.final() || try == menuTries || conduit.Sleep(ctx, max(wait.next(), e.wait())) != nil {
			return err
		}
	}
}

// setMenu sets a menu that differs from the one that is there.
func (t *Telegram) setMenu(ctx context.Context, params tgbotapi.Params, want []Command) error {
	raw, err := t.cfg.API.call(ctx, "getMyCommands", params)
	if err != nil {
		return err
	}
	var have []Command
	if json.Unmarshal(raw, &have) == nil && slices.Equal(have, want) {
		return nil
	}
	list, err := json.Marshal(want)
	if err != nil {
		return err
	}
	_, err = t.cfg.API.call(ctx, "setMyCommands", tgbotapi.Params{"scope": params["scope"], "commands": string(list)})
	return err
}

// fitting leaves out what Telegram would refuse the whole menu for, and cuts descriptions.
func fitting(menu []Command) []Command {
	out := make([]Command, 0, min(len(menu), maxMenu))
	for _, c := range menu {
		c.Description = strings.Join(strings.Fields(cleanText(c.Description)), " ")
		if !commandName.MatchString(c.Name) || c.Description == "" || len(out) == maxMenu {
			continue
		}
		if utf8.RuneCountInString(c.Description) > maxDescription {
			c.Description = string([]rune(c.Description)[:maxDescription])
		}
		out = append(out, c)
	}
	return out
}
