package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"testing"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/store/authortest"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/storetest"
)

func BenchmarkSavePostAmong100kPosts(b *testing.B) {
	authortest.SavesOf(b, open(b, storetest.Postgres(b)), 100_000)
}

func BenchmarkRenumberPlacesOf100kPosts(b *testing.B) {
	authortest.RenumberingOf(b, open(b, storetest.Postgres(b)), 100_000)
}

// explaining is an Engine that checks how many rows each statement on posts and files reads, before
// it runs the statement.
type explaining struct {
	sqldb.Engine
	t       *testing.T
	maxRead float64 // maximum number of rows that a statement may read

	mu      sync.Mutex
	checked int
}

func (e *explaining) Read(ctx context.Context, fn func(ctx context.Context, c sqldb.Conn) error) error {
	return e.Engine.Write(ctx, func(ctx context.Context, c sqldb.Conn) error { return fn(ctx, &explainingConn{c, e}) })
}

func (e *explaining) Write(ctx context.Context, fn func(ctx context.Context, c sqldb.Conn) error) error {
	return e.Read(ctx, fn)
}

type explainingConn struct {
	sqldb.Conn
	*explaining
}

func (c *explainingConn) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	c.explain(ctx, text, args, nil)
	return c.Conn.Exec(ctx, text, args...)
}

func (c *explainingConn) Query(ctx context.Context, text string, row func(*sql.Rows) error, args ...any) error {
	c.explain(ctx, text, args, nil)
	return c.Conn.Query(ctx, text, row, args...)
}

func (c *explainingConn) Bulk(ctx context.Context, text string, rows [][]any) (int64, error) {
	c.explain(ctx, text, nil, rows)
	return c.Conn.Bulk(ctx, text, rows)
}

func (c *explainingConn) BulkQuery(ctx context.Context, text string, row func(*sql.Rows) error, rows [][]any) error {
	c.explain(ctx, text, nil, rows)
	return c.Conn.BulkQuery(ctx, text, row, rows)
}

// explain runs a statement for its plan and rolls back its effects.
func (c *explainingConn) explain(ctx context.Context, text string, args []any, rows [][]any) {
	if !regexp.MustCompile(`\b(post|post_category|post_count|writer|media|media_piece|media_content)\b`).MatchString(text) {
		return
	}
	const explain = `EXPLAIN (ANALYZE, FORMAT JSON) `
	var raw []byte
	scan := func(r *sql.Rows) error { return r.Scan(&raw) }
	_, err := c.Conn.Exec(ctx, `SAVEPOINT look`)
	if head, rest, bulk := strings.Cut(text, ")"); err == nil && bulk && strings.HasPrefix(text, "rows(") {
		if len(rows) == 0 {
			return
		}
		err = c.Conn.BulkQuery(ctx, head+") "+explain+strings.TrimSpace(rest), scan, rows)
	} else if err == nil {
		err = c.Conn.Query(ctx, explain+text, scan, args...)
	}
	if err == nil {
		_, err = c.Conn.Exec(ctx, `ROLLBACK TO SAVEPOINT look`)
	}
	var plans []struct{ Plan readNode }
	if err == nil {
		err = json.Unmarshal(raw, &plans)
	}
	if err != nil {
		c.t.Errorf("%v: %s", err, text)
		return
	}
	c.mu.Lock()
	c.checked++
	c.mu.Unlock()
	if n := plans[0].Plan.read(); n > c.maxRead {
		c.t.Errorf("%v rows are read by %s\n%s", n, text, raw)
	}
}

// readNode is a plan node with the number of rows it read.
type readNode struct {
	Rows    float64    `json:"Actual Rows"`
	Loops   float64    `json:"Actual Loops"`
	Dropped float64    `json:"Rows Removed by Filter"`
	Checked float64    `json:"Rows Removed by Index Recheck"`
	Joined  float64    `json:"Rows Removed by Join Filter"`
	Plans   []readNode `json:"Plans"`
}

// read returns the largest number of rows that any node of the plan read.
func (n readNode) read() float64 {
	largest := (n.Rows + n.Dropped + n.Checked + n.Joined) * n.Loops
	for _, p := range n.Plans {
		largest = max(largest, p.read())
	}
	return largest
}

// TestNoStatementReadsAllPostsOfAWriter checks the rows that are read in a simulated day of a
// writer with many posts. It uses generic and custom plans, with and without table statistics.
func TestNoStatementReadsAllPostsOfAWriter(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		for _, analyzed := range []bool{false, true} {
			name := mode
			if analyzed {
				name += " analyzed"
			}
			t.Run(name, func(t *testing.T) {
				s := open(t, storetest.Postgres(t)+"&plan_cache_mode="+mode)
				authortest.FillPosts(t, s, "alice", 10_000)
				authortest.FillPosts(t, s, "bob", 10)
				if analyzed {
					if _, err := s.db.ExecContext(t.Context(), `ANALYZE`); err != nil {
						t.Fatal(err)
					}
				}
				explainer := &explaining{Engine: s.Engine, t: t, maxRead: 500}
				s.Engine = explainer
				authortest.WriterDay(t, s, "alice")
				authortest.WriterDay(t, s, "bob")
				if explainer.checked < 200 {
					t.Errorf("only %d statements were checked", explainer.checked)
				}
			})
		}
	}
}
