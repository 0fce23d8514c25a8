package readerui

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

// arrivals is a river in memory that contains one feed.
type arrivals struct {
	River
	mu        sync.Mutex
	items     []river.Item
	listeners map[*listener]bool
}

type listener struct {
	from *arrivals
	c    chan river.Arrival
}

func (l *listener) C() <-chan river.Arrival { return l.c }

func (l *listener) Close() {
	l.from.mu.Lock()
	defer l.from.mu.Unlock()
	delete(l.from.listeners, l)
}

func (a *arrivals) Listen(buffer int) Listener {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := &listener{a, make(chan river.Arrival, buffer)}
	a.listeners[l] = true
	return l
}

func (a *arrivals) Following(context.Context, string) (map[int64]bool, error) {
	return map[int64]bool{1: true}, nil
}

func (a *arrivals) Items(_ context.Context, q river.ItemQuery) (list []river.Entry, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range q.IDs {
		list = append(list, river.Entry{Item: a.items[id-1]})
	}
	return list, nil
}

// arrive adds an item and sends its arrival to all listeners.
func (a *arrivals) arrive(words string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := int64(len(a.items) + 1)
	a.items = append(a.items, river.Item{ID: id, Seq: id, SourceID: 1, GUID: words, At: time.Now(), ReadAt: time.Now(), Content: river.Content{HTML: "<p>" + words + "</p>"}})
	for l := range a.listeners {
		l.c <- river.Arrival{SourceID: 1, Seq: id, Items: []river.Arrived{{ID: id, Seq: id, New: true}}}
	}
}

// BenchmarkIdleRiver measures the cost of an idle live page, and the time to send a new item to all
// clients.
func BenchmarkIdleRiver(b *testing.B) {
	const pages = 1000
	br := &arrivals{listeners: map[*listener]bool{}}
	s := New(content.New(shell.New(shell.Options{}), content.Options{}), Options{River: br, Arrivals: br.Listen, RiverPublic: true}).river
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	got := make(chan struct{}, pages)
	for range pages {
		r, err := s.watch(ctx, channelKey{riverScope: riverScope{May: accessRead, Root: "/river"}})
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			for range r.c {
				got <- struct{}{}
			}
		}()
		defer s.unwatch(r)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	n := 0
	for b.Loop() {
		n++
		br.arrive(fmt.Sprint(n))
		for range pages {
			<-got
		}
	}
	b.ReportMetric(float64(after.HeapAlloc+after.StackInuse-before.HeapAlloc-before.StackInuse)/pages, "B/page")
}
