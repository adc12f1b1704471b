package slack

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

// Sessions is what the conduit needs of a session.Manager.
type Sessions interface {
	Accept(ctx context.Context, in session.Inbound, done func(session.Receipt))
	Listen(kinds []string, f func(session.Address, loop.OutputEvent)) (stop func())
}

// Health is told how the connection is. A Beat is a sign of life from Slack; the reason is a sentence for an operator.
type Health interface {
	Beat()
	Set(ready bool, reason string)
}

// Config is what a conduit to Slack needs. API, Sessions, Store, Lease and Life are required.
type Config struct {
	API      *API
	Sessions Sessions
	Store    session.Store
	Lease    session.Lease
	Life     string // names this life of the process and no other

	// Reads is the couriers', see conduit.Config; nil: everybody may be shown everything.
	Reads func(ctx context.Context, a session.Address, asked *session.Inbound) (bool, error)

	Command  string           // the registered slash command; one by another name isn't taken; "": all are
	MaxParts int              // messages of an answer, before the rest goes on as a file; 0: any number
	CatchUp  time.Duration    // how far back to look for what was missed while disconnected; 0: never
	Paced    bool             // keep the documented rate limits; else only react to Slack's refusals
	Grace    time.Duration    // how long a post in flight may go on when Run's ctx ends; default 5 s
	Quit     <-chan struct{}  // closed: take nothing more in, but go on delivering; nil: never
	Health   Health           // default: none
	Counters observe.Counters // default: none
	Logger   *slog.Logger     // default: none
}

// Slack is the conduit.
type Slack struct {
	cfg      Config
	log      *slog.Logger
	couriers *conduit.Couriers
	notes    notes
	missed   *missed
}

var _ conduit.Conduit = (*Slack)(nil)

type noHealth struct{}

func (noHealth) Beat()            {}
func (noHealth) Set(bool, string) {}

// New returns a conduit that does nothing yet. An error names what cfg lacks.
func New(cfg Config) (*Slack, error) {
	if cfg.API == nil || cfg.Sessions == nil {
		return nil, errors.New("slack: the conduit needs an API and sessions")
	}
	if cfg.Health == nil {
		cfg.Health = noHealth{}
	}
	if cfg.Counters == nil {
		cfg.Counters = observe.Nop{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Slack{cfg: cfg, log: cfg.Logger.With(observe.KeyPlatform, Name)}
	s.missed = newMissed(s)
	cc := conduit.Config{
		Name: Name, Store: cfg.Store, Lease: cfg.Lease, Life: cfg.Life, Renderer: NewRenderer(cfg.MaxParts), Reads: cfg.Reads,
		Poster: &poster{api: cfg.API, log: s.log, note: s.note}, Place: channelOf, Grace: cfg.Grace, Counters: cfg.Counters, Logger: cfg.Logger,
	}
	if cfg.Paced {
		cc.Pacer = conduit.NewPacer(paceAll(), paceOf)
	}
	var err error
	s.couriers, err = conduit.New(cc)
	return s, err
}

// Name returns "slack".
func (s *Slack) Name() string { return Name }

// Settle returns when nothing is being delivered, or when ctx ends.
func (s *Slack) Settle(ctx context.Context) { s.couriers.Settle(ctx) }

// Run asks who the bot is, then takes in and delivers until ctx ends; then it returns nil. It returns a *conduit.Error of class Dead
// when Slack refuses the credentials, and conduit.ErrLeaseLost. It is called once.
func (s *Slack) Run(ctx context.Context) error {
	stop := s.cfg.Sessions.Listen(conduit.Kinds(), s.couriers.Hear)
	defer stop()
	me, err := s.identify(ctx)
	if err != nil {
		return s.refused(ctx, err)
	}
	group, sub := errgroup.WithContext(ctx)
	group.Go(func() error { return s.couriers.Run(sub) })
	group.Go(func() error { return s.takeIn(sub, me) })
	return s.ended(group.Wait())
}

// takeIn takes in until ctx ends or the conduit is to take in nothing more.
func (s *Slack) takeIn(outer context.Context, me identity) error {
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	defer s.onQuit(ctx, cancel)()
	s.missed.begin(ctx)
	var looking sync.WaitGroup
	looking.Go(func() { s.missed.run(ctx, me) })
	err := newIntake(s, me).run(ctx)
	cancel()
	looking.Wait()
	if err != nil {
		return s.refused(outer, err)
	}
	return nil
}

// onQuit calls f when nothing more is to be taken in. The function returned ends that.
func (s *Slack) onQuit(ctx context.Context, f func()) (stop func()) {
	if s.cfg.Quit == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-s.cfg.Quit:
			f()
		case <-ctx.Done():
		}
	}()
	return func() { cancel(); <-done }
}

// refused turns an error of the intake or the identity into Run's: nil when ctx has ended; else the credentials are refused, which is
// logged here.
func (s *Slack) refused(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	s.log.Error(observe.MsgCredentialsRefused, observe.KeyError, err)
	return &conduit.Error{Class: conduit.Dead, Err: err}
}

// ended tells the operator why Run ends of its own accord.
func (s *Slack) ended(err error) error {
	var e *conduit.Error
	if !errors.As(err, &e) || e.Class != conduit.Dead {
		return err
	}
	s.cfg.Health.Set(false, deadReason(err))
	return err
}

// deadReason is what an operator can do about refused credentials.
func deadReason(err error) string {
	code := codeOf(err)
	switch code {
	case "missing_scope": // of the app token: a bot token's is no end, see poster.judged
		return "Slack says missing_scope: the app token lacks connections:write; generate another under Basic Information, App-Level Tokens"
	case "not_allowed_token_type":
		return "Slack says not_allowed_token_type: bot_token takes the xoxb- token, app_token the xapp- one"
	case "":
		return "Slack refuses the credentials"
	}
	return fmt.Sprintf("Slack refuses the credentials: %s", code)
}
