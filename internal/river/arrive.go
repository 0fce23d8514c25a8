package river

import (
	"cloudburst/internal/lease"
	"context"
	"sync"
	"time"
)

const (
	maxClockSkew = 5 * time.Second // by how much the clocks of processes may differ
	tailInterval = 5 * time.Second
	tailBatch    = 1000
	indexBatch   = 500 // items at a time
	indexFew     = 20  // that arrive within indexAfter are not much
	indexAfter   = 100 * time.Millisecond

	indexWithin = 2 * time.Second // it begins, whatever arrives
)

// bus hands arrivals to those who listen in this process.
type bus struct {
	mu        sync.Mutex
	listeners map[*Listener]struct{}
	announced map[int64]int64 // with Shared: Seq of items that were announced, by ID
}

func (b *bus) init() { b.listeners = map[*Listener]struct{}{} }

func (b *bus) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.listeners)
}

// announce tells every listener. It never waits: who is too slow is dropped.
func (b *bus) publish(a Arrival) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.announced != nil {
		for _, it := range a.Items {
			b.announced[it.ID] = it.Seq
		}
	}
	for l := range b.listeners {
		select {
		case l.c <- a:
		default:
			b.drop(l)
		}
	}
}

func (b *bus) drop(l *Listener) {
	if _, ok := b.listeners[l]; ok {
		delete(b.listeners, l)
		close(l.c)
	}
}

// Listener hears of arrivals.
type Listener struct {
	bus *bus
	c   chan Arrival
}

// C gives arrivals; it is closed when the listener was too slow, or closed itself.
func (l *Listener) C() <-chan Arrival { return l.c }

// Close ends listening.
func (l *Listener) Close() {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	l.bus.drop(l)
}

// Listen hears of what arrives from now on, for all readers. Who is too slow is dropped.
func (r *River) Listen(buffer int) *Listener {
	r.Init()
	l := &Listener{bus: &r.news, c: make(chan Arrival, max(buffer, 1))}
	r.news.mu.Lock()
	defer r.news.mu.Unlock()
	r.news.listeners[l] = struct{}{}
	return l
}

// arrived tells of items that are on disk now.
func (r checker) publishItems(a Arrival) {
	if len(a.Items) == 0 {
		return
	}
	a.Seq = a.Items[len(a.Items)-1].Seq
	r.news.publish(a)
	lease.Wake(r.wakeups.index)
	lease.Wake(r.wakeups.work) // notices
	if r.Hint != nil {
		r.Hint()
	}
}

// indexLoop makes what arrived searchable. That takes as long as to read and store it, so
// it waits until little more comes, though not for long, and goes slowly until then.
func (r runner) indexLoop(ctx context.Context) {
	lease.Wake(r.wakeups.index) // what an earlier run has left
	for sleep(ctx, r.wakeups.index, maxIdle) {
		for begin := time.Now(); !r.quiet(ctx) && time.Since(begin) < indexWithin; {
		}
		for ctx.Err() == nil {
			begin := time.Now()
			n, err := r.Store.IndexItems(ctx, indexBatch)
			if err != nil {
				r.logError(ctx, "the river could not make items searchable", err)
			}
			if err != nil || n < indexBatch || !r.quiet(ctx) && !pause(ctx, min(2*time.Since(begin), indexWithin)) {
				break
			}
		}
	}
}

// quiet looks for a moment whether much arrives.
func (r runner) quiet(ctx context.Context) bool {
	c := &r.counts
	before := c.fresh.Load() + c.edited.Load()
	return !pause(ctx, indexAfter) || c.fresh.Load()+c.edited.Load()-before < indexFew
}

// tailLoop announces what other processes wrote.
func (r runner) tailLoop(ctx context.Context) {
	r.seqMu.Lock()
	from := r.lastSeq
	r.seqMu.Unlock()
	r.news.mu.Lock()
	r.news.announced = map[int64]int64{}
	r.news.mu.Unlock()
	for sleep(ctx, r.wakeups.tail, tailInterval) {
		from = r.tail(ctx, from)
	}
}

// tail reads what came after a number, less what clocks may differ by, and returns the
// newest number.
func (r runner) tail(ctx context.Context, from int64) int64 {
	at := from - maxClockSkew.Microseconds()
	for {
		list, err := r.Store.Changed(ctx, at, tailBatch)
		if err != nil {
			r.logError(ctx, "the river could not see what others read", err)
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

// fresh reports an item that was not announced here as it is.
func (b *bus) isNew(it *Item) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.announced[it.ID] < it.Seq
}

// forget drops what is older than is looked at.
func (b *bus) forget(before int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, seq := range b.announced {
		if seq < before {
			delete(b.announced, id)
		}
	}
}
