package authorsql

import (
	"context"
	"database/sql"
	"slices"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// scanPage scans a page; its source is empty in a list.
func scanPage(rows *sql.Rows, p *author.Page) error {
	return rows.Scan(&p.User, &p.Slug, &p.Title, &p.Place, &p.InMenu, (*sqldb.Time)(&p.UpdatedAt), &p.Source)
}

// AuthorPages implements author.SiteStore.
func (s *siteStore) AuthorPages(ctx context.Context, user string) ([]author.Page, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]author.Page, error) {
		all, err := sqldb.Collect(ctx, c, scanPage, `SELECT a.owner, a.slug, a.title, a.place, a.in_menu, a.updated_at, '' FROM author_page AS a
			WHERE a.owner = $1 ORDER BY a.slug`, sqldb.Clean(user))
		slices.SortStableFunc(all, func(a, b author.Page) int { return int(a.Place - b.Place) })
		return all, err
	})
}

// AuthorPage implements author.SiteStore.
func (s *siteStore) AuthorPage(ctx context.Context, user, slug string) (author.Page, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (author.Page, error) {
		found, err := sqldb.Collect(ctx, c, scanPage, `SELECT a.owner, a.slug, a.title, a.place, a.in_menu, a.updated_at, a.source FROM author_page AS a
			WHERE a.owner = $1 AND a.slug = $2`, sqldb.Clean(user), sqldb.Clean(slug))
		return sqldb.First(found, err, "There is no page %q.", slug)
	})
}

// PutAuthorPage implements author.SiteStore. It locks the author's row, so that the number of pages
// is exact.
func (s *siteStore) PutAuthorPage(ctx context.Context, p author.Page, was string, limit int) error {
	user, slug, was := sqldb.Clean(p.User), sqldb.Clean(p.Slug), sqldb.Clean(was)
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		if _, err := lockWriter(ctx, c, user); err != nil {
			return err
		}
		before := ""
		if was != "" {
			var err error
			if before, err = deletePage(ctx, c, user, was); err != nil {
				return err
			}
		}
		have, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM author_page WHERE owner = $1`, user)
		if err == nil && have >= int64(limit) {
			err = fault.New(fault.TooMany, "You have %d pages; at most %d are possible.", have, limit)
		}
		if err != nil {
			return err
		}
		n, err := c.Exec(ctx, `INSERT INTO author_page (owner, slug, title, place, in_menu, updated_at, source) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT DO NOTHING`, user, slug, sqldb.Clean(p.Title), p.Place, p.InMenu, sqldb.Millis(p.UpdatedAt), sqldb.Clean(p.Source))
		if err == nil && n == 0 {
			err = fault.New(fault.Conflict, "Another page already has the address %q.", slug)
		}
		if err != nil {
			return err
		}
		return hideFiles(ctx, c, user, before, p.Source)
	})
}

// deletePage deletes a page and returns its source.
func deletePage(ctx context.Context, c sqldb.Conn, user, slug string) (source string, err error) {
	found, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, text *string) error { return rows.Scan(text) },
		`DELETE FROM author_page WHERE owner = $1 AND slug = $2 RETURNING source`, user, slug)
	return sqldb.First(found, err, "There is no page %q.", slug)
}

// DeleteAuthorPage implements author.SiteStore.
func (s *siteStore) DeleteAuthorPage(ctx context.Context, user, slug string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		source, err := deletePage(ctx, c, sqldb.Clean(user), sqldb.Clean(slug))
		if err != nil {
			return err
		}
		return hideFiles(ctx, c, sqldb.Clean(user), source)
	})
}

// AuthorStyle implements author.SiteStore.
func (s *siteStore) AuthorStyle(ctx context.Context, user, hash string) (author.Style, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (author.Style, error) {
		found, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, a *author.Style) error {
			return rows.Scan(&a.User, &a.Hash, &a.Source, &a.CSS)
		}, `SELECT a.owner, a.hash, a.source, a.css FROM author_style AS a WHERE a.owner = $1 AND a.hash = $2`, sqldb.Clean(user), sqldb.Clean(hash))
		return sqldb.First(found, err, "There is no such style sheet.")
	})
}

// PutAuthorStyle implements author.SiteStore.
func (s *siteStore) PutAuthorStyle(ctx context.Context, a author.Style) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO author_style (owner, hash, source, css) VALUES ($1, $2, $3, $4)
			ON CONFLICT (owner, hash) DO UPDATE SET source = excluded.source, css = excluded.css`,
			sqldb.Clean(a.User), sqldb.Clean(a.Hash), sqldb.Clean(a.Source), sqldb.Clean(a.CSS))
		if err != nil {
			return err
		}
		return hideFiles(ctx, c, sqldb.Clean(a.User), a.Source)
	})
}

// KeepAuthorStyles implements author.SiteStore.
func (s *siteStore) KeepAuthorStyles(ctx context.Context, user string, hashes []string) error {
	kept := [2]string{}
	copy(kept[:], hashes)
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		deleted, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, text *string) error { return rows.Scan(text) },
			`DELETE FROM author_style WHERE owner = $1 AND hash <> $2 AND hash <> $3 RETURNING source`, sqldb.Clean(user), kept[0], kept[1])
		if err != nil {
			return err
		}
		return hideFiles(ctx, c, sqldb.Clean(user), deleted...)
	})
}
