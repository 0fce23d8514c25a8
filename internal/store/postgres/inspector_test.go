package postgres

import (
	"context"
	"flag"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"cloudburst/internal/store/sqldb"
)

// readsOfAllTopics are the statements of the contract tests that use a distributed table without
// its key, in addition to exceptions. Each is a poll that reads the start of an index, or belongs
// to a page that an administrator opens.
var readsOfAllTopics = []exception{
	{holds: "SELECT due_at FROM", why: "a node without work looks for the time of the next work"},
	{holds: "SELECT next_at FROM", why: "a node without work looks for the time of the next retry"},
	{holds: "FROM subscription AS s JOIN topic AS t ON t.id = s.topic_id", why: "the list of subscriptions"},
	{holds: "FROM event AS e", why: "the log, filtered"},
	{holds: "FROM topic AS t LEFT JOIN", why: "the list of topics with their subscribers"},
	{holds: "(SELECT COUNT(*) FROM subscription AS s WHERE s.topic_id = t.id AND s.expires_at + 0 > $1) FROM topic AS t", why: "the list of topics"},
	{holds: "FROM topic AS t WHERE t.id = ANY(ARRAY(SELECT CAST(v AS BIGINT)", why: "topics by a list of ids"},
	{holds: "SELECT t.url FROM topic AS t WHERE t.url >= $1", why: "feeds of this server that have subscribers"},
}

// inspector is a pgx.QueryTracer. It checks that each statement uses distributed tables only with
// their key, so that Citus sends it to one shard. It looks at each SQL text once.
type inspector struct {
	mu         sync.Mutex
	seen, used map[string]bool
	problems   map[string]bool
	bulk       map[string][]any // bulk statements and their arguments
}

func newInspector() *inspector {
	return &inspector{seen: map[string]bool{}, used: map[string]bool{}, problems: map[string]bool{}, bulk: map[string][]any{}}
}

func (i *inspector) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.seen[data.SQL] {
		return ctx
	}
	i.seen[data.SQL] = true
	if unnestRE.MatchString(data.SQL) {
		i.bulk[data.SQL] = data.Args
	}
	if problem := i.check(statement{data.SQL, values(data.Args)}); problem != "" {
		i.problems[problem+": "+flat(data.SQL)] = true
	}
	return ctx
}

func (i *inspector) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (i *inspector) check(st statement) string {
	if _, ok := exceptionOf(st.sql, exceptions); ok {
		return ""
	}
	_, problems := st.keys()
	for _, p := range sqldb.Placements() {
		problem := problems[p.Table]
		if p.Column == "" || problem == "" {
			continue
		}
		if e, ok := exceptionOf(st.sql, readsOfAllTopics); ok {
			i.used[e.why] = true
			continue
		}
		return problem
	}
	return ""
}

// report fails the test for each problem, and for each exception that no statement needed.
func (i *inspector) report(t *testing.T) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, problem := range sorted(i.problems) {
		t.Error(problem)
	}
	some := strings.Contains(flag.Lookup("test.run").Value.String(), "/") // a run of some groups needs some exceptions
	for _, e := range readsOfAllTopics {
		if !some && !i.used[e.why] {
			t.Errorf("no statement needs the exception for %q: delete it", e.why)
		}
	}
	t.Logf("%d different statements", len(i.seen))
}
