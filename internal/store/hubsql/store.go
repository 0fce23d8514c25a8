// Package hubsql keeps the hub's topics, subscriptions and log in SQL: the statements, what
// they mean and how rows become values. Start with [Store].
//
// The rows are the truth: a part, a subscription or a topic that is owed work has
// a due time, which is schedule and lease in one; whoever claims it moves the due
// time ahead and takes a number (epoch, claim) that fences off everyone before.
package hubsql

import "cloudburst/internal/store/sqldb"

// Store is a hub.Store, but for Backup and Close, and a hub.Allowances.
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

// New returns the store in a database.
func New(db *sqldb.DB) *Store {
	return &Store{
		topicStore{db}, subscriptionStore{db}, intentStore{db}, changeStore{db}, checkStore{db},
		deliveryStore{db}, eventStore{db}, upkeepStore{db}, allowanceStore{db},
	}
}
