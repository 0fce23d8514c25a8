// Package storetest is the contract of hub.Store as tests, run on every store, and
// the PostgreSQL server that tests use. Start with [Run] and [Postgres].
package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
)

// Run runs the contract. open makes an empty store that is closed with the test.
func Run(t *testing.T, open func(t *testing.T) hub.Store) {
	groups := map[string]map[string]func(*testing.T, *env){
		"Topics": topicTests(), "Subscriptions": subscriptionTests(), "Checks": checkTests(), "Parts": partTests(),
		"Splits": splitTests(), "Results": resultTests(), "Retries": retryTests(), "Sweep": sweepTests(),
		"Events": eventTests(), "History": historyTests(), "Trouble": troubleTests(), "Upstream": upstreamTests(),
		"Contents": contentTests(), "Requests": intentTests(), "Changes": changeTests(), "Accounts": accountTests(), "Tallies": tallyTests(), "Saved": savedTests(),
		"Posts": postTests(), "Post lists": postListTests(), "Files": fileTests(), "Sinks": outpingTests(), "Test feed": testFeedTests(), "Certificates": certificateTests(), "Readers": audienceTests(),
		"River sources": riverSourceTests(), "River queries": riverPropertyTests(), "River subscriptions": riverSubscriptionTests(),
		"River items": riverItemTests(), "River searches": riverSearchTests(), "River notices": riverNoticeTests(), "River sweep": riverSweepTests(),
	}
	runGroups(t, open, groups)
}

// RunEngine runs those of the contract that the engine of deliveries stands on: what is
// claimed, fenced, settled, swept. A store that has nothing else can pass them.
func RunEngine(t *testing.T, open func(t *testing.T) hub.Store) {
	runGroups(t, open, map[string]map[string]func(*testing.T, *env){
		"Checks": checkTests(), "Parts": partTests(), "Splits": splitTests(), "Results": resultTests(), "Retries": retryTests(),
		"Sweep": sweepTests(), "Requests": intentTests(),
	})
}

func runGroups(t *testing.T, open func(t *testing.T) hub.Store, groups map[string]map[string]func(*testing.T, *env)) {
	for group, tests := range groups {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			if oneCaller(group) {
				fulltest.OneCaller(t)
			}
			for name, test := range tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, newEnv(t, open(t)))
				})
			}
		})
	}
}

// oneCaller reports the groups whose cases make one call after the other: the race detector
// finds nothing in them that it does not find in the other groups.
func oneCaller(group string) bool {
	switch group {
	case "River queries", "River items", "River searches", "River sweep", "Post lists":
		return true
	}
	return false
}

// env is a store with a clock and the usual callers.
type env struct {
	hub.Store
	ctx context.Context
	now time.Time
	seq int64
}

const node = 7

func newEnv(t *testing.T, s hub.Store) *env {
	return &env{Store: s, ctx: t.Context(), now: time.UnixMilli(1_790_000_000_123).UTC()}
}

// in is a moment after now.
func (e *env) in(d time.Duration) time.Time { return e.now.Add(d) }

// event makes a stamped event.
func (e *env) event(kind, text string) event.Event {
	e.seq++
	return event.Event{Node: node, Seq: e.seq, At: e.now, Kind: kind, Text: text}
}

// sub makes a live subscription that is not stored yet.
func (e *env) sub(feed, callback string) hub.Subscription {
	return hub.Subscription{TopicID: hub.TopicID(feed), ID: hub.SubscriptionID(hub.HTTPPost, callback), Protocol: hub.HTTPPost,
		Callback: callback, CreatedAt: e.now, RenewedAt: e.now, ExpiresAt: e.in(25 * time.Hour)}
}

// follow stores subscriptions of a feed.
func (e *env) follow(t *testing.T, feed string, subs ...hub.Subscription) {
	t.Helper()
	must(t, e.Subscribe(e.ctx, []string{feed}, subs, nil))
}

// followers stores n live subscriptions of a feed.
func (e *env) followers(t *testing.T, feed string, n int) []hub.Subscription {
	t.Helper()
	subs := make([]hub.Subscription, n)
	for i := range subs {
		subs[i] = e.sub(feed, fmt.Sprintf("http://127.0.0.1/callback/%d", i))
	}
	e.follow(t, feed, subs...)
	return subs
}

// change commits a check that found a change, claiming up to claim parts.
func (e *env) change(t *testing.T, feed string, claim int) hub.Checked {
	t.Helper()
	base := int64(0)
	if topic, err := e.Topic(e.ctx, hub.TopicID(feed)); err == nil {
		base = topic.Version
	}
	done, err := e.CommitCheck(e.ctx, hub.Check{TopicID: hub.TopicID(feed), URL: feed, Base: base, StartedAt: e.now, Now: e.now,
		Changed: true, Hash: []byte{byte(base + 1)}, Size: 10, Node: node, ClaimParts: claim, ClaimUntil: e.in(lease)})
	must(t, err)
	if done.Raced {
		t.Fatal("the check lost a race that nobody else ran")
	}
	return done
}

const lease = 10 * time.Second

// claim claims every part that is due.
func (e *env) claim(t *testing.T) []hub.Part {
	t.Helper()
	parts, err := e.ClaimParts(e.ctx, node, e.now, e.in(lease), 1000)
	must(t, err)
	return parts
}

// get reads a subscription back.
func (e *env) get(t *testing.T, key hub.Key) hub.Subscription {
	t.Helper()
	s, err := e.Subscription(e.ctx, key)
	must(t, err)
	return s
}

// log reads the texts of all events, oldest first.
func (e *env) log(t *testing.T) []string {
	t.Helper()
	events, err := e.Events(e.ctx, hub.EventQuery{Forward: true, Limit: 1000})
	must(t, err)
	var texts []string
	for _, ev := range events {
		texts = append(texts, ev.Text)
	}
	return texts
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// same compares; got and want must be equal.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (- want, + got):\n%s", what, d)
	}
}

// faulty checks an error's code.
func faulty(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if err == nil || fault.CodeOf(err) != code {
		t.Fatalf("got error %v, want a fault of the kind %s", err, code)
	}
}

func lost(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, hub.ErrLost) {
		t.Fatalf("got error %v, want hub.ErrLost", err)
	}
}
