// Package authorsql stores in SQL what authors publish: their saved feeds, posts, pages and files. It also
// stores who reads them, which other servers are notified, and which pages elsewhere link to posts. Start with [Store].
package authorsql

import (
	"cloudburst/internal/announce"
	"cloudburst/internal/audience"
	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/store/sqldb"
)

var (
	_ author.Store     = (*Store)(nil)
	_ author.PostStore = (*Store)(nil)
	_ author.FileStore = (*Store)(nil)
	_ audience.Store   = (*Store)(nil)
	_ announce.Store   = (*Store)(nil)

	_ conversation.SendStore   = (*Store)(nil)
	_ conversation.Store       = (*Store)(nil)
	_ conversation.ThreadStore = (*Store)(nil)
	_ conversation.WorkStore   = (*Store)(nil)
	_ author.SiteStore         = (*Store)(nil)
)

// Store is the store of the packages author, audience, announce and conversation.
type Store struct {
	savedStore
	postStore
	fileStore
	audienceStore
	targetStore
	testFeedStore
	mentionStore
	threadStore
	peopleStore
	siteStore
}

type (
	savedStore    struct{ db *sqldb.DB }
	postStore     struct{ db *sqldb.DB }
	fileStore     struct{ db *sqldb.DB }
	audienceStore struct{ db *sqldb.DB }
	targetStore   struct{ db *sqldb.DB }
	testFeedStore struct{ db *sqldb.DB }
	mentionStore  struct{ db *sqldb.DB }
	threadStore   struct{ db *sqldb.DB }
	siteStore     struct{ db *sqldb.DB }
)

// New returns a store that uses db.
func New(db *sqldb.DB) *Store {
	return &Store{savedStore{db}, postStore{db}, fileStore{db}, audienceStore{db}, targetStore{db}, testFeedStore{db}, mentionStore{db}, threadStore{db}, peopleStore{db}, siteStore{db}}
}
