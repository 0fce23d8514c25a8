package hubtest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/hub/record"
	"cloudburst/internal/store/storetest"
)

// sub returns an unexpired subscription that is not stored yet.
func (e *env) sub(feed, callback string) hub.Subscription {
	return hub.Subscription{TopicID: hub.TopicID(feed), ID: hub.SubscriptionID(hub.HTTPPost, callback), Protocol: hub.HTTPPost,
		Callback: callback, CreatedAt: e.Now, RenewedAt: e.Now, ExpiresAt: e.In(25 * time.Hour)}
}

// follow stores subscriptions of a feed.
func (e *env) follow(t *testing.T, feed string, subs ...hub.Subscription) {
	t.Helper()
	storetest.Must(t, e.Subscribe(e.Ctx, []string{feed}, subs, nil))
}

// followers stores n unexpired subscriptions of a feed.
func (e *env) followers(t *testing.T, feed string, n int) []hub.Subscription {
	t.Helper()
	subs := make([]hub.Subscription, n)
	for i := range subs {
		subs[i] = e.sub(feed, fmt.Sprintf("http://127.0.0.1/callback/%d", i))
	}
	e.follow(t, feed, subs...)
	return subs
}

// change commits a check that found a change and claims up to claim shards.
func (e *env) change(t *testing.T, feed string, claim int) hub.Checked {
	t.Helper()
	base := int64(0)
	if topic, err := e.Topic(e.Ctx, hub.TopicID(feed)); err == nil {
		base = topic.Version
	}
	done, err := e.CommitCheck(e.Ctx, hub.Check{TopicID: hub.TopicID(feed), URL: feed, Base: base, StartedAt: e.Now, Now: e.Now,
		Changed: true, Hash: []byte{byte(base + 1)}, Size: 10, Node: storetest.Node, ClaimShards: claim, ClaimUntil: e.In(lease)})
	storetest.Must(t, err)
	if done.Raced {
		t.Fatal("the check lost a race without a competitor")
	}
	return done
}

const lease = 10 * time.Second

// claim claims every due shard.
func (e *env) claim(t *testing.T) []hub.Shard {
	t.Helper()
	shards, err := e.ClaimShards(e.Ctx, storetest.Node, e.Now, e.In(lease), 1000)
	storetest.Must(t, err)
	return shards
}

// get reads a subscription.
func (e *env) get(t *testing.T, key hub.Key) hub.Subscription {
	t.Helper()
	s, err := e.Subscription(e.Ctx, key)
	storetest.Must(t, err)
	return s
}

func lost(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, record.ErrLost) {
		t.Fatalf("got error %v, want record.ErrLost", err)
	}
}
