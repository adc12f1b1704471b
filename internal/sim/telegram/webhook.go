package telegram

import (
	"net/url"
	"time"
)

// SetWebhook sets or, with an empty address, removes a webhook as somebody else with the token might have done. The
// server never calls it: it only gets in the way of polling, as it should.
func (s *Server) SetWebhook(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.setWebhook(address)
}

func (q *queue) setWebhook(address string) {
	q.webhook = address
	if address != "" {
		q.end(conflict(conflictSet))
	}
}

func (s *Server) setWebhook(p params) (any, error) {
	address := p.str("url")
	if u, err := url.Parse(address); address != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
		return nil, badRequest("bad webhook: An HTTPS URL must be provided for webhook")
	}
	s.queue.allow(p)
	s.queue.setWebhook(address)
	s.dropPending(p)
	return true, nil
}

func (s *Server) deleteWebhook(p params) (any, error) {
	s.queue.setWebhook("")
	s.dropPending(p)
	return true, nil
}

func (s *Server) dropPending(p params) {
	if p.flag("drop_pending_updates") {
		s.queue.items = nil
	}
}

func (s *Server) getWebhookInfo(params) (any, error) {
	s.queue.expire(time.Now())
	info := map[string]any{"url": s.queue.webhook, "has_custom_certificate": false,
		"pending_update_count": len(s.queue.items)}
	if s.queue.allowed != nil {
		info["allowed_updates"] = s.queue.allowed
	}
	return info, nil
}
