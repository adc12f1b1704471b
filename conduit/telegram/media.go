package telegram

import "orebot/core/session"

// maxDownload is the largest file that Telegram's own servers let a bot read (docs: getFile).
const maxDownload = 20 << 20

// unreadable is what an attachment's id begins with where no bytes stand behind it that could be of use.
const unreadable = "!"

// What people may send that the bot can't read, and the sentence that they get for it.
var unreadables = map[string]string{
	"voice":     "I can't listen to voice messages; please type.",
	"audio":     "I can't listen to audio files; please type.",
	"video":     "I can't watch videos; please type, or send a picture.",
	"animation": "I can't watch animations; please type, or send a picture.",
	"sticker":   "I can't read stickers; please type.",
	"dice":      "I can't read dice; please type.",
	"game":      "I can't play games; please type.",
	"poll":      "I can't read polls; please type.",
	"checklist": "I can't read checklists; please type.",
	"contact":   "I can't read contacts; please type.",
	"location":  "I can't read locations; please type where it is.",
	"story":     "I can't see stories; please type.",
	"rich":      "I can't read this kind of message; please send it as plain text.",
	"other":     "I can't read this kind of message; please type.",
}

// readable returns the file that the bot may read: of a photo, the largest size that can be fetched, or a document. An animation is
// described as a document too, and isn't one.
func (m *media) readable() *session.Attachment {
	if f := largest(m.Photo); f != nil {
		return &session.Attachment{ID: f.ID, MIME: "image/jpeg", Size: max(f.Size, 0)} // all photos are JPEG
	}
	if f := m.Document; f != nil && f.ID != "" && m.Animation == nil {
		return &session.Attachment{ID: f.ID, Name: f.Name, MIME: f.MIME, Size: max(f.Size, 0)}
	}
	return nil
}

// largest returns the largest size of a photo that isn't too large to be fetched. A size needn't be told.
func largest(sizes []file) *file {
	var best *file
	for i, f := range sizes {
		if f.ID != "" && f.Size <= maxDownload && (best == nil || f.Width > best.Width) {
			best = &sizes[i]
		}
	}
	return best
}

// unreadable names what the message shows besides text that the bot can't read; "" is nothing.
func (m *media) unreadable() string {
	switch {
	case m.Voice != nil:
		return "voice"
	case m.Audio != nil:
		return "audio"
	case m.Video != nil, m.VideoNote != nil:
		return "video"
	case m.Animation != nil:
		return "animation"
	case m.Sticker != nil:
		return "sticker"
	case given(m.Dice):
		return "dice"
	case given(m.Poll):
		return "poll"
	case given(m.Checklist):
		return "checklist"
	case given(m.Contact):
		return "contact"
	case given(m.Story):
		return "story"
	case given(m.Rich):
		return "rich"
	case given(m.Game):
		return "game"
	case given(m.Location), given(m.Venue):
		return "location"
	case given(m.Giveaway), given(m.Invoice), given(m.PaidMedia), len(m.Photo) > 0, m.Document != nil:
		return "other"
	}
	return ""
}

// attachment refers to what the message shows besides text; nil is nothing. A message has one such thing at most.
func (m *media) attachment() *session.Attachment {
	if a := m.readable(); a != nil {
		return a
	}
	kind := m.unreadable()
	if kind == "" {
		return nil
	}
	return &session.Attachment{ID: unreadable + kind, Name: kind} // its type and size would only make others word what Fetch says
}

// attachments refers to the message's file, and in a group to that of the message that it replies to: "what is this?" is said below
// the picture. In a private chat that picture was a question already.
func (m *message) attachments(me Me) []session.Attachment {
	var out []session.Attachment
	if a := m.attachment(); a != nil {
		out = append(out, *a)
	}
	if m.place().private() {
		return out
	}
	if r := m.reply(); r != nil && (r.From == nil || r.From.ID != me.ID) {
		if a := r.readable(); a != nil {
			out = append(out, *a)
		}
	}
	if m.Elsewhere != nil {
		if a := m.Elsewhere.readable(); a != nil {
			out = append(out, *a)
		}
	}
	return out
}
