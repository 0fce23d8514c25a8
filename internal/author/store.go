package author

import (
	"context"
	"time"

	"cloudburst/internal/event"
)

// Store is the database interface of Feeds. Each method is one transaction, which is on disk when
// it returns nil. Times are stored in milliseconds, UTC; every "now" is a parameter. Errors are
// fault.Unavailable if the database is unreachable or full, and fault.NotFound if the feed does not
// exist. Any other error is a bug.
type Store interface {
	// SaveDocument stores a document with its metadata and returns the updated feed. If the bytes
	// and Type differ from those of the feed, Version increases by one and changed is true.
	// Otherwise SaveDocument only sets Push and clears Gone.
	SaveDocument(ctx context.Context, s Saving) (f Feed, changed bool, err error)
	// SavedFeed returns a feed without its document.
	SavedFeed(ctx context.Context, user, name string) (Feed, error)
	// SavedDocument returns a feed with its document.
	SavedDocument(ctx context.Context, user, name string) (Feed, []byte, error)
	// PlaceSaved sets MovedTo, Temporary and Gone, and returns the updated feed.
	PlaceSaved(ctx context.Context, user, name string, place Place) (Feed, error)
	// CloudSaved sets AddCloud and returns the updated feed. If AddCloud changes and there is a
	// document, Version increases by one.
	CloudSaved(ctx context.Context, user, name string, on bool, now time.Time) (Feed, error)
	// SavedFeeds lists feeds sorted by (User, Name), starting after (afterUser, afterName). limit is
	// at most 1,000; 0 means 100.
	SavedFeeds(ctx context.Context, afterUser, afterName string, limit int) ([]Feed, error)
	// MarkNotified sets Notified to version unless it is greater.
	MarkNotified(ctx context.Context, user, name string, version int64) error
	// ListUnnotified lists the feeds with a version that subscribers were not notified of, in the
	// order of SavedFeeds. It omits moved and ended feeds.
	ListUnnotified(ctx context.Context, afterUser, afterName string, limit int) ([]Feed, error)
}

// Saving is a document to store.
type Saving struct {
	User, Name string
	At         time.Time // time of the save; the store makes it later than the replaced version
	Type       string
	Title      string
	Items      int
	Push       Push
	Bytes      []byte
	Hash       []byte // SHA-256 of Bytes
	Quiet      bool   // subscribers are not notified: Notified increases with Version
	// Allow checks the current feed, which has Version 0 if it does not exist yet. An error aborts
	// the transaction and is returned. Allow may be called several times. nil: allowed.
	Allow func(now Feed) error
	// Events returns the events to store with a new version. It may be called several times; only
	// the result of the last call is stored. nil: no events.
	Events func(f Feed) []event.Event
}
