package authorsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

const mentionColumns = `m.owner, m.id, m.post_id, m.source, m.target, m.reported, m.state, m.host, m.author, m.received_at, m.due_at, m.tries, m.lease, m.was, m.decided_at, m.data`

func scanMention(rows *sql.Rows, m *conversation.Mention) error {
	var state, was, data string
	err := rows.Scan(&m.User, &m.ID, &m.Post, &m.Source, &m.Target, &m.Reported, &state, &m.Host, &m.Author,
		(*sqldb.Time)(&m.ReceivedAt), (*sqldb.Time)(&m.DueAt), (*sqldb.Int)(&m.Tries), &m.Lease, &was, (*sqldb.Time)(&m.DecidedAt), &data)
	if err != nil {
		return err
	}
	m.State, m.Was = conversation.State(state), conversation.State(was)
	return json.Unmarshal([]byte(data), &m.Content)
}

func scanRule(rows *sql.Rows, r *conversation.Rule) error {
	var verdict string
	err := rows.Scan(&r.Host, &r.Author, &r.Name, &verdict, (*sqldb.Time)(&r.At))
	r.Verdict = conversation.Verdict(verdict)
	return err
}

// dueOrNull returns the stored form of DueAt; NULL for the zero time.
func dueOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return sqldb.Millis(t)
}

// ReceiveMention implements conversation.Store.
func (s *mentionStore) ReceiveMention(ctx context.Context, m conversation.Mention, limit int) error {
	user, source := sqldb.Clean(m.User), sqldb.Clean(m.Source)
	data, err := sqldb.JSON(m.Content)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `UPDATE mention SET reported = CASE WHEN target = $1 THEN reported ELSE $1 END, due_at = $2, tries = 0, lease = 0 WHERE owner = $3 AND post_id = $4 AND source = $5`,
			sqldb.Clean(m.Target), dueOrNull(m.DueAt), user, m.Post, source)
		if err != nil || n > 0 {
			return err
		}
		undecided, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM mention WHERE owner = $1 AND state IN ('unread', 'waiting')`, user)
		if err != nil {
			return err
		}
		if undecided >= int64(limit) {
			return &fault.Error{Code: fault.TooMany, Msg: "Too many webmentions wait for the author of this post; try again later.", RetryAfter: time.Hour}
		}
		n, err = c.Exec(ctx, `INSERT INTO mention (owner, id, post_id, source, target, state, host, author, received_at, due_at, tries, lease, data)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, 0, $11) ON CONFLICT DO NOTHING`,
			user, m.ID, m.Post, source, sqldb.Clean(m.Target), string(m.State), sqldb.Clean(m.Host), sqldb.Clean(m.Author), sqldb.Millis(m.ReceivedAt), dueOrNull(m.DueAt), data)
		if err == nil && n == 0 { // a concurrent request stored a mention of the same page
			err = &fault.Error{Code: fault.Unavailable, Msg: "The webmention could not be stored; send it again.", RetryAfter: time.Second}
		}
		return err
	})
}

// Mention implements conversation.Store.
func (s *mentionStore) Mention(ctx context.Context, user string, id int64) (conversation.Mention, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (conversation.Mention, error) {
		list, err := sqldb.Collect(ctx, c, scanMention, `SELECT `+mentionColumns+` FROM mention AS m WHERE m.owner = $1 AND m.id = $2`, sqldb.Clean(user), id)
		return sqldb.First(list, err, "There is no reply with the number %d.", id)
	})
}

// Mentions implements conversation.Store.
func (s *mentionStore) Mentions(ctx context.Context, q conversation.Query) ([]conversation.Mention, error) {
	var w sqldb.Where
	w.Add("m.owner = ?", sqldb.Clean(q.User))
	if q.State != "" {
		w.Add("m.state = ?", string(q.State))
	} else {
		w.Add("m.state <> 'unread'")
	}
	if q.Post != 0 {
		w.Add("m.post_id = ?", q.Post)
	}
	if q.Before != 0 {
		w.Add("m.id < ?", q.Before)
	}
	text := `SELECT ` + mentionColumns + ` FROM mention AS m` + w.String() + ` ORDER BY m.id DESC LIMIT ` + w.Arg(sqldb.Limit(q.Limit))
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]conversation.Mention, error) {
		return sqldb.Collect(ctx, c, scanMention, text, w.Args...)
	})
}

// CountMentions implements conversation.Store.
func (s *mentionStore) CountMentions(ctx context.Context, user string) (map[conversation.State]int, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (map[conversation.State]int, error) {
		counts := map[conversation.State]int{}
		err := c.Query(ctx, `SELECT state, COUNT(*) FROM mention WHERE owner = $1 GROUP BY state`, func(rows *sql.Rows) error {
			var state string
			var n int
			err := rows.Scan(&state, &n)
			counts[conversation.State(state)] = n
			return err
		}, sqldb.Clean(user))
		return counts, err
	})
}

// ClaimMentions implements conversation.Store.
func (s *mentionStore) ClaimMentions(ctx context.Context, now, until time.Time, limit int, lease int64) ([]conversation.Mention, error) {
	table := sqldb.DueTable{Name: "mention", Alias: "m", Columns: mentionColumns, Key: "owner t, id i", Due: "due_at", Claim: "lease"}
	return sqldb.ClaimDue(ctx, s.db, table, scanMention, now, until, limit, lease, func(m *conversation.Mention, until time.Time) []any {
		m.Lease, m.DueAt = lease, until
		return []any{m.User, m.ID}
	})
}

// NextMention implements conversation.Store.
func (s *mentionStore) NextMention(ctx context.Context) (time.Time, error) {
	return s.db.Earliest(ctx, `SELECT due_at FROM mention WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1`)
}

// ChangeMention implements conversation.Store.
func (s *mentionStore) ChangeMention(ctx context.Context, user string, id int64, change func(*conversation.Mention, []conversation.Rule) (conversation.Action, error)) error {
	user = sqldb.Clean(user)
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		list, err := sqldb.Collect(ctx, c, scanMention, `SELECT `+mentionColumns+` FROM mention AS m WHERE m.owner = $1 AND m.id = $2 {LOCK}`, user, id)
		m, err := sqldb.First(list, err, "There is no reply with the number %d.", id)
		if err != nil {
			return err
		}
		rules, err := rulesOf(ctx, c, user)
		if err != nil {
			return err
		}
		action, err := change(&m, rules)
		switch {
		case err != nil:
			return err
		case action == conversation.Delete:
			_, err = c.Exec(ctx, `DELETE FROM mention WHERE owner = $1 AND id = $2`, user, id)
		case action == conversation.Keep:
			var data string
			if data, err = sqldb.JSON(m.Content); err == nil {
				_, err = c.Exec(ctx, `UPDATE mention SET target = $1, reported = $2, state = $3, author = $4, due_at = $5, tries = $6, lease = $7, was = $8, decided_at = $9, data = $10
					WHERE owner = $11 AND id = $12`,
					sqldb.Clean(m.Target), sqldb.Clean(m.Reported), string(m.State), sqldb.Clean(m.Author), dueOrNull(m.DueAt), int64(m.Tries), m.Lease, string(m.Was), sqldb.Millis(m.DecidedAt), data, user, id)
			}
			if err == nil {
				err = placeMention(ctx, c, &m)
			}
		}
		return err
	})
}

func rulesOf(ctx context.Context, c sqldb.Conn, user string) ([]conversation.Rule, error) {
	return sqldb.Collect(ctx, c, scanRule, `SELECT r.host, r.author, r.name, r.verdict, r.made_at FROM mention_rule AS r
		WHERE r.owner = $1 ORDER BY r.made_at DESC, r.host, r.author`, user)
}

// MentionRules implements conversation.Store.
func (s *mentionStore) MentionRules(ctx context.Context, user string) ([]conversation.Rule, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]conversation.Rule, error) {
		return rulesOf(ctx, c, sqldb.Clean(user))
	})
}

// SetMentionRule implements conversation.Store.
func (s *mentionStore) SetMentionRule(ctx context.Context, user string, r conversation.Rule, limit int) error {
	user, host, author := sqldb.Clean(user), sqldb.Clean(r.Host), sqldb.Clean(r.Author)
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		if _, err := c.Exec(ctx, `DELETE FROM mention_rule WHERE owner = $1 AND host = $2 AND author = $3`, user, host, author); err != nil || r.Verdict == "" {
			return err
		}
		have, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM mention_rule WHERE owner = $1`, user)
		if err != nil {
			return err
		}
		if have >= int64(limit) {
			return fault.New(fault.TooMany, "You already have %d trusted and blocked authors, which is the limit: remove one first.", have)
		}
		_, err = c.Exec(ctx, `INSERT INTO mention_rule (owner, host, author, name, verdict, made_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (owner, host, author) DO NOTHING`, user, host, author, sqldb.Clean(r.Name), string(r.Verdict), sqldb.Millis(r.At))
		if err != nil {
			return err
		}
		const decide = `UPDATE mention SET was = state, decided_at = $1, state = `
		switch at := sqldb.Millis(r.At); {
		case r.Verdict == conversation.Trust:
			_, err = c.Exec(ctx, decide+`'approved' WHERE owner = $2 AND host = $3 AND author = $4 AND state = 'waiting'`, at, user, host, author)
		case author == conversation.EveryAuthor:
			_, err = c.Exec(ctx, decide+`'rejected' WHERE owner = $2 AND host = $3 AND state <> 'rejected'`, at, user, host)
		default:
			_, err = c.Exec(ctx, decide+`'rejected' WHERE owner = $2 AND host = $3 AND author = $4 AND state <> 'rejected'`, at, user, host, author)
		}
		return err
	})
}

// UndoMentions implements conversation.Store.
func (s *mentionStore) UndoMentions(ctx context.Context, user string, at time.Time) (undone int, err error) {
	user = sqldb.Clean(user)
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int, error) {
		rules, err := c.Exec(ctx, `DELETE FROM mention_rule WHERE owner = $1 AND made_at = $2`, user, sqldb.Millis(at))
		if err != nil {
			return 0, err
		}
		n, err := c.Exec(ctx, `UPDATE mention SET state = was, was = '', decided_at = 0 WHERE owner = $1 AND decided_at = $2 AND was <> ''`, user, sqldb.Millis(at))
		return int(n + rules), err
	})
}

// TidyMentions implements conversation.Store.
func (s *mentionStore) TidyMentions(ctx context.Context, before time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM mention WHERE state = 'rejected' AND received_at < $1`, sqldb.Millis(before))
		if err == nil {
			_, err = c.Exec(ctx, `DELETE FROM mention WHERE NOT EXISTS (SELECT 1 FROM post AS p WHERE p.owner = mention.owner AND p.id = mention.post_id)`)
		}
		return err
	})
}
