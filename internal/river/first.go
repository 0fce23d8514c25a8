package river

import (
	"context"
	"time"

	"cloudburst/feed"
	"cloudburst/feedstate"
	"cloudburst/internal/fetch"
)

// answered is what asking for a document came to.
type answered struct {
	at    time.Time            // when it was asked for
	took  time.Duration        // until all of it was there
	asked feedstate.Validators // that were sent
	res   *fetch.Response      // nil: there is no answer
	err   error                // why; nil when there is one
	hops  []feedstate.Hop      // that led to it, redirect documents among them
	gave  *document            // its body as a feed, once somebody wanted to know
	trace fetch.Trace
}

// document is a body that was parsed; err is a *feed.NotFeedError where it is no feed.
type document struct {
	feed *feed.Feed
	err  error
	hash string // of the body
}

// get asks for the document of a source with all manners: its host's turn is waited for
// (but for Pushed and ByHand, which take it at once), the validators of its state and its
// Login are sent, redirects and redirect documents followed. It never returns a nil res
// without an err. The source need not be in the store.
func (r *River) get(ctx context.Context, s *Source, cause feedstate.Cause) answered {
	return answered{at: r.now(), err: later()}
}

// parse reads the answer's body as a feed, once.
func (a *answered) parse() *document { return &document{err: later()} }

// take stores what was read of a claimed source: its items, its state and the next check.
// It is what a new source's only unconditional GET goes through. The error is
// fault.Conflict when the claim was lost, or the store's.
func (r *River) take(ctx context.Context, s Source, got answered, cause feedstate.Cause) (Check, error) {
	return Check{}, later()
}

// newClaim is a number that no other claim has.
func (r *River) newClaim() int64 { return 1 }

// now is the time, UTC, to the millisecond.
func (r *River) now() time.Time { return time.Now().UTC() }

// options are the river's, with the defaults where there is nothing.
func (r *River) options() Options { return r.Options }
