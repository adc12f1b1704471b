package storetest

import (
	"context"
	"slices"
	"strings"

	"orebot/core/session"
)

// Places implements session.Reader.
func (m *Memory) Places(ctx context.Context, conduit string, after session.Address, limit int) ([]session.Address, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []session.Address
	for _, e := range m.entries("", func(e session.Entry) bool { return e.ID.Address.Conduit() == conduit }) {
		all = append(all, e.ID.Address)
	}
	return page(all, after, limit), ctx.Err()
}

// Pending implements session.Reader.
func (m *Memory) Pending(ctx context.Context, after session.Address, limit int) ([]session.Address, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []session.Address
	for _, e := range m.entries("", func(e session.Entry) bool { return e.State.Waits() }) {
		all = append(all, e.ID.Address)
	}
	return page(all, after, limit), ctx.Err()
}

// Bound implements session.Reader.
func (m *Memory) Bound(ctx context.Context, after session.Address, limit int) ([]session.Address, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []session.Address
	for name := range m.records {
		if a, ok := strings.CutPrefix(name, "binding "); ok {
			all = append(all, session.Address(a))
		}
	}
	return page(all, after, limit), ctx.Err()
}

// Presences implements session.Reader.
func (m *Memory) Presences(ctx context.Context, conduit string, after session.Address, limit int) ([]session.Address, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []session.Address
	for name := range m.records {
		if a, ok := strings.CutPrefix(name, "presence "); ok && session.Address(a).Conduit() == conduit {
			all = append(all, session.Address(a))
		}
	}
	return page(all, after, limit), ctx.Err()
}

// page returns the first addresses after one, sorted and each once.
func page(all []session.Address, after session.Address, limit int) []session.Address {
	all = slices.DeleteFunc(all, func(a session.Address) bool { return a <= after })
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), max(0, limit))]
}

// SmallList implements session.Reader.
func (m *Memory) SmallList(ctx context.Context, space, after string, limit int) ([]session.SmallValue, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []session.SmallValue
	for name, r := range m.records {
		if key, ok := strings.CutPrefix(name, smallName(space, "")); ok && key > after {
			all = append(all, session.SmallValue{Key: key, Value: slices.Clone(r.body), Rev: r.rev})
		}
	}
	slices.SortFunc(all, func(a, b session.SmallValue) int { return strings.Compare(a.Key, b.Key) })
	return all[:min(len(all), max(0, limit))], ctx.Err()
}
