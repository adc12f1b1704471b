package slack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"
)

// call makes a Web API call by hand and returns the answer.
func (b *bench) call(t *testing.T, method, bearer string, form url.Values) map[string]any {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, b.url+"/api/"+method, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	resp, err := b.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// office is a workspace with one person, three channels and a DM.
type office struct{ user, in, out, archived, private, dm string }

func (b *bench) office() office {
	o := office{user: b.AddUser("al")}
	o.in = b.AddChannel("in", o.user, "UBOT")
	o.out = b.AddChannel("out", o.user)
	o.archived = b.AddChannel("archived", o.user, "UBOT")
	b.Archive(o.archived)
	o.private = b.AddConversation(Private, "secret", o.user)
	o.dm = b.OpenDM(o.user)
	return o
}

func TestAuthorization(t *testing.T) {
	inBubble(t, Options{Scopes: []string{"chat:write"}}, func(t *testing.T, b *bench) {
		for _, c := range []struct{ method, bearer, token, want string }{
			{"auth.test", "", "xoxb-sim", ""},
			{"auth.test", "xoxb-sim", "", ""},
			{"auth.test", "", "", "not_authed"},
			{"auth.test", "", "xoxb-wrong", "invalid_auth"},
			{"auth.test", "", "xapp-sim", "not_allowed_token_type"},
			{"apps.connections.open", "xapp-sim", "", ""},
			{"apps.connections.open", "", "xapp-sim", "not_authed"},
			{"apps.connections.open", "xoxb-sim", "", "not_allowed_token_type"},
			{"apps.connections.open", "xapp-wrong", "", "invalid_auth"},
			{"no.such", "xoxb-sim", "", "unknown_method"},
			{"users.info", "xoxb-sim", "", "missing_scope"},
		} {
			form := url.Values{}
			if c.token != "" {
				form.Set("token", c.token)
			}
			got := b.call(t, c.method, c.bearer, form)
			if ok := c.want == ""; got["ok"] != ok || !ok && got["error"] != c.want {
				t.Errorf("%+v: got %v", c, got)
			}
		}
		who, err := b.api.AuthTestContext(b.ctx)
		if err != nil || who.UserID != "UBOT" || who.BotID != "BBOT" || who.TeamID != "T1" {
			t.Errorf("auth.test: %+v, %v", who, err)
		}
		if got := who.Header.Get("X-OAuth-Scopes"); got != "chat:write" {
			t.Errorf("scopes %q", got)
		}
		if n := len(b.Calls("auth.test")); n != 6 {
			t.Errorf("%d calls of auth.test, want 6", n)
		}
	})
}

func TestPostIsRefused(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		root := b.Say(o.user, o.in, "root")
		reply := b.Say(o.user, o.in, "reply", InThread(root))
		long := strings.Repeat("x", 3001)
		many := "[" + strings.TrimSuffix(strings.Repeat(`{"type":"divider"},`, 51), ",") + "]"
		md := func(n int) string { return fmt.Sprintf(`{"type":"markdown","text":%q}`, strings.Repeat("é", n)) }
		for _, c := range []struct{ channel, key, value, want string }{
			{"C99", "text", "x", "channel_not_found"},
			{o.private, "text", "x", "channel_not_found"},
			{o.out, "text", "x", "not_in_channel"},
			{o.archived, "text", "x", "is_archived"},
			{o.in, "text", " \n", "no_text"},
			{o.in, "blocks", "[]", "no_text"},
			{o.in, "blocks", "{", "invalid_blocks_format"},
			{o.in, "blocks", `[{"type":"magic"}]`, "invalid_blocks"},
			{o.in, "blocks", `[{"type":"section","text":"bare"}]`, "invalid_blocks"},
			{o.in, "blocks", `[{"type":"section","text":{"type":"mrkdwn","text":""}}]`, "invalid_blocks"},
			{o.in, "blocks", `[{"type":"section","text":{"type":"mrkdwn","text":"` + long + `"}}]`, "invalid_blocks"},
			{o.in, "blocks", `[{"type":"header","text":{"type":"mrkdwn","text":"x"}}]`, "invalid_blocks"},
			{o.in, "blocks", many, "invalid_blocks"},
			{o.in, "blocks", `[{"type":"divider","block_id":"a"},{"type":"divider","block_id":"a"}]`, "invalid_blocks"},
			{o.in, "blocks", "[" + md(6000) + "," + md(6001) + "]", "msg_blocks_too_long"},
			{o.in, "blocks", `[{"type":"markdown","text":"` + strings.Repeat("&", 2641) + `"}]`, "msg_blocks_too_long"},
			{o.in, "blocks", `[{"type":"section","fields":[{"type":"mrkdwn","text":"` + long + `"}]}]`, "invalid_blocks"},
			{o.in, "blocks", `[{"type":"context","elements":[]}]`, "invalid_blocks"},
			{o.in, "attachments", "{}", "invalid_attachments"},
			{o.in, "attachments", "[" + strings.Repeat("{},", 100) + "{}]", "too_many_attachments"},
			{o.in, "metadata", `{"event_type":"x"}`, "invalid_metadata_format"},
			{o.in, "markdown_text", "x", "markdown_text_conflict"},
			{o.in, "thread_ts", "1.000001", "thread_not_found"},
			{o.in, "thread_ts", reply, "cannot_reply_to_message"},
		} {
			form := url.Values{"channel": {c.channel}, c.key: {c.value}}
			if c.key == "thread_ts" || c.key == "metadata" || c.key == "markdown_text" {
				form.Set("text", "x")
			}
			if got := b.call(t, "chat.postMessage", "xoxb-sim", form); got["error"] != c.want {
				t.Errorf("%s %s=%.60s: got %v, want %s", c.channel, c.key, c.value, got, c.want)
			}
		}
		if n := b.Refused(); n != 24 {
			t.Errorf("%d posts refused, want 24", n)
		}
		if n := len(b.Transcript()); n != 2 {
			t.Errorf("%d lines, want only the person's two", n)
		}
	})
}

func TestPostAndReadBack(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		root := b.Say(o.user, o.in, "root")
		meta := slackgo.SlackMetadata{EventType: "turn", EventPayload: map[string]any{"id": "t1"}}
		text := "*2 &lt; 3* <!here> <@" + o.user + ">"
		section := slackgo.NewSectionBlock(slackgo.NewTextBlockObject("mrkdwn", text, false, false), nil, nil)
		_, ts, m, err := b.api.PostMessageWithResponseContext(b.ctx, o.in, slackgo.MsgOptionText("fallback", false),
			slackgo.MsgOptionTS(root), slackgo.MsgOptionMetadata(meta), slackgo.MsgOptionBlocks(section))
		if err != nil {
			t.Fatal(err)
		}
		if m.ThreadTimestamp != root || m.BotID != "BBOT" || m.User != "UBOT" || m.Timestamp != ts {
			t.Errorf("answer %+v", m)
		}
		for _, all := range []bool{true, false} {
			msgs, more, _, err := b.api.GetConversationRepliesContext(b.ctx, &slackgo.GetConversationRepliesParameters{
				ChannelID: o.in, Timestamp: root, IncludeAllMetadata: all})
			if err != nil || more || len(msgs) != 2 || msgs[0].ReplyCount != 1 || msgs[1].Text != "fallback" {
				t.Fatalf("replies: %+v, %v", msgs, err)
			}
			if got := msgs[1].Metadata.EventPayload["id"]; all != (got == "t1") {
				t.Errorf("all metadata %v: got %v", all, got)
			}
		}
		l := b.Transcript()[1]
		if l.Text != "*2 < 3* @here @al" || strings.Join(l.Pings, " ") != "!here @"+o.user || l.Thread != root {
			t.Errorf("line %+v", l)
		}
		got := b.Thread(o.in, root)
		if len(got) != 2 || got[1].Shown != l.Text || string(got[1].Metadata) != string(l.Metadata) {
			t.Errorf("thread %+v", got)
		}
	})
}

func TestLongTextIsCutWithAWarning(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		form := url.Values{"channel": {o.in}, "text": {strings.Repeat("é", 40_001)}}
		got := b.call(t, "chat.postMessage", "xoxb-sim", form)
		if got["ok"] != true || got["warning"] != "message_truncated" {
			t.Errorf("got %v %v", got["ok"], got["warning"])
		}
		if n := len([]rune(b.Thread(o.in, "")[0].Text)); n != 40_000 {
			t.Errorf("%d characters kept", n)
		}
	})
}

func TestReplyToDeletedRootGoesToTopLevel(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		for _, replied := range []bool{false, true} {
			root := b.Say(o.user, o.in, "root")
			if replied {
				b.Say(o.user, o.in, "reply", InThread(root))
			}
			b.Delete(o.in, root)
			_, _, m, err := b.api.PostMessageWithResponseContext(b.ctx, o.in, slackgo.MsgOptionText("late", false),
				slackgo.MsgOptionTS(root))
			if err != nil || m.ThreadTimestamp != "" {
				t.Errorf("replied %v: %+v, %v", replied, m, err)
			}
		}
	})
}

func TestUpdateDeleteEphemeral(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		theirs := b.Say(o.user, o.in, "mine")
		_, ts, err := b.api.PostMessageContext(b.ctx, o.in, slackgo.MsgOptionText("one", false))
		if err != nil {
			t.Fatal(err)
		}
		_, _, _, err = b.api.UpdateMessageContext(b.ctx, o.in, ts, slackgo.MsgOptionText("two", false))
		wantError(t, "update", err, "")
		_, _, _, err = b.api.UpdateMessageContext(b.ctx, o.in, ts, slackgo.MsgOptionText(strings.Repeat("é", 2001), false))
		wantError(t, "long update", err, "msg_too_long")
		_, _, _, err = b.api.UpdateMessageContext(b.ctx, o.in, theirs, slackgo.MsgOptionText("x", false))
		wantError(t, "update of another's", err, "cant_update_message")
		_, err = b.api.PostEphemeralContext(b.ctx, o.in, o.user, slackgo.MsgOptionText("psst", false))
		wantError(t, "ephemeral", err, "")
		_, err = b.api.PostEphemeralContext(b.ctx, o.in, "U99", slackgo.MsgOptionText("psst", false))
		wantError(t, "ephemeral to a stranger", err, "user_not_in_channel")
		_, _, err = b.api.DeleteMessageContext(b.ctx, o.in, ts)
		wantError(t, "delete", err, "")
		_, _, err = b.api.DeleteMessageContext(b.ctx, o.in, ts)
		wantError(t, "delete twice", err, "message_not_found")
		want := "0s post C1 U1: mine\n0s post C1 UBOT: one\n0s edit C1 UBOT: two\n" +
			"0s ephemeral C1 UBOT: psst\n0s delete C1 UBOT: two\n"
		if got := Script(b.Transcript()); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

func wantError(t *testing.T, what string, err error, code string) {
	t.Helper()
	if got := fmt.Sprint(err); got != code && (code != "" || err != nil) {
		t.Errorf("%s: got %v, want %q", what, err, code)
	}
}

func TestReactionsAndStatus(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		o := b.office()
		ts := b.Say(o.user, o.in, "hello")
		ref := slackgo.NewRefToMessage(o.in, ts)
		wantError(t, "add", b.api.AddReactionContext(b.ctx, "eyes", ref), "")
		history, err := b.api.GetConversationHistoryContext(b.ctx, &slackgo.GetConversationHistoryParameters{ChannelID: o.in})
		if err != nil || len(history.Messages[0].Reactions) != 1 || history.Messages[0].Reactions[0].Users[0] != "UBOT" {
			t.Errorf("history: %+v, %v", history, err)
		}
		wantError(t, "add twice", b.api.AddReactionContext(b.ctx, "eyes", ref), "already_reacted")
		wantError(t, "bad name", b.api.AddReactionContext(b.ctx, ":eyes:", ref), "invalid_name")
		wantError(t, "remove", b.api.RemoveReactionContext(b.ctx, "eyes", ref), "")
		wantError(t, "remove twice", b.api.RemoveReactionContext(b.ctx, "eyes", ref), "no_reaction")
		nowhere := slackgo.NewRefToMessage(o.in, "1.000000")
		wantError(t, "nowhere", b.api.AddReactionContext(b.ctx, "eyes", nowhere), "message_not_found")
		set := func(ts, text string) error {
			return b.api.SetAssistantThreadsStatusContext(b.ctx, slackgo.AssistantThreadsSetStatusParameters{
				ChannelID: o.in, ThreadTS: ts, Status: text})
		}
		wantError(t, "status nowhere", set("1.000000", "thinks"), "invalid_thread_ts")
		wantError(t, "status", set(ts, "thinks"), "")
		if got := b.Status(o.in, ts); got != "thinks" {
			t.Errorf("status %q", got)
		}
		time.Sleep(statusLife + time.Second)
		if got := b.Status(o.in, ts); got != "" {
			t.Errorf("status %q after two minutes", got)
		}
		wantError(t, "status again", set(ts, "thinks"), "")
		_, _, _ = b.api.PostMessageContext(b.ctx, o.in, slackgo.MsgOptionText("done", false), slackgo.MsgOptionTS(ts))
		if got := b.Status(o.in, ts); got != "" {
			t.Errorf("status %q after the answer", got)
		}
		dm := b.Say(o.user, o.dm, "and here?")
		wantError(t, "status in a flat DM", b.api.SetAssistantThreadsStatusContext(b.ctx,
			slackgo.AssistantThreadsSetStatusParameters{ChannelID: o.dm, ThreadTS: dm, Status: "thinks"}), "")
		_, _, _ = b.api.PostMessageContext(b.ctx, o.dm, slackgo.MsgOptionText("flat", false))
		if got := b.Status(o.dm, dm); got != "" {
			t.Errorf("status %q after the flat answer", got)
		}
	})
}
