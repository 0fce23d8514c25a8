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

// If a machine loses its connection during a transaction, the server keeps its locks until it
// aborts the transaction. That must happen within 15 s, the lease for which other processes wait
// anyway.
func TestIdleTransactionIsAbortedBeforeItsLeaseEnds(t *testing.T) {
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
		t.Errorf("the idle transaction timeout is %s (%v)", text, err)
	}
	if err := translate(&databaseError{&pgconn.PgError{Code: "25P03"}}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("an aborted transaction returns %v", err)
	}
}
