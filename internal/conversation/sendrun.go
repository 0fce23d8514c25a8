package conversation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cloudburst/internal/lease"
)

// StatusError is an error with the HTTP status of an answer.
type StatusError struct {
	Status int
	Err    error
}

func (e *StatusError) Error() string { return e.Err.Error() }

func (e *StatusError) Unwrap() error { return e.Err }

// StatusOf returns the HTTP status in the chain of an error; 0: none.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return e.Status
	}
	return 0
}

// Run sends due webmentions until ctx ends.
func (s *Sender) Run(ctx context.Context) error {
	s.init()
	loop := lease.Loop[Sent]{
		Claim: s.Store.ClaimSent, Next: s.Store.NextSent, GiveBack: s.giveBack,
		Admit: func(o Sent, now time.Time) (time.Time, bool) {
			host := s.hostOf(o)
			if host == "" {
				return now, true
			}
			_, ok := s.active.Acquire(host)
			return now.Add(deferFor), ok
		},
		Do: func(ctx context.Context, o Sent) {
			defer s.Wake() // planned and deferred webmentions may be due now
			if o.Target == "" {
				s.plan(ctx, o)
				return
			}
			if host := s.hostOf(o); host != "" {
				defer s.active.Release(host)
			}
			s.deliver(ctx, o)
		},
		AtOnce: s.Options.AtOnce, For: 2*s.Options.Timeout + leaseMargin, Wake: s.wakeups, Now: s.now, Name: "webmentions",
		Failed: func(ctx context.Context, doing string, err error) {
			s.Log.WarnContext(ctx, "store error", "doing", doing, "err", err)
		},
		Caught: func(o Sent, panicked any, stack []byte) {
			s.Log.Error("sending a webmention panicked", "target", o.Target, "panic", fmt.Sprint(panicked), "stack", string(stack))
		},
	}
	loop.Run(ctx)
	return nil
}

// settle stores the result of an attempt if the lease is still valid, and releases the lease.
func (s *Sender) settle(ctx context.Context, was Sent, do func(o *Sent)) {
	s.change(ctx, was, func(rows []Sent) []Sent {
		at := slices.IndexFunc(rows, func(o Sent) bool { return o.Target == was.Target && o.Lease == was.Lease })
		if at < 0 {
			return rows
		}
		rows[at].Lease = 0
		do(&rows[at])
		return rows
	})
}

// change changes the rows of a post. It completes even if the program stops.
func (s *Sender) change(ctx context.Context, of Sent, do func(rows []Sent) []Sent) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := s.Store.ChangeSent(ctx, of.User, of.Post, do); err != nil { // the lease expires, and another run repeats the work
		s.Log.WarnContext(ctx, "cannot store the result of a webmention", "target", of.Target, "err", err)
	}
}

func (s *Sender) giveBack(ctx context.Context, list []lease.Back[Sent]) error {
	for _, b := range list {
		s.settle(ctx, b.Row, func(o *Sent) { o.DueAt = b.At })
	}
	return nil
}
