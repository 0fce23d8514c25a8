package sqldb

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSQLDialectsHaveTheSameTokens(t *testing.T) {
	t.Parallel()
	lite, post := slices.Sorted(maps.Keys(SQLite().Tokens)), slices.Sorted(maps.Keys(Postgres().Tokens))
	if d := cmp.Diff(lite, post); d != "" {
		t.Errorf("tokens (- SQLite, + PostgreSQL):\n%s", d)
	}
}

func TestStatementIsTranslatedForBothSQLDialects(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ text, lite, post, types string }{
		{`SELECT 1 FROM t WHERE a = $1 {CLAIM}`, `SELECT 1 FROM t WHERE a = $1 `, `SELECT 1 FROM t WHERE a = $1 FOR NO KEY UPDATE SKIP LOCKED`, ""},
		{`rows(id i, text t) UPDATE t SET text = :text {FROM ROWS} WHERE id = :id AND id > :id`,
			`UPDATE t SET text = $2  WHERE id = $1 AND id > $1`,
			`UPDATE t SET text = r.text FROM unnest($1::bigint[], $2::text[]) AS r(id, text) WHERE id = r.id AND id > r.id`, "it"},
		{`rows(a i, b b, c o) INSERT INTO t (a, b, c) SELECT :a, NULLIF(:b, 0), :c {FROM ROWS} WHERE true ON CONFLICT DO NOTHING`,
			`INSERT INTO t (a, b, c) VALUES ($1, NULLIF($2, 0), $3 ) ON CONFLICT DO NOTHING`,
			`INSERT INTO t (a, b, c) SELECT r.a, NULLIF(r.b, 0), r.c FROM unnest($1::bigint[], $2::bytea[], $3::boolean[]) AS r(a, b, c) WHERE true ON CONFLICT DO NOTHING`, "ibo"},
		{`rows(id i) DELETE FROM t {USING ROWS} WHERE t.id = :id`, `DELETE FROM t  WHERE t.id = $1`,
			`DELETE FROM t USING unnest($1::bigint[]) AS r(id) WHERE t.id BETWEEN r.id AND r.id AND t.id = ANY(ARRAY[r.id])`, "i"},
		{`rows(id i) SELECT x FROM t {AND ROWS} WHERE t.id = :id AND t.id < :id`, `SELECT x FROM t  WHERE t.id = $1 AND t.id < $1`,
			`SELECT x FROM t , unnest($1::bigint[]) AS r(id) WHERE t.id BETWEEN r.id AND r.id AND t.id = ANY(ARRAY[r.id]) AND t.id < r.id`, "i"},
	} {
		for _, d := range []struct {
			*Dialect
			want string
		}{{SQLite(), row.lite}, {Postgres(), row.post}} {
			got, err := d.Text(row.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Text{SQL: d.want, Types: row.types}, got); diff != "" {
				t.Errorf("%s (- want, + got):\n%s", row.text, diff)
			}
		}
	}
}

func TestBulkStatementOnDistributedTableRunsOncePerRow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Text{
		`rows(id i) DELETE FROM topic AS t {USING ROWS} WHERE t.id = :id`: {SQL: `DELETE FROM topic AS t  WHERE t.id = CAST($1 AS bigint)`, Types: "i", Each: true},
		`rows(id i, text t) INSERT INTO event (id, text) SELECT :id, :text {FROM ROWS} WHERE true`: {
			SQL: `INSERT INTO event (id, text) VALUES (CAST($1 AS bigint), CAST($2 AS text) )`, Types: "it", Each: true,
			Many: `INSERT INTO event (id, text) SELECT r.id, r.text FROM unnest($1::bigint[], $2::text[]) AS r(id, text) WHERE true`},
		`rows(id i) DELETE FROM task AS t {USING ROWS} WHERE t.id = :id`: {SQL: `DELETE FROM task AS t USING unnest($1::bigint[]) AS r(id) WHERE t.id BETWEEN r.id AND r.id AND t.id = ANY(ARRAY[r.id])`, Types: "i"},
	} {
		got, err := Citus().Text(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (- want, + got):\n%s", text, diff)
		}
	}
}

func TestUnknownSQLTokenIsRejected(t *testing.T) {
	t.Parallel()
	if _, err := SQLite().Text(`SELECT {NONSENSE}`); err == nil || !strings.Contains(err.Error(), "NONSENSE") {
		t.Errorf("got %v", err)
	}
}

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	for _, d := range []*Dialect{SQLite(), Postgres()} {
		steps, err := d.steps()
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range steps {
			if s.Version != int64(i+1) {
				t.Errorf("migration %d has the number %d", i+1, s.Version)
			}
		}
	}
}
