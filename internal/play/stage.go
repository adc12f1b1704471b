package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
	"orebot/core/access"
	"orebot/core/cognitive"
	"orebot/core/loop"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/core/session/storetest"
	"orebot/core/slash"
	"orebot/core/tool"
	"orebot/core/transform/attribution"
	"orebot/core/transform/budget"
	"orebot/core/transform/systemprompt"
)

// stage is where one play happens.
type stage struct {
	t      *testing.T
	s      *script
	begun  time.Time
	store  *storetest.Memory
	chat   *conduittest.Platform
	model  *model
	shelf  shelf
	dice   *dice
	tools  *tool.Registry
	blobs  *blobs
	past   *archive
	people map[string]session.Author
	cast   cast
	heap   *heap
	life   *life // nil while the process is down
	lives  int
	ended  sync.WaitGroup // of lives
	held   []func() error // deliveries to a process that is down
	posts  atomic.Int64   // until one behind which the process dies; 0: none does

	logger func(*life) *slog.Logger                            // of a life; nil: what it logs is discarded
	signs  func(*life) session.Presenter                       // of a life; nil: signs are lines of the play
	tells  session.Historian                                   // nil: past
	asks   func(l *life, slots int) (provider.Provider, error) // nil: model
}

// life is one life of the process.
type life struct {
	store   *mortal
	manager *session.Manager
	stop    context.CancelFunc
	over    chan struct{}
}

func newStage(t *testing.T, s *script) (*stage, error) {
	st := &stage{
		t: t, s: s, begun: time.Now(), store: storetest.NewMemory(), chat: &conduittest.Platform{}, shelf: newShelf(s.header["models"]),
		dice: newDice(), blobs: &blobs{kept: map[string][]byte{}}, past: newArchive(),
		people: map[string]session.Author{}, heap: newHeap(),
	}
	if len(st.shelf) == 0 {
		st.shelf = newShelf("m")
	}
	st.model = newModel(st.shelf[0].Name)
	st.tools = tool.NewRegistry(1<<20, "")
	if err := st.tools.Set("", []tool.Tool{st.dice.tool()}); err != nil {
		return nil, err
	}
	for _, p := range split(s.header["people"]) {
		words := strings.Fields(p)
		st.people[words[0]] = person(words[0], words[1:]...)
	}
	st.chat.After = st.shown
	return st, nil
}

// person is somebody with traits: guest, bot, admin, external.
func person(name string, traits ...string) session.Author {
	a := session.Author{ID: "slack:" + name, Name: strings.ToUpper(name[:1]) + name[1:], Known: true}
	for _, t := range traits {
		switch t {
		case "guest":
			a.Guest = true
		case "bot":
			a.Bot = true
		case "external":
			a.External = true
		case "admin":
			a.Admin = true
		}
	}
	return a
}

// start begins a life.
func (st *stage) start() error {
	if st.life != nil {
		return errors.New("the process runs already")
	}
	st.lives++
	l := &life{store: newMortal(st.store), over: make(chan struct{})}
	cfg, err := st.config(l)
	if err != nil {
		return err
	}
	l.manager = session.New(cfg)
	var posts []*conduit.Couriers
	for _, platform := range []string{"slack", "telegram"} {
		c, err := st.couriers(l, platform, cfg.Life)
		if err != nil {
			return err
		}
		l.manager.Listen(conduit.Kinds(), c.Hear)
		posts = append(posts, c)
	}
	st.life = l
	st.live(l, posts)
	return nil
}

// live runs a life until it is stopped, where it delivers what there is, or dies, where nothing more happens.
func (st *stage) live(l *life, couriers []*conduit.Couriers) {
	var ctx context.Context
	ctx, l.stop = context.WithCancel(context.Background())
	posting, end := context.WithCancel(context.Background())
	var posts sync.WaitGroup
	for _, c := range couriers {
		posts.Go(func() { st.check("couriers", l, c.Run(posting)) })
	}
	st.ended.Go(func() {
		st.check("manager", l, l.manager.Run(ctx))
		settle, done := context.WithTimeout(context.Background(), 3*time.Second)
		for _, c := range couriers {
			c.Settle(settle)
		}
		done()
		end()
		posts.Wait()
		close(l.over)
	})
	st.ended.Go(func() {
		select {
		case <-l.store.dead:
			l.stop()
			end()
		case <-l.over:
		}
	})
}

// check reports what a part of a life ended with that wasn't killed.
func (st *stage) check(what string, l *life, err error) {
	if err != nil && !l.store.isDead() {
		st.t.Errorf("%s: %v", what, err)
	}
}

// couriers are those of one platform. Only Slack can be asked what was posted.
func (st *stage) couriers(l *life, platform, name string) (*conduit.Couriers, error) {
	limit, err := st.s.number("limit", 4000)
	if err != nil {
		return nil, err
	}
	poster := mouth{st, l, st.chat.Finding().(finder)}
	cfg := conduit.Config{
		Name: platform, Store: l.store, Lease: l.store, Life: name, Poster: poster,
		Renderer: lateText{conduittest.Text{Limit: limit, Words: true}},
		Rand:     func() float64 { return 0 },
	}
	if st.logger != nil {
		cfg.Logger = st.logger(l)
	}
	if st.s.header["finder"] == "no" || platform != "slack" {
		cfg.Poster = struct {
			conduit.Poster
			conduit.Reviser
		}{poster, poster}
	}
	return conduit.New(cfg)
}

// config is the daemon's wiring, as cmd/orebot does it.
func (st *stage) config(l *life) (session.Config, error) {
	h := st.s.header
	concurrent, err1 := st.s.number("concurrent", 4)
	tokens, err2 := st.s.number("tokens", 0)
	slow, err3 := st.s.duration("slow", time.Minute)
	grace, err4 := st.s.duration("grace", 20*time.Second)
	compact, err5 := st.s.share("compact")
	limits, err6 := st.s.limits()
	asked, err7 := st.provider(l, concurrent)
	cfg := session.Config{
		Store: l.store, Provider: asked, Spec: models.Spec{Model: st.model.usual, NumCtx: cmp.Or(tokens*4/3, 8192)},
		Pattern:  cognitive.ReAct{MaxRounds: 8},
		Handlers: []loop.Handler{&tool.Runner{Registry: st.tools, Rounds: 8, Logger: slog.New(slog.DiscardHandler), Output: 1 << 16}},
		Invoke:   []provider.InvokeOption{st.tools.Offer()},
		Transform: []loop.Transform{attribution.Speakers{}, systemprompt.Prompt(func(ctx context.Context) (string, error) {
			if own, ok := session.SystemFrom(ctx); ok {
				return own, nil
			}
			return h["system"], nil
		}), budget.Budget{}},
		Commander:  slash.New(slash.Config{Models: st.shelf, Log: st.store, System: h["system"], Link: linking(h["link"])}),
		SlowNotice: slow, MaxConcurrent: concurrent, RetryFor: 2 * time.Minute, MaxAge: 6 * time.Hour, ShutdownGrace: grace,
		CompactAt: compact, Limits: limits,
		OneByOne: h["queue"] == "fifo", Vision: st.shelf.vision, Life: fmt.Sprintf("life %d", st.lives),
		Platforms: map[string]session.Platform{
			"slack": {
				Policy: access.Policy{Mode: access.Members, AnyPlace: true, Bots: h["bots"] == "yes"}, Follow: h["follow"] != "no", Prefix: "!",
				Fetcher: files(st.s.files), Historian: st.historian(), Presenter: st.presenter(l),
			},
			"telegram": {Policy: access.Policy{Mode: access.Open, AnyPlace: true}, Prefix: "!", Fetcher: files(st.s.files), Presenter: st.presenter(l)},
		},
	}
	if st.logger != nil {
		cfg.Logger = st.logger(l)
	}
	if h["blobs"] != "no" {
		cfg.Blobs = st.blobs
	}
	return cfg, errors.Join(err1, err2, err3, err4, err5, err6, err7)
}

// provider is the model as one life knows it.
func (st *stage) provider(l *life, slots int) (provider.Provider, error) {
	if st.asks != nil {
		return st.asks(l, slots)
	}
	return lifeModel{st.model, l.store.dead}, nil
}

func (st *stage) historian() session.Historian {
	if st.tells != nil {
		return st.tells
	}
	return st.past
}

func (st *stage) presenter(l *life) session.Presenter {
	if st.signs != nil {
		return st.signs(l)
	}
	return gestures{st, l}
}

// linking tells how the two platforms are linked.
func linking(enabled string) slash.Link {
	return slash.Link{Enabled: enabled, Ways: map[string]func(string) string{
		"slack":    func(code string) string { return "write `!link " + code + "` to me in Slack" },
		"telegram": func(code string) string { return "write `/link " + code + "` to me in Telegram" },
	}}
}
