package authorsql

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/river/search"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/store/sqldb"
)

// searchedRows is the maximum number of posts with the rarest word that a search compares with the
// other words.
const searchedRows = 1000

// Limits of words.
const (
	soughtWords = 8
	postWords   = 2000 // maximum number of different words of a post by which it is found
)

// wordsOf returns the different words of a text, in lowercase and without accents, at most limit.
func wordsOf(text string, limit int) (all []string) {
	known := map[string]bool{}
	search.Split(text, func(w string, _ bool) bool {
		if w != "" && !known[w] {
			known[w] = true
			all = append(all, w)
		}
		return len(all) < limit
	})
	return all
}

// wordsOfPost returns the words by which a post is found.
func wordsOfPost(p *author.Post) []string {
	parts := append([]string{p.Title, sanitize.Text(p.HTML)}, p.Categories...)
	for _, e := range p.Enclosures {
		parts = append(parts, e.Title, e.Alt)
	}
	return wordsOf(strings.Join(append(parts, nodeTexts(p.Outline)...), " "), postWords)
}

func nodeTexts(nodes []author.Node) (all []string) {
	for _, n := range nodes {
		all = append(append(all, n.Title, sanitize.Text(n.HTML)), nodeTexts(n.Nodes)...)
	}
	return all
}

// foundPost is a post that contains a word.
type foundPost struct{ at, id int64 }

// SearchPosts implements author.SiteStore. It begins with the rarest word.
func (s *siteStore) SearchPosts(ctx context.Context, user, sought string, limit int) ([]author.Post, error) {
	user = sqldb.Clean(user)
	words := wordsOf(sought, soughtWords)
	return postsOf(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]postRow, error) {
		type counted struct {
			word  string
			posts int64
		}
		var all []counted
		for _, w := range words {
			n, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM (SELECT 1 FROM post_word AS k WHERE k.owner = $1 AND k.word = $2 LIMIT $3) AS n`, user, sqldb.Clean(w), searchedRows+1)
			if err != nil || n == 0 {
				return nil, err
			}
			all = append(all, counted{sqldb.Clean(w), n})
		}
		if len(all) == 0 {
			return nil, nil
		}
		slices.SortStableFunc(all, func(a, b counted) int { return cmp.Compare(a.posts, b.posts) })
		text, args := strings.Builder{}, []any{user, all[0].word, searchedRows}
		text.WriteString(`SELECT n.published_at, n.id FROM (SELECT k.published_at, k.id FROM post_word AS k WHERE k.owner = $1 AND k.word = $2
			ORDER BY k.published_at DESC, k.id DESC LIMIT $3) AS n WHERE 1 = 1`)
		for _, w := range all[1:] {
			args = append(args, w.word)
			text.WriteString(` AND EXISTS (SELECT 1 FROM post_word AS o WHERE o.owner = $1 AND o.word = $` + strconv.Itoa(len(args)) + ` AND o.published_at = n.published_at AND o.id = n.id)`)
		}
		found, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, f *foundPost) error { return rows.Scan(&f.at, &f.id) }, text.String(), args...)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(found, func(a, b foundPost) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.id, a.id)) })
		var posts []postRow
		for _, f := range found[:min(len(found), sqldb.Limit(limit))] {
			one, err := sqldb.Collect(ctx, c, scanPost, `SELECT `+postColumns+` FROM post AS p WHERE p.owner = $1 AND p.id = $2`, user, f.id)
			if err != nil {
				return nil, err
			}
			if len(one) > 0 && one[0].State == author.Published { // checked here: with a condition, PostgreSQL would read all published posts
				posts = append(posts, one...)
			}
		}
		return posts, nil
	}))
}

// IndexPosts implements author.SiteStore. Each call handles the posts of one user. It splits the texts
// before the transaction, and detects by the revision that a post has changed meanwhile.
func (s *siteStore) IndexPosts(ctx context.Context, limit int) (int, error) {
	found, err := postsOf(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]postRow, error) {
		return sqldb.Collect(ctx, c, scanPost, `SELECT `+postColumns+` FROM post AS p WHERE NOT p.indexed ORDER BY p.owner, p.id LIMIT $1`, sqldb.Limit(limit))
	}))
	if err != nil || len(found) == 0 {
		return 0, err
	}
	user, words, rows := found[0].User, map[int64][]string{}, [][]any(nil)
	for i := range found {
		p := &found[i]
		if p.User != user {
			break
		}
		if rows = append(rows, []any{user, p.ID, p.Revision, sqldb.Millis(p.PublishedAt)}); p.State == author.Published {
			words[p.ID] = wordsOfPost(p)
		}
	}
	return len(rows), s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error { return s.index(ctx, c, rows, words) })
}

// index replaces the words of those posts that still have the same revision. A post with revision 1
// has no words yet.
func (s *siteStore) index(ctx context.Context, c sqldb.Conn, posts [][]any, words map[int64][]string) error {
	same := map[int64]bool{}
	err := c.BulkQuery(ctx, `rows(author t, number i, version i, at i) UPDATE post AS p SET indexed = true {FROM ROWS}
		WHERE p.owner = :author AND p.id = :number AND p.revision = :version AND p.indexed = false RETURNING id`, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		same[id] = true
		return err
	}, posts)
	if err != nil {
		return err
	}
	var old, left [][]any
	for _, p := range posts {
		id := p[1].(int64)
		if !same[id] {
			continue
		}
		if p[2].(int64) > 1 {
			old = append(old, p[:2])
		}
		left = append(left, p)
	}
	if _, err := c.Bulk(ctx, `rows(owner t, id i) DELETE FROM post_word AS k {USING ROWS} WHERE k.owner = :owner AND k.id = :id`, old); err != nil {
		return err
	}
	return s.insertWords(ctx, c, left, words)
}

// insertWords runs one statement: SQLite would run a bulk statement once per word. In SQLite the
// statement reads an object of the words, in the order of the table, with the IDs and times of their
// posts: a list of rows needs an extraction for each column of each row.
func (s *siteStore) insertWords(ctx context.Context, c sqldb.Conn, posts [][]any, words map[int64][]string) error {
	if s.db.Shared {
		var rows [][]any
		for _, p := range posts {
			for _, w := range words[p[1].(int64)] {
				rows = append(rows, []any{p[0], sqldb.Clean(w), p[3], p[1]})
			}
		}
		_, err := c.Bulk(ctx, `rows(owner t, word t, published_at i, id i) INSERT INTO post_word (owner, word, published_at, id)
			SELECT :owner, :word, :published_at, :id {FROM ROWS} WHERE true`, rows)
		return err
	}
	times := map[string]map[int64]int64{}
	for _, p := range posts {
		id := p[1].(int64)
		for _, w := range words[id] {
			w = sqldb.Clean(w)
			if times[w] == nil {
				times[w] = map[int64]int64{}
			}
			times[w][id] = p[3].(int64)
		}
	}
	if len(times) == 0 {
		return nil
	}
	list, err := json.Marshal(times)
	if err == nil {
		_, err = c.Exec(ctx, `INSERT INTO post_word (owner, word, published_at, id)
			SELECT $1, w.key, p.value, p.key FROM json_each($2) AS w, json_each(w.value) AS p`, posts[0][0], string(list))
	}
	return err
}
