package ollama

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"orebot/core/observe"
)

// A server may keep the slot of an answer that its client left in the middle, for as long as the model stays in memory (seen with 0.17.4;
// ollama/ollama#17131): whoever calls next waits without a word. From outside that looks like a server that is busy with somebody else's
// call. What frees the slot is to unload the model, which servers do once nobody uses it any more: no call that is under way is harmed, and
// it costs loading the model again. So that is what is asked for, once, where an answer was left and then no first token comes for far
// longer than usual.

// errStuck is why a call is given up that may wait for a slot which nobody will free.
var errStuck = errors.New("no first token for long, after an answer was left in the middle")

const (
	stuckMargin = time.Minute      // how long a first token may take beyond stuckTimes the longest time so far
	stuckTimes  = 5                // that a call without company has waited, more for a longer prompt
	unloadTime  = 10 * time.Second // how long it is waited for that the model is gone
)

// queue is what a host knows of calls that wait for their first token, by model.
type queue struct {
	mu       sync.Mutex
	left     map[string]bool // answers were left in the middle, and the model wasn't unloaded since
	slowest  map[string]firstToken
	speaking map[string]int // calls whose answers come
	waiting  map[*wait]bool
	mending  chan struct{} // has one in it while somebody unloads a model
}

func newQueue() queue {
	return queue{left: map[string]bool{}, slowest: map[string]firstToken{}, speaking: map[string]int{}, waiting: map[*wait]bool{},
		mending: make(chan struct{}, 1)}
}

// firstToken is how long a prompt of some bytes waited for the first token of its answer, without company.
type firstToken struct {
	took time.Duration
	size int
}

// longest is how long a prompt of size bytes may take where nobody keeps its slot: a longer prompt is read for longer.
func (f firstToken) longest(size int) time.Duration {
	usual := float64(f.took) * max(1, float64(size)/float64(max(f.size, 1)))
	return stuckMargin + time.Duration(stuckTimes*usual)
}

// wait is one call, from its start on.
type wait struct {
	q      *queue
	model  string
	cancel context.CancelCauseFunc
	begin  time.Time
	size   int  // of the prompt, in bytes
	alone  bool // no other call was under way when it began, and the model was in memory: how long it waits is the usual
	spoke  bool
	timer  *time.Timer // asks what it waits for; nil: nothing is suspected
}

// await notes a call that waits for its first token from now on. One that may wait in vain is ended with errStuck.
func (p *Provider) await(ctx context.Context, h *host, req chatRequest, cancel context.CancelCauseFunc) *wait {
	q, model := &h.queue, req.Model
	q.mu.Lock()
	defer q.mu.Unlock()
	w := &wait{q: q, model: model, cancel: cancel, begin: time.Now(), size: promptSize(req),
		alone: len(q.waiting) == 0 && q.speaking[model] == 0}
	q.waiting[w] = true
	slowest, known := q.slowest[model]
	d := slowest.longest(w.size)
	if q.left[model] && known && (p.cfg.FirstTokenTimeout == 0 || d < p.cfg.FirstTokenTimeout) {
		w.timer = time.AfterFunc(d, func() { p.doubt(ctx, h, w, d) })
	}
	return w
}

// promptSize counts what the model is to read, in bytes.
func promptSize(req chatRequest) (n int) {
	for _, m := range req.Messages {
		n += len(m.Content)
		for _, i := range m.Images {
			n += len(i)
		}
	}
	return n
}

// loads notes that the model is being loaded.
func (w *wait) loads() {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	w.alone = false
}

// begun notes the first line of the answer. It returns errStuck where the call was given up before: a line that was on its way then is no
// part of an answer that is asked for anew.
func (w *wait) begun() error {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	switch {
	case w.spoke:
		return nil
	case !w.q.waiting[w]:
		return errStuck
	}
	w.spoke = true
	delete(w.q.waiting, w)
	w.q.speaking[w.model]++
	if took := time.Since(w.begin); w.alone && took >= w.q.slowest[w.model].took {
		w.q.slowest[w.model] = firstToken{took, w.size}
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	return nil
}

// over notes the end of the call, and whether its answer was left in the middle.
func (w *wait) over(complete bool) {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	delete(w.q.waiting, w)
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.spoke {
		w.q.speaking[w.model]--
		w.q.left[w.model] = w.q.left[w.model] || !complete
	}
}

// doubt ends all calls that wait for the model, where it is in memory and answers none of this process's calls. One that isn't in memory
// holds no slots.
func (p *Provider) doubt(ctx context.Context, h *host, w *wait, again time.Duration) {
	ask, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	list, err := h.api.ListRunning(ask)
	q := w.q
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case err != nil || !q.waiting[w]:
	case !running(list.Models, w.model):
		delete(q.left, w.model)
	case q.speaking[w.model] > 0:
		w.timer.Reset(again)
	default:
		for o := range q.waiting {
			if o.model == w.model {
				delete(q.waiting, o)
				o.cancel(errStuck)
			}
		}
	}
}

// suspected reports whether slots of the model may be taken by answers that were left.
func (q *queue) suspected(model string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.left[model]
}

// mend has the model unloaded and waits until it is gone, or for as long as that may take: somebody else may use it. Of several calls that
// were given up one does so for all. The error is that of ctx.
func (p *Provider) mend(ctx context.Context, h *host, model string) error {
	q := &h.queue
	select {
	case q.mending <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-q.mending }()
	if !q.suspected(model) {
		return nil
	}
	q.mu.Lock()
	delete(q.left, model)
	q.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, unloadTime)
	defer cancel()
	what := "the server may have kept the slot of a call that was given up; "
	if err := p.unload(limited, h, model); err != nil {
		p.log.WarnContext(ctx, what+"the model isn't unloaded", observe.KeyModel, model, observe.KeyHost, h.name, observe.KeyError, p.redact.Error(err))
	} else {
		p.log.WarnContext(ctx, what+"the model is unloaded", observe.KeyModel, model, observe.KeyHost, h.name)
	}
	return ctx.Err()
}

// unload asks for it and returns when the model is gone.
func (p *Provider) unload(ctx context.Context, h *host, model string) error {
	req, err := h.post(ctx, "/api/chat", map[string]any{"model": model, "messages": []any{}, "stream": false, "keep_alive": 0})
	if err != nil {
		return err
	}
	resp, err := p.http.Do(req)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
		return &refusal{status: resp.StatusCode}
	}
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	for {
		list, err := h.api.ListRunning(ctx)
		if err != nil || !running(list.Models, model) {
			return err
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
