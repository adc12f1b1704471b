package slack

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"
)

func TestHistoryPages(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		var ts []string
		for i := range 7 {
			ts = append(ts, b.Say(o.user, o.in, fmt.Sprint(i)))
		}
		b.Say(o.user, o.in, "reply", InThread(ts[3]))
		b.Say(o.user, o.in, "loud", InThread(ts[3]), Broadcast())
		for _, c := range []struct {
			name   string
			params slackgo.GetConversationHistoryParameters
			want   string
		}{
			{"all", slackgo.GetConversationHistoryParameters{}, "loud 6 5 4 3 2 1 0"},
			{"paged", slackgo.GetConversationHistoryParameters{Limit: 3}, "loud 6 5 | 4 3 2 | 1 0"},
			{"since", slackgo.GetConversationHistoryParameters{Oldest: ts[4]}, "loud 6 5"},
			{"since, inclusive", slackgo.GetConversationHistoryParameters{Oldest: ts[4], Inclusive: true}, "loud 6 5 4"},
			{"between", slackgo.GetConversationHistoryParameters{Oldest: ts[1], Latest: ts[4], Limit: 1}, "3 | 2"},
			{"from second zero", slackgo.GetConversationHistoryParameters{Oldest: "0", Latest: ts[1]}, "0"},
		} {
			if got := b.pages(t, o.in, c.params); got != c.want {
				t.Errorf("%s: got %q, want %q", c.name, got, c.want)
			}
		}
	})
}

func (b *bench) pages(t *testing.T, channel string, p slackgo.GetConversationHistoryParameters) string {
	t.Helper()
	p.ChannelID = channel
	var pages []string
	for {
		resp, err := b.api.GetConversationHistoryContext(b.ctx, &p)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, m := range resp.Messages {
			texts = append(texts, m.Text)
		}
		pages = append(pages, strings.Join(texts, " "))
		if p.Cursor = resp.ResponseMetaData.NextCursor; p.Cursor == "" {
			return strings.Join(pages, " | ")
		}
	}
}

func TestRepliesPages(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		root := b.Say(o.user, o.in, "root")
		for i := range 5 {
			b.Say(o.user, o.in, fmt.Sprint(i), InThread(root))
		}
		p := slackgo.GetConversationRepliesParameters{ChannelID: o.in, Timestamp: root, Limit: 2}
		var got []string
		for more := true; more; {
			var msgs []slackgo.Message
			var err error
			if msgs, more, p.Cursor, err = b.api.GetConversationRepliesContext(b.ctx, &p); err != nil {
				t.Fatal(err)
			}
			for _, m := range msgs {
				got = append(got, m.Text)
			}
		}
		if want := "root 0 1 root 2 3 root 4"; strings.Join(got, " ") != want {
			t.Errorf("got %v, want %s", got, want)
		}
		p = slackgo.GetConversationRepliesParameters{ChannelID: o.in, Timestamp: "1.000000"}
		_, _, _, err := b.api.GetConversationRepliesContext(b.ctx, &p)
		wantError(t, "no thread", err, "thread_not_found")
	})
}

func TestWindowIsChecked(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		for key, want := range map[string]string{
			"limit": "invalid_limit", "cursor": "invalid_cursor", "oldest": "invalid_ts_oldest", "latest": "invalid_ts_latest",
		} {
			got := b.call(t, "conversations.history", "xoxb-sim", url.Values{"channel": {o.in}, key: {"x"}})
			if got["error"] != want {
				t.Errorf("%s: %v", key, got)
			}
		}
		got := b.call(t, "conversations.history", "xoxb-sim", url.Values{"channel": {o.out}})
		if got["error"] != "not_in_channel" {
			t.Errorf("history of a channel the bot isn't in: %v", got)
		}
	})
}

func TestConversationsAndUsers(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		ext := b.AddUser("eve", External("T9"))
		guest := b.AddUser("gus", Guest())
		shared := b.AddChannel("shared", ext, "UBOT")
		for id, want := range map[string]string{o.in: "in true false", o.out: "out false false", shared: "shared true true"} {
			ch, err := b.api.GetConversationInfoContext(b.ctx, &slackgo.GetConversationInfoInput{ChannelID: id})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(ch.Name, " ", ch.IsMember, " ", ch.IsExtShared); got != want {
				t.Errorf("%s: %s, want %s", id, got, want)
			}
		}
		ch, _, _, err := b.api.OpenConversationContext(b.ctx, &slackgo.OpenConversationParameters{Users: []string{o.user}})
		if err != nil || ch.ID != o.dm {
			t.Errorf("open: %+v, %v", ch, err)
		}
		u, err := b.api.GetUserInfoContext(b.ctx, ext)
		if err != nil || u.Name != "eve" || u.TeamID != "T9" || !u.IsStranger {
			t.Errorf("external: %+v, %v", u, err)
		}
		if u, err = b.api.GetUserInfoContext(b.ctx, guest); err != nil || !u.IsRestricted {
			t.Errorf("guest: %+v, %v", u, err)
		}
		_, err = b.api.GetUserInfoContext(b.ctx, "U99")
		wantError(t, "stranger", err, "user_not_found")
	})
}

func TestUpload(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		root := b.Say(o.user, o.in, "root")
		f, err := b.api.UploadFileContext(b.ctx, slackgo.UploadFileParameters{
			Filename: "answer.md", FileSize: 5, Content: "hello", Channel: o.in, ThreadTimestamp: root, InitialComment: "the rest",
		})
		if err != nil || string(b.FileData(f.ID)) != "hello" {
			t.Fatalf("upload: %+v, %v", f, err)
		}
		want := fmt.Sprintf("0s post C1 U1: root\n0s post C1/%[1]s UBOT: the rest\n"+
			"0s file C1/%[1]s UBOT: answer.md (5 bytes)\n", root)
		if got := Script(b.Transcript()); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		_, err = b.api.UploadFileContext(b.ctx, slackgo.UploadFileParameters{
			Filename: "x", FileSize: 9, Content: "short", Channel: o.in})
		if err == nil {
			t.Error("a file of another size was taken")
		}
		if n := len(b.Calls("upload")); n != 2 {
			t.Errorf("%d uploads counted", n)
		}
	})
}
