package authorsql

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/store/sqldb"
)

// nodeRow is a reply of a thread as stored.
type nodeRow struct {
	conversation.Node
	owner         string
	post, mention int64
	data          string
	state         sql.NullString // state of the post or mention
	body          sql.NullString // content of the post or mention, as JSON
	profile       sql.NullString
	author        sql.NullString // author of the mention
	shut          bool           // the author is disabled
	rejected      bool           // the author of the post above rejected this reply
}

func (s *threadStore) nodeText() string {
	return `SELECT e.id, e.parent_id, e.root_id, e.path, e.posted_at, e.owner, e.post_id, e.mention_id, e.item_id, e.name, e.guid, e.parent, e.data,
		COALESCE(p.state, m.state), COALESCE(p.body, m.data), w.profile, m.author, p.owner IS NOT NULL AND NOT ` + notShut("p.owner") + `, COALESCE(j.state = 'rejected', FALSE)
	FROM thread_entry AS e
	LEFT JOIN post AS p ON e.mention_id = 0 AND e.post_id <> 0 AND p.owner = e.owner AND p.id = e.post_id
	LEFT JOIN writer AS w ON w.owner = p.owner
	LEFT JOIN mention AS j ON e.judge_id <> 0 AND j.owner = e.judge AND j.id = e.judge_id
	LEFT JOIN mention AS m ON e.mention_id <> 0 AND m.owner = e.owner AND m.id = e.mention_id `
}

func scanNode(rows *sql.Rows, r *nodeRow) error {
	n := &r.Node
	return rows.Scan(&n.ID, &n.Parent, &n.Root, &n.Path, (*sqldb.Time)(&n.At), &r.owner, &r.post, &r.mention, &n.Item, &n.Name, &n.GUID, &n.ParentName, &r.data,
		&r.state, &r.body, &r.profile, &r.author, &r.shut, &r.rejected)
}

// unpack decodes the content of the reply, outside of the transaction.
func (r *nodeRow) unpack() (conversation.Node, error) {
	n := &r.Node
	var err error
	switch {
	case r.mention != 0:
		if n.Hidden = r.state.String != string(conversation.Approved); !n.Hidden {
			err = r.take(r.body.String, r.author.String)
		}
	case r.post != 0:
		n.User, n.Post = r.owner, r.post
		if n.Hidden = r.state.String != string(author.Published) || r.shut || r.rejected; !n.Hidden {
			err = r.unpackPost()
		}
	default:
		n.Fallback = true
		err = r.take(r.data, "")
	}
	if err != nil {
		return *n, fmt.Errorf("read the reply %s: %w", n.Name, err)
	}
	return *n, nil
}

func (r *nodeRow) unpackPost() error {
	var c author.Content
	if err := json.Unmarshal([]byte(r.body.String), &c); err != nil {
		return err
	}
	var p author.Profile
	if r.profile.Valid {
		if err := json.Unmarshal([]byte(r.profile.String), &p); err != nil {
			return err
		}
	}
	r.Author, r.AuthorURL, r.Title, r.HTML = cmp.Or(p.Name, r.owner), "/"+r.owner+"/", c.Title, c.HTML
	if c.Reply != nil {
		r.ParentTitle = c.Reply.Title
	}
	return nil
}

// take fills the fields of a reply from another site.
func (r *nodeRow) take(data, author string) error {
	var c keptReply
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		return err
	}
	r.Author, r.AuthorURL, r.Title, r.Text = c.Name, cmp.Or(author, c.Author), c.Title, c.Text
	return nil
}

func nodesOf(rows []nodeRow, err error) ([]conversation.Node, error) {
	if err != nil {
		return nil, err
	}
	all := make([]conversation.Node, len(rows))
	for i := range rows {
		if all[i], err = rows[i].unpack(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// threadPage contains the rows that one transaction reads for Thread.
type threadPage struct {
	place
	rows []nodeRow
}

// Thread implements conversation.ThreadStore.
func (s *threadStore) Thread(ctx context.Context, q conversation.ThreadQuery) (t conversation.Thread, err error) {
	limit := min(max(q.Limit, 1), conversation.MaxNodes)
	if q.Newest {
		limit = min(max(q.Limit, 1), 1000)
	}
	page, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (p threadPage, err error) {
		list, err := sqldb.Collect(ctx, c, scanPlace, `SELECT `+placeColumns+` FROM thread_entry AS e WHERE e.id = $1`, q.ID)
		if err != nil {
			return p, err
		}
		p.place = place{root: q.ID}
		if len(list) > 0 {
			p.place = list[0]
		}
		var w sqldb.Where
		w.Add("e.root_id = ?", p.root)
		from := max(q.After, p.path)
		w.Add("e.path > ? AND e.path < ?", sqldb.Clean(from), p.path+afterPaths)
		if q.Levels > 0 {
			w.Add("length(e.path) <= ?", int64(len(p.path)+conversation.PathSegment*q.Levels))
		}
		end := ` LIMIT ` + w.Arg(limit+1)
		text := s.nodeText() + w.String() + ` ORDER BY e.path` + end
		if q.Newest { // sort before the contents are read
			const order = ` ORDER BY e.posted_at DESC, e.path DESC`
			text = s.nodeText() + `WHERE e.id IN (SELECT e.id FROM thread_entry AS e` + w.String() + order + end + `)` + order
		}
		p.rows, err = sqldb.Collect(ctx, c, scanNode, text, w.Args...)
		return p, err
	})
	if err != nil {
		return t, err
	}
	t.Path = page.path
	if t.More = len(page.rows) > limit; t.More {
		page.rows = page.rows[:limit]
	}
	if t.Nodes, err = nodesOf(page.rows, nil); err != nil || q.All {
		return t, err
	}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Fallback {
			*n = conversation.Node{ID: n.ID, Parent: n.Parent, Root: n.Root, Path: n.Path, At: n.At, Hidden: true}
		}
	}
	return t, nil
}

// Ancestors implements conversation.ThreadStore.
func (s *threadStore) Ancestors(ctx context.Context, id int64) ([]conversation.Node, error) {
	list, err := nodesOf(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]nodeRow, error) {
		at, err := sqldb.Collect(ctx, c, scanPlace, `SELECT `+placeColumns+` FROM thread_entry AS e WHERE e.id = $1`, id)
		if err != nil || len(at) == 0 {
			return nil, err
		}
		args := []any{at[0].root}
		var marks []string
		for n := conversation.PathSegment; n <= len(at[0].path); n += conversation.PathSegment {
			args = append(args, at[0].path[:n])
			marks = append(marks, fmt.Sprintf("$%d", len(args)))
		}
		return sqldb.Collect(ctx, c, scanNode, s.nodeText()+`WHERE e.root_id = $1 AND e.path IN (`+strings.Join(marks, ", ")+`) ORDER BY e.path`, args...)
	}))
	slices.SortStableFunc(list, func(a, b conversation.Node) int { return len(a.Path) - len(b.Path) })
	return list, err
}

// lostEntries is the number of entries that one transaction of TidyThreads deletes or moves.
const lostEntries = 500

// TidyThreads implements conversation.ThreadStore, with as many transactions as needed.
func (s *threadStore) TidyThreads(ctx context.Context, before time.Time) error {
	err := s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM thread_work WHERE due_at IS NULL AND done_at < $1`, sqldb.Millis(before))
		return err
	})
	for _, lost := range []string{
		`e.mention_id <> 0 AND NOT EXISTS (SELECT 1 FROM mention AS m WHERE m.owner = e.owner AND m.id = e.mention_id)`,
		`e.mention_id = 0 AND e.post_id <> 0 AND NOT EXISTS (SELECT 1 FROM post AS p WHERE p.owner = e.owner AND p.id = e.post_id)`,
		`e.mention_id = 0 AND e.post_id = 0 AND e.item_id <> 0 AND NOT EXISTS (SELECT 1 FROM item AS i WHERE i.id = e.item_id)`,
	} {
		for n := int64(lostEntries); n == lostEntries && err == nil; {
			n, err = sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) {
				return c.Exec(ctx, `DELETE FROM thread_entry WHERE id IN (SELECT e.id FROM thread_entry AS e WHERE `+lost+` LIMIT $1)`, int64(lostEntries))
			})
		}
	}
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		waiting, err := sqldb.Collect(ctx, c, scanPlace, `SELECT DISTINCT p.id, p.guid_id, p.parent_id, p.root_id, p.path, p.owner, p.post_id, p.mention_id
			FROM thread_entry AS e JOIN thread_entry AS p ON p.id = e.root_id WHERE p.root_id <> e.root_id LIMIT $1`, int64(lostEntries))
		for _, p := range waiting {
			if err == nil {
				err = moveEntries(ctx, c, p.id, "", p.root, p.path)
			}
		}
		return err
	})
}
