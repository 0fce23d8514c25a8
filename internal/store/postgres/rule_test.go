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

// The rule: one topic, one transaction, one shard. Every statement of the hub names the
// topic whose rows it touches, by the column that leads the key, and no transaction has
// rows of two. So the tables can be spread over machines by the topic, and a delivery
// concerns one of them. Posts keep the same rule with their owner.

// keyOf is the column that leads the key of each table that has many rows of many topics,
// or of many writers.
var keyOf = map[string]string{
	"topic": "id", "part": "topic_id", "subscription": "topic_id", "body": "topic_id", "alias": "topic_id",
	"intent": "topic_id", "event": "topic_id",
	"writer": "owner", "post": "owner", "post_category": "owner", "post_count": "owner", "saved": "owner", "saved_document": "owner",
	"outping": "owner",
}

// apartFrom are the tables that stay in one place, and why that holds nobody up.
var unpartitioned = map[string]string{
	"task":          "once in a cluster and hour, by its name",
	"minute":        "one row a node and minute",
	"probe":         "one row that is written by whoever asks whether writing works",
	"change":        "the list of changes is one list: rows that are only added, each node its own",
	"change_count":  "how long that list is, in 16 rows, taken last",
	"testfeed":      "a few rows, changed by hand",
	"media":         "files are not delivered",
	"media_content": "files are not delivered",
	"media_piece":   "files are not delivered",
}

// exception is a statement that goes by something else than a key, and why.
type exception struct {
	holds, why string
	whole      bool // its transaction is one too
	all        bool // it may go through a whole table
}

// exceptions are all that there are.
var exceptions = []exception{
	{holds: "WHERE due_at <= $1)", why: "the look for work that is due: an index of what is due, and nothing else"},
	{holds: "WHERE next_at <= $1)", why: "the look for retries that are due"},
	{holds: "SKIP LOCKED", why: "a claim takes what is due and a sweep what is over, of whatever topic, and skips what others hold", whole: true},
	{holds: "(SELECT COUNT(*) FROM topic)", why: "the numbers of the status page, while somebody looks", all: true},
	{holds: "SELECT COUNT(*) FROM intent", why: "how many requests wait, once in a while, for the limit", all: true},
	{holds: "FROM intent AS i WHERE i.at < $1", why: "the sweep looks for requests that nobody decided"},
	{holds: "FROM topic AS t WHERE t.is_full", why: "the sweep looks for contents that nobody needs"},
	{holds: "FROM topic AS t JOIN body AS b", why: "the sweep looks for contents that nobody needs"},
	{holds: "FROM alias AS a", why: "another name of a topic is looked up by that name"},
	{holds: "AS r(id, now) WHERE t.id = r.id AND EXISTS", why: "the few topics that the addresses in a ping may mean are read at once"},
	{holds: "ORDER BY e.at, e.node, e.seq LIMIT", why: "what other nodes did is read by time, for people who look"},
	{holds: "FROM post AS p WHERE p.state = 'scheduled'", why: "the look for posts that are due"},
	{holds: "p.was_until > 0 AND p.was_until <= $1 ORDER BY", why: "the sweep forgets what can no longer be taken back", whole: true},
	{holds: "p.state = 'deleted' AND p.updated_at < $1 ORDER BY", why: "the sweep removes what was deleted long ago", whole: true},
	{holds: "FROM post AS p WHERE p.state = 'published' AND NOT EXISTS (SELECT 1 FROM account AS shut WHERE shut.name = p.owner AND shut.disabled)", why: "everyone's posts but those of disabled accounts, when somebody reads them"},
	{holds: "AND p.id = k.id AND k.name", why: "everyone's posts of a category, when somebody reads them"},
	{holds: "MAX(w.changed)", why: "the stamp of everyone's feed adds up the writers, when somebody reads it", all: true},
	{holds: "FROM post_count AS n WHERE n.kind", why: "everyone's numbers, when somebody reads them"},
	{holds: "FROM post_count AS n WHERE NOT EXISTS (SELECT 1 FROM account AS shut WHERE shut.name = n.owner AND shut.disabled) AND n.kind", why: "everyone's numbers, when somebody reads them"},
}

// TestEveryTransactionOfTheHubStaysWithinOneTopic plays a hub's day on a real server and
// looks at every statement as the server got it.
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
		"INSERT INTO subscription", "DELETE FROM subscription", "failing_since = CASE", "s.claim = r.claim", "INSERT INTO intent", "DELETE FROM intent",
		"INSERT INTO body", "INSERT INTO alias", "INSERT INTO event", "INSERT INTO change", "owner = NULL, due_at", "INSERT INTO post", "UPDATE writer SET changed",
	} {
		if !slices.ContainsFunc(list, func(tx transaction) bool { return tx.has(must) }) {
			t.Errorf("the day had no %q: what is not seen is not checked", must)
		}
	}
	for _, problem := range plansOf(t, s, list) {
		t.Error(problem)
	}
	for _, e := range exceptions {
		if !used[e.why] {
			t.Errorf("no statement needs the exception for %q any more: take it away", e.why)
		}
	}
	t.Logf("%d transactions with %d different statements", len(list), len(distinct(list)))
}

// TestWhatBreaksTheRuleIsReported plants statements that break it.
func TestRuleViolationsAreReported(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	s := openTraced(t, storetest.Postgres(t), rec)
	for name, planted := range map[string]struct {
		want  string
		plans bool
		run   func(ctx context.Context, c sqldb.Conn) error
	}{
		"no key": {"names no topic_id", false, func(ctx context.Context, c sqldb.Conn) error {
			_, err := c.Exec(ctx, `UPDATE subscription SET failures = 0 WHERE id = $1`, int64(1))
			return err
		}},
		"another's key": {"names no owner", false, func(ctx context.Context, c sqldb.Conn) error {
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
		"a table that nobody thought of": {"goose_db_version", false, func(ctx context.Context, c sqldb.Conn) error {
			_, err := c.Exec(ctx, `UPDATE goose_db_version SET is_applied = TRUE WHERE id = $1`, int64(1))
			return err
		}},
		"a whole table": {"goes through", true, func(ctx context.Context, c sqldb.Conn) error {
			_, err := c.Exec(ctx, `UPDATE subscription SET failures = 0 WHERE callback = $1`, "x")
			return err
		}},
		"a whole index": {"goes through", true, func(ctx context.Context, c sqldb.Conn) error {
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
			t.Errorf("%s: reported %q, want something with %q", name, found, planted.want)
		}
	}
}

// breaches are the statements and transactions that break the rule. used gathers the
// exceptions that were made.
func violations(list []transaction, used map[string]bool) []string {
	found := map[string]bool{}
	for _, tx := range list {
		topics := map[string]map[any]bool{}
		whole := false
		var worst string
		for _, st := range tx {
			if e, ok := exceptionOf(st.sql); ok {
				used[e.why] = true
				whole = whole || e.whole
				continue
			}
			values, problem := st.keys()
			if problem != "" && !whole {
				found[problem+": "+flat(st.sql)] = true
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

func exceptionOf(sql string) (exception, bool) {
	for _, e := range exceptions {
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
