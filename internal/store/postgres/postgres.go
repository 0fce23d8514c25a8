// Package postgres keeps the hub's store in a PostgreSQL database that several
// processes share. Start with [Open] and [Store].
//
// Claims skip rows that others hold, so nobody waits for anybody; transactions
// that the server breaks off (deadlock, serialization) are run again. When the
// server is away every call fails with fault.Unavailable, and works again when it
// is back. Hints between the processes travel by NOTIFY, after the commit and from
// a connection of their own: inside the transaction they would slow each commit.
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
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/riversql"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/sqlstore"
)

// Options of a store.
type Options struct {
	URL     string        // postgres://user:password@host:port/database?sslmode=…
	Log     *slog.Logger  // nil: nothing is logged
	Conns   int           // connections at most, besides two for hints [12]
	Timeout time.Duration // of a call whose context has no end of its own [30 s]
	Connect time.Duration // limit for the connection that opens the store; connect_timeout in URL wins [30 s]

	// Commit runs the commit of each transaction; nil: nothing more happens than commit.
	Commit func(commit func() error) error

	tracer pgx.QueryTracer // sees what is sent, for tests; nil: nobody does
}

// Store is a hub.Store in a database that others may use too. Use [Open].
type Store struct {
	*sqlstore.Store
	db     *sql.DB
	engine *engine
	hints  *hints
	close  sync.Once
	err    error
}

var _ hub.Store = (*Store)(nil)

// Open connects, and brings the schema up to date; several processes may do so at
// once: one migrates and the others wait for it. fault.Unavailable means that a later
// attempt may succeed: the server cannot be reached, or the database is being filled.
// Every other fault is permanent: the URL, the user, the password, the database's name, or a schema that
// this program cannot use (fault.Conflict when a newer program wrote it).
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
	if err := migrateFor(ctx, opening, false); err != nil {
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
	s.engine = &engine{db: db, dialect: sqldb.Postgres(), timeout: o.Timeout, around: o.Commit}
	s.Store = sqlstore.New(&sqldb.DB{Engine: s.engine, Shared: true}, riversql.TSVector)
	// This makes the first connection, which holds the lock against those who move the database.
	if err := s.warn(ctx, o.Log); err != nil {
		return nil, errors.Join(openFault(err, o.URL), s.Close())
	}
	opened.Store(true)
	return s, nil
}

// Limits for making a connection: a caller waits for a call, and opening may take longer.
const (
	openConnect = 30 * time.Second
	callConnect = 5 * time.Second
)

// parse reads a database's address. connect is the limit for making a connection, where the
// address has none.
func parse(address string, connect time.Duration) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fault.New(fault.Invalid, "The database's address %s cannot be understood; it looks like postgres://user:password@host:5432/database.", redact(address))
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connect
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "cloudburst"
	}
	return config, nil
}

// migrateFor uses a pool of its own, because a migration may take longer than a
// statement may. filling: it is for who has the database alone, to fill it.
func migrateFor(ctx context.Context, config *pgx.ConnConfig, filling bool) error {
	use := []stdlib.OptionOpenDB{stdlib.OptionAfterConnect(share)}
	if filling {
		use = nil
	}
	db := stdlib.OpenDB(*config, use...)
	defer unshare(db)
	if !filling {
		if err := usable(ctx, db); err != nil {
			return err
		}
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300), lock.WithUnlockTimeout(1, 30))
	if err != nil {
		return err
	}
	return sqldb.Migrate(ctx, db, goose.DialectPostgres, sqldb.Postgres(), goose.WithSessionLocker(locker))
}

// settings of every connection. All our statements go by keys, so plans that do
// not are only ever chosen for want of figures: a fresh table, or a plan that was
// made when it was small. With the defaults, paging a large topic gathers and
// sorts all of it for every page. Who falls silent in the middle of a transaction keeps
// its rows locked for less than a lease lasts, so that others can take over.
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

// warn logs that the server may lose what it has committed.
func (s *Store) warn(ctx context.Context, log *slog.Logger) error {
	var fsync, pages string
	err := s.db.QueryRowContext(ctx, `SELECT current_setting('fsync'), current_setting('full_page_writes')`).Scan(&fsync, &pages)
	if err == nil && (fsync != "on" || pages != "on") {
		log.Warn("the PostgreSQL server may lose what it has committed when its machine stops", "fsync", fsync, "full_page_writes", pages)
	}
	return err
}

// Backup implements hub.Store: PostgreSQL has its own tools for it.
func (s *Store) Backup(context.Context, string) error {
	return fault.New(fault.Unsupported, "A PostgreSQL database is backed up with its own tools: pg_dump for a copy, or continuous archiving.")
}

// Close ends the connections.
func (s *Store) Close() error {
	s.close.Do(func() {
		s.hints.close()
		s.err = unshare(s.db)
	})
	return s.err
}

// Hint tells the other processes on the database that something is due. It never blocks.
func (s *Store) Hint() { s.hints.hint() }

// Hints delivers the hints of others until ctx ends or the store is closed; then
// the channel is closed. Several that were not taken yet are one.
func (s *Store) Hints(ctx context.Context) <-chan struct{} { return s.hints.listen(ctx) }

// redact is the database's address without its password.
func redact(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return "(not shown: it may hold a password)"
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

// passing reports an error of the server that waiting can end: the server starts or stops, is
// full, only reads because it is a standby, or broke a transaction off.
func isTransient(sqlstate string) bool {
	switch sqlstate[:min(2, len(sqlstate))] {
	case "08", "25", "40", "53", "55", "57", "58", "XX":
		return true
	}
	return false
}

// openFault gives every failure to open a sentence.
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
			return fault.Wrap(fault.Refused, err, "The database %s does not let us in: check user and password.", where)
		case e.Code == "3D000":
			return fault.Wrap(fault.NotFound, err, "The database of %s does not exist on that server; make it with createdb.", where)
		case e.Code == "42501":
			return fault.Wrap(fault.Refused, err, "The user of %s may not make tables there; make it the owner of the database.", where)
		case e.Code == "3F000":
			return fault.Wrap(fault.NotFound, err, "The database %s has no schema for the tables: create the schema that search_path names.", where)
		default:
			return fault.Wrap(fault.Conflict, err, "The database %s cannot be used by this program: its tables are not those of a cloudburst, or something else changed them.", where)
		}
	}
	return fault.Wrap(fault.Unavailable, fmt.Errorf("opening the database: %w", oneLine{err}), "The database %s cannot be used now: check that the server runs and the address is right.", where)
}

// oneLine is an error of the driver whose text names each failure once, in one line: it has a
// line for each attempt, and tries the same address with and without TLS.
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
