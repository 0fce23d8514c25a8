// Package store opens the program's store: a data folder on this machine, or a PostgreSQL database
// that several machines share. Start with [Open] and [Options].
package store

import (
	"context"
	"log/slog"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/announce"
	"cloudburst/internal/audience"
	"cloudburst/internal/author"
	"cloudburst/internal/author/version"
	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltext"
	"cloudburst/internal/hub"
	"cloudburst/internal/ownhost"
	"cloudburst/internal/people"
	"cloudburst/internal/river"
	"cloudburst/internal/store/postgres"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/upstream"
)

// Store is the interface to all stored data.
type Store interface {
	hub.Store
	upstream.Store
	account.Store
	author.Store
	author.PostStore
	author.SiteStore
	version.Store
	ownhost.Store
	author.FileStore
	audience.Store
	river.Store
	fulltext.Store
	announce.Store
	conversation.Store
	conversation.SendStore
	conversation.ThreadStore
	conversation.WorkStore
	conversation.Items
	people.Store
	admin.Store
	hub.Allowances
	TestFeed
	Certificates
	Pages
}

// Pages reports when pages must be rendered again.
type Pages interface {
	// PageState identifies the state of the data that pages of authors show, see [sqldb.Engine].
	PageState(ctx context.Context) (string, error)
}

// Certificates stores the server's own certificates, encrypted by the program. Each method is one
// transaction.
type Certificates interface {
	// Certificate returns the value stored under a name; fault.NotFound if there is none.
	Certificate(ctx context.Context, name string) (sealed []byte, err error)
	// PutCertificate stores or replaces a value.
	PutCertificate(ctx context.Context, name string, sealed []byte, now time.Time) error
	// DeleteCertificate deletes a value, if it exists.
	DeleteCertificate(ctx context.Context, name string) error
}

// TestFeed stores when the test feed was changed manually. Each method is one transaction.
type TestFeed interface {
	// TickTestFeed records a change at now. If a change at now or later exists, it records one a
	// millisecond after that. It deletes all but the newest keep changes.
	TickTestFeed(ctx context.Context, now time.Time, keep int) (at time.Time, err error)
	// TestFeedTicks lists the changes since a time, newest first, at most 100.
	TestFeedTicks(ctx context.Context, since time.Time) ([]time.Time, error)
}

// Options locate the store. DatabaseURL takes precedence over Dir.
type Options struct {
	Dir         string       // data folder, for SQLite
	DatabaseURL string       // postgres://…
	Log         *slog.Logger // nil: no logging

	Connect time.Duration // limit for connecting when opening the database; 0: the default of package postgres

	// KeepSchema makes Open reject existing data with an older schema (fault.Unsupported) instead of
	// updating it. A command sets it: nodes of the previous version may still use the database.
	KeepSchema bool

	// Commit runs the commit of each transaction; nil: call commit only. Crash tests end the
	// process before or after it.
	Commit func(commit func() error) error
}

// Hinter is implemented by stores that several processes share. It transports the hint that work is
// due. A hint may arrive late, twice or never; the due times are authoritative.
type Hinter interface {
	// Hint notifies the other processes, soon and at a limited rate. It never blocks.
	Hint()
	// Hints delivers the hints of other processes until ctx ends. Several pending hints are merged
	// into one.
	Hints(ctx context.Context) <-chan struct{}
}

// CheckDatabaseURL returns an error if the URL of a database is invalid. It does not connect. ""
// is valid.
func CheckDatabaseURL(url string) error {
	if url == "" {
		return nil
	}
	return postgres.CheckURL(url)
}

// Open opens the store. Its errors contain instructions. For a database URL, another attempt can
// succeed only after fault.Unavailable.
func Open(ctx context.Context, o Options) (Store, error) {
	switch {
	case o.DatabaseURL != "":
		s, err := postgres.Open(ctx, postgres.Options{URL: o.DatabaseURL, Log: o.Log, Connect: o.Connect, KeepSchema: o.KeepSchema, Commit: o.Commit})
		return opened(&portable{s, o.DatabaseURL}, err)
	case o.Dir != "":
		return opened(sqlite.Open(ctx, sqlite.Options{Dir: o.Dir, Log: o.Log, KeepSchema: o.KeepSchema, Commit: o.Commit}))
	}
	return nil, fault.New(fault.Invalid, "Neither a data folder (--data) nor a database (--database) is given.")
}

// opened returns an untyped nil for a nil pointer, because a Store that contains a nil pointer is
// not nil.
func opened[S Store](s S, err error) (Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
