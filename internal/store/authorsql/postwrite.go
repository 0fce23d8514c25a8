package authorsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// writing is the state of a change to a post.
type writing struct {
	author.Writing
	c      sqldb.Conn
	writer writerRow
	feed   savedRow // locked if the change may call Make
	tally  *tally

	left, joined []string // groups of the post before and after the change
}

// WritePost implements author.PostStore.
func (s *postStore) WritePost(ctx context.Context, w author.Writing) (author.Written, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (author.Written, error) {
		t := &writing{Writing: w, c: c, tally: newTally()}
		return t.run(ctx)
	})
}

func (t *writing) run(ctx context.Context) (done author.Written, err error) {
	if t.writer, err = lockWriter(ctx, t.c, t.User); err != nil {
		return done, err
	}
	if t.Make != nil {
		// Lock the feed first, so that a concurrent save of a document comes entirely before or
		// after.
		if t.feed, err = lockSaved(ctx, t.c, t.writer.User, author.Public); err != nil {
			return done, err
		}
		t.writer.Written = t.feed.written
	}
	public := t.Change == nil && !t.Private
	if t.Change != nil {
		wrote, seen, err := t.change(ctx, &done)
		if err != nil {
			return done, err
		}
		public = seen
		if !wrote {
			done.Writer = t.writer.Writer
			return done, t.leave(ctx)
		}
	}
	if public && t.Mention && t.Change != nil {
		if err := remindSent(ctx, t.c, done.Post.User, done.Post.ID, t.At); err != nil {
			return done, err
		}
	}
	if t.Renumber {
		if err := t.renumber(ctx, &done.Post); err != nil {
			return done, err
		}
	}
	if public {
		err = t.publish(ctx, &done)
	} else {
		err = t.leave(ctx)
	}
	if err == nil {
		err = t.groups(ctx, &done)
	}
	if err != nil {
		return done, err
	}
	done.Writer = t.writer.Writer
	return done, t.finish(ctx, done, public)
}

// change runs Change and writes its result. seen reports whether readers see the change.
func (t *writing) change(ctx context.Context, done *author.Written) (wrote, seen bool, err error) {
	now, was, err := t.find(ctx)
	if err != nil {
		return false, false, err
	}
	isNew := now.Revision == 0
	done.Post, done.Found = now, t.ID == 0 && !isNew
	// Change may modify the copies that it receives, but not these values.
	next, undo, err := t.Change(now, done.Found, was, t.writer.Writer, func(slug string) (string, error) {
		return freeSlug(ctx, t.c, now.User, slug, now.ID)
	})
	if err != nil || next == nil {
		return false, false, err
	}
	p := *next
	p.User, p.ID, p.Revision = now.User, now.ID, now.Revision+1
	row, err := packPost(p)
	if err == nil {
		err = row.unpack()
	}
	if err != nil {
		return false, false, err
	}
	if undo != nil && !row.UndoUntil.IsZero() {
		if row.was.String, err = sqldb.JSON(undo); err != nil {
			return false, false, err
		}
		row.was.Valid = true
	}
	if row.Slug != now.Slug && row.Slug != "" {
		if taken, err := slugTaken(ctx, t.c, row.User, row.Slug, row.ID); err != nil || taken {
			return false, false, orElse(err, fault.New(fault.Conflict, "Another post already has the slug %q.", row.Slug))
		}
	}
	if isNew {
		err = insertPosts(ctx, t.c, []postRow{row})
	} else {
		err = updatePost(ctx, t.c, &row)
	}
	if err != nil {
		return false, false, err
	}
	if t.Thread != nil {
		if err := placePost(ctx, t.c, now, row.Post, t.Thread(row.Post)); err != nil {
			return false, false, err
		}
	}
	if err := t.keepVersion(ctx, now, row.Post); err != nil {
		return false, false, err
	}
	t.tally.change(now, row.Post)
	t.left, t.joined = audienceOf(now), audienceOf(row.Post)
	if err := hideFilesOf(ctx, t.c, row.User, now, row.Post); err != nil {
		return false, false, err
	}
	t.writer.lastID, t.writer.LastSeq = max(t.writer.lastID, row.ID), max(t.writer.LastSeq, row.Seq)
	t.writer.Posts += t.tally.posts
	done.Post = row.Post
	return true, now.State == author.Published || row.State == author.Published, t.tally.place(ctx, t.c)
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// find reads the post to change and its undo state. A new post has no Revision.
func (t *writing) find(ctx context.Context) (now author.Post, was *author.Post, err error) {
	id := t.ID
	if id == 0 {
		found, err := namedPost(ctx, t.c, t.writer.User, sqldb.Clean(t.Key), sqldb.Clean(t.GUID))
		if err != nil {
			return now, nil, err
		}
		if len(found) == 0 || found[0].State == author.Deleted {
			return author.Post{User: t.writer.User, ID: t.writer.lastID + 1, State: author.Draft}, nil, nil
		}
		id = found[0].ID
	}
	found, err := sqldb.Collect(ctx, t.c, func(rows *sql.Rows, r *postRow) error { return rows.Scan(append(r.fields(), &r.was)...) },
		`SELECT `+postColumns+`, p.was FROM post AS p WHERE p.owner = $1 AND p.id = $2 {LOCK}`, t.writer.User, id)
	if now, err = onePost(found, err); err != nil {
		return now, nil, err
	}
	if !now.UndoUntil.After(t.At) {
		now.UndoUntil = time.Time{}
		return now, nil, nil
	}
	if found[0].was.Valid {
		was = &author.Post{}
		if err := json.Unmarshal([]byte(found[0].was.String), was); err != nil {
			return now, nil, fmt.Errorf("read the undo state of post %d of %s: %w", id, t.User, err)
		}
	}
	return now, was, nil
}

// insertPosts adds posts.
func insertPosts(ctx context.Context, c sqldb.Conn, posts []postRow) error {
	rows := make([][]any, len(posts))
	for i := range posts {
		r := &posts[i]
		rows[i] = []any{r.User, r.ID, r.Revision, string(r.State), r.GUID, r.PermaLink, r.Slug, r.SlugWish, r.Seq, r.Key,
			sqldb.Millis(r.CreatedAt), sqldb.Millis(r.UpdatedAt), sqldb.Millis(r.PublishedAt), sqldb.Millis(r.DueAt), r.was.String, r.was.Valid, sqldb.Millis(r.UndoUntil), r.body}
	}
	_, err := c.Bulk(ctx, `rows(owner t, id i, revision i, state t, guid t, perma_link o, slug t, slug_wish t, seq i, post_key t,
			created_at i, updated_at i, published_at i, due_at i, was t, has_was o, was_until i, body t)
		INSERT INTO post (owner, id, revision, state, guid, perma_link, slug, slug_wish, seq, post_key,
			created_at, updated_at, published_at, due_at, was, was_until, body)
		SELECT :owner, :id, :revision, :state, :guid, :perma_link, :slug, :slug_wish, :seq, :post_key,
			:created_at, :updated_at, :published_at, :due_at, CASE WHEN :has_was THEN :was END, :was_until, :body
		{FROM ROWS} WHERE true`, rows)
	return err
}

func updatePost(ctx context.Context, c sqldb.Conn, r *postRow) error {
	_, err := c.Exec(ctx, `UPDATE post SET revision = $1, state = $2, guid = $3, perma_link = $4, slug = $5, seq = $6, post_key = $7,
			created_at = $8, updated_at = $9, published_at = $10, due_at = $11, was = $12, was_until = $13, body = $14, slug_wish = $15, indexed = false
		WHERE owner = $16 AND id = $17`,
		r.Revision, string(r.State), r.GUID, r.PermaLink, r.Slug, r.Seq, r.Key, sqldb.Millis(r.CreatedAt), sqldb.Millis(r.UpdatedAt), sqldb.Millis(r.PublishedAt),
		sqldb.Millis(r.DueAt), r.was, sqldb.Millis(r.UndoUntil), r.body, r.SlugWish, r.User, r.ID)
	return err
}

// renumber assigns new places to the published posts of the user, including p. All other posts lose
// their place; a post gets a place at the end when it is published again.
func (t *writing) renumber(ctx context.Context, p *author.Post) error {
	_, err := t.c.Exec(ctx, `UPDATE post SET seq = r.n FROM
			(SELECT p.id, p.seq, row_number() OVER (ORDER BY p.published_at, p.id) AS n FROM post AS p WHERE p.owner = $1 AND p.state = 'published') AS r
		WHERE r.seq <> r.n AND post.owner = $1 AND post.id = r.id`, t.writer.User)
	if err == nil {
		_, err = t.c.Exec(ctx, `UPDATE post SET seq = 0 WHERE owner = $1 AND state <> 'published' AND seq <> 0`, t.writer.User)
	}
	t.writer.LastSeq = t.writer.Posts
	if err == nil && p.State == author.Published {
		p.Seq, err = sqldb.Count(ctx, t.c, `SELECT p.seq FROM post AS p WHERE p.owner = $1 AND p.id = $2`, t.writer.User, p.ID)
	}
	return err
}

// publish renders the feed again and stores it.
func (t *writing) publish(ctx context.Context, done *author.Written) error {
	t.writer.Version++
	if t.Make == nil {
		return nil
	}
	newest, err := t.newest(ctx)
	if err != nil {
		return err
	}
	d, err := t.Make(t.writer.Writer, newest)
	if err != nil {
		return err
	}
	d.User, d.Name = t.writer.User, author.Public
	done.Feed, done.Changed, err = saveDocument(ctx, t.c, t.feed, d, true)
	t.writer.Written = true
	return err
}

// leave deletes the row of the feed if it was only created for the lock.
func (t *writing) leave(ctx context.Context) error {
	if t.Make == nil || t.feed.Version > 0 {
		return nil
	}
	_, err := t.c.Exec(ctx, `DELETE FROM saved WHERE owner = $1 AND name = $2 AND version = 0`, t.writer.User, author.Public)
	return err
}

// newest returns the posts of the feed: at least Window posts, down to the end of an archive page,
// so that feed and archive pages together contain all posts.
func (t *writing) newest(ctx context.Context) ([]author.Post, error) {
	window := int64(max(t.Window, 1))
	oldest, err := sqldb.Count(ctx, t.c, `SELECT COALESCE(MIN(n.seq), 1) FROM
		(SELECT p.seq FROM post AS p WHERE p.owner = $1 AND p.state = 'published' ORDER BY p.seq DESC LIMIT $2) AS n`, t.writer.User, window)
	if err != nil {
		return nil, err
	}
	return postsOf(sqldb.Collect(ctx, t.c, scanPost, `SELECT * FROM (SELECT `+postColumns+` FROM post AS p
			WHERE p.owner = $1 AND p.state = 'published' AND p.seq > $2 ORDER BY p.seq DESC LIMIT $3) AS p
		ORDER BY p.published_at DESC, p.id DESC`, t.writer.User, max(oldest-1, 0)/window*window, 2*window))
}

// finish writes the writer, the log, the stamp and the counts at the end.
func (t *writing) finish(ctx context.Context, done author.Written, public bool) error {
	if err := saveWriter(ctx, t.c, &t.writer); err != nil {
		return err
	}
	if t.Events != nil {
		if err := sqldb.AppendEvents(ctx, t.c, t.Events(done.Post, done.Writer, done.Feed, done.Changed)); err != nil {
			return err
		}
	}
	if !public {
		return nil
	}
	stamp, err := stampWriter(ctx, t.c, t.writer.User, t.At)
	if err != nil {
		return err
	}
	return t.tally.write(ctx, t.c, t.writer.User, stamp)
}
