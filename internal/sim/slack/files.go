package slack

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
)

// upload is a file on its way in, or shared.
type upload struct {
	id, name string
	title    string
	length   int
	data     []byte
	received bool
	shared   bool
	from     *SharedFile // nil: the bot's
	owner    string
}

func (s *Server) uploadURL(c *call) (object, error) {
	length, err := strconv.Atoi(c.form.Get("length"))
	if name := c.form.Get("filename"); err != nil || length <= 0 || name == "" {
		return nil, refuse("invalid_arguments")
	}
	u := &upload{id: s.world.id("F"), name: c.form.Get("filename"), length: length}
	s.uploads[u.id] = u
	return object{"upload_url": c.base + "/upload/" + u.id, "file_id": u.id}, nil
}

// serveUpload takes a file's bytes, as the body or as the form file "file" or "filename".
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	data, err := uploaded(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.uploads[path.Base(r.URL.Path)]
	switch {
	case u == nil || u.received:
		http.Error(w, "no such upload", http.StatusNotFound)
	case err != nil || len(data) != u.length:
		http.Error(w, "size does not match", http.StatusBadRequest)
	default:
		u.data, u.received = data, true
		_, _ = fmt.Fprintf(w, "OK - %d", u.length)
	}
}

func uploaded(r *http.Request) ([]byte, error) {
	for _, field := range []string{"file", "filename"} {
		f, _, err := r.FormFile(field)
		if err == http.ErrNotMultipart {
			return io.ReadAll(r.Body)
		}
		if err == nil {
			defer f.Close()
			return io.ReadAll(f)
		}
	}
	return nil, http.ErrMissingFile
}

func (s *Server) completeUpload(c *call) (object, error) {
	var files []struct{ ID, Title string }
	if json.Unmarshal([]byte(c.form.Get("files")), &files) != nil || len(files) == 0 {
		return nil, refuse("invalid_arguments")
	}
	var ids []string
	var out []object
	for _, f := range files {
		u := s.uploads[f.ID]
		if u == nil || !u.received || u.shared {
			return nil, refuse("file_not_found")
		}
		u.title = f.Title
		ids = append(ids, f.ID)
		out = append(out, object{"id": f.ID, "title": f.Title})
	}
	if id := c.form.Get("channel_id"); id != "" {
		if err := s.share(c, id, ids); err != nil {
			return nil, err
		}
	}
	return object{"files": out}, nil
}

// share posts files to a conversation as one message of the bot.
func (s *Server) share(c *call, channel string, ids []string) error {
	ch, err := s.target(channel)
	if err != nil {
		return err
	}
	thread, err := ch.threadOf(c.form.Get("thread_ts"))
	if err != nil {
		return err
	}
	for _, id := range ids {
		s.uploads[id].shared = true
	}
	comment := content{text: c.form.Get("initial_comment")}
	if s.opt.ShareAfter > 0 {
		s.after(s.opt.ShareAfter, func() { s.shareNow(ch, thread, comment, ids) })
		return nil
	}
	s.shareNow(ch, thread, comment, ids)
	return nil
}

// shareNow shows files that were shared.
func (s *Server) shareNow(ch *channel, thread string, comment content, ids []string) {
	m := s.own(ch, thread, comment)
	m.Files, m.Subtype = ids, "file_share"
	s.publish(m)
	for _, id := range ids {
		u := s.uploads[id]
		text := fmt.Sprintf("%s (%d bytes)", u.name, u.length)
		s.show(Line{Kind: File, Channel: ch.id, Thread: thread, TS: m.TS, User: m.User, Text: text})
	}
}

func (s *Server) renderFiles(ids []string) []object {
	var out []object
	for _, id := range ids {
		u := s.uploads[id]
		if u.from != nil {
			out = append(out, s.renderPersonal(u, false))
			continue
		}
		out = append(out, object{
			"id": id, "name": u.name, "title": titleOf(u), "size": u.length, "mode": "hosted", "user": s.opt.BotUser,
			"is_external": false, "url_private_download": s.base + "/files/" + id + "/" + u.name,
		})
	}
	return out
}

func titleOf(u *upload) string {
	if u.title == "" {
		return u.name
	}
	return u.title
}

// FileData returns the bytes of an uploaded file, nil if there is none by this id.
func (s *Server) FileData(id string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.uploads[id]; u != nil {
		return append([]byte(nil), u.data...)
	}
	return nil
}
