package riversql

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// A place is the position of an item in the river as one number: the time, followed by the first
// bits of the id. It is the primary key of the items and of the word lists. If two items would have
// the same number, one gets the next free number.
const (
	placeBits = 20
	placeEnd  = 1 << (63 - placeBits) // times, in Unix milliseconds, are between -placeEnd and placeEnd: years 1691 to 2248
)

func placeAt(t time.Time) int64 {
	return min(max(t.UnixMilli(), -placeEnd), placeEnd-1) << placeBits
}

func placeOf(p river.Place) int64 {
	return min(max(p.At, -placeEnd), placeEnd-1)<<placeBits | p.ID>>(63-placeBits)&(1<<placeBits-1)
}

func atOf(place int64) time.Time { return time.UnixMilli(place >> placeBits).UTC() }

// placed scans the time of a place; NULL becomes the zero time.
type placed time.Time

func (p *placed) Scan(src any) error {
	v, ok := src.(int64)
	*p = placed{}
	if ok {
		*p = placed(atOf(v))
	}
	return nil
}

// readPlace returns the place from which items are unread, for the time of a read marker. readTo is
// the inverse.
func readPlace(to time.Time) int64 {
	if to.IsZero() {
		return math.MinInt64
	}
	return min(max(to.UnixMilli(), -placeEnd)+1, placeEnd-1) << placeBits
}

func readTo(place int64) time.Time {
	if place == math.MinInt64 {
		return time.Time{}
	}
	return time.UnixMilli(place>>placeBits - 1).UTC()
}

// itemRow is an item as stored.
type itemRow struct {
	river.Item
	place   int64
	content sql.NullString
	mark    river.Mark
}

const itemColumns = `i.place, i.id, i.source_id, i.seq, i.came, i.read_at, i.edited_at, i.withdrawn_at, i.hash, i.guid, i.title, i.link`

func (r *itemRow) fields() []any {
	it := &r.Item
	return []any{&r.place, &it.ID, &it.SourceID, &it.Seq, &it.First, (*sqldb.Time)(&it.ReadAt), (*sqldb.Time)(&it.EditedAt), (*sqldb.Time)(&it.WithdrawnAt),
		&it.Hash, (*sqldb.ByteString)(&it.GUID), &it.Title, &it.Link}
}

func scanItem(rows *sql.Rows, r *itemRow) error {
	err := rows.Scan(r.fields()...)
	r.At = atOf(r.place)
	return err
}

// unpack decodes the content, outside of the transaction.
func (r *itemRow) unpack() error {
	if r.content.String == "" {
		return nil
	}
	title, link := r.Title, r.Link
	kept, err := decodeContent(r.content.String)
	if err != nil {
		return fmt.Errorf("read item %d: %w", r.ID, err)
	}
	if r.Content = kept.Content; kept.Words {
		r.Text = river.TextOf(r.HTML)
	}
	r.Title, r.Link = title, link
	return nil
}

// keptContent is a content as stored. In most feeds the text can be computed from the HTML, so it
// is not stored.
type keptContent struct {
	river.Content
	Words bool `json:"words,omitempty"` // Text was omitted because it equals river.TextOf(HTML)
}

// packContent encodes a content without title and link, which have columns of their own for lists.
// follows reports that the text can be computed from the HTML.
func packContent(c river.Content, follows bool) (string, error) {
	kept := keptContent{Content: c, Words: follows && c.Text != ""}
	if kept.Title, kept.Link = "", ""; kept.Words {
		kept.Text = ""
	}
	return sqldb.JSON(&kept)
}

// KnownItems implements river.Store. Of Content it returns only Title and Link.
func (s *itemStore) KnownItems(ctx context.Context, source int64, ids []int64) (map[int64]river.Item, error) {
	rows := make([][]any, len(ids))
	for i, id := range ids {
		rows[i] = []any{id, source}
	}
	known := map[int64]river.Item{}
	err := s.db.Read(ctx, func(ctx context.Context, c sqldb.Conn) error {
		clear(known)
		return c.BulkQuery(ctx, `rows(id i, source i) SELECT `+itemColumns+` FROM item AS i {AND ROWS} WHERE i.id = :id AND i.source_id = :source`,
			func(rows *sql.Rows) error {
				var r itemRow
				err := scanItem(rows, &r)
				known[r.ID] = r.Item
				return err
			}, rows)
	})
	return known, err
}

// NewestSeq implements river.Store.
func (s *itemStore) NewestSeq(ctx context.Context) (int64, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) {
		return sqldb.Count(ctx, c, `SELECT COALESCE(MAX(seq), 0) FROM item`)
	})
}

// Changed implements river.Store. Of Content it returns only Title and Link.
func (s *itemStore) Changed(ctx context.Context, seq int64, n int) ([]river.Item, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]river.Item, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, it *river.Item) error {
			var r itemRow
			err := scanItem(rows, &r)
			*it = r.Item
			return err
		}, `SELECT `+itemColumns+` FROM item AS i WHERE i.seq > $1 ORDER BY i.seq, i.place LIMIT $2`, seq, sqldb.Limit(n))
	})
}
