package telegram

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"orebot/internal/sim/fault"
)

// Options shape a Server. The zero Options are good: every field has the default that it names.
type Options struct {
	Token         string // "42:SIMTOKEN"; the number before the colon is the bot's id
	Username      string // "OreBot"
	Name          string // the bot's first name, "Ore"
	FirstUpdateID int    // the id of the first update, 500001
	Privacy       bool   // privacy mode on: in groups the bot hears only what is meant for it; off by default
	Topics        bool   // getMe's has_topics_enabled: private chats may have topics
	Local         string // a folder: files are kept there and getFile tells their paths, as a server of one's own does with --local
	Limits        Limits // answers 429 above these; the zero Limits allow everything
}

// Server is one bot's Telegram: its API, the chats and people around it, and the record of what they saw. Make one with
// New. All methods are safe for concurrent use.
type Server struct {
	// Faults sit in front of the API. A method's name is the last segment of the request's path, as the docs spell it;
	// files are fetched under the method "file".
	Faults *fault.Script

	opts  Options
	bot   User
	start time.Time
	busy  sync.WaitGroup // requests being served
	alive context.Context
	die   context.CancelFunc

	mu       sync.Mutex
	closed   bool
	revoked  bool
	changed  chan struct{} // closed and replaced with each change of the transcript
	users    map[int64]User
	chats    map[int64]*chat
	files    map[string]*storedFile
	commands map[string][]Command
	callback map[string]*query
	next     ids
	queue    queue
	lines    []Line
	calls    []Call
	refused  map[string]int
	sent     []sending
}

// ids hands out what must differ.
type ids struct{ user, group, supergroup, message, file, callback int }

// New returns a Server that runs from now on. Close it when done.
func New(o Options) *Server {
	o = o.withDefaults()
	s := &Server{
		Faults: &fault.Script{}, opts: o, start: time.Now(),
		bot:     User{ID: botID(o.Token), IsBot: true, FirstName: o.Name, Username: o.Username},
		changed: make(chan struct{}),
		users:   map[int64]User{}, chats: map[int64]*chat{}, files: map[string]*storedFile{},
		commands: map[string][]Command{}, callback: map[string]*query{}, refused: map[string]int{},
		next: ids{user: 1000, group: -500, supergroup: 1},
	}
	s.alive, s.die = context.WithCancel(context.Background())
	s.queue.init(o.FirstUpdateID)
	s.users[s.bot.ID] = s.bot
	return s
}

func (o Options) withDefaults() Options {
	if o.Token == "" {
		o.Token = "42:SIMTOKEN"
	}
	if o.Username == "" {
		o.Username = "OreBot"
	}
	if o.Name == "" {
		o.Name = "Ore"
	}
	if o.FirstUpdateID == 0 {
		o.FirstUpdateID = 500001
	}
	return o
}

// Bot is the bot as other people see it.
func (s *Server) Bot() User { return s.bot }

// Token is the token that the API answers to.
func (s *Server) Token() string { return s.opts.Token }

// Revoke makes the token invalid: from now on every call is answered 401, a waiting poll included at its end.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = true
}

// Close ends waiting polls and requests that hang in a fault, and waits for every request that the handler serves and
// for calls that a fault put off, which are refused. It doesn't close connections: that is the http.Server's.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.die()
	s.busy.Wait()
	s.Faults.Wait()
}

// enter counts a request in, unless the server is closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.busy.Add(1)
	return true
}

// touch wakes everyone in WaitFor. The caller holds the lock.
func (s *Server) touch() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// botID reads the number in front of a token.
func botID(token string) int64 {
	head, _, _ := strings.Cut(token, ":")
	id, err := strconv.ParseInt(head, 10, 64)
	if err != nil {
		panic("telegram: a token begins with the bot's number")
	}
	return id
}
