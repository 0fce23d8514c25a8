package storetest

import (
	"context"
	"testing"
	"time"
)

type ticking interface {
	TickTestFeed(ctx context.Context, now time.Time, keep int) (time.Time, error)
	TestFeedTicks(ctx context.Context, since time.Time) ([]time.Time, error)
}

func testFeedTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"NoTwoTicksHaveTheSameMoment":  tickTwice,
		"OnlyTheNewestTicksAreKept":    tickMany,
		"TicksOfTwoProcessesAreBothIn": tickTogether,
	}
}

func tickTwice(t *testing.T, e *env) {
	s := e.Store.(ticking)
	for i := range 3 {
		at, err := s.TickTestFeed(e.ctx, e.now, 10)
		must(t, err)
		same(t, "moment", at, e.in(time.Duration(i)*time.Millisecond))
	}
	got, err := s.TestFeedTicks(e.ctx, e.in(time.Millisecond))
	must(t, err)
	same(t, "ticks", got, []time.Time{e.in(2 * time.Millisecond), e.in(time.Millisecond)})
}

func tickMany(t *testing.T, e *env) {
	s := e.Store.(ticking)
	for i := range 7 {
		_, err := s.TickTestFeed(e.ctx, e.in(time.Duration(i)*time.Second), 3)
		must(t, err)
	}
	got, err := s.TestFeedTicks(e.ctx, time.Time{})
	must(t, err)
	same(t, "ticks", got, []time.Time{e.in(6 * time.Second), e.in(5 * time.Second), e.in(4 * time.Second)})
}

func tickTogether(t *testing.T, e *env) {
	s := e.Store.(ticking)
	done := make(chan error)
	for range 8 {
		go func() {
			_, err := s.TickTestFeed(e.ctx, e.now, 100)
			done <- err
		}()
	}
	for range 8 {
		must(t, <-done)
	}
	got, err := s.TestFeedTicks(e.ctx, e.now)
	must(t, err)
	if len(got) != 8 {
		t.Errorf("of 8 ticks there are %d", len(got))
	}
}
