package audience

import (
	"context"
	"time"
)

// Store is the database interface of the counts. Each method is one transaction, which is on disk
// when it returns nil. Errors are fault.Unavailable when the database is unreachable or full; any
// other error is a bug.
type Store interface {
	// AddSeen merges the list into rows with the same Feed and Key: Hits and NotModified are
	// summed, FirstAt is the earlier, LastAt the later; Subscribers, Name and Address come from the
	// later. The sums are also added to Requests and NotModified of the feed's Day that contains
	// LastAt.
	AddSeen(ctx context.Context, list []Seen) error
	// SeenOf returns the clients of a feed seen since a time, at most limit: most subscribers
	// first, then newest first.
	SeenOf(ctx context.Context, feed string, since time.Time, limit int) ([]Seen, error)
	// SeenFeeds returns the names of feeds with clients since a time, sorted, after a name; at most
	// limit.
	SeenFeeds(ctx context.Context, since time.Time, after string, limit int) ([]string, error)
	// TrimSeen deletes up to limit clients last seen before the given time, and returns how many.
	TrimSeen(ctx context.Context, before time.Time, limit int) (int, error)

	// SaveDay replaces the reader counts of a feed's day. Requests and NotModified are unchanged.
	SaveDay(ctx context.Context, d Day) error
	// Days returns the counts of a feed since a day, sorted.
	Days(ctx context.Context, feed string, since time.Time) ([]Day, error)
	// TrimDays deletes up to limit days before the given time, and returns how many.
	TrimDays(ctx context.Context, before time.Time, limit int) (int, error)
}

// Seen is one client of one feed.
type Seen struct {
	Feed        string // "alice/rss"
	Key         string // identifies the client within the feed
	Kind        Kind
	Name        string // name of the program
	Form        string // format; "": as saved
	Address     string // keyed hash; "" for services and secrets
	Subscribers int64  // declared by a service
	Hits        int64
	NotModified int64 // requests answered 304
	FirstAt     time.Time
	LastAt      time.Time
}

// Day is the audience of a feed on one day (UTC).
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
