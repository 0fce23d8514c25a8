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
	tailEvery        = 2 * time.Second  // between two looks at the list, when nothing wakes the tail
	tailOverlap      = 10 * time.Second // a line may be committed so much later than it is dated
	tailBatch        = 500              // lines of one reading
	tailBuffer       = 32               // batches that may wait for one reader
	MaxMissedChanges = 1000             // lines that a reader who comes back is given; more, and he is told to start afresh
)

// changeTail reads the end of the list of changes once for all who watch it. It
// works while somebody watches.
//
// It is woken by the bus, and looks by itself as well: other nodes write the same
// list, and nothing here hears of that.
type changeTail = live.Tail[struct{}, []hub.Change]

func (s *Pages) newTail() *changeTail {
	return &changeTail{Done: s.Done, Buffer: tailBuffer, Work: func(ctx context.Context, ready func()) {
		(&tailWork{Pages: s, ready: ready, seen: map[eventKey]event.Cursor{}}).run(ctx)
	}}
}

// tailReader is one who watches.
type tailReader struct {
	c     <-chan []hub.Change
	leave func()
}

// tailWork is the reading from the first reader's coming to the last one's going.
type tailWork struct {
	*Pages
	ready func() // called when it knows where the list ends

	last event.Cursor              // the newest line that was seen
	seen map[eventKey]event.Cursor // lines of the last tailOverlap
}

// join adds a reader. When it returns nil, everything that is written from now on
// comes through the reader's channel; what is in the store already may come too.
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
			// Whatever it was, and however much: one look at the list finds it. So
			// one place on the bus is enough, and is taken anew before each look.
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

// begin finds the end of the list. Until that succeeds, nobody hears anything.
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

// look hands out what is new.
func (w *tailWork) poll(ctx context.Context, wide bool) {
	list, err := w.fresh(ctx, wide)
	for batch := range slices.Chunk(list, tailBatch) {
		for _, ch := range w.tail.Channels() { // there is one
			w.tail.Send(ch, batch, 0)
		}
	}
	if err != nil {
		w.waitAfterError(ctx, err)
	}
}

func (w *tailWork) waitAfterError(ctx context.Context, err error) {
	if ctx.Err() == nil {
		w.Logger().Warn("the list of changes could not be read for those who watch it", "err", err)
	}
}

// fresh reads what was not seen yet: behind the newest line, or wide, from a while
// before it, for lines that were committed after later ones.
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
