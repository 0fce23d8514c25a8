// Package riversql stores sources, items and subscriptions of readers in SQL, and implements
// full-text search. Start with [Store].
package riversql

import (
	"sync/atomic"

	"cloudburst/internal/cache"
	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

var _ river.Store = (*Store)(nil)

// Store implements river.Store.
type Store struct {
	sourceStore
	itemStore
	subscriptionStore
	readingListStore
	forwardingStore
	filterStore
}

type (
	sourceStore struct {
		db       *sqldb.DB
		filtered *atomic.Bool // a rule of a filter applied to an earlier check
	}
	itemStore struct {
		db    *sqldb.DB
		words Words // search syntax of the database
	}
	subscriptionStore struct {
		db   *sqldb.DB
		sums *cache.Shared[railKey, railSums]
	}
	readingListStore struct{ db *sqldb.DB }
	forwardingStore  struct{ db *sqldb.DB }
	filterStore      struct{ db *sqldb.DB }
)

// New returns a store that uses db and the given search syntax.
func New(db *sqldb.DB, words Words) *Store {
	return &Store{sourceStore{db, new(atomic.Bool)}, itemStore{db, words}, subscriptionStore{db, &cache.Shared[railKey, railSums]{MaxSize: maxRailSums}}, readingListStore{db}, forwardingStore{db}, filterStore{db}}
}
