package config

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"unicode"
)

// modelHost reads an address the way Ollama reads OLLAMA_HOST: without a scheme it is http on port 11434, with one the
// scheme's own port counts (envconfig.Host in Ollama's source). An address that means "every interface" to a server
// means this machine to a client.
func modelHost(s string) (string, error) {
	s = strings.Trim(strings.TrimSpace(s), `"'`)
	if strings.ContainsAny(s, "\"'?#") {
		return "", notAHost(s)
	}
	bare := !strings.Contains(s, "://")
	if bare {
		if ip := net.ParseIP(s); ip != nil && ip.To4() == nil {
			s = "[" + s + "]"
		}
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || (u.Host == "" && !bare) {
		return "", notAHost(s)
	}
	if u.User != nil {
		return "", fmt.Errorf("carries a user or password in the URL; use api_key")
	}
	host, port := u.Hostname(), u.Port()
	if strings.ContainsFunc(host, unseen) {
		return "", notAHost(s)
	}
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	if port == "" && bare {
		port = "11434"
	}
	return u.Scheme + "://" + hostPort(host, port) + strings.TrimRight(u.EscapedPath(), "/"), nil
}

func notAHost(s string) error {
	return fmt.Errorf("%s is not a model server's address such as \"http://127.0.0.1:11434\"", show(s))
}

// unseen reports whether nobody would see that r stands in a host's name: white space of any script, a control character.
func unseen(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.C) }

// hostPort writes a host and a port as a URL has them, in which the percent sign before the zone of a link-local address is escaped.
func hostPort(host, port string) string {
	host = strings.ReplaceAll(host, "%", "%25")
	if port != "" {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
