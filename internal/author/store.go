package author

import (
	"context"
	"time"

	"cloudburst/internal/event"
)

// Store is the database interface of Feeds. Each method is one transaction, which is on disk when
// it returns nil. Times are stored in milliseconds, UTC; every "now" is a parameter. Errors are
// fault.Unavailable when the database is unreachable or full, and fault.NotFound for a missing
// feed; any other error is a bug.
type Store interface {
	// SaveDocument stores a document with its metadata. If the feed has the same bytes and Type
	// already, it only sets Push and clears Gone, and changed is false. Otherwise Version increases
	// by one. It returns the updated feed.
	SaveDocument(ctx context.Context, s Saving) (f Feed, changed bool, err error)
	// SavedFeed returns a feed.
	SavedFeed(ctx context.Context, user, name string) (Feed, error)
	// SavedDocument returns a feed with its document.
	SavedDocument(ctx context.Context, user, name string) (Feed, []byte, error)
	// PlaceSaved sets MovedTo, Temporary and Gone, and returns the updated feed.
	PlaceSaved(ctx context.Context, user, name string, place Place) (Feed, error)
	// CloudSaved sets AddCloud and returns the updated feed. If AddCloud changes and there is a
	// document, Version increases by one.
	CloudSaved(ctx context.Context, user, name string, on bool, now time.Time) (Feed, error)
	// SavedFeeds lists feeds by (User, Name), after (afterUser, afterName). limit is at most 1,000;
	// 0 means 100.
	SavedFeeds(ctx context.Context, afterUser, afterName string, limit int) ([]Feed, error)
	// MarkNotified raises Notified to version.
	MarkNotified(ctx context.Context, user, name string, version int64) error
	// ListUnnotified lists, in the same order, feeds with a version that subscribers were not
	// notified of, without moved and ended ones.
	ListUnnotified(ctx context.Context, afterUser, afterName string, limit int) ([]Feed, error)
}

// Saving is a document to store.
type Saving struct {
	User, Name string
	At         time.Time // time of the save; never before the replaced version
	Type       string
	Title      string
	Items      int
	Push       Push
	Bytes      []byte
	Hash       []byte // SHA-256 of Bytes
	Quiet      bool   // without notification: Notified increases with Version
	// Allow checks the current feed, or one of Version 0 if there is none; its error aborts the
	// transaction and is returned. It may be called several times. nil: allowed.
	Allow func(now Feed) error
	// Events returns the events to store with a new version. It may be called several times; the
	// last call counts. nil: none.
	Events func(f Feed) []event.Event
}
