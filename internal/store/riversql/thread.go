package riversql

import (
	"cmp"
	"context"
	"database/sql"
	"net/url"
	"strconv"

	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// Limits of the search for an item by its URL; see NamedItem.
const (
	maxNamedSources  = 200 // feeds on the host of the URL
	maxLinkedSources = 5   // feeds on that host whose newest items are compared by link
	maxLinkedItems   = 100
)

// threadRow is an item with its feed. An item is private if its feed requires a password, or if the
// URL of its feed is private, because such a URL may contain a secret.
type threadRow struct {
	itemRow
	private          bool
	url, title, home string
}

const threadText = `SELECT ` + itemColumns + `, t.content, s.login <> '' OR s.url LIKE '%/private/%', s.url, s.title, s.home
	FROM item AS i JOIN source AS s ON s.id = i.source_id JOIN item_content AS t ON t.place = i.place `

func scanThreadRow(rows *sql.Rows, r *threadRow) error {
	err := rows.Scan(append(r.fields(), &r.content, &r.private, &r.url, &r.title, &r.home)...)
	r.At = atOf(r.place)
	return err
}

// found returns the item as a reply.
func (r *threadRow) found() (f conversation.Found, err error) {
	if err := r.unpack(); err != nil {
		return f, err
	}
	f = conversation.Found{
		URL: cmp.Or(r.Link, r.GUID), GUID: r.GUID, Name: r.title, Author: cmp.Or(r.home, r.url), Title: r.Title, Text: r.Text, PublishedAt: cmp.Or(r.Published, r.Item.At),
		CommentsFeed: r.CommentsFeed, Item: r.ID, Source: r.SourceID, Private: r.private,
	}
	if len(r.Authors) > 0 {
		f.Name = r.Authors[0]
	}
	if r.InReplyTo != "" {
		f.Parents = []string{r.InReplyTo}
	}
	return f, nil
}

func firstFound(list []threadRow, err error) (conversation.Found, error) {
	r, err := sqldb.First(list, err, "There is no such item in the river.")
	if err != nil {
		return conversation.Found{}, err
	}
	return r.found()
}

// FoundItem implements conversation.Items.
func (s *itemStore) FoundItem(ctx context.Context, id int64) (conversation.Found, error) {
	return firstFound(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]threadRow, error) {
		return sqldb.Collect(ctx, c, scanThreadRow, threadText+`WHERE i.id = $1`, id)
	}))
}

// NamedItem implements conversation.Items. There is no index of items by URL. NamedItem searches
// the feeds on the same host by guid, and then the newest items of some of these feeds by link.
func (s *itemStore) NamedItem(ctx context.Context, name string) (conversation.Found, error) {
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return conversation.Found{}, fault.New(fault.NotFound, "There is no item with this URL.")
	}
	prefix := u.Scheme + "://" + u.Host + "/"
	return firstFound(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]threadRow, error) {
		sources, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT s.id FROM source AS s WHERE s.url >= $1 AND s.url < $2 AND s.login = '' ORDER BY s.url LIMIT $3`,
			sqldb.Clean(prefix), sqldb.Clean(prefix)+"\U0010FFFF", maxNamedSources)
		if err != nil || len(sources) == 0 {
			return nil, err
		}
		ids := make([]int64, len(sources))
		for i, source := range sources {
			ids[i] = river.ItemID(source, name)
		}
		var rows []threadRow
		err = c.BulkQuery(ctx, `rows(id i) `+threadText+`{AND ROWS} WHERE i.id = :id`, func(r *sql.Rows) error {
			var row threadRow
			err := scanThreadRow(r, &row)
			rows = append(rows, row)
			return err
		}, sqldb.Rows(ids))
		for _, source := range sources[:min(len(sources), maxLinkedSources)] {
			if err != nil || len(rows) > 0 {
				break
			}
			rows, err = sqldb.Collect(ctx, c, scanThreadRow, `SELECT * FROM (`+threadText+`WHERE i.source_id = $1 ORDER BY i.place DESC LIMIT $2) AS i WHERE i.link = $3`, source, maxLinkedItems, sqldb.Clean(name))
		}
		return rows, err
	}))
}

// FollowsSource implements conversation.Items.
func (s *itemStore) FollowsSource(ctx context.Context, reader string, source int64) (bool, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (bool, error) {
		n, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM river_subscription WHERE reader = $1 AND source_id = $2`, sqldb.Clean(reader), source)
		return n > 0, err
	})
}

// queueReplies adds the new items that reply to something to the work queue of the threads, in the
// transaction that stores the items.
func (v *saving) queueReplies(ctx context.Context, c sqldb.Conn) error {
	var rows [][]any
	for i := range v.Put {
		if it := &v.Put[i]; it.InReplyTo != "" {
			rows = append(rows, []any{conversation.WorkItem, strconv.FormatInt(it.ID, 10), sqldb.Millis(it.ReadAt)})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	_, err := c.Bulk(ctx, `rows(kind t, name t, due i) INSERT INTO thread_work (kind, name, depth, due_at, done_at, tries, lease) SELECT :kind, :name, 0, :due, 0, 0, 0 {FROM ROWS} WHERE true
		ON CONFLICT (kind, name) DO UPDATE SET due_at = excluded.due_at, tries = 0, lease = 0`, rows)
	return err
}
