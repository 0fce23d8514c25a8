package hubtest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/hub"
)

// Upserts measures durable subscriptions per second. Each caller stores one subscription per call,
// and callers run concurrently.
func Upserts(b *testing.B, s hub.Store, callers int) {
	now := time.UnixMilli(1_790_000_000_000)
	const feed = "http://127.0.0.1/feed.xml"
	if err := s.Subscribe(b.Context(), []string{feed}, nil, nil); err != nil {
		b.Fatal(err)
	}
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for range callers {
		group.Go(func() {
			for {
				n := next.Add(1)
				if n > int64(b.N) {
					return
				}
				sub := hub.Subscription{TopicID: hub.TopicID(feed), Protocol: hub.HTTPPost, Callback: fmt.Sprint("http://127.0.0.1/", n),
					CreatedAt: now, RenewedAt: now, ExpiresAt: now.Add(25 * time.Hour)}
				if err := s.Subscribe(b.Context(), []string{feed}, []hub.Subscription{sub}, nil); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "upserts/s")
}
