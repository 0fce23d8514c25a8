// Package sqlstore is the hub's store in SQL: the statements, what they mean and
// how rows become values, written once for both databases over package sqldb.
// Start with [Store], whose methods are the contract of hub.Store.
//
// The rows are the truth: a part, a subscription or a topic that is owed work has
// a due time, which is schedule and lease in one; whoever claims it moves the due
// time ahead and takes a number (epoch, claim) that fences off everyone before.
package sqlstore

import "cloudburst/internal/store/sqldb"

// Store implements the hub's store over a DB; Backup and Close are the
// business of the package that makes the Engine.
type Store struct {
	*sqldb.DB
	// Words is how the database finds words.
	Words Words
}
