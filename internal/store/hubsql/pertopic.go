package hubsql

import (
	"context"
	"slices"
	"sync"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// sharesAtOnce is how many transactions one call has under way.
const maxParallel = 4

// share is what one transaction of a call is about: one topic, or all of them.
type scope struct {
	all   bool
	topic int64
	n     int // counts the shares of a call, from 0
}

// perTopic runs what a call has to write. Where several processes share the database that is
// one transaction for each topic, several at once, so that each stays within the rows of
// one topic; who has the database alone has one transaction, which costs less.
func perTopic(ctx context.Context, db *sqldb.DB, topics []int64, fn func(ctx context.Context, c sqldb.Conn, sc scope) error) error {
	run := func(sc scope) error {
		return db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error { return fn(ctx, c, sc) })
	}
	slices.Sort(topics)
	topics = slices.Compact(topics)
	if !db.Shared || len(topics) < 2 {
		return run(scope{all: true})
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	var failed error
	next := 0
	for range min(maxParallel, len(topics)) {
		group.Go(func() {
			for {
				mu.Lock()
				n, stop := next, failed != nil
				next++
				mu.Unlock()
				if stop || n >= len(topics) {
					return
				}
				if err := run(scope{topic: topics[n], n: n}); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return failed
}

// of are those of a list that belong to a share.
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

// topicsOf adds the topics of a list to others.
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
