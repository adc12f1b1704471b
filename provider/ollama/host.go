package ollama

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"

	"orebot/internal/secret"
)

// defaultPort is used for a host without scheme and port, as Ollama's own client does.
const defaultPort = "11434"

// host is one server.
type host struct {
	base *url.URL // without user information
	name string   // the base as errors and logs show it
	user *url.Userinfo
	auth secret.String // the Authorization header, if any
	api  *api.Client   // for everything but chats
	health
	slots slots
	queue queue

	learnt sync.Mutex
	known  map[string]knowledge // by model
}

// knowledge is what was learned of a model, and when.
type knowledge struct {
	traits traits
	info   ModelInfo
	per    float64 // bytes of a prompt to a token, as its answers say; 0: none was seen
	at     time.Time
}

// knowledgeAge is how long what is known of a model is believed: it may be pulled anew under the same name.
const knowledgeAge = 10 * time.Minute

func parseHost(text string) (*host, error) {
	text = strings.TrimSpace(text)
	bare := !strings.Contains(text, "://")
	if bare {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the scheme must be http or https")
	case u.Hostname() == "":
		return nil, errors.New("the URL names no host")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the URL must end with its path")
	}
	port := u.Port()
	if bare && port == "" {
		port = defaultPort
	}
	u.Host = hostPort(u.Hostname(), port)
	h := &host{base: u, user: u.User, known: map[string]knowledge{}, queue: newQueue()}
	u.User = nil
	u.Path = strings.TrimSuffix(u.Path, "/")
	h.name = u.String()
	return h, nil
}

// hostPort makes an address to dial of one that a server may have been told to listen on.
func hostPort(name, port string) string {
	if ip := net.ParseIP(name); ip != nil && ip.IsUnspecified() {
		name = "127.0.0.1"
	}
	if strings.Contains(name, ":") && port == "" {
		return "[" + name + "]"
	}
	if port == "" {
		return name
	}
	return net.JoinHostPort(name, port)
}

// secrets returns what of the URL must not be seen.
func (h *host) secrets() []secret.String {
	if h.user == nil {
		return nil
	}
	password, _ := h.user.Password()
	return []secret.String{secret.New(password), secret.New(h.user.Username())}
}

// connect makes the client for everything but chats.
func (h *host) connect(c *http.Client, key secret.String) {
	switch {
	case !key.IsZero():
		h.auth = secret.New("Bearer " + key.Reveal())
	case h.user != nil:
		password, _ := h.user.Password()
		r := &http.Request{Header: http.Header{}}
		r.SetBasicAuth(h.user.Username(), password)
		h.auth = secret.New(r.Header.Get("Authorization"))
	}
	with := *c
	with.Transport = authorising{next: c.Transport, auth: h.auth}
	h.api = api.NewClient(h.base, &with)
}

// authorising adds the Authorization header to each request.
type authorising struct {
	next http.RoundTripper
	auth secret.String
}

// RoundTrip sends a copy of r that says who asks.
func (a authorising) RoundTrip(r *http.Request) (*http.Response, error) {
	if !a.auth.IsZero() {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", a.auth.Reveal())
	}
	return a.next.RoundTrip(r)
}

// retryAge is how long a server that couldn't say anything of a model isn't asked again.
const retryAge = time.Minute

// unknown notes that the server couldn't be asked about the model.
func (h *host) unknown(model string) {
	h.learn(model, func(k *knowledge) { k.at = time.Now().Add(retryAge - knowledgeAge) })
}

// recall returns what is known of model, if it isn't too old.
func (h *host) recall(model string) (knowledge, bool) {
	h.learnt.Lock()
	defer h.learnt.Unlock()
	k, ok := h.known[model]
	return k, ok && time.Since(k.at) < knowledgeAge
}

// learn changes what is known of model.
func (h *host) learn(model string, change func(*knowledge)) {
	h.learnt.Lock()
	defer h.learnt.Unlock()
	k := h.known[model]
	if time.Since(k.at) >= knowledgeAge {
		k = knowledge{at: time.Now()}
	}
	change(&k)
	h.known[model] = k
}

// missing notes that the model isn't there, whatever was known of it.
func (h *host) missing(model string) {
	h.learnt.Lock()
	delete(h.known, model)
	h.learnt.Unlock()
	h.lack(model, true)
}
