// Package store opens the program's store: a folder of this machine, or a PostgreSQL
// server that several machines share. Start with [Open] and [Options].
package store

import (
	"context"
	"log/slog"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/announce"
	"cloudburst/internal/audience"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/river"
	"cloudburst/internal/store/postgres"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/upstream"
)

// Store is everything that the program keeps.
type Store interface {
	hub.Store
	upstream.Store
	account.Store
	author.Store
	author.PostStore
	author.FileStore
	audience.Store
	river.Store
	announce.Store
	hub.Allowances
	TestFeed
	Certificates
}

// Certificates keeps what this server's own certificates need, in a form that only the
// program can read. Each method is one transaction.
type Certificates interface {
	// Certificate gives what is kept under a name; fault.NotFound when there is nothing.
	Certificate(ctx context.Context, name string) (sealed []byte, err error)
	// PutCertificate keeps it in place of what was there.
	PutCertificate(ctx context.Context, name string, sealed []byte, now time.Time) error
	// DeleteCertificate removes it, or nothing.
	DeleteCertificate(ctx context.Context, name string) error
}

// TestFeed keeps when the test feed was changed by hand. Each method is one transaction.
type TestFeed interface {
	// TickTestFeed notes a change at now, or, where there is one since then, a millisecond after that, and forgets all
	// but the newest keep.
	TickTestFeed(ctx context.Context, now time.Time, keep int) (at time.Time, err error)
	// TestFeedTicks lists those since then, the newest first, at most 100.
	TestFeedTicks(ctx context.Context, since time.Time) ([]time.Time, error)
}

// Options say where the store is. DatabaseURL wins when both are given.
type Options struct {
	Dir         string       // data folder, for SQLite
	DatabaseURL string       // postgres://…
	Log         *slog.Logger // nil: nothing is logged

	Connect time.Duration // limit for connecting to the database while it is opened; 0: the default of package postgres

	// Commit runs the commit of each transaction; nil: nothing more happens than commit. Harnesses
	// end the process before or after one.
	Commit func(commit func() error) error
}

// Hinter is what a store that several processes share can do besides: carry "something
// is due" between them. A hint may come late, twice or never; the due times are the truth.
type Hinter interface {
	// Hint tells the other processes, soon and not too often. It never blocks.
	Hint()
	// Hints delivers the hints of others until ctx ends. Several that were not
	// taken yet are one.
	Hints(ctx context.Context) <-chan struct{}
}

// Open opens the store. Its faults say what to do. Of a database fault.Unavailable is the only
// one that a later attempt may not meet again.
func Open(ctx context.Context, o Options) (Store, error) {
	switch {
	case o.DatabaseURL != "":
		s, err := postgres.Open(ctx, postgres.Options{URL: o.DatabaseURL, Log: o.Log, Connect: o.Connect, Commit: o.Commit})
		return opened(&portable{s, o.DatabaseURL}, err)
	case o.Dir != "":
		return opened(sqlite.Open(ctx, sqlite.Options{Dir: o.Dir, Log: o.Log, Commit: o.Commit}))
	}
	return nil, fault.New(fault.Invalid, "Neither a data folder (--data) nor a database (--database) is given.")
}

// opened keeps a nil store from becoming a Store that is not nil.
func opened[S Store](s S, err error) (Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
