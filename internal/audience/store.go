package audience

import (
	"context"
	"time"
)

// Store is the database interface of the counts. Each method is one transaction. When a method
// returns nil, its changes are on disk. fault.Unavailable: the database is unreachable or full. Any
// other error is a bug.
type Store interface {
	// AddSeen merges each entry of list into the row with the same Feed and Key. It adds Hits and
	// NotModified, keeps the earlier FirstAt and the later LastAt, and takes Subscribers, Name and
	// Address from the later entry. It also adds both sums to Requests and NotModified of the feed's
	// Day that contains LastAt.
	AddSeen(ctx context.Context, list []Seen) error
	// SeenOf returns at most limit clients of a feed that were seen since a time. Clients with the
	// most subscribers come first, then the newest.
	SeenOf(ctx context.Context, feed string, since time.Time, limit int) ([]Seen, error)
	// SeenFeeds returns at most limit feed names, sorted. The feeds have clients that were seen since
	// a time. The names follow after in the sort order.
	SeenFeeds(ctx context.Context, since time.Time, after string, limit int) ([]string, error)
	// TrimSeen deletes up to limit clients that were last seen before the given time, and returns
	// their number.
	TrimSeen(ctx context.Context, before time.Time, limit int) (int, error)

	// SaveDay replaces the reader counts of a feed's day. Requests and NotModified are unchanged.
	SaveDay(ctx context.Context, d Day) error
	// Days returns the counts of a feed since a day, sorted by day.
	Days(ctx context.Context, feed string, since time.Time) ([]Day, error)
	// TrimDays deletes up to limit days before the given time, and returns their number.
	TrimDays(ctx context.Context, before time.Time, limit int) (int, error)
}

// Seen is one client of one feed.
type Seen struct {
	Feed        string // "alice/rss"
	Key         string // identifier of the client within the feed
	Kind        Kind
	Name        string // name of the program
	Form        string // requested format; "": the format in which the feed was saved
	Address     string // keyed hash of the client's network; "" for services and secrets
	Subscribers int64  // number that a service declares
	Hits        int64
	NotModified int64 // number of requests with status 304
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
