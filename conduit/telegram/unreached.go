package telegram

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
)

// unreached says why a call has no answer, and what to do.
func unreached(e *callError) string {
	var (
		name   *net.DNSError
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
		late   net.Error
	)
	switch {
	case errors.Is(e, errNoAnswer):
		return "what answers there isn't the Bot API; correct telegram.api_url"
	case errors.As(e, &cert):
		return "its certificate isn't trusted; set net.ca_file to the one of whoever signed it, or correct telegram.api_url"
	case errors.As(e, &record), errors.Is(e, http.ErrSchemeMismatch):
		return "what answers there speaks no TLS; correct telegram.api_url"
	case errors.Is(e, context.DeadlineExceeded), errors.As(e, &late) && late.Timeout():
		return "no answer in time; does a firewall stand in between (net.proxy_url), and is telegram.api_url right?"
	case errors.As(e, &name) && name.IsNotFound:
		return "nobody knows the host " + name.Name + "; correct telegram.api_url, or this machine's name servers"
	case !e.sent:
		return "nothing answers there; check the network, net.proxy_url and telegram.api_url"
	}
	return "the connection was cut before an answer came; try again, and look at what stands in between"
}
