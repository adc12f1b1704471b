package slack

import (
	"context"
	"slices"
	"time"
)

// The reasons of a disconnect frame.
const (
	Warning           = "warning"           // the connection ends in 10 s
	RefreshRequested  = "refresh_requested" // it ends now, as it does for the reasons below
	LinkDisabled      = "link_disabled"
	TooManyWebsockets = "too_many_websockets"
)

// link is the Socket Mode side: connections, and what is on its way over them.
type link struct {
	tickets map[string]time.Time // when handed out
	sockets []*socket
	opens   []time.Time
	pending map[string]*delivery // by envelope id
	log     []*Delivery
	stray   int
	lost    int
}

func newLink() link {
	return link{tickets: map[string]time.Time{}, pending: map[string]*delivery{}}
}

func disconnectFrame(reason string) []byte {
	return encode(object{"type": "disconnect", "reason": reason, "debug_info": object{"host": "applink-sim"}})
}

// Disconnect sends a disconnect frame on every connection and then closes it: at once, or 10 s after a Warning.
func (s *Server) Disconnect(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.link.sockets {
		s.disconnect(k, reason)
	}
}

// disconnect is called under the lock. From now on the connection gets no envelope.
func (s *Server) disconnect(k *socket, reason string) {
	s.stop(k.life)
	k.leaving = true
	k.push(disconnectFrame(reason), reason != Warning)
	if reason == Warning {
		k.life = s.after(warningLead, func() { s.disconnect(k, RefreshRequested) })
	}
}

// Cut ends every connection without a word, as a broken network does.
func (s *Server) Cut() {
	s.mu.Lock()
	sockets := s.link.sockets
	s.link.sockets = nil
	s.mu.Unlock()
	for _, k := range sockets {
		_ = k.conn.Close()
	}
}

// ConnectionOpens returns when each connection was greeted.
func (s *Server) ConnectionOpens() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.link.opens)
}

// Connections counts the connections that are open and not told to go.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.link.staying())
}

func (l *link) staying() []*socket {
	var out []*socket
	for _, k := range l.sockets {
		if !k.leaving {
			out = append(out, k)
		}
	}
	return out
}

// WaitConnected returns when there is a connection, or with the error of ctx.
func (s *Server) WaitConnected(ctx context.Context) error {
	return s.wait(ctx, func() func() bool {
		n := len(s.link.staying())
		return func() bool { return n > 0 }
	})
}
