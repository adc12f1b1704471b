// Package observe holds what operators see of the core: the keys of log attributes and the port through which figures
// leave it. It imports nothing; internal/ops implements the port with Prometheus.
package observe
