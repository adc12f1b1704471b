package slack

import (
	"strings"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
)

const (
	// maxSection is how many characters the text of a section block holds.
	maxSection = 3000
	// maxButtons is how many buttons stand under a notice: more of them nobody reads.
	maxButtons = 5
)

// buttonTexts are what buttons say; that of any other command says its name.
var buttonTexts = map[string]string{
	"retry": "Ask again", "stop": "Stop", "new": "Start afresh", "undo": "Undo", "help": "Help", "models": "Models", "status": "Status",
	"compact": "Summarise",
}

// offersOf are the commands that an item's buttons stand for, each once.
func offersOf(it conduit.Item) []string {
	if it.Kind != conduit.Notice {
		return nil
	}
	var out []string
	seen := map[string]bool{}
	for _, name := range it.Offers {
		if name != "" && !strings.ContainsAny(name, " \n") && len(name) <= 64 && !seen[name] && len(out) < maxButtons {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// blocksOf shows a text with buttons below. The section takes mentions and links only where they are written out.
func blocksOf(b body) []slackgo.Block {
	if b.offers == "" {
		return nil
	}
	names := strings.Fields(b.offers)
	text := slackgo.NewTextBlockObject(slackgo.MarkdownType, b.text, false, true)
	buttons := make([]slackgo.BlockElement, len(names))
	for i, name := range names {
		label := buttonTexts[name]
		if label == "" {
			label = "!" + name
		}
		plain := slackgo.NewTextBlockObject(slackgo.PlainTextType, label, false, false)
		buttons[i] = slackgo.NewButtonBlockElement(actionPrefix+name, name, plain)
	}
	return []slackgo.Block{slackgo.NewSectionBlock(text, nil, nil), slackgo.NewActionBlock("", buttons...)}
}
