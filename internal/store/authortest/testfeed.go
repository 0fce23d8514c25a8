package authortest

import (
	"context"
	"testing"
	"time"

	"cloudburst/internal/store/storetest"
)

type ticking interface {
	TickTestFeed(ctx context.Context, now time.Time, keep int) (time.Time, error)
	TestFeedTicks(ctx context.Context, since time.Time) ([]time.Time, error)
}

func testFeedTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"TicksHaveDistinctTimes":      tickTwice,
		"NewestTicksAreKept":          tickMany,
		"ConcurrentTicksAreAllStored": tickTogether,
	}
}

func tickTwice(t *testing.T, e *env) {
	s := e.Store.(ticking)
	for i := range 3 {
		at, err := s.TickTestFeed(e.Ctx, e.Now, 10)
		storetest.Must(t, err)
		storetest.Same(t, "moment", at, e.In(time.Duration(i)*time.Millisecond))
	}
	got, err := s.TestFeedTicks(e.Ctx, e.In(time.Millisecond))
	storetest.Must(t, err)
	storetest.Same(t, "ticks", got, []time.Time{e.In(2 * time.Millisecond), e.In(time.Millisecond)})
}

func tickMany(t *testing.T, e *env) {
	s := e.Store.(ticking)
	for i := range 7 {
		_, err := s.TickTestFeed(e.Ctx, e.In(time.Duration(i)*time.Second), 3)
		storetest.Must(t, err)
	}
	got, err := s.TestFeedTicks(e.Ctx, time.Time{})
	storetest.Must(t, err)
	storetest.Same(t, "ticks", got, []time.Time{e.In(6 * time.Second), e.In(5 * time.Second), e.In(4 * time.Second)})
}

func tickTogether(t *testing.T, e *env) {
	s := e.Store.(ticking)
	done := make(chan error)
	for range 8 {
		go func() {
			_, err := s.TickTestFeed(e.Ctx, e.Now, 100)
			done <- err
		}()
	}
	for range 8 {
		storetest.Must(t, <-done)
	}
	got, err := s.TestFeedTicks(e.Ctx, e.Now)
	storetest.Must(t, err)
	if len(got) != 8 {
		t.Errorf("%d of 8 ticks are stored", len(got))
	}
}
