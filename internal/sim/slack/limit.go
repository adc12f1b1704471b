package slack

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// limited counts a call against Options.Limits and returns how long the caller has to wait; zero: it may go on. It is called under the
// lock.
func (s *Server) limited(method string) time.Duration {
	least := s.opt.Limits[method]
	if least == 0 {
		return 0
	}
	if wait := least - time.Since(s.last[method]); !s.last[method].IsZero() && wait > 0 {
		return wait
	}
	s.last[method] = time.Now()
	return 0
}

// refuseFor answers that a method may be called again after a while.
func refuseFor(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	writeJSON(w, http.StatusTooManyRequests, object{"ok": false, "error": "ratelimited"})
}
