package ollama

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"orebot/core/provider"
	"orebot/core/words"
)

// maxInstalled is how many names of installed models an error carries.
const maxInstalled = 5

// Models returns the models of all servers that answer, each once: those of the first server in its order, the newest first, then what
// only others have. A model of which its server tells nothing more is listed by name and size. It fails where no server answers.
func (p *Provider) Models(ctx context.Context) ([]ModelInfo, error) {
	lists := make([][]ModelInfo, len(p.hosts))
	errs := make([]error, len(p.hosts))
	var all sync.WaitGroup
	for i, h := range p.hosts {
		all.Go(func() { lists[i], errs[i] = p.modelsAt(ctx, h) })
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !slices.Contains(errs, nil) {
		return nil, together(errs)
	}
	var out []ModelInfo
	for _, m := range slices.Concat(lists...) {
		if !slices.ContainsFunc(out, func(o ModelInfo) bool { return o.Name == m.Name }) {
			out = append(out, m)
		}
	}
	return out, nil
}

// together makes one error of those that all hosts have had.
func together(errs []error) error {
	var all []*provider.Error
	for _, err := range errs {
		e, ok := errors.AsType[*provider.Error](err)
		if !ok {
			return err
		}
		all = append(all, e)
	}
	return worst(all)
}

func (p *Provider) modelsAt(ctx context.Context, h *host) ([]ModelInfo, error) {
	list, err := p.list(ctx, h)
	if err != nil {
		return nil, err
	}
	out := make([]ModelInfo, len(list.Models))
	var g errgroup.Group
	g.SetLimit(4)
	for i, m := range list.Models {
		g.Go(func() error {
			k, _ := p.lookUp(ctx, h, m.Name)
			out[i] = k.info
			out[i].Name, out[i].Size = m.Name, m.Size
			return nil
		})
	}
	_ = g.Wait()
	return out, nil
}

// withInstalled adds to the error of a model that no host has the names of those that are there.
func (p *Provider) withInstalled(ctx context.Context, err error) error {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.Kind != provider.KindModelMissing {
		return err
	}
	var mu sync.Mutex
	var names []string
	var all sync.WaitGroup
	for _, h := range p.hosts {
		all.Go(func() {
			list, err := p.list(ctx, h)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, m := range list.Models {
				names = append(names, strings.TrimSuffix(m.Name, ":latest"))
			}
		})
	}
	all.Wait()
	e.Installed = nearest(e.Model, names)
	return err
}

// nearest returns some of the names, each once, the one first that a mistyped name most likely meant.
func nearest(name string, all []string) []string {
	slices.Sort(all)
	all = slices.Compact(all)
	far := make(map[string]int, len(all))
	for _, n := range all {
		far[n] = distance(strings.ToLower(name), strings.ToLower(n))
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(far[a], far[b]) })
	return all[:min(len(all), maxInstalled)]
}

// distance is how far a name is from what was asked for. A tag counts less than the name before it.
func distance(a, b string) int {
	nameA, tagA, _ := strings.Cut(a, ":")
	nameB, tagB, _ := strings.Cut(b, ":")
	return 4*edits(nameA, nameB) + edits(tagA, tagB)
}

// edits bounds what it compares: a server's list and a person's word may be of any length.
func edits(a, b string) int { return words.Distance(a[:min(len(a), 64)], b[:min(len(b), 64)]) }
