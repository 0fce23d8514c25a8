package author

import (
	"context"
	"time"

	"cloudburst/internal/event"
)

// Store is what the feeds need of a database. Each method is one transaction and is on
// disk when it returns nil. Times are kept to the millisecond, UTC; every "now" is
// passed in. Errors are fault.Unavailable when the database is away or full; a feed
// that is not there is a fault.NotFound; anything else is a bug.
type Store interface {
	// SaveDocument stores a document with what is known of it. When the feed has the
	// same bytes and Type already, nothing is written but Push and that the feed is not
	// Gone, and changed is false. Otherwise Version rises by one. It returns the feed as it
	// is afterwards.
	SaveDocument(ctx context.Context, s Saving) (f Feed, changed bool, err error)
	// SavedFeed returns a feed.
	SavedFeed(ctx context.Context, user, name string) (Feed, error)
	// SavedDocument returns a feed with its document.
	SavedDocument(ctx context.Context, user, name string) (Feed, []byte, error)
	// PlaceSaved sets MovedTo, Temporary and Gone, and returns the feed as it is afterwards.
	PlaceSaved(ctx context.Context, user, name string, place Place) (Feed, error)
	// CloudSaved sets AddCloud, and returns the feed as it is afterwards. Where that changes
	// and something was saved, Version rises by one.
	CloudSaved(ctx context.Context, user, name string, on bool, now time.Time) (Feed, error)
	// SavedFeeds lists in order of (User, Name), from what comes after (afterUser,
	// afterName). limit is at most 1,000; 0 means 100.
	SavedFeeds(ctx context.Context, afterUser, afterName string, limit int) ([]Feed, error)
	// ToldSaved raises Told to version.
	MarkNotified(ctx context.Context, user, name string, version int64) error
	// UntoldSaved lists, in the same order, feeds of which a version was not told, but
	// for those that moved or are gone.
	ListUnnotified(ctx context.Context, afterUser, afterName string, limit int) ([]Feed, error)
}

// Saving is a document on its way to the store.
type Saving struct {
	User, Name string
	At         time.Time // when; never before the version that it replaces
	Type       string
	Title      string
	Items      int
	Push       Push
	Bytes      []byte
	Hash       []byte // SHA-256 of Bytes
	Quiet      bool   // nobody is to be told: Told rises with Version
	// Allow looks at the feed as it is, or at one of Version 0 when there is none; its
	// error ends the transaction and is returned. It may be called more than once. nil allows.
	Allow func(now Feed) error
	// Events makes what is written with a new version. It may be called more than once,
	// of which the last counts. nil: none.
	Events func(f Feed) []event.Event
}
