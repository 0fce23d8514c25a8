package upstream

import (
	"context"
	"time"

	"cloudburst/internal/event"
)

// Verdict says what becomes of a row that was looked at.
type Verdict int

const (
	Leave  Verdict = iota // it stays as it is
	Keep                  // it is written
	Delete                // it goes
)

// Store is what an engine needs of a database. Each method is one transaction and
// is on disk when it returns nil. Times are kept to the millisecond, UTC; every
// "now" is passed in. Errors are fault.Unavailable when the database is away or
// full, anything else is a bug.
type Store interface {
	FollowStore
	DueStore
}

// FollowStore keeps follows.
type FollowStore interface {
	// ChangeFollow hands one follow to change and writes what change makes of it;
	// nobody else changes it meanwhile. When there is none, f is the zero Follow
	// with that ID and found is false. change may be called several times, of which
	// the last counts; the events that it returns (stamped) are written in the same
	// transaction. It returns the follow as it is afterwards.
	ChangeFollow(ctx context.Context, id int64, change func(f *Follow, found bool) (Verdict, []event.Event)) (Follow, error)
	// Follow returns one, or a fault.NotFound.
	Follow(ctx context.Context, id int64) (Follow, error)
	// FollowByToken returns the one with that token, or a fault.NotFound.
	FollowByToken(ctx context.Context, token string) (Follow, error)
	// FollowsOf returns those whose Feed or Topic is url, in order of protocol.
	FollowsOf(ctx context.Context, url string) ([]Follow, error)
	// Follows lists in order of (Feed, Protocol).
	Follows(ctx context.Context, q Query) ([]Follow, error)
}

// DueStore keeps which follows are due.
type DueStore interface {
	// ClaimFollows takes up to limit follows whose NextAt has come, oldest first:
	// Claim = claim, NextAt = until. They are returned so, Asked as it was.
	ClaimFollows(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Follow, error)
	// PutOffFollows gives claimed follows back, each with its new NextAt. Those whose
	// claim is another by now are left.
	PutOffFollows(ctx context.Context, list []PutOff) error
	// CountFollows counts follows by when they are due: before from, and in each step
	// from there until to.
	CountFollows(ctx context.Context, from, to time.Time, step time.Duration) (overdue int64, n []int64, err error)
	// HastenFollows makes those of r due at r.Now and sets Missed, but for those
	// that are Ending or whose hub was never asked, and returns how many.
	HastenFollows(ctx context.Context, r Hasten) (int64, error)
	// RenewFollows makes follows due within r.Over from r.Now, each at a moment of its own,
	// and returns how many. Follows that are due before stay, and so do those that are
	// Ending, claimed, or were not asked before r.AskedBefore. Those of CNWS become Asked.
	RenewFollows(ctx context.Context, r Renew) (int64, error)
	// NextFollow is the earliest moment at which a follow is due; the zero time
	// when there is none.
	NextFollow(ctx context.Context) (time.Time, error)
	// FollowsAlive says that somebody looks after the follows at now, and returns
	// when that was last said; the zero time when never. It never goes back.
	FollowsAlive(ctx context.Context, now time.Time) (before time.Time, err error)
}

// Query selects follows. Zero fields do not restrict.
type Query struct {
	Match    string // substring of Feed or Hub, case-insensitive
	Protocol string
	State    string
	For      string // wanted by this part of the program
	After    Follow // Feed and Protocol after which the page starts
	Limit    int    // at most 1,000; 0 means 100
}

// PutOff is one follow that is given back.
type PutOff struct {
	ID, Claim int64
	NextAt    time.Time
}

// Hasten selects follows that an absence may have cost.
type Hasten struct {
	Now       time.Time
	Protocols []string // these
	Base      string   // and those that were asked with another Base than this
}

// Renew selects follows whose hubs are asked again although nothing is known to be lost.
type Renew struct {
	Now         time.Time
	AskedBefore time.Time     // follows whose hub was last asked before this time
	Over        time.Duration // the time over which they become due, to the millisecond
}
