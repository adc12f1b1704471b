package telegram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"orebot/conduit"
	"orebot/core/loop"
	"orebot/core/observe"
	"orebot/core/session"
)

// Sessions is where messages go and answers come from: a session.Manager.
type Sessions interface {
	Accept(ctx context.Context, in session.Inbound, done func(session.Receipt))
	Listen(kinds []string, f func(session.Address, loop.OutputEvent)) (stop func())
}

// Health is told what real round trips say about Telegram. Beat: one has just succeeded. Set with false: it doesn't work, for a
// reason that is a sentence for an operator.
type Health interface {
	Beat()
	Set(ready bool, reason string)
}

// Config is what the conduit needs. API, Sessions, Store, Lease and Life are required.
type Config struct {
	API      *API
	Sessions Sessions
	Store    session.Store
	Lease    session.Lease
	Life     string        // names this life of the process and no other
	MaxParts int           // messages that an answer may take before the rest of it goes on as a file; 0: no limit
	Gather   time.Duration // how long a message waits for forwards that it may be a comment on; 0: not at all
	// Listed reports whether a group may be answered in under this name; nil: none is listed.
	Listed func(place string) bool
	// Revoked reports whether the operator has taken back a group's access under this name; nil: no group's.
	Revoked func(place string) bool
	// Reads is the couriers', see conduit.Config; nil: everybody may be shown everything.
	Reads func(ctx context.Context, a session.Address, asked *session.Inbound) (bool, error)
	Paced bool // keep Telegram's documented limits; else only obey its 429
	// Named is told the bot's username, without the "@", once that is known; nil: nobody asks.
	Named func(username string)
	// Menu names the commands that are shown to who types a slash, in private chats and in groups; nil: Telegram's menus are left alone.
	Menu func(private bool) []Command
	// Bare reports whether a command without the bot's name is for the bot in a group; nil: none is. Telegram hands such a command to
	// every bot of the group that may see it.
	Bare     func(name string) bool
	Quit     <-chan struct{}  // closed: take nothing more in, but go on delivering; nil: never
	Grace    time.Duration    // how long a post in flight may go on when Run's ctx ends; 0: the couriers' default
	Health   Health           // default: nobody is told
	Counters observe.Counters // default: none
	Logger   *slog.Logger     // default: none
}

func (cfg Config) withDefaults() (Config, error) {
	if cfg.API == nil || cfg.Sessions == nil {
		return cfg, errors.New("telegram: an API and sessions are needed")
	}
	if cfg.Health == nil {
		cfg.Health = nobody{}
	}
	if cfg.Counters == nil {
		cfg.Counters = observe.Nop{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return cfg, nil
}

// pacer is what posts wait for.
func (cfg Config) pacer() conduit.Pacer {
	if !cfg.Paced {
		return nil
	}
	return cfg.API.paces
}

type nobody struct{}

func (nobody) Beat()            {}
func (nobody) Set(bool, string) {}

// Telegram is the conduit. It is a conduit.Conduit.
type Telegram struct {
	cfg      Config
	log      *slog.Logger // with the platform's name
	couriers *conduit.Couriers
	moves    *moves
	barred   *barred
	known    chan struct{} // closed once me is set
	me       Me
}

// decided reports whether the operator has let a group in under this name, or turned it away.
func (c Config) decided(place string) bool {
	return c.Listed != nil && c.Listed(place) || c.Revoked != nil && c.Revoked(place)
}

// New returns the conduit; it does nothing until Run. An error names what cfg lacks.
func New(cfg Config) (*Telegram, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	moves, barred := newMoves(cfg.Store), newBarred()
	cfg.API.moves.Store(moves)
	couriers, err := conduit.New(conduit.Config{
		Name: Name, Store: cfg.Store, Lease: cfg.Lease, Renderer: NewRenderer(cfg.MaxParts), Poster: rover{NewPoster(cfg.API), moves, barred},
		Life: cfg.Life, Reads: cfg.Reads, Pacer: cfg.pacer(), Place: chatOf, Pauses: cfg.API.pauses, Grace: cfg.Grace,
		Counters: cfg.Counters, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("telegram: %w", err)
	}
	log := cfg.Logger.With(observe.KeyPlatform, Name)
	return &Telegram{cfg: cfg, log: log, couriers: couriers, moves: moves, barred: barred, known: make(chan struct{})}, nil
}

// Name returns "telegram".
func (t *Telegram) Name() string { return Name }

// Run polls and delivers until ctx ends; then it returns nil, once everything it started has stopped. Polling stops at once, a post
// in flight within the grace. It returns a *conduit.Error of class Dead when Telegram refuses the token, and conduit.ErrLeaseLost.
// Nothing is lost by either. It is called once.
func (t *Telegram) Run(ctx context.Context) error {
	stop := t.cfg.Sessions.Listen(conduit.Kinds(), t.couriers.Hear)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return t.takeIn(ctx) })
	g.Go(func() error { return t.identify(ctx) })
	g.Go(func() error { return t.couriers.Run(ctx) })
	err := g.Wait()
	if err == nil {
		return nil
	}
	var e *conduit.Error
	if errors.As(err, &e) && e.Class == conduit.Dead {
		t.cfg.Health.Set(false, "Telegram refuses the bot token")
	}
	return fmt.Errorf("telegram: %w", err)
}

// Settle returns when nothing is being delivered, or when ctx ends.
func (t *Telegram) Settle(ctx context.Context) { t.couriers.Settle(ctx) }

// takeIn polls until ctx ends or the conduit is to take in nothing more.
func (t *Telegram) takeIn(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel()
	watch.Go(func() {
		select {
		case <-t.cfg.Quit:
			cancel()
		case <-ctx.Done():
		}
	})
	return newPoller(t).run(ctx)
}

// identify learns who the bot is, for as long as that takes. Then it sets the menus, which nothing waits for.
func (t *Telegram) identify(ctx context.Context) error {
	wait := backoff{min: time.Second, max: 30 * time.Second}
	for told := false; ; told = true {
		me, err := t.cfg.API.Me(ctx)
		if err == nil {
			t.meet(me)
			t.menus(ctx)
			return nil
		}
		e := asCall(err)
		switch {
		case ctx.Err() != nil:
			return nil
		case e.dead:
			return t.refused(e)
		case !told:
			t.log.Warn("bot unknown", observe.KeyError, err)
		}
		if conduit.Sleep(ctx, max(wait.next(), e.wait())) != nil {
			return nil
		}
	}
}

// meet lets messages in.
func (t *Telegram) meet(me Me) {
	mode := "privacy mode on: of groups only what is meant for the bot"
	if me.ReadsAll {
		mode = "privacy mode off: all of groups"
	}
	t.log.Info("bot known", observe.KeyAuthor, "@"+me.Username, observe.KeyState, mode)
	t.me = me
	t.me.bare = t.cfg.Bare
	if t.cfg.Named != nil {
		t.cfg.Named(me.Username)
	}
	close(t.known)
	t.cfg.Health.Beat()
}

// refused is the end of Run after a call whose token was refused for good. The first call that meets it logs it.
func (t *Telegram) refused(e *callError) error {
	if e.first {
		t.log.Error(observe.MsgCredentialsRefused, observe.KeyError, e)
	}
	return &conduit.Error{Class: conduit.Dead, Err: e}
}

// asCall returns the call's error; every one of an API is one.
func asCall(err error) *callError {
	var e *callError
	if errors.As(err, &e) {
		return e
	}
	return &callError{method: "call", err: err}
}
