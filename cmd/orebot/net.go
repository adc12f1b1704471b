package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"orebot/internal/config"
)

// network is how the platforms and, apart from its time limits, the model servers are reached.
type network struct {
	proxy func(*http.Request) (*url.URL, error)
	tls   *tls.Config
}

// newNetwork reads [net]. A certificate file adds to what the system trusts.
func newNetwork(n config.Net) (network, error) {
	out := network{proxy: http.ProxyFromEnvironment}
	if !n.ProxyURL.IsZero() {
		u, err := url.Parse(n.ProxyURL.Reveal())
		if err != nil {
			return network{}, fmt.Errorf("net.proxy_url: it is no URL")
		}
		out.proxy = beyondHost(http.ProxyURL(u))
	}
	if n.CAFile == "" {
		return out, nil
	}
	pem, err := os.ReadFile(n.CAFile)
	if err != nil {
		return network{}, fmt.Errorf("net.ca_file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return network{}, fmt.Errorf("net.ca_file: %s holds no PEM certificate", n.CAFile)
	}
	out.tls = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return out, nil
}

// beyondHost leaves out of a proxy what is on this machine, as HTTPS_PROXY does: no proxy reaches a model server there.
func beyondHost(proxy func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		host := r.URL.Hostname()
		if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
			return nil, nil
		}
		return proxy(r)
	}
}

const dialTimeout = 10 * time.Second

// transport returns a new transport; each user has its own, so that one's open connections are none of another's.
func (n network) transport() *http.Transport {
	d := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               n.proxy,
		DialContext:         d.DialContext,
		TLSClientConfig:     n.tls.Clone(),
		TLSHandshakeTimeout: dialTimeout,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 10 * time.Second}, // a dead connection is noticed
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     90 * time.Second,
	}
}
