package telegram

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
)

// maxDownload is the largest file that a bot can fetch (docs: getFile).
const maxDownload = 20 << 20

// File is a document or a photo in a chat.
type File struct {
	Name string
	MIME string
	Data []byte
	Size int64 // as declared: 0 means the length of Data, a negative one is not told
	Pad  int   // so many zero bytes follow Data in a download, which nobody holds in memory
	Miss int   // so many bytes a download promises, and breaks off without them
	ID   string
}

// storedFile is a file that can be fetched.
type storedFile struct {
	File
	path string
}

// declared is the size that the bot is told.
func (f File) declared() int64 {
	if f.Size == 0 {
		return int64(len(f.Data))
	}
	return f.Size
}

// store gives a file its id and its path. The path keeps the name's ending, not the name (docs: getFile).
func (s *Server) store(f File, folder string) *File {
	s.next.file++
	f.ID = fmt.Sprintf("SIM-file-%d", s.next.file)
	s.files[f.ID] = &storedFile{f, fmt.Sprintf("%s/file_%d%s", folder, s.next.file, path.Ext(f.Name))}
	return &f
}

func (f File) wire(out map[string]any, photo bool) {
	if photo {
		big := f.reference()
		big["width"], big["height"] = 1280, 960
		small := map[string]any{"file_id": f.ID + "-s", "file_unique_id": f.ID + "-su", "file_size": 900,
			"width": 90, "height": 67}
		out["photo"] = []any{small, big}
		return
	}
	doc := f.reference()
	if f.Name != "" {
		doc["file_name"] = f.Name
	}
	if f.MIME != "" {
		doc["mime_type"] = f.MIME
	}
	out["document"] = doc
}

func (f File) reference() map[string]any {
	out := map[string]any{"file_id": f.ID, "file_unique_id": f.ID + "-u"}
	if n := f.declared(); n >= 0 {
		out["file_size"] = n
	}
	return out
}

func (s *Server) getFile(p params) (any, error) {
	f, ok := s.files[p.str("file_id")]
	if !ok {
		return nil, badRequest("wrong file_id or the file is temporarily unavailable")
	}
	if s.opts.Local == "" && (f.declared() > maxDownload || len(f.Data) > maxDownload) {
		return nil, badRequest("file is too big")
	}
	out := f.reference()
	out["file_path"] = f.path
	if s.opts.Local != "" {
		out["file_path"] = s.keep(f)
	}
	return out, nil
}

// keep writes a file to the folder of a server of one's own, where each bot has one of its own named by its token, and returns its
// path there. A folder that can't be written is the test's mistake.
func (s *Server) keep(f *storedFile) string {
	at := filepath.Join(s.opts.Local, s.opts.Token, filepath.FromSlash(f.path))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, f.Data, 0o600)); err != nil {
		panic(err)
	}
	return at
}

// serveFile sends the content of a file. Its type is not told, as on the real server.
func (s *Server) serveFile(w http.ResponseWriter, req *request) {
	f, ok := s.content(req.path)
	if !ok {
		s.refuse(w, req, &apiError{code: http.StatusNotFound, text: "Not Found"})
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(f.Data)+f.Pad+f.Miss))
	_, err := w.Write(f.Data)
	for left, zeros := f.Pad, make([]byte, 64<<10); left > 0 && err == nil; left -= len(zeros) {
		_, err = w.Write(zeros[:min(left, len(zeros))])
	}
}

func (s *Server) content(at string) (File, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f.path == at {
			return f.File, true
		}
	}
	return File{}, false
}
