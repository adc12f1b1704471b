package ops

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orebot/core/observe"
	"orebot/core/session"
)

// find returns the item that an id names, or the one whose id begins so.
func (q *Queue) find(ctx context.Context, id string) (QueueItem, error) {
	list, err := q.List(ctx)
	if err != nil {
		return QueueItem{}, err
	}
	id = strings.ToLower(strings.TrimSpace(id))
	var found []QueueItem
	for _, it := range list.Items {
		if id != "" && strings.HasPrefix(it.ID, id) {
			found = append(found, it)
		}
	}
	if len(found) != 1 {
		return QueueItem{}, &session.DoorError{Text: fmt.Sprintf("%d things that wait have the id %q; see: orebot queue", len(found), id)}
	}
	return found[0], nil
}

// dropTime bounds how long Drop waits for a message to come to its end.
const dropTime = 20 * time.Second

// Drop gives something up: a message and a delivery end in a line in the chat; an update is deleted.
func (q *Queue) Drop(ctx context.Context, id Name) (QueueItem, error) {
	it, err := q.find(ctx, id.Name)
	if err != nil {
		return it, err
	}
	switch it.Kind {
	case KindMessage:
		ctx, cancel := context.WithTimeout(ctx, dropTime)
		defer cancel()
		return it, q.Manager.Drop(ctx, it.entry)
	case KindDelivery:
		err := session.DropDelivery(ctx, q.Store, session.Address(it.Where))
		if err == nil {
			q.Counters.Add(observe.Messages, 1, session.Address(it.Where).Conduit(), observe.Received) // the line in its place
		}
		return it, err
	default:
		return it, q.dropUpdate(ctx, it.Where)
	}
}

func (q *Queue) dropUpdate(ctx context.Context, key string) error {
	_, rev, ok, err := q.Store.Small(ctx, SpacePoison, key)
	if err != nil || !ok {
		return err
	}
	b := session.Batch{ID: session.NewBatchID(), Small: []session.SmallWrite{{Space: SpacePoison, Key: key, Rev: rev}}}
	_, err = session.CommitWait(ctx, q.Store, b)
	return err
}

// Retry says what is being done about something that waits: what can be tried again is, without being asked.
func (q *Queue) Retry(ctx context.Context, id Name) (QueueItem, error) {
	it, err := q.find(ctx, id.Name)
	switch {
	case err != nil:
		return it, err
	case it.Kind == KindUpdate:
		return it, &session.DoorError{Text: "this version can't read it; keep it for the people who make orebot, or: orebot queue drop " + it.ID}
	}
	return it, nil
}
