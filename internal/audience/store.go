package audience

import (
	"context"
	"time"
)

// Store is what counting needs of a database. Each method is one transaction and is
// on disk when it returns nil. Errors are fault.Unavailable when the database is away
// or full, anything else is a bug.
type Store interface {
	// AddSeen adds to the rows with the same Feed and Key: Hits and NotModified are
	// summed, FirstAt is the earlier, LastAt the later, and Subscribers, Name and Address are
	// those of the later. What they sum up is added to the Requests and NotModified of
	// their feed's Day that LastAt is in.
	AddSeen(ctx context.Context, list []Seen) error
	// SeenOf are a feed's readers that came since a moment, those that read for most
	// first, then the latest; at most limit.
	SeenOf(ctx context.Context, feed string, since time.Time, limit int) ([]Seen, error)
	// SeenFeeds are the feeds with readers since a moment, in order, after a name; at
	// most limit.
	SeenFeeds(ctx context.Context, since time.Time, after string, limit int) ([]string, error)
	// TrimSeen removes up to limit readers that did not come since before, and returns
	// how many.
	TrimSeen(ctx context.Context, before time.Time, limit int) (int, error)

	// SaveDay writes who read a feed on a day, in place of what is there; Requests and
	// NotModified are left as they are.
	SaveDay(ctx context.Context, d Day) error
	// Days are a feed's counts since a day, in order.
	Days(ctx context.Context, feed string, since time.Time) ([]Day, error)
	// TrimDays removes up to limit counts of days before a moment, and returns how many.
	TrimDays(ctx context.Context, before time.Time, limit int) (int, error)
}

// Seen is one reader of one feed, as requests tell.
type Seen struct {
	Feed        string // "alice/rss"
	Key         string // what tells it from others of the feed
	Kind        Kind
	Name        string // of the program
	Form        string // the format that it reads; "" as saved
	Address     string // a keyed hash; "" of services and secrets
	Subscribers int64  // of a service
	Hits        int64
	NotModified int64 // answered 304
	FirstAt     time.Time
	LastAt      time.Time
}

// Day is what a feed's readers were on one day (UTC).
type Day struct {
	Feed        string    `json:"-"`
	Day         time.Time `json:"day"`
	Readers     int64     `json:"readers"`
	Services    int64     `json:"services"`
	Programs    int64     `json:"programs"`
	Push        int64     `json:"push"`
	Private     int64     `json:"private"`
	Requests    int64     `json:"requests"`
	NotModified int64     `json:"not_modified"`
}
