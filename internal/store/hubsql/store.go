// Package hubsql stores the hub's topics, subscriptions and log in SQL. It contains the statements
// and the conversion of rows to values. Start with [Store].
//
// The rows are the only state. A shard, a subscription or a topic with pending work has a due time,
// which is both schedule and lease. A process that claims the row moves the due time ahead and sets
// a new number (epoch or claim). Writes with an older number have no effect.
package hubsql

import "cloudburst/internal/store/sqldb"

// Store implements hub.Store, except for Backup and Close, and hub.Allowances.
type Store struct {
	topicStore
	subscriptionStore
	intentStore
	changeStore
	checkStore
	deliveryStore
	eventStore
	upkeepStore
	allowanceStore
}

type (
	topicStore        struct{ db *sqldb.DB }
	subscriptionStore struct{ db *sqldb.DB }
	intentStore       struct{ db *sqldb.DB }
	changeStore       struct{ db *sqldb.DB }
	checkStore        struct{ db *sqldb.DB }
	deliveryStore     struct{ db *sqldb.DB }
	eventStore        struct{ db *sqldb.DB }
	upkeepStore       struct{ db *sqldb.DB }
	allowanceStore    struct{ db *sqldb.DB }
)

// New returns a store that uses db.
func New(db *sqldb.DB) *Store {
	return &Store{
		topicStore{db}, subscriptionStore{db}, intentStore{db}, changeStore{db}, checkStore{db},
		deliveryStore{db}, eventStore{db}, upkeepStore{db}, allowanceStore{db},
	}
}
