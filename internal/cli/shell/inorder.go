package shell

import (
	"context"
	"sync"
	"time"
)

// InOrder runs jobs concurrently and passes their results to Take in the order of the jobs.
type InOrder[T any] struct {
	N       int // number of jobs
	Workers int // maximum number of concurrent jobs
	Work    func(ctx context.Context, i int) T
	Take    func(i int, result T) error // called with each result, in order and never concurrently
	Idle    func(taken int)             // called every 100 ms while Take waits for a result; nil: never
}

const (
	AheadPerWorker = 4 // maximum results per worker that wait for an earlier result; limits the memory if a job is slow
	idlePause      = 100 * time.Millisecond
)

// Run runs all jobs. It returns when Take has all results, or with the error of ctx or the first
// error of Take.
func (o InOrder[T]) Run(ctx context.Context) error {
	type job struct {
		i    int
		done chan T
	}
	workers := max(1, min(o.Workers, o.N))
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	todo, queue := make(chan job), make(chan chan T, AheadPerWorker*workers)
	group.Go(func() {
		defer close(todo)
		for i := range o.N {
			j := job{i, make(chan T, 1)}
			if !send(ctx, queue, j.done) || !send(ctx, todo, j) {
				return
			}
		}
	})
	for range workers {
		group.Go(func() {
			for j := range todo {
				j.done <- o.Work(ctx, j.i)
			}
		})
	}
	tick := time.NewTicker(idlePause)
	defer tick.Stop()
	for i := range o.N {
		result, err := o.next(ctx, queue, tick.C, i)
		if err != nil {
			return err
		}
		if err := o.Take(i, result); err != nil {
			return err
		}
	}
	return nil
}

// next waits for the result of job i.
func (o InOrder[T]) next(ctx context.Context, queue <-chan chan T, tick <-chan time.Time, i int) (result T, err error) {
	var done <-chan T
	for {
		select {
		case done = <-queue:
			queue = nil
		case result = <-done:
			return result, ctx.Err() // if ctx has ended, the result may be invalid
		case <-tick:
			if o.Idle != nil {
				o.Idle(i)
			}
		case <-ctx.Done():
			return result, ctx.Err()
		}
	}
}

func send[T any](ctx context.Context, to chan<- T, v T) bool {
	select {
	case to <- v:
		return true
	case <-ctx.Done():
		return false
	}
}
