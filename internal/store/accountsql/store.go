// Package accountsql stores in SQL the users, their sessions, tokens and secrets, and the
// certificates of this server. Start with [Store].
package accountsql

import (
	"context"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/store/sqldb"
)

var (
	_ account.Store = (*Store)(nil)
	_ admin.Store   = (*Store)(nil)
)

// Store implements account.Store.
type Store struct {
	userStore
	sessionStore
	tokenStore
	secretStore
	tallyStore
	certificateStore
	inviteStore
	adminStore
}

type (
	userStore struct {
		db             *sqldb.DB
		noteVisibility NoteVisibility
		erase          []Erase
	}
	sessionStore     struct{ db *sqldb.DB }
	tokenStore       struct{ db *sqldb.DB }
	secretStore      struct{ db *sqldb.DB }
	tallyStore       struct{ db *sqldb.DB }
	certificateStore struct{ db *sqldb.DB }
	inviteStore      struct{ db *sqldb.DB }
	adminStore       struct{ db *sqldb.DB }
)

// NoteVisibility records, in the transaction that disables or enables a user, that the posts of the
// user changed for readers.
type NoteVisibility func(ctx context.Context, c sqldb.Conn, user string, at time.Time) error

// Erase deletes everything that a domain stores for a user, in the transaction that deletes the
// user.
type Erase func(ctx context.Context, c sqldb.Conn, user string, at time.Time) error

// New returns a store that uses db.
func New(db *sqldb.DB, noteVisibility NoteVisibility, erase ...Erase) *Store {
	return &Store{userStore{db, noteVisibility, erase}, sessionStore{db}, tokenStore{db}, secretStore{db}, tallyStore{db}, certificateStore{db}, inviteStore{db}, adminStore{db}}
}
