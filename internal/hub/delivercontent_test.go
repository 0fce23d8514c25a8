package hub_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
)

// webSubs imports n WebSub subscribers of a topic on as many hosts.
func (h *harness) webSubs(topic, name string, n int) []string {
	h.t.Helper()
	var list []hub.SubscriptionInfo
	var names []string
	for i := range n {
		cb := fmt.Sprintf("http://%s%d.test/cb", name, i)
		names = append(names, cb)
		list = append(list, hub.SubscriptionInfo{Topic: topic, Subscription: hub.Subscription{
			Protocol: hub.WebSub, Callback: cb, CreatedAt: time.Now(), RenewedAt: time.Now(), ExpiresAt: time.Now().Add(240 * time.Hour)}})
	}
	if added, err := h.hub.Import(h.t.Context(), list); err != nil || added != n {
		h.t.Fatalf("import: %d, %v", added, err)
	}
	return names
}

func (h *harness) changeOf(topic, body string) {
	h.t.Helper()
	h.mu.Lock()
	h.feeds[topic] = body
	h.mu.Unlock()
	got, err := h.hub.Ping(h.t.Context(), hub.Ping{URL: topic, Via: "rest", Source: netip.MustParseAddr("192.0.2.1")})
	if err != nil || !got.Changed {
		h.t.Fatalf("ping of %s: %+v, %v", topic, got, err)
	}
}

func TestContentsThatExceedMemoryAreDeliveredOneAfterAnother(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, hub.Options{MaxInFlight: 4, ContentMemory: 10}, func(t *testing.T, h *harness) {
		const second = "http://feeds.test/second"
		slow, quick := h.webSubs(second, "slow", 20), h.webSubs(feedURL, "quick", 700)
		plain := "http://plain.test/n"
		h.register(plain)
		h.setReply(failing)
		h.changeOf(second, strings.Repeat("b", 9)) // all deliveries fail and are retried within seconds
		h.settle(4 * time.Second)
		h.setReply(nil)
		for _, cb := range quick {
			h.hold[cb] = 100 * time.Millisecond
		}
		h.changeOf(feedURL, strings.Repeat("a", 9))
		h.settle(5 * time.Minute)
		for _, cb := range append(slow, quick...) {
			got := h.notificationsOf(cb)
			if len(got) == 0 || got[len(got)-1].content == "" {
				t.Fatalf("%s was notified %v", cb, got)
			}
			if want := map[bool]int{true: 2, false: 1}[strings.Contains(cb, "slow")]; len(got) != want {
				t.Errorf("%s was notified %d times, want %d", cb, len(got), want)
			}
		}
		if n := h.count(plain); n != 1 {
			t.Errorf("the subscriber without content was notified %d times", n)
		}
	})
}

func TestDeliveryThatWaitedForMemorySendsTheNewestVersionOnce(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{MaxInFlight: 4, ContentMemory: 10}, func(t *testing.T, h *harness) {
		const second = "http://feeds.test/second"
		for _, cb := range h.webSubs(second, "slow", 100) {
			h.hold[cb] = 2 * time.Second
		}
		late := h.webSubs(feedURL, "late", 3)
		h.changeOf(second, strings.Repeat("b", 9)) // this change takes almost a minute
		h.settle(time.Second)
		h.changeOf(feedURL, "version 1")
		h.settle(25 * time.Second) // longer than a lease
		if n := h.count(late[0]); n != 0 {
			t.Fatalf("notified %d times while the memory was full", n)
		}
		h.changeOf(feedURL, "version 2")
		h.settle(2 * time.Minute)
		for _, cb := range late {
			if got := h.notificationsOf(cb); len(got) != 1 || got[0].content != "|version 2" || got[0].version != 2 {
				t.Errorf("%s was notified %+v", cb, got)
			}
		}
	})
}

func TestRetryWithNewerContentCountsAsDeliveryOfTheNewerVersion(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.webSubs(feedURL, "s", 1)[0]
		h.stop()
		h.wrapStore = func(s hub.Store) hub.Store { return &changingContent{Store: s, harness: h} }
		h.start(hub.Options{})
		h.setReply(func(_ string, n int) hub.Reply { return hub.Reply{OK: n > 0, Text: "It answered 500."} })
		h.change("one more")
		h.settle(time.Second)
		h.stop() // the process restarts without contents in memory
		h.start(hub.Options{})
		then := "two"
		h.store.(*changingContent).then.Store(&then) // the content changes after the retry was claimed and before it is read
		h.settle(time.Minute)
		got := h.notificationsOf(cb)
		if len(got) != 2 || got[0].content != "|one more" || got[1].content != "|two" || got[1].version != 2 {
			t.Errorf("notified %+v", got)
		}
	})
}

// changingContent is a store whose feed changes when its content is read.
type changingContent struct {
	hub.Store
	harness *harness
	then    atomic.Pointer[string]
}

func (s *changingContent) Content(ctx context.Context, id int64) (hub.Content, error) {
	if body := s.then.Swap(nil); body != nil {
		s.harness.change(*body)
	}
	return s.Store.Content(ctx, id)
}

func TestSweepRemovesAllUnusedContents(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, hub.Options{HostRate: -1, SourceRate: -1}, func(t *testing.T, h *harness) {
		const topics = 600 // the sweep needs more than one round for them
		var list []hub.SubscriptionInfo
		var urls []string
		for i := range topics {
			urls = append(urls, fmt.Sprintf("http://feeds.test/%d", i))
			list = append(list, hub.SubscriptionInfo{Topic: urls[i], Subscription: hub.Subscription{
				Protocol: hub.WebSub, Callback: sub1, CreatedAt: time.Now(), RenewedAt: time.Now(), ExpiresAt: time.Now().Add(240 * time.Hour)}})
		}
		if _, err := h.hub.Import(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		for _, u := range urls {
			h.changeOf(u, "one")
		}
		h.settle(time.Minute)
		if n := h.count(sub1); n != topics {
			t.Fatalf("notified %d times", n)
		}
		if _, _, err := h.hub.SweepNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, u := range urls {
			if _, err := h.store.Content(t.Context(), hub.TopicID(u)); err == nil {
				kept++
			}
		}
		if kept != 0 {
			t.Errorf("%d unused contents are stored", kept)
		}
	})
}
