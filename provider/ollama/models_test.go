package ollama_test

import (
	"reflect"
	"testing"

	"orebot/core/models"
	"orebot/core/provider"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/ollama"
	"orebot/provider/ollama"
)

func TestModels(t *testing.T) {
	s, p := serve(t, sim.Options{Models: []sim.Model{
		{Name: "a", Size: 10, Context: 2048, Capabilities: []string{"completion"}, Parameters: "stop \"x\"\nnum_ctx 1024\n"},
		{Name: "b:7b", Size: 20, Context: 4096, Capabilities: []string{"completion", "tools"}},
	}})
	want := []ollama.ModelInfo{
		{Name: "a:latest", Family: "llama", Size: 10, Context: 2048, NumCtx: 1024, Capabilities: []string{"completion"}},
		{Name: "b:7b", Family: "llama", Size: 20, Context: 4096, Capabilities: []string{"completion", "tools"}},
	}
	if got, err := p.Models(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	s.Faults().Next("/api/show", fault.Fault{Status: 500}, fault.Fault{Status: 500})
	got, err := p.Models(t.Context())
	if err != nil || len(got) != 2 || got[0].Name != "a:latest" || got[0].Size != 10 || got[0].Context != 0 {
		t.Errorf("with /api/show broken: %+v, %v", got, err)
	}
}

func TestHasAndInfo(t *testing.T) {
	s, p := serve(t, sim.Options{})
	if has, err := p.Has(t.Context(), "tiny"); err != nil || !has {
		t.Errorf("tiny: %v, %v", has, err)
	}
	if has, err := p.Has(t.Context(), "nope"); err != nil || has {
		t.Errorf("nope: %v, %v", has, err)
	}
	info, err := p.Info(t.Context(), "plain")
	if err != nil || info.Context != 8192 || info.Can("tools") || !info.Can("completion") {
		t.Errorf("%+v, %v", info, err)
	}
	s.Faults().Next("/api/show", fault.Fault{Status: 503}, fault.Fault{Status: 200, Body: "<html>"}, fault.Fault{Status: 404, Body: "404 page not found"},
		fault.Fault{Status: 401, Body: `{"error":"who"}`})
	for _, kind := range []provider.Kind{provider.KindBusy, provider.KindUnreachable, provider.KindRefused, provider.KindDenied} {
		_, err := p.Has(t.Context(), "tiny")
		wantError(t, err, kind, false, "")
	}
}

func TestPing(t *testing.T) {
	s, p := serve(t, sim.Options{})
	if err := p.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	s.Faults().Next("/api/version", fault.Fault{Status: 200, Body: "<html>"}, fault.Fault{Status: 200, Body: "{}"}, fault.Fault{Status: 502, Body: "<html>"})
	for range 3 {
		wantError(t, p.Ping(t.Context()), provider.KindUnreachable, false, "")
	}
}

func TestAModelThatWasPulledAnewIsAskedAgain(t *testing.T) {
	s, p := serve(t, sim.Options{})
	if _, err := ask(t, p, "/hello", models.Spec{Think: "on"}); err != nil {
		t.Fatal(err)
	}
	s.Faults().Next("/api/chat", fault.Fault{Status: 404, Body: `{"error":"model 'tiny' not found"}`})
	_, err := ask(t, p, "/hello", models.Spec{Think: "on"})
	wantError(t, err, provider.KindModelMissing, false, "")
	if _, err := ask(t, p, "/hello", models.Spec{Think: "on"}); err != nil {
		t.Fatal(err)
	}
	if rs := s.Requests(); len(rs) != 6 || rs[3].Path != "/api/tags" || rs[4].Path != "/api/show" {
		t.Errorf("%d requests", len(rs))
	}
}
