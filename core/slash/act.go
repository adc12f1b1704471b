package slash

import (
	"fmt"
	"strings"

	"orebot/core/loop"
	"orebot/core/session"
)

// act returns the effects that change what happens in a conversation, with what is said about each outcome.
func act(cmd session.Command) (session.Effect, bool) {
	p := cmd.Prefix
	switch cmd.Name {
	case "stop":
		r := cmd.Rights
		return session.Effect{Act: session.ActStop, Others: r.Private || r.Admin || r.Starter,
			Say: func(o session.Outcome) session.Reply { return stopped(o, p) }}, true
	case "retry":
		return session.Effect{Act: session.ActRetry, Say: func(session.Outcome) session.Reply {
			return info("There is nothing to answer again.")
		}}, true
	case "undo":
		return session.Effect{Act: session.ActUndo, Say: func(o session.Outcome) session.Reply { return undone(o, p) }}, true
	case "new":
		return session.Effect{Act: session.ActNew, Ask: cmd.Args != "" || len(cmd.In.Attachments) > 0, Say: func(o session.Outcome) session.Reply { return begun(o, p) }}, true
	case "compact":
		return session.Effect{Act: session.ActCompact, Say: compacted}, true
	}
	return session.Effect{}, false
}

func info(text string) session.Reply {
	return session.Reply{Severity: loop.SeverityInfo, Text: text}
}

func well(text string, offers ...string) session.Reply {
	return session.Reply{Severity: loop.SeveritySuccess, Text: text, Offers: offers}
}

// stopped says what a stop did.
func stopped(o session.Outcome, p string) session.Reply {
	switch {
	case o.Theirs && o.Withdrawn == 0:
		r := info("Only who asked, who began this conversation, or an admin can stop that.")
		r.Private = true
		return r
	case !o.Done:
		return info("Nothing is being answered here.")
	case o.Theirs:
		return well(fmt.Sprintf("%d waiting withdrawn. The answer in progress is another person's.", o.Withdrawn))
	}
	text := "Stopped."
	if o.Withdrawn > 0 {
		text = fmt.Sprintf("Stopped, %d waiting withdrawn.", o.Withdrawn)
	}
	return well(text+" `"+p+"retry` asks again.", "retry")
}

// undone says what was taken back.
func undone(o session.Outcome, p string) session.Reply {
	switch {
	case o.Far:
		return info("That lies too far back.")
	case o.Back:
		return well("Back in the conversation before `" + p + "new`.")
	case !o.Done:
		return info("There is nothing to take back.")
	}
	return well("Taken back: “" + short(o.Question, 60) + "”")
}

// begun says that a conversation begins.
func begun(o session.Outcome, p string) session.Reply {
	if !o.Done {
		return info("This conversation is fresh already.")
	}
	return well("A fresh conversation begins. `"+p+"undo` returns to the one before.", "undo")
}

// compacted says whether older turns stand in a summary now.
func compacted(o session.Outcome) session.Reply {
	switch {
	case o.Failed:
		return session.Reply{Severity: loop.SeverityWarn, Text: "The model gave me no summary. Everything stays as it is."}
	case !o.Done:
		return info("There is nothing older to summarise yet.")
	}
	return well("Older messages stand in a summary now.")
}

// short is the beginning of a text in one line, without what could be markup.
func short(s string, n int) string {
	s = strings.Join(strings.Fields(strings.Map(plainRune, s)), " ")
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return strings.TrimSpace(string(r[:n])) + "…"
}

func plainRune(r rune) rune {
	if strings.ContainsRune("*_`~[]<>|\\#", r) {
		return ' '
	}
	return r
}
