package conduit

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"orebot/core/ledger"
	"orebot/core/observe"
	"orebot/core/session"
)

// Why a courier ends a round early.
var (
	errStop  = errors.New("conduit: the courier stops")           // nothing more in this life, or until nudged
	errAgain = errors.New("conduit: the cursor stands elsewhere") // read everything again
)

// courier delivers to one address. One goroutine owns it.
type courier struct {
	*Couriers
	a    session.Address // whose cursor it moves
	job  *job
	mem  *memory
	hard context.Context // what a post in flight runs under: it ends a grace later than the courier's own
	st   session.AddressState
	legs []session.Leg // of st, from the one that the cursor is in
	leg  uint32        // that one's number
	log  reader
	wait tries
	told string // the failure that was logged last; empty once something succeeded
	slog *slog.Logger

	hand    Item                 // what is being delivered, as its record says
	retired []session.IndexWrite // of the item at hand: messages that show its question no more
	vain    int                  // changes in a row of which nobody knows the outcome
	noting  ledger.Seq           // the question that the item at hand has just shown, which isn't stored yet
	unsure  int                  // times in a row that nobody could tell who reads at the address
}

// memory is what this life knows of the part at the cursor beyond what is stored.
type memory struct {
	leg      uint32
	seq      ledger.Seq
	offset   int
	missing  bool
	tried    bool      // the attempt at the cursor was given to the Poster, with unknown outcome
	ended    time.Time // when that post ended
	repeated bool      // a labelled repeat was posted in this life
	blind    bool      // the look-up is refused for good
}

func (c *Couriers) courier(a session.Address, j *job, hard context.Context) *courier {
	return &courier{
		Couriers: c, a: a, job: j, mem: &j.mem, hard: hard,
		log:  reader{store: c.cfg.Store},
		wait: tries{b: c.cfg.Backoff, rand: c.cfg.Rand},
		slog: c.cfg.Logger.With(observe.KeyAddress, string(a)),
	}
}

// run serves the address until nothing is left to do or ctx ends.
func (c *courier) run(ctx context.Context) {
	for {
		idle, err := c.round(ctx)
		if err == nil && !idle {
			continue
		}
		if err == nil && c.leave(c.a, c.job) {
			return
		}
		if err != nil && c.absorb(ctx, err) != nil {
			c.withdraw(ctx)
			c.abandon(c.job)
			return
		}
	}
}

// absorb waits after a failure that isn't for good. It returns an error where the courier must stop.
func (c *courier) absorb(ctx context.Context, err error) error {
	var corrupt *session.CorruptError
	switch {
	case errors.Is(err, errStop), ctx.Err() != nil:
		return errStop
	case errors.Is(err, session.ErrClosed), errors.Is(err, session.ErrUnknown):
		return errStop
	case errors.Is(err, errAgain):
		return c.doze(ctx, c.wait.next()/16)
	case errors.Is(err, errUnsure): // the reason is logged
		return c.doze(ctx, c.wait.next())
	case errors.As(err, &corrupt):
		c.once("address can't be served", err)
		return errStop
	}
	c.once("delivery waits", err)
	return c.doze(ctx, c.wait.next())
}

// once logs a failure that is not the one logged last.
func (c *courier) once(msg string, err error) {
	if c.told != msg {
		c.told = msg
		c.slog.Warn(msg, observe.KeyError, err)
	}
}

// well ends a streak of failures.
func (c *courier) well() {
	c.told = ""
	c.wait.reset()
}

// round reads where the address stands and delivers what comes next. idle: nothing is left.
func (c *courier) round(ctx context.Context) (idle bool, err error) {
	if err := c.read(ctx); err != nil {
		return false, err
	}
	switch {
	case c.st.BindingRev == session.Revision{}:
		return true, nil
	case c.st.Binding.Gone:
		return true, c.bury(ctx)
	case c.joins():
		return true, nil
	}
	it, found, last, err := c.scan(ctx, c.st.Cursor.Seq)
	switch {
	case err != nil:
		return false, err
	case !found && len(c.legs) == 2 && c.st.Binding.Joining:
		return true, nil
	case !found && len(c.legs) > 1:
		return false, c.forward(ctx)
	case !found:
		return true, c.rest(ctx, last)
	}
	return c.deliver(ctx, it)
}

// joins reports whether the address waits to be taken into another place's conversation, and has been shown all of its own.
func (c *courier) joins() bool { return c.st.Binding.Joining && len(c.legs) == 1 }

// read learns anew what is stored of the address.
func (c *courier) read(ctx context.Context) error {
	st, err := c.cfg.Store.Address(ctx, c.a)
	if err != nil {
		return err
	}
	c.st = st
	c.legs, c.leg = st.Serving()
	c.log.of(c.legs[0].Thread)
	return nil
}

// at is where posts go.
func (c *courier) at() session.Address {
	if c.st.Binding.MovedTo != "" {
		return c.st.Binding.MovedTo
	}
	return c.a
}

// rest notes that nothing is left to deliver.
func (c *courier) rest(ctx context.Context, last ledger.Seq) error {
	if c.st.Due == 0 {
		return nil
	}
	cur := c.made(session.Cursor{Seq: max(last+1, c.st.Cursor.Seq, c.legs[0].From)}, form{})
	return c.put(ctx, cur, extra{due: []session.DueWrite{c.drop(last)}})
}

// drop takes the address off the due ones, unless a record behind last has raised it since. What lies behind the binding's end or
// before the cursor doesn't count.
func (c *courier) drop(last ledger.Seq) session.DueWrite {
	if c.st.Cursor.Seq > 0 {
		last = max(last, c.st.Cursor.Seq-1)
	}
	if u := c.legs[0].Until; u != 0 && last+1 >= u {
		last = max(last, c.st.Due)
	}
	return session.DueWrite{Address: c.a, Seq: last, Drop: true}
}

// forward moves the cursor to the next thread that the address was bound to. What is due is said anew, since it counted in the log
// that is done.
func (c *courier) forward(ctx context.Context) error {
	cur, due := c.ahead()
	return c.put(ctx, cur, extra{due: due})
}

// ahead is a cursor at the beginning of the next leg, and what is due there: the first record that it may see, which may not exist
// yet. It stays due until there is one.
func (c *courier) ahead() (session.Cursor, []session.DueWrite) {
	from := max(c.legs[1].From, 1)
	cur := c.made(session.Cursor{Seq: from}, form{})
	cur.Leg = c.leg + 1
	return cur, []session.DueWrite{{Address: c.a, Seq: from, Anew: true}}
}
