package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orebot/core/observe"
)

// Times and sizes of a connection; the first three hold where the Config says nothing.
const (
	connectTime = 30 * time.Second // to start and connect, and to list
	pingEvery   = 30 * time.Second
	pingTime    = 20 * time.Second
	closeTime   = 2 * time.Second
	maxMessage  = 8 << 20 // bytes of one message
)

// handshake is the version of the protocol that is asked for first: the last one before servers could be asked without a session, which
// not every server expects. Where it fails, the next try asks for the newest.
const handshake = "2025-11-25"

// serve connects once and stays until the connection is lost or ctx ends. up tells whether there was one.
func (s *Server) serve(ctx context.Context, try int) (up bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	transport, end, err := s.transport()
	if err != nil {
		return false, err
	}
	defer end()
	changed := make(chan struct{}, 1)
	session, err := within(ctx, s.cfg.Connect, func(ctx context.Context) (*mcp.ClientSession, error) {
		return connect(ctx, transport, changed, try)
	})
	if err != nil {
		return false, fmt.Errorf("mcp: connect: %w", err)
	}
	defer closeSession(session, end)
	s.put(session) // before its tools are offered, which may be called at once
	defer s.put(nil)
	if _, err := s.list(ctx, session); err != nil {
		return false, err
	}
	s.log.Info("mcp server is there", observe.KeyCount, s.offered)
	w := &watch{Server: s, session: session, pause: listPause}
	return true, w.stay(ctx, changed)
}

// closeSession says goodbye, for as long as that may take, and then ends what the session lives on.
func closeSession(session *mcp.ClientSession, end func()) {
	closed := make(chan struct{})
	go func() {
		_ = session.Close()
		close(closed)
	}()
	for range 2 {
		select {
		case <-closed:
		case <-time.After(closeTime):
		}
		end()
	}
}

// connect makes a session.
func connect(ctx context.Context, t mcp.Transport, changed chan<- struct{}, try int) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "orebot", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{}, // it may ask nothing of us
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			select {
			case changed <- struct{}{}:
			default:
			}
		},
	})
	opts := &mcp.ClientSessionOptions{ProtocolVersion: handshake}
	if try%2 == 1 {
		opts.ProtocolVersion = ""
	}
	return client.Connect(ctx, t, opts)
}

// within runs f for no longer than d, whether or not it heeds its context: a server that doesn't read holds up whoever writes.
func within[T any](ctx context.Context, d time.Duration, f func(context.Context) (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	done := make(chan result, 1)
	go func() {
		v, err := f(ctx)
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func (s *Server) put(session *mcp.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = session
}

func (s *Server) get() *mcp.ClientSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}
