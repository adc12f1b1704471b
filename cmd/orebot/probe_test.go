package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/internal/ops"
	simollama "orebot/internal/sim/ollama"
	"orebot/provider/ollama"
)

// failing is a provider that always fails in one way.
type failing struct{ err error }

func (f failing) Invoke(context.Context, ledger.State, models.Spec, chan<- artifact.Artifact, ...provider.InvokeOption) error {
	return f.err
}

// A call that can't reach a host is known to the readiness at once, not at the probe's next turn.
func TestALostHostIsLookedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		up.Store(true)
		p := probe{host: "http://model", model: "m", health: ops.NewHealth(time.Now, time.Hour),
			log: slog.New(slog.DiscardHandler), doubt: make(chan struct{}, 1)}
		p.health.NeedModel(p.host)
		p.server = modelServer(t, &up)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			p.run(ctx)
			close(done)
		}()
		synctest.Wait()
		if r := p.health.NotReady(); len(r) != 0 {
			t.Fatalf("a host that is there: %v", r)
		}
		up.Store(false)
		ask := func(err error) {
			_ = doubting{failing{err}, []probe{p}}.Invoke(ctx, nil, models.Spec{}, nil)
			synctest.Wait()
		}
		ask(&provider.Error{Kind: provider.KindBusy})
		if r := p.health.NotReady(); len(r) != 0 {
			t.Errorf("an answer of any kind is no doubt: %v", r)
		}
		ask(&provider.Error{Kind: provider.KindUnreachable})
		if r := p.health.NotReady(); len(r) != 1 || r[0].Reason != "model host unreachable" {
			t.Errorf("a lost host: %v", r)
		}
		up.Store(true)
		time.Sleep(probeIll + time.Second)
		if r := p.health.NotReady(); len(r) != 0 {
			t.Errorf("a host that came back: %v", r)
		}
		stop()
		<-done
	})
}

// modelServer is a client of a simulated server that can be reached while up says so.
func modelServer(t *testing.T, up *atomic.Bool) *ollama.Provider {
	t.Helper()
	sim := simollama.New(simollama.Options{Models: []simollama.Model{{Name: "m", Context: 100}}})
	t.Cleanup(sim.Close)
	p, err := ollama.New(ollama.Config{Hosts: []string{"http://model"}, Transport: tripper(func(r *http.Request) (*http.Response, error) {
		if !up.Load() {
			return nil, &net.OpError{Op: "dial", Err: net.ErrClosed}
		}
		answer := httptest.NewRecorder()
		sim.Handler().ServeHTTP(answer, r)
		return answer.Result(), nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, body string) *http.Response {
	w := httptest.NewRecorder()
	w.WriteHeader(status)
	_, _ = w.WriteString(body)
	return w.Result()
}
