package authorsql

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/store/sqldb"
)

// renameEntries gives the entry of a post and the replies to the post their new keys after the path
// of the post changed. "": the post has no path.
func renameEntries(ctx context.Context, c sqldb.Conn, from, to string) error {
	if from == "" || to == "" || from == to {
		return nil
	}
	old, id := conversation.KeyOf(from), conversation.KeyOf(to)
	const renamed = `parent_id = CASE WHEN parent_id = $1 THEN $2 ELSE parent_id END, parent = CASE WHEN parent = $3 THEN $4 ELSE parent END `
	own, err := sqldb.Collect(ctx, c, scanPlace, `SELECT `+placeColumns+` FROM thread_entry AS e WHERE e.id = $1`, old)
	for _, p := range own { // the post is a reply itself, so the replies to it have the same root
		if err == nil {
			_, err = c.Exec(ctx, `UPDATE thread_entry SET `+renamed+`WHERE root_id = $5 AND path >= $6 AND path < $7`, old, id, from, to, p.root, p.path, p.path+afterPaths)
		}
		if err == nil {
			_, err = c.Exec(ctx, `UPDATE thread_entry SET id = $1, name = $2, guid_id = CASE WHEN guid_id = $3 THEN $1 ELSE guid_id END WHERE id = $3`, id, to, old)
		}
	}
	if err == nil {
		_, err = c.Exec(ctx, `UPDATE thread_entry SET `+renamed+`, root_id = $2 WHERE root_id = $1`, old, id, from, to)
	}
	return err
}

// currentPaths replaces paths of posts of this server that have an earlier date.
func currentPaths(ctx context.Context, c sqldb.Conn, names []string) ([]string, error) {
	names = slices.Clone(names)
	for i, name := range names {
		user, slug, ok := author.SlugAt(name)
		if !ok {
			continue
		}
		dates, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, at *time.Time) error { return rows.Scan((*sqldb.Time)(at)) },
			`SELECT p.published_at FROM post AS p WHERE p.owner = $1 AND p.slug = $2`, sqldb.Clean(user), sqldb.Clean(slug))
		if err != nil {
			return nil, err
		}
		for _, at := range dates {
			if path := author.DatedPath(author.Post{User: user, Slug: slug, PublishedAt: at}); path != "" {
				names[i] = path
			}
		}
	}
	return names, nil
}
