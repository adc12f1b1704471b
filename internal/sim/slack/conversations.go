package slack

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

// readable finds a conversation that the bot may read: one it is in and has the scope for, such as "im:history".
func (s *Server) readable(c *call, what string) (*channel, error) {
	ch := s.world.channels[c.form.Get("channel")]
	if ch == nil || ch.kind != Public && !ch.has(s.opt.BotUser) {
		return nil, refuse("channel_not_found")
	}
	if err := s.scope(ch.kind.prefix() + ":" + what); err != nil {
		return nil, err
	}
	if what == "history" && !ch.has(s.opt.BotUser) {
		return nil, refuse("not_in_channel")
	}
	return ch, nil
}

// window is the part of a list that a call asks for.
type window struct {
	oldest, latest int64 // micros; zero: open
	inclusive      bool
	limit          int
	cursor         int64 // micros of the message to go on from; zero: the beginning
}

const cursorPrefix = "next_ts:"

func readWindow(c *call, limit int) (window, error) {
	w := window{inclusive: c.flag("inclusive"), limit: limit}
	for name, to := range map[string]*int64{"oldest": &w.oldest, "latest": &w.latest} {
		if v := c.form.Get(name); v != "" {
			at, ok := micros(v)
			if !ok {
				return w, refuse("invalid_ts_" + name)
			}
			*to = at
		}
	}
	if v := c.form.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 1000 {
			return w, refuse("invalid_limit")
		}
		w.limit = n
	}
	if limit := c.pageCap; limit > 0 {
		w.limit = min(w.limit, limit)
	}
	if v := c.form.Get("cursor"); v != "" {
		raw, err := base64.StdEncoding.DecodeString(v)
		at, ok := micros(strings.TrimPrefix(string(raw), cursorPrefix))
		if err != nil || !ok {
			return w, refuse("invalid_cursor")
		}
		w.cursor = at
	}
	return w, nil
}

func (w window) holds(m *Message) bool {
	if w.inclusive && (m.at == w.oldest || m.at == w.latest) {
		return true
	}
	return m.at > w.oldest && (w.latest == 0 || m.at < w.latest)
}

// page cuts one page out of a list that already is in the order wanted.
func (w window) page(list []*Message) (page []*Message, next string) {
	if w.cursor != 0 {
		i := slices.IndexFunc(list, func(m *Message) bool { return m.at == w.cursor })
		list = list[max(i, 0):]
	}
	if len(list) <= w.limit {
		return list, ""
	}
	return list[:w.limit], base64.StdEncoding.EncodeToString([]byte(cursorPrefix + list[w.limit].TS))
}

// replies answers with the root on every page and the replies from the oldest on.
func (s *Server) replies(c *call) (object, error) {
	ch, err := s.readable(c, "history")
	if err != nil {
		return nil, err
	}
	w, err := readWindow(c, 1000)
	if err != nil {
		return nil, err
	}
	root := ch.find(c.form.Get("ts"))
	if root == nil {
		return nil, refuse("thread_not_found")
	}
	var list []*Message
	for _, m := range ch.messages {
		if m.Thread == root.TS && w.holds(m) {
			list = append(list, m)
		}
	}
	page, next := w.page(list)
	return s.listing(c, append([]*Message{root}, page...), next), nil
}

// history answers with what stands at top level, thread broadcasts among it, from the newest on.
func (s *Server) history(c *call) (object, error) {
	ch, err := s.readable(c, "history")
	if err != nil {
		return nil, err
	}
	w, err := readWindow(c, 100)
	if err != nil {
		return nil, err
	}
	var list []*Message
	for _, m := range slices.Backward(ch.messages) {
		if (m.Thread == "" || m.broadcast) && w.holds(m) {
			list = append(list, m)
		}
	}
	page, next := w.page(list)
	return s.listing(c, page, next), nil
}

func (s *Server) listing(c *call, list []*Message, next string) object {
	out := make([]object, len(list))
	for i, m := range list {
		out[i] = s.render(m, c.flag("include_all_metadata"))
		if len(m.Reactions) > 0 {
			out[i]["reactions"] = renderReactions(m.Reactions)
		}
	}
	answer := object{"messages": out, "has_more": next != ""}
	if next != "" {
		answer["response_metadata"] = object{"next_cursor": next}
	}
	return answer
}

func renderReactions(marks []string) []object {
	var out []object
	for _, mark := range marks {
		name, user, _ := strings.Cut(mark, " ")
		i := slices.IndexFunc(out, func(o object) bool { return o["name"] == name })
		if i < 0 {
			out = append(out, object{"name": name, "users": []string{user}, "count": 1})
			continue
		}
		users := append(out[i]["users"].([]string), user)
		out[i]["users"], out[i]["count"] = users, len(users)
	}
	return out
}

func (s *Server) info(c *call) (object, error) {
	ch, err := s.readable(c, "read")
	if err != nil {
		return nil, err
	}
	return object{"channel": s.renderChannel(ch)}, nil
}

// conversations lists what the bot is in, of the types asked for, by id.
func (s *Server) conversations(c *call) (object, error) {
	names := map[string]Kind{"public_channel": Public, "private_channel": Private, "im": IM, "mpim": MPIM}
	types := c.form.Get("types")
	if types == "" {
		types = "public_channel"
	}
	want := map[Kind]bool{}
	for t := range strings.SplitSeq(types, ",") {
		kind, ok := names[strings.TrimSpace(t)]
		if !ok {
			return nil, refuse("invalid_types")
		}
		if err := s.scope(kind.prefix() + ":read"); err != nil {
			return nil, err
		}
		want[kind] = true
	}
	limit, err := strconv.Atoi(c.form.Get("limit"))
	if err != nil || limit < 1 {
		limit = 100
	}
	var ids []string
	for id, ch := range s.world.channels {
		if want[ch.kind] && ch.has(s.opt.BotUser) && id > c.form.Get("cursor") {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	answer := object{}
	if len(ids) > limit {
		ids = ids[:limit]
		answer["response_metadata"] = object{"next_cursor": ids[limit-1]}
	}
	list := make([]object, len(ids))
	for i, id := range ids {
		list[i] = s.renderChannel(s.world.channels[id])
	}
	answer["channels"] = list
	return answer, nil
}

func (s *Server) renderChannel(ch *channel) object {
	out := object{
		"id": ch.id, "is_archived": ch.archived, "is_im": ch.kind == IM, "is_mpim": ch.kind == MPIM,
		"is_channel": ch.kind == Public, "is_group": ch.kind == Private, "is_private": ch.kind != Public,
		"is_ext_shared": ch.shared, "is_org_shared": false, "is_shared": ch.shared, "context_team_id": s.opt.Team,
	}
	if ch.kind == IM {
		out["user"] = ch.peer(s.opt.BotUser)
		return out
	}
	out["name"], out["name_normalized"] = ch.name, ch.name
	out["is_member"], out["num_members"] = ch.has(s.opt.BotUser), len(ch.members)
	return out
}

func (s *Server) openConversation(c *call) (object, error) {
	if id := c.form.Get("channel"); id != "" {
		if ch := s.world.channels[id]; ch == nil || !ch.has(s.opt.BotUser) {
			return nil, refuse("channel_not_found")
		}
		return object{"channel": object{"id": id}, "already_open": true, "no_op": true}, nil
	}
	users := strings.FieldsFunc(c.form.Get("users"), func(r rune) bool { return r == ',' })
	if len(users) == 0 {
		return nil, refuse("users_list_not_supplied")
	}
	for _, u := range users {
		if s.world.users[u] == nil || u == s.opt.BotUser {
			return nil, refuse("user_not_found")
		}
	}
	if len(users) == 1 {
		return object{"channel": object{"id": s.openDM(users[0])}}, nil
	}
	return object{"channel": object{"id": s.addChannel(MPIM, "", append(users, s.opt.BotUser))}}, nil
}

func (s *Server) userInfo(c *call) (object, error) {
	u := s.world.users[c.form.Get("user")]
	if u == nil {
		return nil, refuse("user_not_found")
	}
	return object{"user": object{
		"id": u.ID, "team_id": u.Team, "name": u.Name, "real_name": u.Name, "deleted": false, "is_bot": u.Bot,
		"is_restricted": u.Guest, "is_ultra_restricted": false, "is_stranger": u.Team != s.opt.Team,
		"is_app_user": false, "tz": "Etc/UTC",
		"profile": object{"real_name": u.Name, "display_name": u.Name, "team": u.Team},
	}}, nil
}
