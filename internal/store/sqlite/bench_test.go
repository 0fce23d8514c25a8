package sqlite

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/hubtest"
)

func BenchmarkSubscribe256AtOnce(b *testing.B) { hubtest.Upserts(b, open(b, Options{}), 256) }

func BenchmarkSubscribeOne(b *testing.B) { hubtest.Upserts(b, open(b, Options{}), 1) }

func BenchmarkReadBatchesOf100kSubscriptions(b *testing.B) {
	s := open(b, Options{})
	p := fill(b, s, 100_000)
	b.ResetTimer()
	rows := 0
	for b.Loop() {
		rows += readAll(b, s, p)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/100k")
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

const feed = "http://127.0.0.1/feed.xml"

func moment() time.Time { return time.UnixMilli(1_790_000_000_000).UTC() }

// subscription returns the nth unexpired subscription of feed.
func subscription(n int) hub.Subscription {
	return hub.Subscription{TopicID: hub.TopicID(feed), ID: hub.SubscriptionID(hub.HTTPPost, fmt.Sprint("http://127.0.0.1/", n)),
		Protocol: hub.HTTPPost, Callback: fmt.Sprint("http://127.0.0.1/", n),
		CreatedAt: moment(), RenewedAt: moment(), ExpiresAt: moment().Add(25 * time.Hour)}
}

// fill stores n subscriptions of feed and returns its only shard.
func fill(t testing.TB, s *Store, n int) hub.Shard {
	t.Helper()
	for from := 0; from < n; from += 5000 {
		subs := make([]hub.Subscription, min(5000, n-from))
		for i := range subs {
			subs[i] = subscription(from + i)
		}
		if err := s.Subscribe(t.Context(), []string{feed}, subs, nil); err != nil {
			t.Fatal(err)
		}
	}
	return hub.Shard{TopicID: hub.TopicID(feed), Hi: hub.Buckets - 1}
}

// readAll reads the whole shard in batches and returns the number of rows.
func readAll(t testing.TB, s *Store, p hub.Shard) int {
	t.Helper()
	total, after := 0, int64(0)
	for {
		rows, err := s.Batch(t.Context(), p, after, moment(), 500)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			return total
		}
		total += len(rows)
		after = rows[len(rows)-1].ID
	}
}
