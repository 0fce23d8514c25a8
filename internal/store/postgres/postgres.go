// Package postgres implements the store in a PostgreSQL database that several processes share.
// Start with [Open] and [Store].
//
// Claims skip locked rows, so processes do not wait for each other. Transactions that the server
// aborts (deadlock, serialization) are run again. While the server is unreachable every call fails
// with fault.Unavailable. Processes exchange hints by NOTIFY after the commit, on a separate
// connection: inside the transaction NOTIFY would slow down each commit.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/riversql"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/sqlstore"
)

// Options of a store.
type Options struct {
	URL     string        // postgres://user:password@host:port/database?sslmode=…
	Log     *slog.Logger  // nil: no logging
	Conns   int           // maximum number of connections, in addition to two for hints [12]
	Timeout time.Duration // of a call whose context has no deadline [30 s]
	Connect time.Duration // limit for the first connection; connect_timeout in URL takes precedence [30 s]

	// KeepSchema makes Open reject an existing database with an older schema (fault.Unsupported)
	// instead of updating it.
	KeepSchema bool

	// Commit runs the commit of each transaction; nil: call commit only.
	Commit func(commit func() error) error

	tracer pgx.QueryTracer // receives all statements; nil except in tests
}

// Store is a hub.Store in a database that other processes may use too. Use [Open].
type Store struct {
	*sqlstore.Store
	db     *sql.DB
	engine *engine
	hints  *hints
	close  sync.Once
	err    error
}

var _ hub.Store = (*Store)(nil)

// Open connects and migrates the schema. Several processes may open an empty database concurrently:
// one migrates and the others wait. fault.Unavailable means that a later attempt may succeed: the
// server cannot be reached, or the database is being filled. Every other fault is permanent: the
// URL, the user, the password, the database name, or a schema that this program cannot use
// (fault.Unsupported if a newer program wrote it).
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Conns <= 0 {
		o.Conns = 12
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Connect <= 0 {
		o.Connect = openConnect
	}
	opening, err := parse(o.URL, o.Connect)
	if err != nil {
		return nil, err
	}
	if err := migrateFor(ctx, opening, false, o.KeepSchema); err != nil {
		return nil, openFault(err, o.URL)
	}
	config, err := parse(o.URL, callConnect)
	if err != nil {
		return nil, err
	}
	traced := *config
	traced.Tracer = o.tracer
	var opened atomic.Bool
	patient := func(_ context.Context, c *pgx.ConnConfig) error {
		if !opened.Load() {
			c.ConnectTimeout = opening.ConnectTimeout
		}
		return nil
	}
	db := stdlib.OpenDB(traced, stdlib.OptionAfterConnect(prepareConn), stdlib.OptionBeforeConnect(patient))
	db.SetMaxOpenConns(o.Conns)
	db.SetMaxIdleConns(o.Conns)
	db.SetConnMaxIdleTime(5 * time.Minute)
	db.SetConnMaxLifetime(time.Hour)
	s := &Store{db: db, hints: newHints(config, o.Log)}
	// This opens the first connection, which takes the lock against moves of the database.
	spread, err := isDistributed(ctx, db)
	if err == nil {
		err = s.warn(ctx, o.Log)
	}
	if err != nil {
		return nil, errors.Join(openFault(err, o.URL), s.Close())
	}
	dialect := sqldb.Postgres()
	if spread {
		dialect = sqldb.Citus()
	}
	s.engine = &engine{db: db, dialect: dialect, timeout: o.Timeout, around: o.Commit}
	s.Store = sqlstore.New(&sqldb.DB{Engine: s.engine, Shared: true, Distributed: spread}, riversql.TSVector)
	opened.Store(true)
	return s, nil
}

// Limits for opening a connection: callers wait for a call, but opening the store may take longer.
const (
	openConnect = 30 * time.Second
	callConnect = 5 * time.Second
)

// CheckURL returns an error if a database URL is invalid.
func CheckURL(address string) error {
	_, err := parse(address, openConnect)
	return err
}

// showable reports whether a text about the database URL address contains no password of the URL.
func showable(about, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	password, _ := u.User.Password()
	secrets := []string{password}
	for name, values := range u.Query() {
		if strings.Contains(name, "password") {
			secrets = append(secrets, values...)
		}
	}
	return !slices.ContainsFunc(secrets, func(s string) bool { return s != "" && strings.Contains(about, s) })
}

// parse parses a database URL. connect is the limit for opening a connection if the URL has none.
func parse(address string, connect time.Duration) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		why := "it must have the form postgres://user:password@host:5432/database"
		if cause := errors.Unwrap(err); cause != nil && showable(cause.Error(), address) {
			why = cause.Error()
		}
		return nil, fault.New(fault.Invalid, "invalid database URL %s: %s", redact(address), why)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connect
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "cloudburst"
	}
	return config, nil
}

// settings of every connection. All statements use keys, so the planner only chooses other plans
// when it lacks statistics: for a new table, or with a plan that was made when the table was small.
// With the defaults, each batch of a large topic would collect and sort the whole topic. An idle
// transaction is aborted before a lease expires, so that its locks do not block the process that
// takes over.
const settings = `SELECT set_config('random_page_cost', '1.1', false),
	set_config('enable_bitmapscan', 'off', false),
	set_config('enable_seqscan', 'off', false),
	set_config('enable_hashjoin', 'off', false),
	set_config('enable_mergejoin', 'off', false),
	set_config('jit', 'off', false),
	set_config('statement_timeout', '30s', false),
	set_config('lock_timeout', '10s', false),
	set_config('idle_in_transaction_session_timeout', '10s', false),
	set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
		ELSE current_setting('synchronous_commit') END, false)`

func prepareConn(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, settings); err != nil {
		return err
	}
	return share(ctx, conn)
}

// warn logs if the server may lose committed transactions.
func (s *Store) warn(ctx context.Context, log *slog.Logger) error {
	var fsync, pages string
	err := s.db.QueryRowContext(ctx, `SELECT current_setting('fsync'), current_setting('full_page_writes')`).Scan(&fsync, &pages)
	if err == nil && (fsync != "on" || pages != "on") {
		log.Warn("the PostgreSQL server may lose committed data when its machine crashes; set fsync and full_page_writes to on", "fsync", fsync, "full_page_writes", pages)
	}
	return err
}

// Backup implements hub.Store. It is not supported: PostgreSQL has its own tools.
func (s *Store) Backup(context.Context, string) error {
	return fault.New(fault.Unsupported, "A PostgreSQL database is backed up with its own tools: pg_dump for a copy, or continuous archiving.")
}

// Close closes the connections.
func (s *Store) Close() error {
	s.close.Do(func() {
		s.hints.close()
		s.err = unshare(s.db)
	})
	return s.err
}

// Hint notifies the other processes on the database that work is due. It never blocks.
func (s *Store) Hint() { s.hints.hint() }

// Hints delivers the hints of other processes until ctx ends or the store is closed; then it closes
// the channel. Several pending hints are merged into one.
func (s *Store) Hints(ctx context.Context) <-chan struct{} { return s.hints.listen(ctx) }

// redact returns the database URL without its password.
func redact(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return "(not shown: it may contain a password)"
	}
	q := u.Query()
	for name := range q {
		if strings.Contains(name, "password") {
			q.Set(name, "xxxxx")
		}
	}
	u.RawQuery = q.Encode()
	return u.Redacted()
}

// isTransient reports a server error that may go away: the server is starting, stopping, full, a
// read-only standby, or has aborted a transaction.
func isTransient(sqlstate string) bool {
	switch sqlstate[:min(2, len(sqlstate))] {
	case "08", "25", "40", "53", "55", "57", "58", "XX":
		return true
	}
	return false
}

// openFault converts an error of Open to a fault with instructions.
func openFault(err error, address string) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	where := redact(address)
	if use := useFault(err, where); use != nil {
		return use
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case isTransient(e.Code):
		case strings.HasPrefix(e.Code, "28"):
			return fault.Wrap(fault.Refused, err, "The database %s rejected the login: check the user and the password.", where)
		case e.Code == "3D000":
			return fault.Wrap(fault.NotFound, err, "The database of %s does not exist on that server; create it with createdb.", where)
		case e.Code == "42501":
			return fault.Wrap(fault.Refused, err, "The user of %s may not create tables; make it the owner of the database.", where)
		case e.Code == "3F000":
			return fault.Wrap(fault.NotFound, err, "The database %s has no schema for the tables: create the schema that search_path names.", where)
		default:
			return fault.Wrap(fault.Conflict, err, "The database %s cannot be used by this program: its tables belong to another program or were changed.", where)
		}
	}
	return fault.Wrap(fault.Unavailable, fmt.Errorf("open the database: %w", oneLine{err}), "The database %s cannot be reached: check that the server runs and that the URL is right.", where)
}

// oneLine returns the message of a failed connection in one line, with each failure once. The
// driver's text has one line per attempt, and the driver tries each address with and without TLS.
type oneLine struct{ error }

func (e oneLine) Unwrap() error { return e.error }

func (e oneLine) Error() string {
	var lines []string
	for line := range strings.Lines(e.error.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ")
}
