// Package lease provides the loop by which several processes share the rows of a store. Each
// process claims due rows for a limited time, processes them, and gives back claimed rows that it
// cannot process.
package lease

import (
	"context"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"
)

const (
	pollEvery       = time.Minute           // maximum delay until the loop sees a row that another process released
	minPoll         = 20 * time.Millisecond // minimum time between two polls without a wake-up
	afterError      = time.Second           // delay after a failed query
	giveBackTimeout = 30 * time.Second      // timeout for giving back rows
)

// Loop claims due rows and processes them. Claim, Next, Do, AtOnce, For, Now and Caught are
// required. Do not change a running loop.
type Loop[T any] struct {
	// Claim claims up to limit rows that are due at now, and makes them due again at until.
	Claim func(ctx context.Context, now, until time.Time, limit int, claim int64) ([]T, error)
	// Next returns when the next row is due, or the zero time if no row is.
	Next func(ctx context.Context) (time.Time, error)
	// Do processes a row. The loop catches panics in Do.
	Do func(ctx context.Context, row T)
	// Admit reserves the capacity that Do needs for a row. If ok is false, the row is given back
	// and is due again at the returned time. nil: rows are always admitted.
	Admit func(row T, now time.Time) (at time.Time, ok bool)
	// GiveBack returns claimed rows that were not processed. nil: the loop calls Do for every
	// claimed row, even while the program stops.
	GiveBack func(ctx context.Context, rows []Back[T]) error
	// Between returns the pause between the starts of two rows; nil: no pause.
	Between func(ctx context.Context) time.Duration

	AtOnce int           // maximum number of rows in progress
	Batch  int           // maximum number of rows per claim; 0: AtOnce
	For    time.Duration // duration of a claim
	Pause  time.Duration // pause before each claim, so that many wake-ups cause few claims
	Idle   time.Duration // maximum time until the next poll; 0: a minute

	Wake   chan struct{}   // capacity 1; a value means that rows may be due; nil: no wake-ups
	Group  *sync.WaitGroup // contains the rows in progress, so that its owner can wait for them; nil: Run waits
	Now    func() time.Time
	Failed func(ctx context.Context, doing string, err error) // logs an error of the store; may be nil
	Caught func(row T, panicked any, stack []byte)            // logs a panic
	Name   string                                             // name of the rows for Failed, such as "follows"
}

// Back is a row to give back, with the time at which it is due again.
type Back[T any] struct {
	Row T
	At  time.Time
}

// NewClaim returns a unique number for a claim.
func NewClaim() int64 { return rand.Int64N(1<<62) + 1 }

// Wake wakes the receiver of a channel with capacity 1.
func Wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run processes rows until ctx ends. It returns when no row is in progress, or immediately if Group
// is set.
func (l *Loop[T]) Run(ctx context.Context) {
	group := l.Group
	if group == nil {
		group = new(sync.WaitGroup)
		defer group.Wait()
	}
	slots := make(chan struct{}, l.AtOnce)
	for ctx.Err() == nil {
		if l.Pause > 0 && !Sleep(ctx, nil, l.Pause) || len(slots) == cap(slots) && !acquire(ctx, slots) {
			return
		}
		now := l.Now()
		rows, err := l.Claim(ctx, now, now.Add(l.For), l.limit(cap(slots)-len(slots)), NewClaim())
		if err != nil {
			l.failed(ctx, "claim ", err)
		}
		l.start(ctx, rows, slots, group)
		if wait := l.wait(ctx, len(rows), err); wait > 0 && !Sleep(ctx, l.Wake, wait) {
			return
		}
	}
}

// acquire waits until a slot is free. It returns false if ctx ended.
func acquire(ctx context.Context, slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		<-slots
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *Loop[T]) limit(free int) int {
	if l.Batch > 0 {
		return min(free, l.Batch)
	}
	return free
}

// start processes rows while slots are free and Admit accepts them, and gives back the other rows.
func (l *Loop[T]) start(ctx context.Context, rows []T, slots chan struct{}, group *sync.WaitGroup) {
	var back []Back[T]
	stopped := false
	for _, row := range rows {
		now := l.Now()
		stopped = stopped || ctx.Err() != nil
		if stopped && l.GiveBack != nil {
			back = append(back, Back[T]{row, now})
			continue
		}
		if l.Admit != nil {
			if at, ok := l.Admit(row, now); !ok {
				back = append(back, Back[T]{row, at})
				continue
			}
		}
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			l.do(ctx, row)
		})
		if l.Between != nil {
			stopped = !Sleep(ctx, nil, l.Between(ctx))
		}
	}
	if len(back) == 0 || l.GiveBack == nil {
		return
	}
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTimeout)
	defer cancel()
	if err := l.GiveBack(saving, back); err != nil {
		l.failed(saving, "give back ", err)
	}
}

func (l *Loop[T]) do(ctx context.Context, row T) {
	defer func() {
		if p := recover(); p != nil {
			l.Caught(row, p, debug.Stack())
		}
	}()
	l.Do(ctx, row)
}

// wait returns the pause before the next claim.
func (l *Loop[T]) wait(ctx context.Context, claimed int, err error) time.Duration {
	switch {
	case err != nil:
		return afterError
	case claimed > 0:
		return 0
	}
	idle := l.Idle
	if idle <= 0 {
		idle = pollEvery
	}
	next, err := l.Next(ctx)
	switch {
	case err != nil:
		l.failed(ctx, "see the next of the ", err)
		return afterError
	case next.IsZero():
		return idle
	}
	return min(max(next.Sub(l.Now()), minPoll), idle)
}

func (l *Loop[T]) failed(ctx context.Context, doing string, err error) {
	if l.Failed != nil && ctx.Err() == nil {
		l.Failed(ctx, doing+l.Name, err)
	}
}

// Sleep waits for d or a wake-up. It returns false if ctx ended. A nil channel never wakes it.
func Sleep(ctx context.Context, wake <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-timer.C:
	}
	return ctx.Err() == nil
}
