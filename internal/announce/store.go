package announce

import (
	"context"
	"time"

	"cloudburst/internal/event"
)

// Key identifies the ping of one target about one feed.
type Key struct {
	User   string
	Target string // kind and URL, as formatted by [Target.String]
	Topic  string // URL of the feed
}

// PendingTarget is a target with the version to report and the state of its pings.
type PendingTarget struct {
	Key
	Version  int64     // newest version to report
	Notified int64     // last version that the target accepted; 0: none
	DueAt    time.Time // next attempt; for a leased row, the end of the lease; zero: no attempt is scheduled
	Tries    int       // failures in a row
	Lease    int64     // number of the lease; 0: not leased
	Note
}

// Note contains the other fields of a row. It is stored as JSON.
type Note struct {
	Name    string    `json:"name,omitempty"`    // title of the feed
	Home    string    `json:"home,omitempty"`    // page that the feed belongs to
	SavedAt time.Time `json:"saved_at,omitzero"` // when Version was saved
	LastAt  time.Time `json:"last_at,omitzero"`  // last attempt
	Last    string    `json:"last,omitempty"`    // result of the last attempt, one sentence
	OK      bool      `json:"ok,omitempty"`      // whether the last attempt succeeded
	Refused int       `json:"refused,omitempty"` // number of times that the target rejected Version
	GaveUp  bool      `json:"gave_up,omitempty"` // retries of Version have stopped
	RetryAt time.Time `json:"not_yet,omitzero"`  // earliest next attempt, from the target's Retry-After
}

// Verdict decides what happens to a row.
type Verdict int

// Verdicts on a row.
const (
	Leave  Verdict = iota // do not change the row, and do not create a missing row
	Keep                  // store the changed row
	Delete                // delete the row
)

// Query selects rows, in the order of their Keys.
type Query struct {
	User    string // owner of the rows; "": all users
	Pending bool   // only rows whose Version was not accepted yet
	After   Key    // last key of the previous batch
	Limit   int    // maximum number of rows, up to 1,000; 0: 100
}

// Store is the database interface of announcements. Each method is one transaction. When a method
// returns nil, its changes are on disk. Times are stored in milliseconds, UTC. fault.Unavailable:
// the database is unreachable or full.
type Store interface {
	// ChangeTargets changes rows. It calls change for each key with the stored row, or with a row
	// that has only its Key. ChangeTargets may call change several times for one key; it stores only
	// the result of the last call. It writes the events in the same transaction.
	ChangeTargets(ctx context.Context, keys []Key, change func(o *PendingTarget, found bool) (Verdict, []event.Event)) error
	// ClaimTargets leases up to limit due rows, oldest first: it sets their DueAt to until and their
	// Lease to lease.
	ClaimTargets(ctx context.Context, now, until time.Time, limit int, lease int64) ([]PendingTarget, error)
	// Targets lists rows.
	Targets(ctx context.Context, q Query) ([]PendingTarget, error)
	// NextTarget returns when the next row is due; the zero time means that no row is due.
	NextTarget(ctx context.Context) (time.Time, error)
}
