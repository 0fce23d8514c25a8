package river

import (
	"context"
	"maps"
	"sync"
	"time"

	"cloudburst/internal/lease"
	"cloudburst/internal/live"
)

const (
	maxClockSkew = 5 * time.Second // maximum difference between the clocks of two processes
	tailInterval = 5 * time.Second
	tailBatch    = 1000
	indexBatch   = 500 // number of items that are indexed in one transaction
	indexFew     = 20  // maximum number of new or edited items within indexAfter that counts as quiet
	indexAfter   = 100 * time.Millisecond

	indexWithin = 2 * time.Second // indexing starts after this time even if items keep arriving
)

// bus passes arrivals to the listeners in this process.
type bus struct {
	live.Broadcast[Arrival]
	mu        sync.Mutex
	announced map[int64]int64 // Seq of each published item, by item ID; nil unless Options.Shared is set
}

// publish sends an arrival to every listener.
func (b *bus) publish(a Arrival) {
	b.mu.Lock()
	if b.announced != nil {
		for _, it := range a.Items {
			b.announced[it.ID] = it.Seq
		}
	}
	b.mu.Unlock()
	b.Publish(a)
}

// Listener receives arrivals.
type Listener = live.Listener[Arrival]

// Listen returns a listener for all items that arrive from now on, for any user. If the buffer of
// a listener is full, the river drops the listener.
func (r *River) Listen(buffer int) *Listener { return r.news.Listen(buffer) }

// publishItems sends stored items to the listeners.
func (r checker) publishItems(a Arrival) {
	if len(a.Items) == 0 {
		return
	}
	a.Seq = a.Items[len(a.Items)-1].Seq
	r.news.publish(a)
	lease.Wake(r.wakeups.index)
	lease.Wake(r.wakeups.forward)
	if r.Hint != nil {
		r.Hint()
	}
}

// indexLoop makes new items searchable. Indexing an item costs as much as fetching and storing
// it. So the loop waits up to indexWithin for a quiet moment, and pauses between batches while
// items arrive.
func (r runner) indexLoop(ctx context.Context) {
	lease.Wake(r.wakeups.index) // there may be items that an earlier run did not index
	for lease.Sleep(ctx, r.wakeups.index, maxIdle) {
		for begin := time.Now(); !r.quiet(ctx) && time.Since(begin) < indexWithin; {
		}
		for ctx.Err() == nil {
			begin := time.Now()
			n, err := r.Store.IndexItems(ctx, indexBatch)
			if err != nil {
				r.logError(ctx, "cannot make items searchable", err)
			}
			if err != nil || n < indexBatch || !r.quiet(ctx) && !lease.Sleep(ctx, nil, min(2*time.Since(begin), indexWithin)) {
				break
			}
		}
	}
}

// quiet waits for indexAfter and reports whether at most a few items arrived in that time.
func (r runner) quiet(ctx context.Context) bool {
	c := &r.counts
	before := c.fresh.Load() + c.edited.Load()
	return !lease.Sleep(ctx, nil, indexAfter) || c.fresh.Load()+c.edited.Load()-before < indexFew
}

// tailLoop publishes the items that other processes stored.
func (r runner) tailLoop(ctx context.Context) {
	r.seqMu.Lock()
	from := r.lastSeq
	r.seqMu.Unlock()
	r.news.mu.Lock()
	r.news.announced = map[int64]int64{}
	r.news.mu.Unlock()
	for lease.Sleep(ctx, r.wakeups.tail, tailInterval) {
		from = r.tail(ctx, from)
	}
}

// tail publishes the items whose Seq is greater than from, and returns the highest Seq. It starts
// maxClockSkew earlier, because the clock of another process may be slow.
func (r runner) tail(ctx context.Context, from int64) int64 {
	at := from - maxClockSkew.Microseconds()
	for {
		list, err := r.Store.Changed(ctx, at, tailBatch)
		if err != nil {
			r.logError(ctx, "cannot read the items of other processes", err)
			return from
		}
		for i := 0; i < len(list); {
			a := Arrival{SourceID: list[i].SourceID}
			for ; i < len(list) && list[i].SourceID == a.SourceID; i++ {
				if it := &list[i]; r.news.isNew(it) {
					a.Items = append(a.Items, Arrived{ID: it.ID, Seq: it.Seq, New: it.First == it.Seq})
				}
			}
			if len(a.Items) > 0 {
				a.Seq = a.Items[len(a.Items)-1].Seq
				r.news.publish(a)
			}
		}
		if len(list) > 0 {
			at = list[len(list)-1].Seq
			from = max(from, at)
		}
		if len(list) < tailBatch {
			r.news.forget(from - 2*maxClockSkew.Microseconds())
			return from
		}
	}
}

// isNew reports whether this process has not yet published this version of an item.
func (b *bus) isNew(it *Item) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.announced[it.ID] < it.Seq
}

// forget drops the entries of published items whose Seq is lower than before, because tail does
// not read such old items again.
func (b *bus) forget(before int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.announced, func(_, seq int64) bool { return seq < before })
}

// Publisher publishes items that change outside of a check, such as an item that gets its full
// text.
type Publisher struct{ River *River }

// NextSeq returns the Seq for an item that the caller is about to store. Call Announce after the
// item is stored.
func (p Publisher) NextSeq() int64 {
	p.River.Init()
	return checker{p.River}.seqs(1)
}

// Announce publishes a stored item to live pages. seq is the result of NextSeq.
func (p Publisher) Announce(source, id, seq int64) {
	p.River.Init()
	checker{p.River}.publishItems(Arrival{SourceID: source, Items: []Arrived{{ID: id, Seq: seq}}})
}
