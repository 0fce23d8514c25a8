// Package accountsql keeps users, their sessions, tokens and secrets in SQL, and the
// certificates of this server. Start with [Store].
package accountsql

import (
	"context"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/store/sqldb"
)

var _ account.Store = (*Store)(nil)

// Store is an account.Store.
type Store struct {
	userStore
	sessionStore
	tokenStore
	secretStore
	tallyStore
	certificateStore
}

type (
	userStore struct {
		db             *sqldb.DB
		noteVisibility NoteVisibility
	}
	sessionStore     struct{ db *sqldb.DB }
	tokenStore       struct{ db *sqldb.DB }
	secretStore      struct{ db *sqldb.DB }
	tallyStore       struct{ db *sqldb.DB }
	certificateStore struct{ db *sqldb.DB }
)

// NoteVisibility notes, in the transaction that disables or enables a user, that what he wrote
// changed for readers.
type NoteVisibility func(ctx context.Context, c sqldb.Conn, user string, at time.Time) error

// New returns the store in a database.
func New(db *sqldb.DB, noteVisibility NoteVisibility) *Store {
	return &Store{userStore{db, noteVisibility}, sessionStore{db}, tokenStore{db}, secretStore{db}, tallyStore{db}, certificateStore{db}}
}
