// Package authorsql keeps in SQL what people publish here: their saved feeds, posts and
// files, who reads them, and which other servers are notified. Start with [Store].
package authorsql

import (
	"cloudburst/internal/announce"
	"cloudburst/internal/audience"
	"cloudburst/internal/author"
	"cloudburst/internal/store/sqldb"
)

var (
	_ author.Store     = (*Store)(nil)
	_ author.PostStore = (*Store)(nil)
	_ author.FileStore = (*Store)(nil)
	_ audience.Store   = (*Store)(nil)
	_ announce.Store   = (*Store)(nil)
)

// Store is the store of packages author, audience and announce.
type Store struct {
	savedStore
	postStore
	fileStore
	audienceStore
	outpingStore
	testFeedStore
}

type (
	savedStore    struct{ db *sqldb.DB }
	postStore     struct{ db *sqldb.DB }
	fileStore     struct{ db *sqldb.DB }
	audienceStore struct{ db *sqldb.DB }
	outpingStore  struct{ db *sqldb.DB }
	testFeedStore struct{ db *sqldb.DB }
)

// New returns the store in a database.
func New(db *sqldb.DB) *Store {
	return &Store{savedStore{db}, postStore{db}, fileStore{db}, audienceStore{db}, outpingStore{db}, testFeedStore{db}}
}
