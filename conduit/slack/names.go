package slack

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"orebot/core/session"
)

const (
	maxMentions = 20              // people of one message whose names are looked up
	namesTime   = 3 * time.Second // for all of them
	maxName     = 80              // characters
)

// mentionsOf are the ids of the people whom a message's texts name only by their ids: readText leaves "@U1" of them, and Names puts
// the name in. The bot is known.
func mentionsOf(m object, me identity) []string {
	ids := mentionedIn(nil, m.text("text"), me)
	for _, a := range m.list("attachments") {
		if forwards(a) {
			ids = mentionedIn(ids, a.text("text"), me)
		}
	}
	return ids
}

// mentionedIn adds those that one text, not yet decoded, names.
func mentionedIn(ids []string, text string, me identity) []string {
	for {
		i := strings.Index(text, "<@")
		if i < 0 || len(ids) == maxMentions {
			return ids
		}
		text = text[i:]
		end := tokenEnd(text)
		if end < 0 {
			text = text[2:]
			continue
		}
		id, label, _ := strings.Cut(text[2:end], "|")
		if label == "" && validID(id) && id != me.user && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		text = text[end:]
	}
}

// Names puts names in the place of the ids in a message's texts, and fills in the author's. Whom Slack doesn't tell of in time stays
// an id.
func (api *API) Names(ctx context.Context, in session.Inbound) session.Inbound {
	ctx, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	if in.Author.Name == "" && !in.Author.Bot {
		in.Author.Name = api.nameOf(ctx, in.Author.ID)
	}
	if len(in.Mentions) == 0 {
		return in
	}
	in.Quotes = slices.Clone(in.Quotes)
	var left []string
	for _, id := range in.Mentions {
		name := api.nameOf(ctx, personID(id))
		if name == "" {
			left = append(left, id)
			continue
		}
		in.Text = putName(in.Text, id, name)
		for i := range in.Quotes {
			in.Quotes[i].Text = putName(in.Quotes[i].Text, id, name)
		}
	}
	in.Mentions = left
	return in
}

// nameOf looks up how a person is called; "" where that can't be told now.
func (api *API) nameOf(ctx context.Context, id string) string {
	if ctx.Err() != nil {
		return ""
	}
	who, err := api.Person(ctx, "", session.Author{ID: id})
	if err != nil {
		return ""
	}
	return who.Name
}

// putName puts "@name" where "@id" stands as a whole.
func putName(text, id, name string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, "@"+id)
		if i < 0 {
			return b.String() + text
		}
		end := i + 1 + len(id)
		b.WriteString(text[:i])
		if end < len(text) && validID(text[end:end+1]) {
			b.WriteString(text[i:end])
		} else {
			b.WriteString("@" + name)
		}
		text = text[end:]
	}
}

// oneLine makes of what somebody calls themselves, or a file, a short text without line breaks and other controls.
func oneLine(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, name)
	clean = strings.Join(strings.Fields(clean), " ")
	if r := []rune(clean); len(r) > maxName {
		clean = string(r[:maxName]) + "…"
	}
	return clean
}
