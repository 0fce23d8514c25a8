package hub

import (
	"context"
	"time"

	"cloudburst/internal/event"
)

// Each node polls the log for the events of other nodes. Rows of the same moment may be committed
// out of order, so each poll starts a little earlier and skips rows that it has already seen.
const (
	tailOverlap = 10 * time.Second
	tailBatch   = 1000
)

type eventKey struct{ node, seq int64 }

// tailLoop publishes the events of other nodes on this node's bus.
func (h *Hub) tailLoop(ctx context.Context) {
	seen := map[eventKey]time.Time{}
	from := h.now()
	for h.sleep(ctx, h.wakeTail, pollEvery) {
		next := h.now()
		list, err := h.eventsOfOtherNodes(ctx, from.Add(-tailOverlap), seen)
		if err != nil {
			h.complain(ctx, "read the log of the other nodes", err)
			continue
		}
		h.Bus.Publish(list...)
		from = next
		for p, at := range seen {
			if at.Before(from.Add(-2 * tailOverlap)) {
				delete(seen, p)
			}
		}
	}
}

func (h *Hub) eventsOfOtherNodes(ctx context.Context, since time.Time, seen map[eventKey]time.Time) ([]event.Event, error) {
	var out []event.Event
	after := event.Cursor{}
	for {
		list, err := h.Store.Events(ctx, EventQuery{Since: since, After: after, Forward: true, Limit: tailBatch})
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			p := eventKey{e.Node, e.Seq}
			if _, old := seen[p]; old || e.Node == h.Bus.Node() {
				continue
			}
			seen[p] = e.At
			out = append(out, e)
		}
		if len(list) < tailBatch {
			return out, nil
		}
		after = list[len(list)-1].Cursor()
	}
}

// publish sends committed events to the listeners in this process and wakes the other nodes.
func (h *Hub) publish(events ...event.Event) {
	if len(events) == 0 {
		return
	}
	h.Bus.Publish(events...)
	h.hint()
}
