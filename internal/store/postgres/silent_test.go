package postgres

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/storetest"
)

// A machine that is cut off in the middle of a transaction holds its locks until the
// server breaks it off. Others wait for its lease of 15 s anyway, and for no more.
func TestIdleTransactionIsAbortedWithinLease(t *testing.T) {
	t.Parallel()
	s := open(t, storetest.Postgres(t))
	var text string
	err := s.Read(t.Context(), func(ctx context.Context, c sqldb.Conn) error {
		return c.Query(ctx, `SELECT current_setting('idle_in_transaction_session_timeout')`, func(rows *sql.Rows) error { return rows.Scan(&text) })
	})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := time.ParseDuration(text); err != nil || d <= 0 || d >= 15*time.Second {
		t.Errorf("its locks last %s (%v)", text, err)
	}
	if err := translate(&databaseError{&pgconn.PgError{Code: "25P03"}}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("what was broken off is told as %v", err)
	}
}
