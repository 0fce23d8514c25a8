package announce

import (
	"context"
	"time"

	"cloudburst/internal/event"
)

// Key names what one sink shall hear of one feed.
type Key struct {
	User   string
	Target string // as [Sink.String] has it
	Topic  string // address of the feed
}

// Owed is a sink with the version of a feed that it shall hear of, and how that went.
type PendingTarget struct {
	Key
	Version  int64     // the newest that it shall hear of
	Notified int64     // the one that it heard of last; 0: none
	DueAt    time.Time // when it is told, or, while somebody does, when he counts as gone; zero: never
	Tries    int       // failures in a row
	Lease    int64     // number of who tells it now; 0: nobody
	Note
}

// Note is what else is kept of it. Its JSON form is how it is stored.
type Note struct {
	Name    string    `json:"name,omitempty"`    // of the feed
	Home    string    `json:"home,omitempty"`    // page that the feed belongs to
	SavedAt time.Time `json:"saved_at,omitzero"` // of Version
	LastAt  time.Time `json:"last_at,omitzero"`  // when it was told last, or that was tried
	Last    string    `json:"last,omitempty"`    // what came of it, one sentence
	OK      bool      `json:"ok,omitempty"`      // that went well
	Refused int       `json:"refused,omitempty"` // how often it refused Version
	GaveUp  bool      `json:"gave_up,omitempty"` // Version is not told any more
	RetryAt time.Time `json:"not_yet,omitzero"`  // until then the sink asked to be left alone
}

// Verdict says what becomes of a row.
type Verdict int

// Verdicts.
const (
	Leave  Verdict = iota // as it was; one that was not there is not made
	Keep                  // as it is now
	Delete                // gone
)

// Query asks for rows, in the order of their Keys.
type Query struct {
	User    string // "": of everyone
	Pending bool   // only those that have not heard of their Version
	After   Key    // the last one of the page before
	Limit   int    // at most 1,000; 0 means 100
}

// Store is what announcements need of a database. Each method is one transaction and is
// on disk when it returns nil. Times are kept to the millisecond, UTC. Errors are
// fault.Unavailable when the database is away or full.
type Store interface {
	// ChangeSinks changes rows: change is called for each key, with the row as it is, or
	// one that has nothing but its Key. It may be called more than once for one key, of
	// which the last counts. The events are written with the changes.
	ChangeTargets(ctx context.Context, keys []Key, change func(o *PendingTarget, found bool) (Verdict, []event.Event)) error
	// ClaimSinks takes up to limit rows that are due, the oldest first: their DueAt
	// becomes until, and their Lease lease.
	ClaimTargets(ctx context.Context, now, until time.Time, limit int, lease int64) ([]PendingTarget, error)
	// Sinks lists rows.
	Targets(ctx context.Context, q Query) ([]PendingTarget, error)
	// NextSink is when the next row is due; the zero time: none is.
	NextTarget(ctx context.Context) (time.Time, error)
}
