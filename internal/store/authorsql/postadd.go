package authorsql

import (
	"context"
	"database/sql"
	"slices"
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
		rows, err := s.unknownPosts(ctx, c, w.User, packed)
		if err != nil || len(rows) == 0 {
			return 0, err
		}
		slugs := &slugs{store: s, c: c, user: w.User, next: map[string]numbers{}}
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
func (s *postStore) unknownPosts(ctx context.Context, c sqldb.Conn, user string, posts []postRow) ([]postRow, error) {
	guids := make([]string, len(posts))
	for i := range posts {
		guids[i] = posts[i].GUID
	}
	known, err := s.known(ctx, c, "guid", user, guids)
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

// KnownGUIDs implements author.PostStore.
func (s *postStore) KnownGUIDs(ctx context.Context, user string, guids []string) (map[string]bool, error) {
	clean := make([]string, len(guids))
	for i, guid := range guids {
		clean[i] = sqldb.Clean(guid)
	}
	known, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (map[string]bool, error) {
		return s.known(ctx, c, "guid", sqldb.Clean(user), clean)
	})
	for i, guid := range guids {
		if known[clean[i]] {
			known[guid] = true
		}
	}
	return known, err
}

// knownBatch is the number of texts that one statement of known looks up in SQLite.
const knownBatch = 50

var inKnown = sqldb.Placeholders(2, knownBatch)

// known returns those of the texts that posts of the user have in a column. In SQLite, which runs a
// bulk statement once for each row, one statement looks up many texts. For such a statement PostgreSQL
// can read all posts of the user.
func (s *postStore) known(ctx context.Context, c sqldb.Conn, column, user string, texts []string) (map[string]bool, error) {
	known, sought := map[string]bool{}, slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return t == "" })
	slices.Sort(sought)
	sought = slices.Compact(sought)
	add := func(rows *sql.Rows) error {
		var t string
		err := rows.Scan(&t)
		known[t] = true
		return err
	}
	if s.db.Shared {
		rows := make([][]any, len(sought))
		for i, t := range sought {
			rows[i] = []any{user, t}
		}
		return known, c.BulkQuery(ctx, `rows(owner t, sought t) SELECT p.`+column+` FROM post AS p {AND ROWS} WHERE p.owner = :owner AND p.`+column+` = :sought AND p.`+column+` <> ''`, add, rows)
	}
	for some := range slices.Chunk(sought, knownBatch) {
		args := []any{user}
		for i := range knownBatch {
			args = append(args, some[min(i, len(some)-1)])
		}
		if err := c.Query(ctx, `SELECT p.`+column+` FROM post AS p WHERE p.owner = $1 AND p.`+column+` IN (`+inKnown+`) AND p.`+column+` <> ''`, add, args...); err != nil {
			return known, err
		}
	}
	return known, nil
}
