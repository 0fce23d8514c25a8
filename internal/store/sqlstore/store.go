// Package sqlstore puts the stores of all domains together over one database, written
// once for SQLite and PostgreSQL. Start with [New].
package sqlstore

import (
	"cloudburst/internal/store/accountsql"
	"cloudburst/internal/store/authorsql"
	"cloudburst/internal/store/hubsql"
	"cloudburst/internal/store/riversql"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/upstreamsql"
)

// Store is everything that the program keeps; Backup and Close are the business of the
// package that makes the Engine.
type Store struct {
	*sqldb.DB
	*hubStore
	*riverStore
	*authorStore
	*accountStore
	*upstreamStore
}

// Each has another name here, because each is called Store in its package.
type (
	hubStore      = hubsql.Store
	riverStore    = riversql.Store
	authorStore   = authorsql.Store
	accountStore  = accountsql.Store
	upstreamStore = upstreamsql.Store
)

// New returns the store in a database that finds words in one way.
func New(db *sqldb.DB, words riversql.Words) *Store {
	return &Store{db, hubsql.New(db), riversql.New(db, words), authorsql.New(db), accountsql.New(db, authorsql.StampUser), upstreamsql.New(db)}
}
