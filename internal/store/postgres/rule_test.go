package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/store/authortest"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/storetest"
)

// These tests check a rule: one topic, one transaction, one shard. Every hub statement selects its
// rows by the first column of the key, which names the topic, and no transaction uses rows of two
// topics. The tables can therefore be partitioned by topic, and a delivery uses one partition.
// Posts follow the same rule with their owner in place of the topic.

// keyOf maps the tables with rows of many topics or writers to the first column of their key. For a
// table that Citus distributes, that is the distribution column.
var keyOf = func() map[string]string {
	keys := map[string]string{
		"alias":  "topic_id",
		"writer": "owner", "post": "owner", "post_category": "owner", "post_group": "owner", "post_count": "owner", "post_word": "owner", "saved": "owner", "saved_document": "owner",
		"outping": "owner",
	}
	for _, p := range sqldb.Placements() {
		if p.Column != "" {
			keys[p.Table] = p.Column
		}
	}
	return keys
}()

// unpartitioned reports whether a table stays on one machine. sqldb.Placements gives the reason.
func unpartitioned(table string) bool {
	return keyOf[table] == "" && slices.ContainsFunc(sqldb.Placements(), func(p sqldb.Placement) bool { return p.Table == table && p.Local() })
}

// exception is a statement that uses something other than a key, and the reason.
type exception struct {
	holds, why string
	whole      bool // the transaction that contains the statement is an exception too
	all        bool // the statement may scan a whole table
}

// exceptions lists every exception from the rule.
var exceptions = []exception{
	{holds: "WHERE due_at <= $1 LIMIT 1", why: "the poll for due work: it reads only an index of due rows"},
	{holds: "WHERE next_at <= $1 LIMIT 1", why: "the poll for due retries"},
	{holds: "SKIP LOCKED", why: "a claim takes what is due and a sweep what is over, of whatever topic, and skips what others hold", whole: true},
	{holds: "(SELECT COUNT(*) FROM topic)", why: "the numbers of the status page, while somebody looks", all: true},
	{holds: "SELECT COUNT(*) FROM intent", why: "how many requests wait, once in a while, for the limit", all: true},
	{holds: "FROM intent AS i WHERE i.at < $1", why: "the sweep searches for undecided requests"},
	{holds: "FROM topic AS t WHERE t.is_full", why: "the sweep searches for unneeded contents"},
	{holds: "FROM topic AS t JOIN body AS b", why: "the sweep searches for unneeded contents"},
	{holds: "FROM alias AS a", why: "an alias of a topic is looked up by the alias"},
	{holds: "AS r(id, now) WHERE t.id BETWEEN r.id AND r.id AND t.id = ANY(ARRAY[r.id]) AND EXISTS", why: "the few topics that the URLs of a ping may mean are read in one query"},
	{holds: "ORDER BY e.at, e.node, e.seq LIMIT", why: "events of all nodes are read by time, for users"},
	{holds: "FROM post AS p WHERE p.state = 'scheduled'", why: "the poll for due posts"},
	{holds: "FROM post AS p WHERE NOT p.indexed", why: "posts that an earlier version stored become searchable after a start", whole: true},
	{holds: "p.was_until > 0 AND p.was_until <= $1 ORDER BY", why: "the sweep deletes undo data that has expired", whole: true},
	{holds: "p.state = 'deleted' AND p.updated_at < $1 ORDER BY", why: "the sweep removes posts that were deleted long ago", whole: true},
	{holds: "FROM post AS p WHERE p.state = 'published' AND NOT EXISTS (SELECT 1 FROM account AS shut WHERE shut.name = p.owner AND shut.disabled)", why: "everyone's posts but those of disabled accounts, when somebody reads them"},
	{holds: "AND p.id = k.id AND k.name", why: "all users' posts of a category, read on request"},
	{holds: "MAX(w.changed)", why: "the stamp of everyone's feed adds up the writers, when somebody reads it", all: true},
	{holds: "FROM post_count AS n WHERE n.kind", why: "all users' counts, read on request"},
	{holds: "FROM post_count AS n WHERE NOT EXISTS (SELECT 1 FROM account AS shut WHERE shut.name = n.owner AND shut.disabled) AND n.kind", why: "all users' counts, read on request"},
}

// TestEveryTransactionOfTheHubStaysWithinOneTopic runs a hub on a real server and checks every
// statement that the server received.
func TestEveryTransactionOfTheHubStaysWithinOneTopic(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	s := openTraced(t, storetest.Postgres(t), rec)
	withoutStatistics(t, s)
	for _, user := range []string{"alice", "bob"} {
		authortest.FillPosts(t, s, user, 30)
	}
	rec.begin()
	hubDay(t, s)
	for _, user := range []string{"alice", "bob"} {
		authortest.WriterDay(t, s, user)
	}
	list := rec.end()
	used := map[string]bool{}
	for _, breach := range violations(list, used) {
		t.Error(breach)
	}
	for _, must := range []string{
		"INSERT INTO topic", "UPDATE topic SET version", "UPDATE part SET pos", "UPDATE part SET done", "FROM subscription AS s WHERE s.topic_id = $1 AND (s.bucket",
		"INSERT INTO subscription", "DELETE FROM subscription", "failing_since = CASE", "s.claim = ANY(ARRAY[r.claim])", "INSERT INTO intent", "DELETE FROM intent",
		"INSERT INTO body", "INSERT INTO alias", "INSERT INTO event", "INSERT INTO change", "owner = NULL, due_at", "INSERT INTO post", "UPDATE writer SET changed",
	} {
		if !slices.ContainsFunc(list, func(tx transaction) bool { return tx.has(must) }) {
			t.Errorf("the test executed no %q, so the statement is not checked", must)
		}
	}
	for _, problem := range plansOf(t, s, list) {
		t.Error(problem)
	}
	for _, e := range exceptions {
		if !used[e.why] {
			t.Errorf("no statement needs the exception for %q: delete it", e.why)
		}
	}
	t.Logf("%d transactions with %d different statements", len(list), len(distinct(list)))
}

// TestTransactionsThatTouchSeveralTopicsAreReported runs statements that violate the rule.
func TestTransactionsThatTouchSeveralTopicsAreReported(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	s := openTraced(t, storetest.Postgres(t), rec)
	for name, planted := range map[string]struct {
		want  string
		plans bool
		run   func(ctx context.Context, c sqldb.Conn) error
	}{
		"no key": {"has no value for topic_id", false, func(ctx context.Context, c sqldb.Conn) error {
			_, err := c.Exec(ctx, `UPDATE subscription SET failures = 0 WHERE id = $1`, int64(1))
			return err
		}},
		"another's key": {"has no value for owner", false, func(ctx context.Context, c sqldb.Conn) error {
			_, err := c.Exec(ctx, `UPDATE writer SET changed = $1 WHERE owner = ''`, int64(1))
			return err
		}},
		"two topics in a statement": {"rows of 2", false, func(ctx context.Context, c sqldb.Conn) error {
			_, err := c.Bulk(ctx, `rows(id i, at i) UPDATE topic AS t SET used_at = :at {FROM ROWS} WHERE t.id = :id`, [][]any{{int64(1), int64(2)}, {int64(2), int64(2)}})
			return err
		}},
		"two topics in a transaction": {"rows of 2", false, func(ctx context.Context, c sqldb.Conn) error {
			for _, id := range []int64{1, 2} {
				if _, err := c.Exec(ctx, `DELETE FROM body WHERE topic_id = $1`, id); err != nil {
					return err
				}
			}
			return nil
		}},
		"an unlisted table": {"goose_db_version", false, func(ctx context.Context, c sqldb.Conn) error {
			_, err := c.Exec(ctx, `UPDATE goose_db_version SET is_applied = TRUE WHERE id = $1`, int64(1))
			return err
		}},
		"a whole table": {"scans all", true, func(ctx context.Context, c sqldb.Conn) error {
			_, err := c.Exec(ctx, `UPDATE subscription SET failures = 0 WHERE callback = $1`, "x")
			return err
		}},
		"a whole index": {"scans all", true, func(ctx context.Context, c sqldb.Conn) error {
			_, err := c.Exec(ctx, `DELETE FROM part WHERE part = $1`, int64(1))
			return err
		}},
	} {
		rec.begin()
		if err := s.Write(t.Context(), planted.run); err != nil {
			t.Fatal(name, err)
		}
		list := rec.end()
		found := violations(list, map[string]bool{})
		if planted.plans {
			found = plansOf(t, s, list)
		}
		if len(found) == 0 || !strings.Contains(strings.Join(found, "\n"), planted.want) {
			t.Errorf("%s: reported %q, want a report that contains %q", name, found, planted.want)
		}
	}
}

// violations returns the statements and transactions that violate the rule. It records the applied
// exceptions in used.
func violations(list []transaction, used map[string]bool) []string {
	found := map[string]bool{}
	for _, tx := range list {
		topics := map[string]map[any]bool{}
		whole := false
		var worst string
		for _, st := range tx {
			if e, ok := exceptionOf(st.sql, exceptions); ok {
				used[e.why] = true
				whole = whole || e.whole
				continue
			}
			values, problems := st.keys()
			for _, problem := range problems {
				if !whole {
					found[problem+": "+flat(st.sql)] = true
				}
			}
			for kind, keys := range values {
				if topics[kind] == nil {
					topics[kind] = map[any]bool{}
				}
				for _, k := range keys {
					if topics[kind][k] = true; len(topics[kind]) > 1 && worst == "" {
						worst = fmt.Sprintf("a transaction has rows of %d different %ss, at: %s", len(topics[kind]), kind, flat(st.sql))
					}
				}
			}
		}
		if worst != "" && !whole {
			found[worst] = true
		}
	}
	return sorted(found)
}

func exceptionOf(sql string, list []exception) (exception, bool) {
	for _, e := range list {
		if strings.Contains(flat(sql), e.holds) {
			return e, true
		}
	}
	return exception{}, false
}

func sorted(set map[string]bool) []string {
	all := make([]string, 0, len(set))
	for s := range set {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

func flat(sql string) string { return strings.Join(strings.Fields(sql), " ") }
