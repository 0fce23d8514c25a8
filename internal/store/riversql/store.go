// Package riversql keeps sources, items, and what readers follow, in SQL, and finds items by
// their words. Start with [Store].
package riversql

import (
	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

var _ river.Store = (*Store)(nil)

// Store is a river.Store.
type Store struct {
	sourceStore
	itemStore
	subscriptionStore
	readingListStore
	forwardingStore
}

type (
	sourceStore struct{ db *sqldb.DB }
	itemStore   struct {
		db    *sqldb.DB
		words Words // how the database finds words
	}
	subscriptionStore struct{ db *sqldb.DB }
	readingListStore  struct{ db *sqldb.DB }
	forwardingStore   struct{ db *sqldb.DB }
)

// New returns the store in a database that finds words in one way.
func New(db *sqldb.DB, words Words) *Store {
	return &Store{sourceStore{db}, itemStore{db, words}, subscriptionStore{db}, readingListStore{db}, forwardingStore{db}}
}
