package web

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"
)

// BenchmarkIdleRiver measures what a live page costs while nothing comes, and how long
// the news takes to all of them.
func BenchmarkIdleRiver(b *testing.B) {
	const pages = 1000
	f := newFake()
	br := newBrook(func() time.Time { return f.now })
	flow(br, "")
	w := &Web{Hub: f, Store: f, River: br, Arrivals: br.Listen, RiverPublic: true, Now: func() time.Time { return f.now }}
	s := newSite(w).reader
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	got := make(chan struct{}, pages)
	for range pages {
		r, err := s.watch(ctx, channelKey{stretch: stretch{May: accessRead, Root: "/river"}})
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
		br.arrive(news(fmt.Sprint(n)))
		for range pages {
			<-got
		}
	}
	b.ReportMetric(float64(after.HeapAlloc+after.StackInuse-before.HeapAlloc-before.StackInuse)/pages, "B/page")
}
