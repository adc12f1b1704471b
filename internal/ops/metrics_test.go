package ops

import (
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"orebot/core/observe"
)

var _ observe.Counters = (*Metrics)(nil)

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestFiguresArriveWithTheirLabels(t *testing.T) {
	m := NewMetrics()
	m.Add(observe.Messages, 2, "slack", observe.Received)
	m.Add(observe.Messages, 1, "slack", observe.Received)
	m.Add(observe.Tokens, 7, observe.Out, "llama3.2")
	m.Set(observe.LiveThreads, 4)
	m.Set(observe.ModelUp, 1, "http://h:1")
	m.Observe(observe.DeliverySeconds, 0.02, "telegram")
	var free float64
	m.BeforeScrape(func() { free += 5; m.Set(observe.StoreFree, free) })
	got := scrape(t, m)
	for _, want := range []string{
		`orebot_messages_total{outcome="received",platform="slack"} 3`,
		`orebot_tokens_total{direction="out",model="llama3.2"} 7`,
		`orebot_live_threads 4`, `orebot_model_up{host="http://h:1"} 1`, `orebot_store_free_bytes 5`,
		`orebot_delivery_seconds_bucket{platform="telegram",le="0.025"} 1`,
		`orebot_poll_conflicts_total 0`, `process_resident_memory_bytes `, `go_goroutines `,
	} {
		if !strings.Contains(got, "\n"+want) {
			t.Errorf("%s is missing", want)
		}
	}
	if !strings.Contains(scrape(t, m), "\norebot_store_free_bytes 10") {
		t.Error("BeforeScrape isn't called before each scrape")
	}
}

func TestWrongCallsAreDropped(t *testing.T) {
	m := NewMetrics()
	m.Add(observe.Messages, 1, "slack")
	m.Add(observe.PollConflicts, -1)
	m.Add("orebot_unknown_total", 1)
	m.Set(observe.LiveThreads, 1, "slack")
	m.Set(observe.Gauge(observe.Messages), 1, "a", "b")
	m.Observe("x", 1)
	m.Add(observe.Duplicates, 1, "\xff")
	got := scrape(t, m)
	for _, bad := range []string{"orebot_messages_total{", "unknown", "conflicts_total -1", "live_threads 1"} {
		if strings.Contains(got, bad) {
			t.Errorf("%s is there", bad)
		}
	}
}

func TestPlatformStartsAtZero(t *testing.T) {
	m := NewMetrics()
	m.Platform("slack")
	got := scrape(t, m)
	for _, name := range []string{"ignored", "messages"} {
		if strings.Contains(got, "orebot_"+name+"_total{") {
			t.Errorf("%s has labels that nobody gave", name)
		}
	}
	for _, want := range []string{`reconnects_total{platform="slack"} 0`, `delivery_seconds_count{platform="slack"} 0`, `platform_ready{platform="slack"} 0`} {
		if !strings.Contains(got, "orebot_"+want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// TestEveryFigureOfTheInterfaceExists reads the names out of the table that operators are promised.
func TestEveryFigureOfTheInterfaceExists(t *testing.T) {
	doc, err := os.ReadFile("../../../shared/interface.md")
	if err != nil {
		t.Skipf("the interface's text isn't here: %v", err)
	}
	labels := map[string]string{}
	for _, f := range figures() {
		name := ""
		switch n := f.name.(type) {
		case observe.Counter:
			name = string(n)
		case observe.Gauge:
			name = string(n)
		case observe.Histogram:
			name = string(n)
		}
		labels[name] = strings.Join(f.labels, ",")
	}
	found := regexp.MustCompile("`(orebot_[a-z_]+)(?:\\{([a-z,]+)\\})?`").FindAllStringSubmatch(string(doc), -1)
	if len(found) < 17 {
		t.Fatalf("only %d names found", len(found))
	}
	for _, f := range found {
		if got, ok := labels[f[1]]; !ok || got != f[2] {
			t.Errorf("%s{%s}: have {%s}, %t", f[1], f[2], got, ok)
		}
	}
}

func TestMetricsAreConcurrent(t *testing.T) {
	m := NewMetrics()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				m.Add(observe.Duplicates, 1, "slack")
				m.Observe(observe.StoreCommit, 0.001)
			}
			m.BeforeScrape(func() {})
			scrape(t, m)
		})
	}
	wg.Wait()
	if !strings.Contains(scrape(t, m), `orebot_duplicates_total{platform="slack"} 800`) {
		t.Error("some were lost")
	}
}
