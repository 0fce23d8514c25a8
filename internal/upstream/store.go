package upstream

import (
	"context"
	"time"

	"cloudburst/internal/event"
)

// Verdict is the decision about a row.
type Verdict int

const (
	Leave  Verdict = iota // leave it unchanged
	Keep                  // write it
	Delete                // delete it
)

// Store is the database of an engine. Each method is one transaction and is on disk when it
// returns nil. Times are in UTC with millisecond precision; the caller passes every "now". Errors
// are fault.Unavailable when the database is down or full; any other error is a bug.
type Store interface {
	FollowStore
	DueStore
}

// FollowStore stores follows.
type FollowStore interface {
	// ChangeFollow passes one follow to change and writes the result, with exclusive access.
	// Without a follow, f is the zero Follow with that ID and found is false. change may be called
	// several times, and only the result of the last call is stored; the events that it returns
	// (stamped) are written in the same transaction. ChangeFollow returns the new follow.
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
	// ClaimFollows claims up to limit due follows, oldest NextAt first. It sets Claim = claim and
	// NextAt = until, and returns the new rows. Asked is unchanged.
	ClaimFollows(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Follow, error)
	// PutOffFollows releases claimed follows, each with its new NextAt. Follows with another claim
	// are left unchanged.
	PutOffFollows(ctx context.Context, list []PutOff) error
	// CountFollows counts follows by the time when they are due: before from, and in each step
	// between from and to.
	CountFollows(ctx context.Context, from, to time.Time, step time.Duration) (overdue int64, n []int64, err error)
	// HastenFollows makes the follows of r due at r.Now and sets Missed, except for follows that
	// are Ending or were never requested. It returns their number.
	HastenFollows(ctx context.Context, r Hasten) (int64, error)
	// RenewFollows makes follows due within r.Over from r.Now, each at its own time, and returns
	// their number. It skips follows that are due earlier, are Ending, are claimed, or were last
	// requested at r.AskedBefore or later. CNWS follows become Asked.
	RenewFollows(ctx context.Context, r Renew) (int64, error)
	// NextFollow returns the earliest time at which a follow is due; the zero time without any.
	NextFollow(ctx context.Context) (time.Time, error)
	// FollowsAlive stores that a process maintains the follows at now, and returns the previous
	// time; the zero time when there is none. The time never goes backwards.
	FollowsAlive(ctx context.Context, now time.Time) (before time.Time, err error)
}

// Query selects follows. Zero fields do not restrict.
type Query struct {
	Match    string // substring of Feed or Hub, case-insensitive
	Protocol string
	State    string
	For      string // followed by this part of the program
	After    Follow // Feed and Protocol after which the result starts
	Limit    int    // at most 1,000; 0 means 100
}

// PutOff releases one claimed follow.
type PutOff struct {
	ID, Claim int64
	NextAt    time.Time
}

// Hasten selects follows that hubs may have dropped while this server was down.
type Hasten struct {
	Now       time.Time
	Protocols []string // protocols of the follows
	Base      string   // also selects follows that were last requested with another Base
}

// Renew selects follows to renew although they are not known to be lost.
type Renew struct {
	Now         time.Time
	AskedBefore time.Time     // selects follows that were last requested before this time
	Over        time.Duration // period over which the follows become due, to the millisecond
}
