package conduit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"orebot/core/observe"
	"orebot/core/session"
)

// Config is what couriers need. Name, Store, Lease, Renderer, Poster and Life are required; the rest has defaults.
type Config struct {
	Name     string // the conduit's: only its addresses are served
	Store    session.Store
	Lease    session.Lease
	Renderer Renderer
	Poster   Poster // a Finder too, where the platform can be asked
	Life     string // names this life of the process and no other

	// Reads reports whether an item may still be shown at an address, as session.Manager.Reads does: asked is the message there that it
	// answers, nil where it is about what was said elsewhere. It is asked before each post; default: all may be shown.
	Reads func(ctx context.Context, a session.Address, asked *session.Inbound) (bool, error)

	Pacer Pacer // asked before each post; default: no limit
	// Place names what the platform limits together, such as a chat with all its topics: told to wait for one, all of them wait.
	// Default: each address for itself.
	Place    func(session.Address) string
	Pauses   *Pauses          // of posts; the conduit's other methods may have it told too. Default: the couriers' own
	Backoff  Backoff          // default: 0.5 s … 60 s
	Grace    time.Duration    // how long a post in flight may go on when Run's ctx ends; default 5 s
	Now      func() time.Time // default: time.Now
	Rand     func() float64   // in [0, 1), safe for concurrent use; default: math/rand/v2
	Counters observe.Counters // default: none
	Logger   *slog.Logger     // default: none
}

func (cfg Config) check() error {
	switch {
	case cfg.Name == "" || cfg.Life == "":
		return errors.New("conduit: couriers need a name and a life")
	case cfg.Store == nil || cfg.Lease == nil || cfg.Renderer == nil || cfg.Poster == nil:
		return fmt.Errorf("conduit: couriers of %s need a store, a lease, a renderer and a poster", cfg.Name)
	}
	if cfg.Renderer.Layout() == 0 {
		return fmt.Errorf("conduit: couriers of %s: a layout begins with 1", cfg.Name)
	}
	return nil
}

// withDefaults fills in what may be left out.
func (cfg Config) withDefaults() Config {
	if cfg.Pacer == nil {
		cfg.Pacer = unpaced{}
	}
	if cfg.Place == nil {
		cfg.Place = func(a session.Address) string { return string(a) }
	}
	if cfg.Backoff == (Backoff{}) {
		cfg.Backoff = Backoff{Min: 500 * time.Millisecond, Max: time.Minute}
	}
	if cfg.Grace == 0 {
		cfg.Grace = 5 * time.Second
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Float64
	}
	if cfg.Pauses == nil {
		cfg.Pauses = NewPauses(cfg.Now)
	}
	if cfg.Counters == nil {
		cfg.Counters = observe.Nop{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.Logger = cfg.Logger.With(observe.KeyPlatform, cfg.Name)
	return cfg
}
