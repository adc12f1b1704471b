// Package ops is what an operator meets: the log on stderr, figures for Prometheus, /livez and /readyz, and the talk
// with systemd. It implements observe.Counters; nothing in core knows it.
package ops
