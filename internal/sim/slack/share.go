package slack

import (
	"cmp"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// SharedFile is a file that a person shares.
type SharedFile struct {
	Name, MIME string
	Data       []byte
	Mode       string // "hosted" if empty; "external", "tombstone" and "hidden_by_limit" have no bytes at Slack
	Check      bool   // the event says no more than the id: files.info has to be asked, as with files of other workspaces
	Size       int    // as events tell it; 0 is the length of Data
	Pad        int    // so many zero bytes follow Data in a download, which nobody holds in memory
	Missing    int    // so many bytes a download promises, and breaks off without them
	SignIn     bool   // its download leads to the sign-in page, as where the app has no access
}

// Share posts files of a user's, with a text that may be empty, and returns the ts; "" where the user can't write there.
func (s *Server) Share(user, channel, text string, files []SharedFile, opts ...SayOption) string {
	return s.utter(user, channel, text, opts, func(m *Message) {
		m.Subtype = "file_share"
		for _, f := range files {
			u := &upload{id: s.world.id("F"), name: f.Name, length: cmp.Or(f.Size, len(f.Data)), data: f.Data, received: true, shared: true, from: &f, owner: user}
			s.uploads[u.id] = u
			m.Files = append(m.Files, u.id)
		}
	})
}

// renderPersonal is a person's file as events show it, or, with all, as files.info does.
func (s *Server) renderPersonal(u *upload, all bool) object {
	f := *u.from
	out := object{"id": u.id, "mode": "hosted", "user": u.owner}
	if f.Mode != "" {
		out["mode"] = f.Mode
	}
	switch {
	case f.Mode == "tombstone", f.Mode == "hidden_by_limit":
		return out
	case f.Check && !all:
		out["file_access"] = "check_file_info"
		return out
	}
	link := s.base + "/files/" + u.id + "/" + u.name
	if f.Mode == "external" {
		link = "https://drive.example/" + u.id
	}
	out["name"], out["title"], out["mimetype"], out["size"] = u.name, u.name, f.MIME, u.length
	out["is_external"], out["url_private"], out["url_private_download"] = f.Mode == "external", link, link
	return out
}

func (s *Server) fileInfo(c *call) (object, error) {
	u := s.uploads[c.form.Get("file")]
	switch {
	case u == nil || !u.shared:
		return nil, refuse("file_not_found")
	case u.from == nil:
		return object{"file": s.renderFiles([]string{u.id})[0]}, nil
	case u.from.Mode == "tombstone":
		return nil, refuse("file_deleted")
	}
	return object{"file": s.renderPersonal(u, true)}, nil
}

// serveFile gives a file to whoever shows the bot's token. Everybody else lands on the sign-in page, which is no error.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	parts := strings.Split(strings.TrimPrefix(path.Clean(r.URL.Path), "/"), "/")
	u := s.uploads[parts[min(1, len(parts)-1)]]
	let := r.Header.Get("Authorization") == "Bearer "+s.opt.BotToken
	s.mu.Unlock()
	switch {
	case u == nil:
		http.NotFound(w, r)
	case !let, u.from != nil && u.from.SignIn:
		http.Redirect(w, r, "/signin?redir="+url.QueryEscape(r.URL.Path), http.StatusFound)
	default:
		if u.from != nil {
			u.from.serve(w)
			return
		}
		_, _ = w.Write(u.data)
	}
}

// serve sends the file's bytes, and those that only its download has.
func (f *SharedFile) serve(w http.ResponseWriter) {
	if f.MIME != "" {
		w.Header().Set("Content-Type", f.MIME)
	}
	if f.Missing > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(f.Data)+f.Pad+f.Missing))
	}
	_, err := w.Write(f.Data)
	for left, zeros := f.Pad, make([]byte, 64<<10); left > 0 && err == nil; left -= len(zeros) {
		_, err = w.Write(zeros[:min(left, len(zeros))])
	}
}

func serveSignIn(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte("<!DOCTYPE html><html><head><title>Slack</title></head><body>Sign in to sim</body></html>"))
}
