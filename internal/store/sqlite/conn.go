package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"
	"path/filepath"

	"modernc.org/sqlite"
)

// purpose is the use of a connection.
type purpose int

const (
	reading  purpose = iota
	writing          // the only writer
	checking         // checks that must not change anything
	copying          // a copy to another file
	frozen           // a file without journal that no process writes to
)

// connector opens connections and rejects those without the required guarantees.
type connector struct {
	file     string
	purpose  purpose
	maxPages int64
	driver   *sqlite.Driver
}

func pool(file string, p purpose, size int, maxPages int64) *sql.DB {
	db := sql.OpenDB(&connector{file: file, purpose: p, maxPages: maxPages, driver: &sqlite.Driver{}})
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db
}

func (c *connector) Driver() driver.Driver { return c.driver }

// Connect opens one connection, configures it and verifies its settings.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	file, err := filepath.Abs(c.file)
	if err != nil {
		return nil, err
	}
	mode := "rw"
	switch c.purpose {
	case checking:
		mode = "ro"
	case frozen:
		mode = "ro&immutable=1"
	}
	u := url.URL{Scheme: "file", Path: file, RawQuery: "mode=" + mode}
	conn, err := c.driver.Open(u.String())
	if err != nil {
		return nil, err
	}
	if err := c.prepare(ctx, conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func (c *connector) prepare(ctx context.Context, conn driver.Conn) error {
	for _, set := range c.pragmas() {
		if err := execute(ctx, conn, "PRAGMA "+set); err != nil {
			return fmt.Errorf("PRAGMA %s: %w", set, err)
		}
	}
	if c.purpose == checking || c.purpose == frozen {
		return nil
	}
	return verify(ctx, conn)
}

// verify rejects a connection without the required guarantees. Otherwise only a power failure would
// reveal that a file system or a build ignores the settings.
func verify(ctx context.Context, conn driver.Conn) error {
	for _, p := range [][2]string{{"synchronous", "2"}, {"journal_mode", "wal"}, {"foreign_keys", "1"}} {
		have, err := pragma(ctx, conn, p[0])
		if err != nil {
			return fmt.Errorf("PRAGMA %s: %w", p[0], err)
		}
		if have != p[1] {
			return fmt.Errorf("the database is not safe on this system: PRAGMA %s is %q, but must be %q", p[0], have, p[1])
		}
	}
	return nil
}

// pragmas returns the settings of a connection. Memory mapping stays off: with it, a read error
// would raise a signal that ends the program, instead of an error that can be handled. A transaction
// may exceed the writer's cache, up to 24 MiB, because writing pages early and once more at the
// commit costs a fifth of the writes of a large import.
func (c *connector) pragmas() []string {
	all := []string{"busy_timeout = 5000", "foreign_keys = ON", "temp_store = MEMORY"}
	switch c.purpose {
	case checking, frozen:
		return append(all, "query_only = ON")
	case copying:
		return append(all, "journal_mode = WAL", "synchronous = FULL", "cache_size = -2048")
	case reading:
		return append(all, "journal_mode = WAL", "synchronous = FULL", "cache_size = -8192", "query_only = ON")
	}
	all = append(all, "journal_mode = WAL", "synchronous = FULL", "cache_size = -8192",
		"cache_spill = 6144", "wal_autocheckpoint = 8000", "journal_size_limit = 67108864")
	if c.maxPages > 0 {
		all = append(all, fmt.Sprintf("max_page_count = %d", c.maxPages))
	}
	return all
}

func execute(ctx context.Context, conn driver.Conn, text string) error {
	_, err := conn.(driver.ExecerContext).ExecContext(ctx, text, nil)
	return err
}

// pragma reads one setting.
func pragma(ctx context.Context, conn driver.Conn, name string) (string, error) {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, "PRAGMA "+name, nil)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	v := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(v); err != nil {
		return "", err
	}
	return fmt.Sprint(v[0]), nil
}
