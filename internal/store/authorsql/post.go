package authorsql

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/store/sqldb"
)

const postColumns = `p.owner, p.id, p.revision, p.state, p.guid, p.perma_link, p.slug, p.slug_wish, p.seq, p.post_key,
	p.created_at, p.updated_at, p.published_at, p.due_at, p.was_until, p.body`

// postRow is a post as stored.
type postRow struct {
	author.Post
	body string
	was  sql.NullString
}

func (r *postRow) fields() []any {
	p := &r.Post
	return []any{&p.User, &p.ID, &p.Revision, (*string)(&p.State), &p.GUID, &p.PermaLink, &p.Slug, &p.SlugWish, &p.Seq, &p.Key,
		(*sqldb.Time)(&p.CreatedAt), (*sqldb.Time)(&p.UpdatedAt), (*sqldb.Time)(&p.PublishedAt), (*sqldb.Time)(&p.DueAt), (*sqldb.Time)(&p.UndoUntil), &r.body}
}

func scanPost(rows *sql.Rows, r *postRow) error { return rows.Scan(r.fields()...) }

// unpack decodes the stored content.
func (r *postRow) unpack() error {
	r.Content = author.Content{}
	if err := json.Unmarshal([]byte(r.body), &r.Content); err != nil {
		return fmt.Errorf("read post %d of %s: %w", r.ID, r.User, err)
	}
	return nil
}

// packPost encodes a post as a row. The Post in the row has the values that a later read returns,
// except for its Content, which unpack replaces by that of a later read.
func packPost(p author.Post) (postRow, error) {
	p.User, p.GUID, p.Slug, p.SlugWish, p.Key = sqldb.Clean(p.User), sqldb.Clean(p.GUID), sqldb.Clean(p.Slug), sqldb.Clean(p.SlugWish), sqldb.Clean(p.Key)
	for _, t := range []*time.Time{&p.CreatedAt, &p.UpdatedAt, &p.PublishedAt, &p.DueAt, &p.UndoUntil} {
		if v := sqldb.Millis(*t); v == 0 {
			*t = time.Time{}
		} else {
			*t = time.UnixMilli(v).UTC()
		}
	}
	body, err := sqldb.JSON(&p.Content)
	return postRow{Post: p, body: body}, err
}

// postsOf unpacks the rows of a query, outside of the transaction.
func postsOf(found []postRow, err error) ([]author.Post, error) {
	if err != nil || len(found) == 0 {
		return nil, err
	}
	all := make([]author.Post, len(found))
	for i := range found {
		if err := found[i].unpack(); err != nil {
			return nil, err
		}
		all[i] = found[i].Post
	}
	return all, nil
}

func onePost(found []postRow, err error) (author.Post, error) {
	all, err := postsOf(found, err)
	return sqldb.First(all, err, "There is no such post.")
}

// Post implements author.PostStore.
func (s *postStore) Post(ctx context.Context, user string, id int64) (author.Post, error) {
	return onePost(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]postRow, error) {
		return sqldb.Collect(ctx, c, scanPost, `SELECT `+postColumns+` FROM post AS p WHERE p.owner = $1 AND p.id = $2`, sqldb.Clean(user), id)
	}))
}

// PostBySlug implements author.PostStore.
func (s *postStore) PostBySlug(ctx context.Context, user, slug string) (author.Post, error) {
	return onePost(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]postRow, error) {
		return sqldb.Collect(ctx, c, scanPost, `SELECT `+postColumns+` FROM post AS p
			WHERE p.owner = $1 AND p.slug = $2 AND p.slug <> '' AND p.state IN ('published', 'deleted')`, sqldb.Clean(user), sqldb.Clean(slug))
	}))
}

// PostByKey implements author.PostStore. Of several matches it returns the newest, deleted posts
// last.
func (s *postStore) PostByKey(ctx context.Context, user, key, guid string) (author.Post, error) {
	return onePost(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]postRow, error) {
		return namedPost(ctx, c, sqldb.Clean(user), sqldb.Clean(key), sqldb.Clean(guid))
	}))
}

// namedPost finds a post by its GUID or its key. Either may be "". The statements have no
// order, so that SQLite uses the index of the GUID or key; for an order by id it would read all posts
// of the user.
func namedPost(ctx context.Context, c sqldb.Conn, user, key, guid string) ([]postRow, error) {
	for _, by := range []struct{ name, text string }{
		{guid, `SELECT ` + postColumns + ` FROM post AS p WHERE p.owner = $1 AND p.guid = $2 AND p.guid <> ''`},
		{key, `SELECT ` + postColumns + ` FROM post AS p WHERE p.owner = $1 AND p.post_key = $2 AND p.post_key <> ''`},
	} {
		if by.name == "" {
			continue
		}
		found, err := sqldb.Collect(ctx, c, scanPost, by.text+` LIMIT 1000`, user, by.name)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(found, func(a, b postRow) int { return cmp.Compare(b.ID, a.ID) }) // newest first
		for i := range found {
			if found[i].State != author.Deleted {
				return found[i : i+1], nil
			}
		}
		if len(found) > 0 {
			return found[:1], nil
		}
	}
	return nil, nil
}

// DuePosts implements author.PostStore.
func (s *postStore) DuePosts(ctx context.Context, now time.Time, n int) ([]author.Post, error) {
	return postsOf(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]postRow, error) {
		return sqldb.Collect(ctx, c, scanPost, `SELECT `+postColumns+` FROM post AS p
			WHERE p.state = 'scheduled' AND p.due_at <= $1 ORDER BY p.due_at, p.owner, p.id LIMIT $2`, sqldb.Millis(now), sqldb.Limit(n))
	}))
}

// NextDuePost implements author.PostStore.
func (s *postStore) NextDuePost(ctx context.Context) (time.Time, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (at time.Time, err error) {
		err = c.Query(ctx, `SELECT p.due_at FROM post AS p WHERE p.state = 'scheduled' ORDER BY p.due_at LIMIT 1`,
			func(rows *sql.Rows) error { return rows.Scan((*sqldb.Time)(&at)) })
		return at, err
	})
}

// sweptPosts is the maximum number of rows that one transaction of a sweep changes.
const sweptPosts = 500

// SweepPosts implements author.PostStore, with as many transactions as needed.
func (s *postStore) SweepPosts(ctx context.Context, now, forget time.Time) error {
	for _, sweep := range []func(ctx context.Context, c sqldb.Conn) (int, error){
		func(ctx context.Context, c sqldb.Conn) (int, error) {
			n, err := c.Exec(ctx, `UPDATE post SET was = NULL, was_until = 0 WHERE was_until > 0 AND was_until <= $1 AND (owner, id) IN
				(SELECT p.owner, p.id FROM post AS p WHERE p.was_until > 0 AND p.was_until <= $1 ORDER BY p.was_until LIMIT $2)`, sqldb.Millis(now), sweptPosts)
			return int(n), err
		},
		func(ctx context.Context, c sqldb.Conn) (int, error) { return forgetPosts(ctx, c, forget) },
	} {
		for n := sweptPosts; n == sweptPosts; {
			var err error
			if n, err = sqldb.Write(ctx, s.db, sweep); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetPosts deletes posts that were deleted before a time, with their earlier versions, and returns
// their number.
func forgetPosts(ctx context.Context, c sqldb.Conn, before time.Time) (int, error) {
	gone, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, p *author.Post) error { return rows.Scan(&p.User, &p.ID) },
		`DELETE FROM post WHERE state = 'deleted' AND updated_at < $1 AND (owner, id) IN
			(SELECT p.owner, p.id FROM post AS p WHERE p.state = 'deleted' AND p.updated_at < $1 ORDER BY p.updated_at LIMIT $2) RETURNING owner, id`, sqldb.Millis(before), sweptPosts)
	for _, p := range gone {
		if _, err := c.Exec(ctx, `DELETE FROM post_version WHERE owner = $1 AND post_id = $2`, p.User, p.ID); err != nil {
			return 0, err
		}
	}
	return len(gone), err
}
