// Package ops is what an operator meets: the log on stderr, figures for Prometheus, /livez and /readyz, the talk with systemd, and the
// admin socket with both of its ends. It implements observe.Counters; nothing in core knows it.
//
// The daemon serves Handler and Admin on its socket; a subcommand finds the socket (SocketPlaces) and calls them with a Client. What both
// sides exchange are the structs of this package, as JSON. Access and Queue hold what the operator can do; where no daemon runs, a
// subcommand uses Access itself, on the state that it left.
package ops
