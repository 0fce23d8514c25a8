package authorsql

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// maxAdded is the maximum number of posts of one AddPosts call.
const maxAdded = 1000

// AddPosts implements author.PostStore.
func (s *postStore) AddPosts(ctx context.Context, user string, now time.Time, posts []author.Post) (int, error) {
	if len(posts) > maxAdded {
		return 0, fault.New(fault.Invalid, "cannot add %d posts: at most %d are allowed at a time.", len(posts), maxAdded)
	}
	packed := make([]postRow, len(posts))
	for i, p := range posts {
		p.User, p.UndoUntil, p.Revision = user, time.Time{}, 1
		var err error
		if packed[i], err = packPost(p); err != nil {
			return 0, err
		}
	}
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int, error) {
		w, err := lockWriter(ctx, c, user)
		if err != nil {
			return 0, err
		}
		rows, err := unknownPosts(ctx, c, w.User, packed)
		if err != nil || len(rows) == 0 {
			return 0, err
		}
		slugs := &slugs{c: c, user: w.User, taken: map[string]bool{}, next: map[string]int{}}
		if err := slugs.load(ctx, rows); err != nil {
			return 0, err
		}
		t := newTally()
		for i := range rows {
			r := &rows[i]
			w.lastID++
			if r.ID, r.Seq = w.lastID, 0; r.State == author.Published {
				w.LastSeq++
				r.Seq = w.LastSeq
			}
			if r.Slug, err = slugs.free(ctx, r.Slug); err != nil {
				return 0, err
			}
			t.change(author.Post{}, r.Post)
		}
		if err := addPosts(ctx, c, &w, now, rows, t); err != nil {
			return 0, err
		}
		bodies := make([]string, len(rows))
		for i := range rows {
			bodies[i] = rows[i].body
		}
		return len(rows), hideFiles(ctx, c, w.User, bodies...)
	})
}

func addPosts(ctx context.Context, c sqldb.Conn, w *writerRow, now time.Time, rows []postRow, t *tally) error {
	if err := insertPosts(ctx, c, rows); err != nil {
		return err
	}
	if err := t.place(ctx, c); err != nil {
		return err
	}
	w.Posts += t.posts
	if t.posts > 0 {
		w.Version++
	}
	if err := saveWriter(ctx, c, w); err != nil || t.posts == 0 {
		return err
	}
	stamp, err := stampWriter(ctx, c, w.User, now)
	if err != nil {
		return err
	}
	return t.write(ctx, c, w.User, stamp)
}

// unknownPosts returns the posts whose GUID neither the user's posts nor an earlier post in the
// list has.
func unknownPosts(ctx context.Context, c sqldb.Conn, user string, posts []postRow) ([]postRow, error) {
	var guids [][]any
	known := map[string]bool{}
	for _, r := range posts {
		if r.GUID != "" && !known[r.GUID] {
			known[r.GUID] = true
			guids = append(guids, []any{user, r.GUID})
		}
	}
	clear(known)
	err := c.BulkQuery(ctx, `rows(owner t, guid t) SELECT p.guid FROM post AS p {AND ROWS} WHERE p.owner = :owner AND p.guid = :guid AND p.guid <> ''`,
		func(rows *sql.Rows) error {
			var guid string
			err := rows.Scan(&guid)
			known[guid] = true
			return err
		}, guids)
	var unknown []postRow
	for _, r := range posts {
		if r.GUID != "" && known[r.GUID] {
			continue
		}
		known[r.GUID] = true
		unknown = append(unknown, r)
	}
	return unknown, err
}
