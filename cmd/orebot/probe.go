package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/observe"
	"orebot/core/provider"
	"orebot/internal/ops"
	"orebot/provider/ollama"
)

// probe asks one model host whether it is there, and has the model.
type probe struct {
	host, model string
	server      *ollama.Provider
	health      *ops.Health
	log         *slog.Logger
	doubt       chan struct{} // holds a token when a call couldn't reach a host
}

// A host is asked seldom while it is well, and often while it isn't.
const (
	probeWell = 15 * time.Second
	probeIll  = 2 * time.Second
)

func (p probe) run(ctx context.Context) {
	for {
		wait := probeIll
		if p.look(ctx) {
			wait = probeWell
		}
		select {
		case <-ctx.Done():
			return
		case <-p.doubt:
		case <-time.After(wait):
		}
	}
}

// look asks once, and reports whether the host is well.
func (p probe) look(ctx context.Context) bool {
	has, err := p.server.Has(ctx, p.model)
	switch {
	case ctx.Err() != nil: // the daemon ends, which says nothing of the host
	case err != nil:
		p.health.Set(p.host, false, "model host "+provider.KindOf(err).String())
		p.log.Debug("model host probed", observe.KeyHost, p.host, observe.KeyError, err)
	case !has:
		p.health.Set(p.host, false, fmt.Sprintf("%s isn't installed; run: ollama pull %s", p.model, p.model))
	default:
		p.health.Beat(p.host)
	}
	return has && err == nil
}

// doubting is a provider whose failures to reach a host make the probes look at once, so that the readiness doesn't go on
// speaking of a host that messages already miss.
type doubting struct {
	provider.Provider
	probes []probe
}

// Slots returns how many calls the hosts that are there take at once.
func (d doubting) Slots() int {
	if s, ok := d.Provider.(interface{ Slots() int }); ok {
		return s.Slots()
	}
	return 0
}

// Invoke asks the model; see provider.Provider.
func (d doubting) Invoke(ctx context.Context, st ledger.State, spec models.Spec, ch chan<- artifact.Artifact,
	opts ...provider.InvokeOption) error {
	err := d.Provider.Invoke(ctx, st, spec, ch, opts...)
	if provider.KindOf(err) == provider.KindUnreachable {
		for _, p := range d.probes {
			select {
			case p.doubt <- struct{}{}:
			default: // it will look anyway
			}
		}
	}
	return err
}
