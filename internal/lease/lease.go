// Package lease has the loop by which several processes share rows of a store: each
// claims some that are due until a time, works on them, and gives back the rest.
package lease

import (
	"context"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"
)

const (
	pollEvery       = time.Minute           // a row that another process wrote and left is seen by then
	minPoll         = 20 * time.Millisecond // between two looks that nothing wakes
	afterError      = time.Second           // until a store that failed is asked again
	giveBackTimeout = 30 * time.Second      // the longest time that giving back takes
)

// Loop claims rows that are due and has each worked on. Claim, Next, Do, AtOnce, For,
// Now and Caught are needed. Do not change a loop that runs.
type Loop[T any] struct {
	// Claim takes up to limit rows that are due at now. They are due again at until.
	Claim func(ctx context.Context, now, until time.Time, limit int, claim int64) ([]T, error)
	// Next is how to learn when a row is due; the zero time: none is.
	Next func(ctx context.Context) (time.Time, error)
	// Do works on a row. A panic in it is caught.
	Do func(ctx context.Context, row T)
	// Admit asks for the capacity that a row needs, before Do. Without it the row is given
	// back, and due at that time. nil: there is always enough.
	Admit func(row T, now time.Time) (at time.Time, ok bool)
	// GiveBack gives back rows that were claimed and not worked on. nil: Do gets every
	// row that was claimed, also while the program ends.
	GiveBack func(ctx context.Context, rows []Back[T]) error
	// Between is the pause between the starts of two rows; nil: none.
	Between func(ctx context.Context) time.Duration

	AtOnce int           // rows under way
	Batch  int           // rows of one claim; 0: AtOnce
	For    time.Duration // the time that a row is claimed for
	Idle   time.Duration // the longest wait for the next look; 0: a minute

	Wake   chan struct{}   // with room for one: rows may be due; nil: nothing wakes the loop
	Group  *sync.WaitGroup // has the rows under way, and its owner waits for them; nil: Run waits
	Now    func() time.Time
	Failed func(ctx context.Context, doing string, err error) // logs an error of the store; may be nil
	Caught func(row T, panicked any, stack []byte)            // logs a panic
	Name   string                                             // of the rows, for Failed: "follows"
}

// Back is a row that is given back, and when it is due again.
type Back[T any] struct {
	Row T
	At  time.Time
}

// NewClaim is a number for a claim that no other claim has.
func NewClaim() int64 { return rand.Int64N(1<<62) + 1 }

// Poke wakes what waits for a channel with room for one.
func Wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run works until ctx ends. It returns when nothing is under way, or at once where
// Group has what is.
func (l *Loop[T]) Run(ctx context.Context) {
	group := l.Group
	if group == nil {
		group = new(sync.WaitGroup)
		defer group.Wait()
	}
	slots := make(chan struct{}, l.AtOnce)
	for ctx.Err() == nil {
		if len(slots) == cap(slots) && !acquire(ctx, slots) {
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

// acquire waits until a slot is free; false: ctx ended.
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

// start begins to work on rows, for which there are slots, and gives back the others.
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

// wait is how long nothing is to be claimed after a claim.
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

// Sleep waits for d, or until it is woken; false: ctx ended. A nil wake wakes nothing.
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
