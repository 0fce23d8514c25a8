package shell

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

func TestResultsOfConcurrentJobsAreInOrder(t *testing.T) {
	t.Parallel()
	const n = 500
	// In each group of 4 concurrent jobs, each job waits until the next job is done.
	done := make([]chan struct{}, n+1)
	for i := range done {
		done[i] = make(chan struct{})
	}
	close(done[n])
	var got, taken []int
	err := InOrder[int]{
		N: n, Workers: 4,
		Work: func(_ context.Context, i int) int {
			if i%4 != 3 {
				<-done[i+1]
			}
			close(done[i])
			return i * i
		},
		Take: func(i, result int) error {
			taken = append(taken, i)
			got = append(got, result)
			return nil
		},
	}.Run(t.Context())
	if err != nil || len(got) != n || !slices.IsSorted(taken) || !slices.IsSorted(got) {
		t.Errorf("%d results, %v", len(got), err)
	}
}

func TestNumberOfUnprintedResultsIsLimited(t *testing.T) {
	t.Parallel()
	const workers = 3
	slow := make(chan struct{})
	var begun atomic.Int32
	idle := 0
	err := InOrder[int]{
		N: 1000, Workers: workers,
		Work: func(_ context.Context, i int) int {
			begun.Add(1)
			if i == 0 {
				<-slow
			}
			return i
		},
		Take: func(int, int) error { return nil },
		Idle: func(taken int) {
			if idle++; idle == 2 {
				if n := begun.Load(); taken != 0 || n > (AheadPerWorker+1)*workers+2 {
					t.Errorf("%d jobs have begun while the first is running", n)
				}
				close(slow)
			}
		},
	}.Run(t.Context())
	if err != nil || begun.Load() != 1000 {
		t.Errorf("%d, %v", begun.Load(), err)
	}
}

func TestRunStopsAtFirstErrorOrCancelledContext(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	o := InOrder[int]{
		N: 1 << 30, Workers: 2,
		Work: func(_ context.Context, i int) int { return i },
		Take: func(i, _ int) error {
			if i == 10 {
				return full
			}
			return nil
		},
	}
	if err := o.Run(t.Context()); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Work = func(ctx context.Context, _ int) int { <-ctx.Done(); return 0 }
	o.Idle = func(int) { cancel() }
	if err := o.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := (InOrder[int]{}).Run(t.Context()); err != nil {
		t.Errorf("no jobs: %v", err)
	}
}
