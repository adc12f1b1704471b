package slack

import (
	"strings"

	slackgo "github.com/slack-go/slack"

	"orebot/conduit"
)

// foldedOf is what the model thought before an answer, as text without markup; empty where nothing of it is shown.
func foldedOf(it conduit.Item) string {
	return strings.TrimSpace(printable(it.Reasoning))
}

// folding shows it as a secondary attachment, for three reasons: it is the one thing that Slack folds by itself, behind "Show more" from
// 700 characters or five line breaks on (docs: secondary message attachments); it takes nothing of the text's room, so that the answer
// is cut as it is without it; and it is no post of its own, which would cost a second. What is shorter isn't folded, and is a few grey
// lines. Without mrkdwn_in nothing in it is markup; <!here> and the like would be live all the same, and are escaped.
func folding(text string) slackgo.Attachment {
	return slackgo.Attachment{Title: "Reasoning", Text: escaper.Replace(text), Fallback: "Reasoning"}
}
