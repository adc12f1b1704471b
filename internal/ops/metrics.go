package ops

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"orebot/core/observe"
)

// Metrics implements observe.Counters on a registry of its own. It is safe for concurrent use.
type Metrics struct {
	registry   *prometheus.Registry
	counters   map[observe.Counter]*prometheus.CounterVec
	gauges     map[observe.Gauge]*prometheus.GaugeVec
	histograms map[observe.Histogram]*prometheus.HistogramVec

	mu     sync.Mutex
	before []func()
}

// NewMetrics returns Metrics with every figure of observe, the process and the Go runtime.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry:   prometheus.NewRegistry(),
		counters:   map[observe.Counter]*prometheus.CounterVec{},
		gauges:     map[observe.Gauge]*prometheus.GaugeVec{},
		histograms: map[observe.Histogram]*prometheus.HistogramVec{},
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, f := range figures() {
		m.register(f)
	}
	return m
}

func (m *Metrics) register(f figure) {
	switch name := f.name.(type) {
	case observe.Counter:
		m.counters[name] = prometheus.NewCounterVec(prometheus.CounterOpts{Name: string(name), Help: f.help}, f.labels)
		m.registry.MustRegister(m.counters[name])
	case observe.Gauge:
		m.gauges[name] = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: string(name), Help: f.help}, f.labels)
		m.registry.MustRegister(m.gauges[name])
	case observe.Histogram:
		m.histograms[name] = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: string(name), Help: f.help, Buckets: f.buckets}, f.labels)
		m.registry.MustRegister(m.histograms[name])
	}
	if len(f.labels) == 0 {
		m.touch(f)
	}
}

// Platform makes every figure of one platform appear with zero, so that a rate over it is right from the first event.
func (m *Metrics) Platform(name string) {
	for _, f := range figures() {
		if len(f.labels) == 1 && f.labels[0] == "platform" {
			m.touch(f, name)
		}
	}
}

func (m *Metrics) touch(f figure, labels ...string) {
	switch name := f.name.(type) {
	case observe.Counter:
		m.Add(name, 0, labels...)
	case observe.Gauge:
		_, _ = m.gauges[name].GetMetricWithLabelValues(labels...)
	case observe.Histogram:
		_, _ = m.histograms[name].GetMetricWithLabelValues(labels...)
	}
}

// Add raises a counter; a negative delta is dropped.
func (m *Metrics) Add(c observe.Counter, delta float64, labels ...string) {
	if vec, ok := m.counters[c]; ok && delta >= 0 {
		if counter, err := vec.GetMetricWithLabelValues(labels...); err == nil {
			counter.Add(delta)
		}
	}
}

// Set sets a gauge.
func (m *Metrics) Set(g observe.Gauge, value float64, labels ...string) {
	if vec, ok := m.gauges[g]; ok {
		if gauge, err := vec.GetMetricWithLabelValues(labels...); err == nil {
			gauge.Set(value)
		}
	}
}

// Observe adds a duration to a histogram.
func (m *Metrics) Observe(h observe.Histogram, seconds float64, labels ...string) {
	if vec, ok := m.histograms[h]; ok {
		if histogram, err := vec.GetMetricWithLabelValues(labels...); err == nil {
			histogram.Observe(seconds)
		}
	}
}

// BeforeScrape calls f before each scrape, for gauges that are computed: the age of the oldest entry, free disk space.
// f must be quick; scrapes run it one at a time.
func (m *Metrics) BeforeScrape(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = append(m.before, f)
}

// Handler serves the figures in Prometheus' formats.
func (m *Metrics) Handler() http.Handler {
	next := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.refresh()
		next.ServeHTTP(w, r)
	})
}

func (m *Metrics) refresh() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.before {
		f()
	}
}
