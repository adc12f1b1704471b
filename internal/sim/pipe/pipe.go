// Package pipe is a network without a network: a net.Listener whose connections are net.Pipe pairs. A simulator served on
// one is reachable from inside a testing/synctest bubble, where real sockets would keep the bubble from ever being idle.
package pipe

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Listener hands each dialled connection to the server that accepts on it. It is safe for concurrent use.
type Listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// Listen returns an open Listener.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept waits for the next dialled connection. It returns net.ErrClosed after Close.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close makes Accept and DialContext fail from now on. Connections already made live on.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr returns a name, not a place.
func (l *Listener) Addr() net.Addr { return addr{} }

// DialContext connects to whoever accepts, whatever network and address it is given. It fails with net.ErrClosed when the
// listener is closed, as a refused connection does.
func (l *Listener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Transport returns an HTTP transport that dials this listener for every host.
func (l *Listener) Transport() *http.Transport {
	return &http.Transport{DialContext: l.DialContext, DialTLSContext: l.DialContext}
}

type addr struct{}

func (addr) Network() string { return "pipe" }
func (addr) String() string  { return "pipe" }
