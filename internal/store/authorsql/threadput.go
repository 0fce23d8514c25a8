package authorsql

import (
	"context"
	"database/sql"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// maxThreadPath is the maximum length of a path, in bytes. The path of a deeper reply is cut to
// this length, so the reply appears at the last level.
const maxThreadPath = conversation.PathSegment * conversation.MaxThreadDepth

// afterPaths sorts after each character of a path.
const afterPaths = "~"

// place is the position of an entry in a thread.
type place struct {
	id, guid, parent, root int64
	path                   string
	owner                  string
	post, mention          int64
}

const placeColumns = `e.id, e.guid_id, e.parent_id, e.root_id, e.path, e.owner, e.post_id, e.mention_id`

func scanPlace(rows *sql.Rows, p *place) error {
	return rows.Scan(&p.id, &p.guid, &p.parent, &p.root, &p.path, &p.owner, &p.post, &p.mention)
}

// placeOfFirst returns the entry of the first key that has an entry.
func placeOfFirst(ctx context.Context, c sqldb.Conn, keys []int64) (p place, found bool, err error) {
	for _, key := range keys {
		for _, column := range []string{"id", "guid_id"} {
			list, err := sqldb.Collect(ctx, c, scanPlace, `SELECT `+placeColumns+` FROM thread_entry AS e WHERE e.`+column+` = $1 LIMIT 1`, key)
			if err != nil || len(list) > 0 {
				return append(list, place{})[0], len(list) > 0, err
			}
		}
	}
	return p, false, nil
}

// segmentOf returns the part of a path for one reply: its time, and some digits of its key.
func segmentOf(at time.Time, id int64) string {
	digits := func(n int64, width int) string {
		s := strconv.FormatInt(max(n, 0), 32)
		if len(s) > width {
			return s[len(s)-width:]
		}
		return strings.Repeat("0", width-len(s)) + s
	}
	return digits(at.UnixMilli(), conversation.PathSegment-3) + digits(id&(1<<15-1), 3)
}

func clipPath(path string) string { return path[:min(len(path), maxThreadPath)] }

// putEntry writes an entry and moves the replies that wait for it. A mention of the same page does
// not replace the entry of a post of this server.
func putEntry(ctx context.Context, c sqldb.Conn, e conversation.Entry) (err error) {
	if e.Parents, err = currentPaths(ctx, c, e.Parents); err != nil {
		return err
	}
	id := conversation.KeyOf(e.Name)
	guid := id
	if e.GUID != "" {
		guid = conversation.KeyOf(e.GUID)
	}
	keys := make([]int64, 0, len(e.Parents))
	for _, name := range e.Parents {
		if key := conversation.KeyOf(name); key != id && key != guid {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil // the entry replies to itself
	}
	was, had, err := placeOfFirst(ctx, c, []int64{id})
	if err != nil {
		return err
	}
	if had && was.id == id && was.post != 0 && was.mention == 0 && e.Mention+e.Item != 0 {
		return nil
	}
	had = had && was.id == id
	own := segmentOf(e.At, id)
	if had {
		own = was.path[max(len(was.path)-conversation.PathSegment, 0):]
	}
	root, parent, path := keys[0], keys[0], own
	above, found, err := placeOfFirst(ctx, c, keys)
	if err != nil {
		return err
	}
	if found {
		if above.id == id || above.root == id || above.root == guid || had && above.root == was.root && strings.HasPrefix(above.path, was.path) {
			return nil // the entry would be its own ancestor
		}
		root, parent, path = above.root, above.id, clipPath(above.path+own)
	}
	if had && (was.root != root || was.path != path) {
		if err := moveEntries(ctx, c, was.root, was.path, root, path); err != nil {
			return err
		}
	}
	if err := writeEntry(ctx, c, e, place{id: id, guid: guid, parent: parent, root: root, path: path}); err != nil || had {
		return err
	}
	for _, key := range []int64{id, guid} {
		if err := moveEntries(ctx, c, key, "", root, path); err != nil || guid == id {
			return err
		}
	}
	return nil
}

// moveEntries moves the entry at a position, and all entries below it, to another position.
func moveEntries(ctx context.Context, c sqldb.Conn, root int64, path string, toRoot int64, to string) error {
	_, err := c.Exec(ctx, `UPDATE thread_entry SET root_id = $1, path = substr($2 || substr(path, $3), 1, $4) WHERE root_id = $5 AND path >= $6 AND path < $7`,
		toRoot, to, int64(len(path)+1), int64(maxThreadPath), root, path, path+afterPaths)
	return err
}

func writeEntry(ctx context.Context, c sqldb.Conn, e conversation.Entry, p place) error {
	data := ""
	if e.Mention == 0 && e.Post == 0 {
		var err error
		if data, err = sqldb.JSON(keptReply{e.Content, e.Author}); err != nil {
			return err
		}
	}
	_, err := c.Exec(ctx, `INSERT INTO thread_entry (id, guid_id, parent_id, root_id, path, posted_at, owner, post_id, mention_id, judge, judge_id, item_id, name, guid, parent, data)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '', 0, $10, $11, $12, $13, $14)
		ON CONFLICT (id) DO UPDATE SET guid_id = excluded.guid_id, parent_id = excluded.parent_id, root_id = excluded.root_id, path = excluded.path,
			posted_at = excluded.posted_at, owner = excluded.owner, post_id = excluded.post_id, mention_id = excluded.mention_id,
			item_id = CASE WHEN excluded.item_id <> 0 THEN excluded.item_id ELSE thread_entry.item_id END,
			guid = excluded.guid, parent = excluded.parent, data = excluded.data`,
		p.id, p.guid, p.parent, p.root, p.path, sqldb.Millis(e.At), sqldb.Clean(e.User), e.Post, e.Mention, e.Item, sqldb.Clean(e.Name), sqldb.Clean(e.GUID), sqldb.Clean(e.Parents[0]), data)
	return err
}

// keptReply is the content of a reply without a mention, as stored.
type keptReply struct {
	conversation.Content
	Author string `json:"author,omitempty"`
}

// placePost places a published post that replies to something, and removes its entry otherwise. was
// is the post before the change. A post whose date changed has another path.
func placePost(ctx context.Context, c sqldb.Conn, was, p author.Post, at author.ThreadPlace) error {
	if err := renameEntries(ctx, c, author.DatedPath(was), author.DatedPath(p)); err != nil {
		return err
	}
	switch p.State {
	case author.Published:
	case author.ForGroups:
		return removePost(ctx, c, p)
	default:
		return nil // keep the entry without content, so that its replies keep their place
	}
	id := int64(0)
	if len(at.Parents) > 0 {
		id = conversation.KeyOf(at.Path)
	}
	_, err := c.Exec(ctx, `DELETE FROM thread_entry WHERE owner = $1 AND post_id = $2 AND mention_id = 0 AND id <> $3`, p.User, p.ID, id)
	if err != nil || id == 0 {
		return err
	}
	return putEntry(ctx, c, conversation.Entry{Name: at.Path, GUID: p.GUID, Parents: at.Parents, At: p.PublishedAt, User: p.User, Post: p.ID})
}

// removePost removes the entry of a post that became private. Its replies wait, like the replies to
// an unknown post, so they are in no thread until the post is public again.
//
// spec:cloudburst#private-threads
func removePost(ctx context.Context, c sqldb.Conn, p author.Post) error {
	list, err := sqldb.Collect(ctx, c, scanPlace, `SELECT `+placeColumns+` FROM thread_entry AS e WHERE e.owner = $1 AND e.post_id = $2 AND e.mention_id = 0`, p.User, p.ID)
	for _, was := range list {
		if err == nil {
			_, err = c.Exec(ctx, `DELETE FROM thread_entry WHERE id = $1`, was.id)
		}
		if err == nil {
			err = moveEntries(ctx, c, was.root, was.path, was.id, "")
		}
	}
	return err
}

// placeMention creates the entry of a mention that is a reply, if the mention has no entry.
func placeMention(ctx context.Context, c sqldb.Conn, m *conversation.Mention) error {
	if m.Kind != conversation.Reply {
		return nil
	}
	if path, own := ownPath(m); own {
		_, err := c.Exec(ctx, `UPDATE thread_entry SET judge = $1, judge_id = $2 WHERE id = $3 AND mention_id = 0`, m.User, m.ID, conversation.KeyOf(path))
		return err
	}
	id := conversation.KeyOf(m.Source)
	if was, found, err := placeOfFirst(ctx, c, []int64{id}); err != nil || found && was.mention == 0 {
		return err
	} else if found { // an entry whose mention was deleted gets the new mention
		n, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM mention WHERE owner = $1 AND id = $2`, was.owner, was.mention)
		if err != nil || n > 0 {
			return err
		}
	}
	posts, err := sqldb.Collect(ctx, c, scanPost, `SELECT `+postColumns+` FROM post AS p WHERE p.owner = $1 AND p.id = $2`, m.User, m.Post)
	if err != nil || len(posts) == 0 {
		return err
	}
	at := m.PublishedAt
	if at.IsZero() || at.After(m.ReceivedAt) {
		at = m.ReceivedAt
	}
	return putEntry(ctx, c, conversation.Entry{Name: m.Source, Parents: []string{author.PathOf(posts[0].Post)}, At: at, User: m.User, Post: m.Post, Mention: m.ID})
}

// ownPath returns the path of the source of a mention, if the source is a post of this server. That
// is the case if source and target have the same host.
func ownPath(m *conversation.Mention) (path string, own bool) {
	from, err1 := url.Parse(m.Source)
	to, err2 := url.Parse(m.Target)
	if err1 != nil || err2 != nil || from.Host != to.Host || from.Scheme != to.Scheme {
		return "", false
	}
	return from.EscapedPath(), true
}

// PutEntry implements conversation.ThreadStore.
func (s *threadStore) PutEntry(ctx context.Context, e conversation.Entry) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error { return putEntry(ctx, c, e) })
}

// ThreadSpot implements conversation.ThreadStore.
func (s *threadStore) ThreadSpot(ctx context.Context, keys []int64) (conversation.Spot, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (conversation.Spot, error) {
		p, found, err := placeOfFirst(ctx, c, keys)
		return conversation.Spot{Found: found, User: p.owner, Post: p.post}, err
	})
}

// OfferReply implements conversation.ThreadStore.
func (s *threadStore) OfferReply(ctx context.Context, m conversation.Mention, e conversation.Entry, limit int, change func(*conversation.Mention, []conversation.Rule, bool) conversation.Action) (bool, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (seen bool, err error) {
		user, source := sqldb.Clean(m.User), sqldb.Clean(m.Source)
		list, err := sqldb.Collect(ctx, c, scanMention, `SELECT `+mentionColumns+` FROM mention AS m WHERE m.owner = $1 AND m.post_id = $2 AND m.source = $3 {LOCK}`, user, m.Post, source)
		if err != nil {
			return false, err
		}
		rules, err := rulesOf(ctx, c, user)
		if err != nil {
			return false, err
		}
		now, before := m, conversation.State("")
		if len(list) > 0 {
			now, before = list[0], list[0].State
		}
		if change(&now, rules, len(list) == 0) == conversation.Keep {
			if err := writeOffer(ctx, c, now, len(list) == 0, limit); err != nil {
				return false, err
			}
			seen = now.State == conversation.Approved || before == conversation.Approved
		}
		e.Mention = now.ID
		return seen, putEntry(ctx, c, e)
	})
}

func writeOffer(ctx context.Context, c sqldb.Conn, m conversation.Mention, isNew bool, limit int) error {
	user := sqldb.Clean(m.User)
	data, err := sqldb.JSON(m.Content)
	if err != nil {
		return err
	}
	if !isNew {
		_, err = c.Exec(ctx, `UPDATE mention SET state = $1, author = $2, data = $3 WHERE owner = $4 AND id = $5`, string(m.State), sqldb.Clean(m.Author), data, user, m.ID)
		return err
	}
	undecided, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM mention WHERE owner = $1 AND state IN ('unread', 'waiting')`, user)
	if err != nil {
		return err
	}
	if undecided >= int64(limit) && m.State == conversation.Waiting {
		return &fault.Error{Code: fault.TooMany, Msg: "Too many replies wait for the author of this post; try again later.", RetryAfter: time.Hour}
	}
	_, err = c.Exec(ctx, `INSERT INTO mention (owner, id, post_id, source, target, state, host, author, received_at, due_at, tries, lease, data)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL, 0, 0, $10)`,
		user, m.ID, m.Post, sqldb.Clean(m.Source), sqldb.Clean(m.Target), string(m.State), sqldb.Clean(m.Host), sqldb.Clean(m.Author), sqldb.Millis(m.ReceivedAt), data)
	return err
}
