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
func (w *world) webSubs(topic, name string, n int) []string {
	w.t.Helper()
	var list []hub.SubscriptionInfo
	var names []string
	for i := range n {
		cb := fmt.Sprintf("http://%s%d.test/cb", name, i)
		names = append(names, cb)
		list = append(list, hub.SubscriptionInfo{Topic: topic, Subscription: hub.Subscription{
			Protocol: hub.WebSub, Callback: cb, CreatedAt: time.Now(), RenewedAt: time.Now(), ExpiresAt: time.Now().Add(240 * time.Hour)}})
	}
	if added, err := w.hub.Import(w.t.Context(), list); err != nil || added != n {
		w.t.Fatalf("import: %d, %v", added, err)
	}
	return names
}

func (w *world) changeOf(topic, body string) {
	w.t.Helper()
	w.mu.Lock()
	w.feeds[topic] = body
	w.mu.Unlock()
	got, err := w.hub.Ping(w.t.Context(), hub.Ping{URL: topic, Via: "rest", Source: netip.MustParseAddr("192.0.2.1")})
	if err != nil || !got.Changed {
		w.t.Fatalf("ping of %s: %+v, %v", topic, got, err)
	}
}

func TestContentsThatDoNotFitIntoMemoryTogetherAreDeliveredOneAfterTheOther(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	inWorld(t, hub.Options{MaxInFlight: 4, ContentMemory: 10}, func(t *testing.T, w *world) {
		const second = "http://feeds.test/second"
		slow, quick := w.webSubs(second, "slow", 20), w.webSubs(feedURL, "quick", 700)
		plain := "http://plain.test/n"
		w.register(plain)
		w.answers(failing)
		w.changeOf(second, strings.Repeat("b", 9)) // all of them come again in a few seconds
		w.settle(4 * time.Second)
		w.answers(nil)
		for _, cb := range quick {
			w.hold[cb] = 100 * time.Millisecond
		}
		w.changeOf(feedURL, strings.Repeat("a", 9))
		w.settle(5 * time.Minute)
		for _, cb := range append(slow, quick...) {
			got := w.toldOf(cb)
			if len(got) == 0 || got[len(got)-1].content == "" {
				t.Fatalf("%s was told %v", cb, got)
			}
			if want := map[bool]int{true: 2, false: 1}[strings.Contains(cb, "slow")]; len(got) != want {
				t.Errorf("%s was told %d times, want %d", cb, len(got), want)
			}
		}
		if n := w.count(plain); n != 1 {
			t.Errorf("who needs no content was told %d times", n)
		}
	})
}

func TestAPassThatWaitedForRoomTellsTheNewestVersionOnce(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{MaxInFlight: 4, ContentMemory: 10}, func(t *testing.T, w *world) {
		const second = "http://feeds.test/second"
		for _, cb := range w.webSubs(second, "slow", 100) {
			w.hold[cb] = 2 * time.Second
		}
		late := w.webSubs(feedURL, "late", 3)
		w.changeOf(second, strings.Repeat("b", 9)) // takes most of a minute
		w.settle(time.Second)
		w.changeOf(feedURL, "version 1")
		w.settle(25 * time.Second) // longer than a lease
		if n := w.count(late[0]); n != 0 {
			t.Fatalf("told %d times while there was no room", n)
		}
		w.changeOf(feedURL, "version 2")
		w.settle(2 * time.Minute)
		for _, cb := range late {
			if got := w.toldOf(cb); len(got) != 1 || got[0].content != "|version 2" || got[0].version != 2 {
				t.Errorf("%s was told %+v", cb, got)
			}
		}
	})
}

func TestARetryThatReadsANewerContentCountsForIt(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		cb := w.webSubs(feedURL, "s", 1)[0]
		w.stop()
		w.wrapStore = func(s hub.Store) hub.Store { return &lateContent{Store: s, world: w} }
		w.start(hub.Options{})
		w.answers(func(_ string, n int) hub.Reply { return hub.Reply{OK: n > 0, Text: "It answered 500."} })
		w.change("one more")
		w.settle(time.Second)
		w.stop() // nothing stays in memory
		w.start(hub.Options{})
		then := "two"
		w.store.(*lateContent).then.Store(&then) // it changes between the claim of the retry and the reading
		w.settle(time.Minute)
		got := w.toldOf(cb)
		if len(got) != 2 || got[0].content != "|one more" || got[1].content != "|two" || got[1].version != 2 {
			t.Errorf("told %+v", got)
		}
	})
}

// lateContent has the feed change when its content is read.
type lateContent struct {
	hub.Store
	world *world
	then  atomic.Pointer[string]
}

func (s *lateContent) Content(ctx context.Context, id int64) (hub.Content, error) {
	if body := s.then.Swap(nil); body != nil {
		s.world.change(*body)
	}
	return s.Store.Content(ctx, id)
}

func TestTheSweepGoesOnWhileContentsAreLeftThatNobodyNeeds(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	inWorld(t, hub.Options{HostRate: -1, SourceRate: -1}, func(t *testing.T, w *world) {
		const topics = 600 // more than one look of the sweep takes
		var list []hub.SubscriptionInfo
		var urls []string
		for i := range topics {
			urls = append(urls, fmt.Sprintf("http://feeds.test/%d", i))
			list = append(list, hub.SubscriptionInfo{Topic: urls[i], Subscription: hub.Subscription{
				Protocol: hub.WebSub, Callback: sub1, CreatedAt: time.Now(), RenewedAt: time.Now(), ExpiresAt: time.Now().Add(240 * time.Hour)}})
		}
		if _, err := w.hub.Import(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		for _, u := range urls {
			w.changeOf(u, "one")
		}
		w.settle(time.Minute)
		if n := w.count(sub1); n != topics {
			t.Fatalf("told %d times", n)
		}
		if _, _, err := w.hub.SweepNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, u := range urls {
			if _, err := w.store.Content(t.Context(), hub.TopicID(u)); err == nil {
				kept++
			}
		}
		if kept != 0 {
			t.Errorf("%d contents are kept for nobody", kept)
		}
	})
}
