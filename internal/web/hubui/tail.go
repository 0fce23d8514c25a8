package hubui

import (
	"context"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/live"
	"cloudburst/internal/web/shell"
)

const (
	tailEvery        = 2 * time.Second  // interval between reads while the bus delivers no event
	tailOverlap      = 10 * time.Second // maximum delay between the time of a line and its commit
	tailBatch        = 500              // maximum number of lines in one read
	tailBuffer       = 32               // maximum number of batches that wait for one client
	MaxMissedChanges = 1000             // maximum number of stored lines for a client that reconnects; a client that missed more reloads the page
)

// changeTail reads the end of the recent changes once for all clients. It runs only while there are
// clients.
//
// An event on the bus starts a read. The tail also polls, because other nodes write to the same list
// without an event on this node's bus.
type changeTail = live.Tail[struct{}, []hub.Change]

func (s *Pages) newTail() *changeTail {
	return &changeTail{Done: s.Done, Buffer: tailBuffer, Work: func(ctx context.Context, ready func()) {
		(&tailWork{Pages: s, ready: ready, seen: map[eventKey]event.Cursor{}}).run(ctx)
	}}
}

// tailReader is the subscription of one client.
type tailReader struct {
	c     <-chan []hub.Change
	leave func()
}

// tailWork reads the recent changes while there is at least one client.
type tailWork struct {
	*Pages
	ready func() // begin calls ready once it knows the end of the list

	last event.Cursor              // the newest line read
	seen map[eventKey]event.Cursor // key: line that was read and is at most 2*tailOverlap older than the newest line
}

// join adds a client. After it returns nil, every new line arrives on the client's channel; lines
// that are stored already can arrive too.
func (s *Pages) join(ctx context.Context) (*tailReader, error) {
	c, leave, err := s.tail.Join(ctx, struct{}{}, 0)
	return &tailReader{c, leave}, err
}

func (s *Pages) leave(r *tailReader) { r.leave() }

func (w *tailWork) run(ctx context.Context) {
	listener := w.Bus.Listen(1)
	defer func() { listener.Close() }()
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	begun := false
	for {
		if !begun {
			begun = w.begin(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if begun {
				w.poll(ctx, true)
			}
		case <-listener.C():
			// One read of the list finds the changes of all events. So a buffer of one event is
			// enough, and the listener is replaced before each read.
			listener.Close()
			listener = w.Bus.Listen(1)
			if begun {
				w.poll(ctx, false)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(shell.MinPause):
			}
		}
	}
}

// begin finds the end of the list. Until it succeeds, clients receive nothing.
func (w *tailWork) begin(ctx context.Context) bool {
	newest, err := w.Store.Changes(ctx, hub.ChangeQuery{Limit: 1})
	if err == nil && len(newest) > 0 {
		w.last = newest[0].Cursor()
		_, err = w.fresh(ctx, true)
	}
	if err != nil {
		w.waitAfterError(ctx, err)
		return false
	}
	w.ready()
	return true
}

// poll sends new lines to the clients.
func (w *tailWork) poll(ctx context.Context, wide bool) {
	list, err := w.fresh(ctx, wide)
	for batch := range slices.Chunk(list, tailBatch) {
		for _, ch := range w.tail.Channels() { // all clients share one channel
			w.tail.Send(ch, batch, 0)
		}
	}
	if err != nil {
		w.waitAfterError(ctx, err)
	}
}

func (w *tailWork) waitAfterError(ctx context.Context, err error) {
	if ctx.Err() == nil {
		w.Logger().Warn("read the recent changes for live pages", "err", err)
	}
}

// fresh reads the lines after the newest line read so far. If wide is set, it starts tailOverlap earlier,
// to find lines that were committed after newer lines.
func (w *tailWork) fresh(ctx context.Context, wide bool) (list []hub.Change, err error) {
	q := hub.ChangeQuery{After: w.last, Forward: true, Limit: tailBatch}
	if wide {
		q.After, q.Since = event.Cursor{}, time.UnixMilli(w.last.At).Add(-tailOverlap)
	}
	for {
		rows, err := w.Store.Changes(ctx, q)
		if err != nil {
			return list, err
		}
		for _, c := range rows {
			m := eventKey{c.Node, c.Seq}
			if _, known := w.seen[m]; known {
				continue
			}
			w.seen[m] = c.Cursor()
			list = append(list, c)
			if w.last.Less(c.Cursor()) {
				w.last = c.Cursor()
			}
		}
		if len(rows) < q.Limit {
			break
		}
		q.After = rows[len(rows)-1].Cursor()
	}
	for m, at := range w.seen {
		if at.At < w.last.At-2*tailOverlap.Milliseconds() {
			delete(w.seen, m)
		}
	}
	return list, nil
}
