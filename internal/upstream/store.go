package upstream

import (
	"context"
	"time"

	"cloudburst/internal/event"
)

// Verdict is the decision what to do with a row after a change.
type Verdict int

const (
	Leave  Verdict = iota // leave the row unchanged
	Keep                  // write the row
	Delete                // delete the row
)

// Store is the database of an engine. Each method is one transaction and is on disk when it returns
// nil. Times are in UTC with millisecond precision; the caller passes every "now". Errors are
// fault.Unavailable if the database is unreachable or full; any other error is a bug.
type Store interface {
	FollowStore
	DueStore
}

// FollowStore stores follows.
type FollowStore interface {
	// ChangeFollow calls change with one follow, locked, and writes the result. If the follow does
	// not exist, f is the zero Follow with that ID and found is false. change may be called several
	// times, and only the result of the last call counts. The events that change returns, already
	// stamped, are written in the same transaction. ChangeFollow returns the new follow.
	ChangeFollow(ctx context.Context, id int64, change func(f *Follow, found bool) (Verdict, []event.Event)) (Follow, error)
	// Follow returns one follow, or fault.NotFound.
	Follow(ctx context.Context, id int64) (Follow, error)
	// FollowByToken returns the follow with a token, or fault.NotFound.
	FollowByToken(ctx context.Context, token string) (Follow, error)
	// FollowsOf returns the follows whose Feed or Topic is url, in order of protocol.
	FollowsOf(ctx context.Context, url string) ([]Follow, error)
	// Follows lists follows in order of (Feed, Protocol).
	Follows(ctx context.Context, q Query) ([]Follow, error)
}

// DueStore stores which follows are due.
type DueStore interface {
	// ClaimFollows claims up to limit due follows, beginning with the oldest NextAt. It sets Claim
	// to claim and NextAt to until, and returns the new rows. It does not change Asked.
	ClaimFollows(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Follow, error)
	// PutOffFollows releases claimed follows and sets the NextAt of each. Follows with another
	// claim are left unchanged.
	PutOffFollows(ctx context.Context, list []PutOff) error
	// CountFollows counts follows by due time: follows that are due before from, and follows that
	// are due in each step between from and to.
	CountFollows(ctx context.Context, from, to time.Time, step time.Duration) (overdue int64, n []int64, err error)
	// HastenFollows makes the follows of r due at r.Now and sets Missed, except for follows that
	// are Ending or were never requested. It returns their number.
	HastenFollows(ctx context.Context, r Hasten) (int64, error)
	// RenewFollows makes follows due within r.Over from r.Now, each at its own time, and returns
	// their number. It skips follows that are due earlier, are Ending, are claimed, or were last
	// requested at r.AskedBefore or later. CNWS follows become Asked.
	RenewFollows(ctx context.Context, r Renew) (int64, error)
	// NextFollow returns the earliest time at which a follow is due, or the zero time if there are
	// no follows.
	NextFollow(ctx context.Context) (time.Time, error)
	// FollowsAlive stores now as the last time at which a process maintained the follows. It
	// returns the previous time, or the zero time if there is none. The stored time never
	// decreases.
	FollowsAlive(ctx context.Context, now time.Time) (before time.Time, err error)
}

// Query selects follows. Zero fields do not restrict.
type Query struct {
	Match    string // substring of Feed or Hub, case-insensitive
	Protocol string
	State    string
	For      string // only follows of this part of the program
	After    Follow // the result starts after this follow's Feed and Protocol
	Limit    int    // at most 1,000; 0 means 100
}

// PutOff releases one claimed follow.
type PutOff struct {
	ID, Claim int64
	NextAt    time.Time
}

// Hasten selects follows whose subscriptions hubs may have dropped while this server was down.
type Hasten struct {
	Now       time.Time
	Protocols []string // protocols of the follows
	Base      string   // also selects follows whose last request had another Base
}

// Renew selects follows to be renewed although nothing indicates that their subscriptions are lost.
type Renew struct {
	Now         time.Time
	AskedBefore time.Time     // selects follows that were last requested before this time
	Over        time.Duration // period over which the due times are spread, to the millisecond
}
