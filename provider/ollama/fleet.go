package ollama

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"

	"orebot/core/loop"
	"orebot/core/observe"
	"orebot/core/provider"
)

// overHosts runs f with one host after the other until one has done it, a slot of each taken meanwhile if slots is set. It begins
// with the host that the thread of ctx belongs to, where the server has the beginning of its prompt in memory. What another host may do
// better is tried there; any other error ends it, and so does an answer that has begun: nobody is to see it twice.
func (p *Provider) overHosts(ctx context.Context, model string, slots bool, f func(*host) error) error {
	var trouble []*provider.Error
	for left := p.ranked(ctx, model); len(left) > 0; {
		h := left[0]
		if slots {
			var err error
			if h, err = take(ctx, left, model); err != nil {
				return err
			}
		}
		left = slices.DeleteFunc(left, func(o *host) bool { return o == h })
		err := p.within(ctx, h, slots, len(left) > 0, f)
		e, ok := errors.AsType[*provider.Error](err)
		if !ok || e.Partial || !elsewhere(e.Kind) { // not ok: it is done, or the caller's context has ended
			return err
		}
		trouble = append(trouble, e)
	}
	return worst(trouble)
}

// within runs f with a host whose slot was taken, if slots is set, and gives that back, whichever way f ends.
func (p *Provider) within(ctx context.Context, h *host, slots, others bool, f func(*host) error) error {
	if slots {
		defer h.slots.leave()
	}
	return p.onOne(ctx, h, others, f)
}

// onOne runs f with a host and notes how it went. One that failed lately has to answer a ping first, where there are others.
func (p *Provider) onOne(ctx context.Context, h *host, others bool, f func(*host) error) error {
	if others && h.doubted() {
		if err := p.pingWithin(ctx, h, doubtTime); err != nil {
			p.judge(ctx, h, err)
			return err
		}
	}
	err := f(h)
	p.judge(ctx, h, err)
	return err
}

// judge notes what a call says of its host.
func (p *Provider) judge(ctx context.Context, h *host, err error) {
	e, ok := errors.AsType[*provider.Error](err)
	switch {
	case err == nil:
		if h.well() {
			p.log.InfoContext(ctx, "model host is back", observe.KeyHost, h.name)
		}
	case ok && !e.Partial && fault(e):
		if h.aside(e.After) {
			p.log.WarnContext(ctx, "model host set aside", observe.KeyHost, h.name, observe.KeyError, err)
		}
	}
}

// fault reports whether a failure is the host's own, and would meet the next call too. A server that answers is there.
func fault(e *provider.Error) bool {
	_, answered := errors.AsType[*refusal](e)
	switch e.Kind {
	case provider.KindUnreachable, provider.KindBusy, provider.KindTimeout, provider.KindDenied:
		return true
	case provider.KindIncomplete:
		return !answered
	}
	return false
}

// elsewhere reports whether another host may do what one couldn't.
func elsewhere(k provider.Kind) bool {
	switch k {
	case provider.KindUnreachable, provider.KindBusy, provider.KindTimeout, provider.KindIncomplete, provider.KindDenied,
		provider.KindModelMissing, provider.KindNoLoad, provider.KindTooBig:
		return true
	}
	return false
}

// hopes are the kinds of failure that several hosts may have, the one that is most likely to pass first: it is what a caller learns.
var hopes = []provider.Kind{provider.KindBusy, provider.KindIncomplete, provider.KindTimeout, provider.KindUnreachable,
	provider.KindNoLoad, provider.KindTooBig, provider.KindDenied, provider.KindModelMissing}

// worst makes one error of those of all hosts.
func worst(all []*provider.Error) error {
	e := *slices.MinFunc(all, func(a, b *provider.Error) int {
		return cmp.Compare(slices.Index(hopes, a.Kind), slices.Index(hopes, b.Kind))
	})
	if len(all) == 1 {
		return &e
	}
	var errs []error
	for _, o := range all {
		errs = append(errs, o)
		if o.Kind == e.Kind {
			e.After = min(e.After, o.After)
		}
	}
	e.Host, e.Err = "", errors.Join(errs...)
	return &e
}

// ranked returns all hosts in the order in which a thread's call asks them: those that are well, those that didn't have the model a
// moment ago, those set aside. Within each group the order is the thread's own and stays, whatever happens to other hosts.
func (p *Provider) ranked(ctx context.Context, model string) []*host {
	out := slices.Clone(p.hosts)
	if len(out) == 1 {
		return out
	}
	thread, _ := loop.ThreadIDFrom(ctx)
	rank := make(map[*host]struct {
		group  int
		weight uint64
	}, len(out))
	for _, h := range out {
		r := rank[h]
		r.group, r.weight = h.standing(model), weight(thread, h.name)
		rank[h] = r
	}
	slices.SortStableFunc(out, func(a, b *host) int {
		return cmp.Or(cmp.Compare(rank[a].group, rank[b].group), cmp.Compare(rank[b].weight, rank[a].weight))
	})
	return out
}

// weight is how much a thread likes a host. It is the same in each life of the process. What belongs to no thread likes the host that is
// configured first.
func weight(thread, host string) uint64 {
	if thread == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(thread + "\x00" + host))
	return binary.BigEndian.Uint64(sum[:])
}

// take returns the first of the hosts that has a free slot among those that stand as well as the first; where none has, it waits for one
// of the first.
func take(ctx context.Context, hosts []*host, model string) (*host, error) {
	first := hosts[0].standing(model)
	for _, h := range hosts {
		if h.standing(model) != first {
			break
		}
		if h.slots.tryEnter() {
			return h, nil
		}
	}
	return hosts[0], hosts[0].slots.enter(ctx)
}

// Slots returns how many calls may be under way at once: the limit of each host, for those that have answered last. It is never less than
// one host's, and 0 where there is no limit.
func (p *Provider) Slots() int {
	n := 0
	for _, h := range p.hosts {
		if !h.doubted() {
			n++
		}
	}
	return max(n, 1) * p.cfg.MaxConcurrent
}
