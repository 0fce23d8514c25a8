// Package sqlstore combines the stores of all domains over one database, for SQLite and PostgreSQL.
// Start with [New].
package sqlstore

import (
	"cloudburst/internal/store/accountsql"
	"cloudburst/internal/store/authorsql"
	"cloudburst/internal/store/hubsql"
	"cloudburst/internal/store/riversql"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/upstreamsql"
)

// Store is the complete store, except for Backup and Close, which the package of the Engine
// implements.
type Store struct {
	*sqldb.DB
	*hubStore
	*riverStore
	*authorStore
	*accountStore
	*upstreamStore
}

// Aliases give the embedded stores distinct names, because each package calls its type Store.
type (
	hubStore      = hubsql.Store
	riverStore    = riversql.Store
	authorStore   = authorsql.Store
	accountStore  = accountsql.Store
	upstreamStore = upstreamsql.Store
)

// New returns a store that uses db and the given search syntax.
func New(db *sqldb.DB, words riversql.Words) *Store {
	return &Store{db, hubsql.New(db), riversql.New(db, words), authorsql.New(db), accountsql.New(db, authorsql.StampUser, authorsql.EraseUser, riversql.EraseUser), upstreamsql.New(db)}
}
