package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
)

// port is a loopback address that can be closed and opened again.
type port struct {
	addr string
	h    http.Handler
	srv  *http.Server
	wg   sync.WaitGroup
}

func (p *port) open(t testing.TB) {
	t.Helper()
	ln := listen(t, p.addr)
	p.addr = ln.Addr().String()
	p.srv = &http.Server{Handler: p.h, ReadHeaderTimeout: patience}
	srv := p.srv
	p.wg.Go(func() { _ = srv.Serve(ln) })
}

func (p *port) close() {
	_ = p.srv.Close()
	p.wg.Wait()
}

func serve(t testing.TB, h http.Handler) *port {
	t.Helper()
	p := &port{h: h}
	p.open(t)
	t.Cleanup(p.close)
	return p
}

// listen listens at an address, or at one that nobody else takes while it is closed: each has a loopback IP of its own, where the
// system has more than one. On a shared one its port might be given to any connection that goes out.
func listen(t testing.TB, addr string) net.Listener {
	t.Helper()
	if addr == "" {
		own := fmt.Sprintf("127.%d.%d.%d:0", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
		for _, at := range []string{own, "127.0.0.1:0"} {
			if ln, err := net.Listen("tcp", at); err == nil {
				return ln
			}
		}
		addr = "[::1]:0"
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// free returns a loopback address that nobody listens on now.
func free(t testing.TB) string {
	t.Helper()
	ln := listen(t, "")
	defer ln.Close()
	return ln.Addr().String()
}
