package telegram

import "encoding/json"

// update is an update as far as it is read here (docs: Update). Fields that nothing is made of are not decoded, so that their shape
// can't make an update unreadable.
type update struct {
	ID       int64    `json:"update_id"`
	Message  *message `json:"message"`
	Edited   *message `json:"edited_message"`
	Member   *member  `json:"my_chat_member"`
	Callback *press   `json:"callback_query"`
}

type message struct {
	ID          int64    `json:"message_id"`
	From        *user    `json:"from"`
	SenderChat  *chat    `json:"sender_chat"`
	Chat        chat     `json:"chat"`
	Date        int64    `json:"date"` // Unix time
	EditDate    int64    `json:"edit_date"`
	Thread      int64    `json:"message_thread_id"`
	IsTopic     bool     `json:"is_topic_message"`
	AutoForward bool     `json:"is_automatic_forward"`
	ViaBot      *user    `json:"via_bot"`
	MigrateTo   int64    `json:"migrate_to_chat_id"`
	MigrateFrom int64    `json:"migrate_from_chat_id"`
	Album       string   `json:"media_group_id"`
	Forward     *origin  `json:"forward_origin"`
	ReplyTo     *replied `json:"reply_to_message"`
	Elsewhere   *distant `json:"external_reply"`
	Quote       *excerpt `json:"quote"`
	words
	media
}

// words are a message's text or the caption of its file.
type words struct {
	Text        string   `json:"text"`
	Entities    []entity `json:"entities"`
	Caption     string   `json:"caption"`
	CaptionEnts []entity `json:"caption_entities"`
}

// said returns what is written, and its marks.
func (w words) said() (string, []entity) {
	if w.Text == "" {
		return w.Caption, w.CaptionEnts
	}
	return w.Text, w.Entities
}

// media is what a message may show besides text: files, and things that no file stands for.
type media struct {
	Photo     []file `json:"photo"` // one photo in several sizes
	Document  *file  `json:"document"`
	Animation *file  `json:"animation"`
	Audio     *file  `json:"audio"`
	Sticker   *file  `json:"sticker"`
	Video     *file  `json:"video"`
	VideoNote *file  `json:"video_note"`
	Voice     *file  `json:"voice"`

	Checklist json.RawMessage `json:"checklist"`
	Contact   json.RawMessage `json:"contact"`
	Dice      json.RawMessage `json:"dice"`
	Game      json.RawMessage `json:"game"`
	Giveaway  json.RawMessage `json:"giveaway"`
	Invoice   json.RawMessage `json:"invoice"`
	Location  json.RawMessage `json:"location"`
	PaidMedia json.RawMessage `json:"paid_media"`
	Poll      json.RawMessage `json:"poll"`
	Rich      json.RawMessage `json:"rich_message"`
	Story     json.RawMessage `json:"story"`
	Venue     json.RawMessage `json:"venue"`
}

// replied is the message that another one replies to. In a forum's topic every message that replies to nothing carries the service
// message that made the topic (server: JsonMessage).
type replied struct {
	ID           int64           `json:"message_id"`
	From         *user           `json:"from"`
	SenderChat   *chat           `json:"sender_chat"`
	Forward      *origin         `json:"forward_origin"`
	TopicCreated json.RawMessage `json:"forum_topic_created"`
	words
	media
}

// distant is a message of another chat or topic that a message replies to. Its text isn't told, only what is quoted of it.
type distant struct {
	Origin *origin `json:"origin"`
	media
}

// excerpt is the part of a message that a reply quotes (docs: TextQuote).
type excerpt struct {
	Text string `json:"text"`
}

// origin says who wrote a forwarded message first (docs: MessageOrigin): a user, a user who hides the account, a chat in whose name
// somebody wrote, or a channel.
type origin struct {
	Type      string `json:"type"`
	User      *user  `json:"sender_user"`
	Hidden    string `json:"sender_user_name"`
	Sender    *chat  `json:"sender_chat"`
	Chat      *chat  `json:"chat"`
	Signature string `json:"author_signature"`
}

type user struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Username  string `json:"username"`
}

func (u *user) name() string {
	switch {
	case u.FirstName != "" && u.LastName != "":
		return u.FirstName + " " + u.LastName
	case u.FirstName != "":
		return u.FirstName
	}
	return u.Username
}

type chat struct {
	ID    int64  `json:"id"`
	Type  string `json:"type"`
	Title string `json:"title"`
	Forum bool   `json:"is_forum"`
}

type file struct {
	ID    string `json:"file_id"`
	Name  string `json:"file_name"`
	MIME  string `json:"mime_type"`
	Size  int64  `json:"file_size"`
	Width int64  `json:"width"`
}

// entity marks a stretch of a text, in UTF-16 units.
type entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	User   *user  `json:"user"`
}
