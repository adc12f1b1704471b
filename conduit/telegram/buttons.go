package telegram

import (
	"encoding/json"

	"orebot/conduit"
)

// buttonPrefix marks the data of a button as the name of a command.
const buttonPrefix = "c:"

// buttonTexts are what buttons say; another command's says its name.
var buttonTexts = map[string]string{
	"retry": "Ask again", "stop": "Stop", "new": "Start afresh", "undo": "Undo", "help": "Help", "models": "Models", "status": "Status",
	"compact": "Summarise",
}

// maxButtonData is the most that a button carries (docs: InlineKeyboardButton).
const maxButtonData = 64

type button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// keyboard returns the inline keyboard for commands, in one row; "" where there is none to offer.
func keyboard(commands []string) string {
	var row []button
	for _, name := range commands {
		data := buttonPrefix + name
		if name == "" || len(data) > maxButtonData {
			continue
		}
		text := buttonTexts[name]
		if text == "" {
			text = "/" + name
		}
		row = append(row, button{text, data})
	}
	if row == nil {
		return ""
	}
	b, _ := json.Marshal(map[string]any{"inline_keyboard": [][]button{row}}) // plain data
	return string(b)
}

// offersOf returns the commands whose buttons stand under the part of an item that ends at next.
func offersOf(it conduit.Item, next int) []string {
	if it.Kind != conduit.Notice || next < len(it.Source) {
		return nil
	}
	return it.Offers
}
