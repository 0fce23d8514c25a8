package cli

import (
	"context"
	"sync"
	"time"
)

// inOrder is work on many things at once whose results are wanted in order.
type inOrder[T any] struct {
	n       int // pieces of work
	workers int // that work at once
	work    func(ctx context.Context, i int) T
	take    func(i int, result T) error // called in order, never twice at once
	idle    func(taken int)             // called now and then while take has nothing to do; nil: never
}

const (
	aheadPerWorker = 4 // results that may wait for an earlier one, so that a slow one does not fill the memory
	idlePause      = 100 * time.Millisecond
)

// run returns when all is taken, or with the context's error or the first of take.
func (o inOrder[T]) run(ctx context.Context) error {
	type job struct {
		i    int
		done chan T
	}
	workers := max(1, min(o.workers, o.n))
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	todo, queue := make(chan job), make(chan chan T, aheadPerWorker*workers)
	group.Go(func() {
		defer close(todo)
		for i := range o.n {
			j := job{i, make(chan T, 1)}
			if !send(ctx, queue, j.done) || !send(ctx, todo, j) {
				return
			}
		}
	})
	for range workers {
		group.Go(func() {
			for j := range todo {
				j.done <- o.work(ctx, j.i)
			}
		})
	}
	tick := time.NewTicker(idlePause)
	defer tick.Stop()
	for i := range o.n {
		result, err := o.next(ctx, queue, tick.C, i)
		if err != nil {
			return err
		}
		if err := o.take(i, result); err != nil {
			return err
		}
	}
	return nil
}

// next waits for result i.
func (o inOrder[T]) next(ctx context.Context, queue <-chan chan T, tick <-chan time.Time, i int) (result T, err error) {
	var done <-chan T
	for {
		select {
		case done = <-queue:
			queue = nil
		case result = <-done:
			return result, ctx.Err() // work that was interrupted has no result
		case <-tick:
			if o.idle != nil {
				o.idle(i)
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
