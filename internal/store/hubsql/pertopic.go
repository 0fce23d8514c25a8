package hubsql

import (
	"context"
	"slices"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// scope is what one transaction of a call writes: the rows of one topic, or of all topics.
type scope struct {
	all   bool
	topic int64
	n     int // index of the scope within a call, from 0
}

// within returns a condition, followed by AND, that limits a statement to the scope. It also
// returns args with the topic appended.
func (sc scope) within(column string, args []any) (string, []any) {
	if sc.all {
		return "", args
	}
	return column + ` = ` + sqldb.Placeholder(len(args)+1) + ` AND `, append(args, sc.topic)
}

// perTopic runs the writes of a call. If several processes share the database, it runs one
// transaction per topic, several in parallel, so that each stays within the rows of one topic. A
// process that owns the database runs one transaction, which is cheaper.
func perTopic(ctx context.Context, db *sqldb.DB, topics []int64, fn func(ctx context.Context, c sqldb.Conn, sc scope) error) error {
	slices.Sort(topics)
	topics = slices.Compact(topics)
	if !db.Shared || len(topics) < 2 {
		return db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error { return fn(ctx, c, scope{all: true}) })
	}
	return sqldb.PerKey(ctx, db, topics, func(ctx context.Context, c sqldb.Conn, n int, topic int64) error {
		return fn(ctx, c, scope{topic: topic, n: n})
	})
}

// inScope returns the elements of a list that belong to a scope.
func inScope[T any](sc scope, list []T, topic func(T) int64) []T {
	if sc.all {
		return list
	}
	var own []T
	for _, v := range list {
		if topic(v) == sc.topic {
			own = append(own, v)
		}
	}
	return own
}

// topicsOf appends the topics of a list to topics.
func topicsOf[T any](topics []int64, list []T, topic func(T) int64) []int64 {
	for _, v := range list {
		topics = append(topics, topic(v))
	}
	return topics
}

func eventTopic(e event.Event) int64               { return e.TopicID }
func resultTopic(r hub.Result) int64               { return r.Key.TopicID }
func keyTopic(k hub.Key) int64                     { return k.TopicID }
func intentTopic(in hub.Intent) int64              { return in.TopicID }
func subscriptionTopic(sub hub.Subscription) int64 { return sub.TopicID }
