package slack

import "orebot/core/session"

// translateChange makes an edit of a message_changed, which Slack sends for a great deal else: unfurled links, a thread's new reply
// count, the bot's own updates, files taken away. Only a changed text that a person is noted to have edited counts. A root whose
// replies keep it in place after it was deleted comes as a change too, into a tombstone.
func translateChange(ev object, me identity) (in session.Inbound, ignored string) {
	now, before := ev.object("message"), ev.object("previous_message")
	edited := now.object("edited").text("ts")
	switch {
	case now.text("subtype") == "tombstone":
		return translateDeletion(ev, before, now.text("ts"), me)
	case !validTS(edited), before != nil && now.text("text") == before.text("text"):
		return in, ignoredEdit
	case own(now, me):
		return in, ignoredOwn
	}
	in, ignored = translateMessage(ev, now, me)
	switch {
	case ignored != "":
		return in, ignored
	case in.Author.Bot:
		return session.Inbound{}, ignoredEdit
	}
	at, _ := spotOf(ev, now, me)
	sig := at.signal(session.SignalEdit, "edit/"+edited, edited)
	in.Key, in.Version = sig.Key, edited // the rest is the message's own: it may stand in for one that never came
	in.Signal, in.Target, in.TargetKey = sig.Signal, sig.Target, sig.TargetKey
	return in, ""
}

// translateDeletion makes a deletion of what is known of the message that is gone. Who deleted it isn't told; its author stands for
// them.
func translateDeletion(ev, gone object, ts string, me identity) (in session.Inbound, ignored string) {
	author := authorOf(gone, me)
	at, ok := spotOf(ev, gone, me)
	switch {
	case gone == nil:
		return in, ignoredInvalid
	case own(gone, me):
		return in, ignoredOwn
	case author.Bot:
		return in, ignoredDelete
	case !ok || at.ts != ts || author.ID == "":
		return in, ignoredInvalid
	}
	when := ev.text("ts")
	if !validTS(when) {
		when = ts
	}
	in = at.signal(session.SignalDelete, "delete", when)
	in.Author, in.Call = author, session.CallAmbient
	if at.direct {
		in.Call = session.CallDirect
	}
	return in, ""
}
