package hubsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// AppendEvents implements hub.Store.
func (s *eventStore) AppendEvents(ctx context.Context, events []event.Event) error {
	return perTopic(ctx, s.db, topicsOf(nil, events, eventTopic), func(ctx context.Context, c sqldb.Conn, sc scope) error {
		return sqldb.AppendEvents(ctx, c, inScope(sc, events, eventTopic))
	})
}

func scanEvent(rows *sql.Rows, e *event.Event) error {
	var took, delivered, failed int64
	var detail []byte
	err := rows.Scan(&e.Node, &e.Seq, (*sqldb.Time)(&e.At), &e.Kind, &e.TopicID, &e.Topic, &e.OK, &e.Text, &e.Via, &e.Peer,
		&took, &delivered, &failed, &e.Version, &detail)
	e.Topic, e.Text = event.HidePrivate(e.Topic), event.HidePrivate(e.Text) // a node with an earlier version may have stored it
	e.Took, e.Notified, e.Failed = time.Duration(took), int(delivered), int(failed)
	if len(detail) > 0 {
		e.Detail = json.RawMessage(detail)
	}
	return err
}

// maxKinds is larger than the number of event kinds.
const maxKinds = 32

// Events implements hub.Store.
func (s *eventStore) Events(ctx context.Context, q hub.EventQuery) ([]event.Event, error) {
	var w sqldb.Where
	if q.TopicID != 0 {
		w.Add("e.topic_id = ?", q.TopicID)
	}
	if len(q.Kinds) > 0 {
		// Pad the list to a fixed length: each length would need its own prepared statement.
		wanted := slices.Clone(q.Kinds)
		slices.Sort(wanted)
		wanted = slices.Compact(wanted)
		if len(wanted) > maxKinds {
			return nil, fault.New(fault.Invalid, "The query names %d kinds of events, more than exist.", len(wanted))
		}
		var kinds []string
		for _, k := range wanted {
			kinds = append(kinds, w.Arg(sqldb.Clean(k)))
		}
		w.Conds = append(w.Conds, "e.kind IN ("+strings.Join(kinds, ", ")+")")
	}
	if !q.Since.IsZero() {
		w.Add("e.at >= ?", sqldb.Millis(q.Since))
	}
	if !q.Until.IsZero() {
		w.Add("e.at < ?", sqldb.Millis(q.Until))
	}
	if c := q.Before; c != (event.Cursor{}) {
		w.Add("(e.at, e.node, e.seq) < (?, ?, ?)", c.At, c.Node, c.Seq)
	}
	if c := q.After; c != (event.Cursor{}) {
		w.Add("(e.at, e.node, e.seq) > (?, ?, ?)", c.At, c.Node, c.Seq)
	}
	if err := w.Like(q.Text, "e.topic", "e.text", "e.peer"); err != nil {
		return nil, err
	}
	order := " ORDER BY e.at DESC, e.node DESC, e.seq DESC"
	if q.Forward {
		order = " ORDER BY e.at, e.node, e.seq"
	}
	text := `SELECT e.node, e.seq, e.at, e.kind, e.topic_id, e.topic, e.ok, e.text, e.door, e.peer,
		e.took, e.told, e.failed, e.version, e.detail FROM event AS e` + w.String() + order + ` LIMIT ` + w.Arg(sqldb.Limit(q.Limit))
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]event.Event, error) {
		return sqldb.Collect(ctx, c, scanEvent, text, w.Args...)
	})
}

// TrimEvents implements hub.Store.
func (s *eventStore) TrimEvents(ctx context.Context, before time.Time, limit int) (int, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int, error) {
		n, err := c.Exec(ctx, `DELETE FROM event WHERE (node, seq) IN
			(SELECT e.node, e.seq FROM event AS e WHERE e.at < $1 ORDER BY e.at, e.node, e.seq LIMIT $2)`, sqldb.Millis(before), max(limit, 0))
		return int(n), err
	})
}
