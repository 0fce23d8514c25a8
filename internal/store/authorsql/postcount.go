package authorsql

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/text"
)

// countKey identifies a stored count of published posts, such as the count of a category.
type countKey struct{ kind, name string }

// countChange is the change of a count: by posts, and the newest spelling of its label.
type countChange struct {
	label string
	by    int64
}

// tally collects the effects of post changes on counts and categories.
type tally struct {
	counts        map[countKey]countChange
	posts         int64
	added, parted [][]any // rows to add to and delete from post_category
	joined, left  [][]any // rows to add to and delete from post_group
}

func newTally() *tally { return &tally{counts: map[countKey]countChange{}} }

func (t *tally) count(k countKey, label string, by int64) {
	now := t.counts[k]
	if label != "" {
		now.label = label
	}
	now.by += by
	t.counts[k] = now
}

// labels returns the categories of a published post by their folded names.
func labels(p author.Post) map[string]string {
	if p.State != author.Published {
		return nil
	}
	all := map[string]string{}
	for _, l := range p.Categories {
		if name := sqldb.Clean(author.CategoryName(l)); name != "" {
			all[name] = sqldb.Clean(l)
		}
	}
	return all
}

func month(p author.Post) countKey {
	return countKey{string(author.ByMonth), p.PublishedAt.UTC().Format("2006-01")}
}

// change records that a post changed from was to is.
func (t *tally) change(was, is author.Post) {
	had, has := labels(was), labels(is)
	if was.State == author.Published {
		t.posts--
		t.count(month(was), "", -1)
	}
	if is.State == author.Published {
		t.posts++
		t.count(month(is), "", 1)
	}
	moved := sqldb.Millis(was.PublishedAt) != sqldb.Millis(is.PublishedAt)
	t.changeGroups(was, is, moved)
	for _, name := range slices.Sorted(maps.Keys(had)) {
		t.count(countKey{string(author.ByCategory), name}, "", -1)
		if _, stays := has[name]; !stays || moved {
			t.parted = append(t.parted, []any{was.User, name, sqldb.Millis(was.PublishedAt), was.ID})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		t.count(countKey{string(author.ByCategory), name}, has[name], 1)
		if _, stood := had[name]; !stood || moved {
			t.added = append(t.added, []any{is.User, name, sqldb.Millis(is.PublishedAt), is.ID})
		}
	}
}

// changeGroups records which groups a private post left and joined.
func (t *tally) changeGroups(was, is author.Post, moved bool) {
	for _, slug := range audienceOf(was) {
		if moved || !slices.Contains(audienceOf(is), slug) {
			t.left = append(t.left, []any{was.User, slug, sqldb.Millis(was.PublishedAt), was.ID})
		}
	}
	for _, slug := range audienceOf(is) {
		if moved || !slices.Contains(audienceOf(was), slug) {
			t.joined = append(t.joined, []any{is.User, slug, sqldb.Millis(is.PublishedAt), is.ID})
		}
	}
}

// audienceOf returns the groups whose readers see a private post, or nil if the post is not
// private.
func audienceOf(p author.Post) []string {
	if p.State != author.ForGroups {
		return nil
	}
	return p.Groups
}

// place writes the changes of the tables post_category and post_group.
func (t *tally) place(ctx context.Context, c sqldb.Conn) error {
	const key, columns = `rows(owner t, name t, published_at i, id i) `, `(owner, name, published_at, id)
		SELECT :owner, :name, :published_at, :id {FROM ROWS} WHERE true`
	const same = ` AS k {USING ROWS} WHERE k.owner = :owner AND k.name = :name AND k.published_at = :published_at AND k.id = :id`
	for _, one := range []struct {
		text string
		rows [][]any
	}{
		{`DELETE FROM post_category` + same, t.parted}, {`INSERT INTO post_category ` + columns, t.added},
		{`DELETE FROM post_group` + same, t.left}, {`INSERT INTO post_group ` + columns, t.joined},
	} {
		if _, err := c.Bulk(ctx, key+one.text, one.rows); err != nil {
			return err
		}
	}
	return nil
}

// write writes the counts of a user, whose row is already locked.
func (t *tally) write(ctx context.Context, c sqldb.Conn, user string, stamp int64) error {
	var rows [][]any
	for k, n := range t.counts {
		rows = append(rows, []any{user, k.kind, k.name, n.label, n.by, stamp})
	}
	_, err := c.Bulk(ctx, `rows(owner t, kind t, name t, label t, posts i, changed i)
		INSERT INTO post_count (owner, kind, name, label, posts, changed, version)
		SELECT :owner, :kind, :name, :label, :posts, :changed, 1 {FROM ROWS} WHERE true
		ON CONFLICT (owner, kind, name) DO UPDATE SET posts = post_count.posts + excluded.posts, changed = excluded.changed,
			version = post_count.version + 1,
			label = CASE WHEN excluded.label = '' THEN post_count.label ELSE excluded.label END`, rows)
	return err
}

// labelOfAll selects the spelling of a category that was written last, by any user.
const labelOfAll = `COALESCE((SELECT l.label FROM post_count AS l WHERE l.kind = 'category' AND l.name = n.name AND l.label <> ''
	ORDER BY l.changed DESC LIMIT 1), '')`

// PostCounts implements author.PostStore. The user "" means all users together.
func (s *postStore) PostCounts(ctx context.Context, user string, what author.CountOf, prefix string, n int) ([]author.Count, error) {
	var w sqldb.Where
	all := user == ""
	if all {
		w.Add(notShut("n.owner"))
	} else {
		w.Add("n.owner = ?", sqldb.Clean(user))
	}
	order, label := "", labelOfAll
	switch what {
	case author.ByMonth:
		w.Add("n.kind = 'month'")
		order, label = " DESC", `''`
	case author.ByCategory:
		w.Add("n.kind = 'category'")
		if prefix != "" {
			w.Add("n.name >= ? AND n.name < ?", sqldb.Clean(prefix), sqldb.Clean(prefix)+"\U0010FFFF")
		}
	default:
		return nil, fault.New(fault.Invalid, "Posts are counted by month or by category, not by %q.", string(what))
	}
	w.Add("n.posts > 0")
	if n <= 0 {
		n = 1000
	}
	statement := `SELECT n.name, n.label, n.posts FROM post_count AS n` + w.String()
	if all {
		statement = `SELECT n.name, ` + label + `, CAST(SUM(n.posts) AS BIGINT) FROM post_count AS n` + w.String() + ` GROUP BY n.name`
	}
	statement += ` ORDER BY n.name` + order + ` LIMIT ` + w.Arg(min(n, 10_000))
	counts, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]author.Count, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, n *author.Count) error { return rows.Scan(&n.Name, &n.Label, &n.Posts) }, statement, w.Args...)
	})
	if what == author.ByCategory {
		slices.SortFunc(counts, func(a, b author.Count) int {
			return cmp.Or(text.CompareNames(a.Label, b.Label), strings.Compare(a.Name, b.Name))
		})
	}
	return counts, err
}
