package hub_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

const readURL = "http://feeds.test/read.xml"

// aggregatorFollows makes the aggregator follow one feed, and returns a function that lists the URLs it
// received.
func (h *harness) aggregatorFollows(feed string) func() []string {
	var received []string
	h.hub.OnPing = func(_ context.Context, urls []string, via string) (bool, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, url := range urls {
			received = append(received, via+" "+url)
		}
		return slices.Contains(urls, feed), nil
	}
	return func() []string {
		h.mu.Lock()
		defer h.mu.Unlock()
		list := received
		received = nil
		return list
	}
}

func (h *harness) pinged(url string) hub.PingResult {
	h.t.Helper()
	got, err := h.hub.Ping(h.t.Context(), hub.Ping{URL: url, Via: "rest", Source: netip.MustParseAddr("192.0.2.1")})
	if err != nil {
		h.t.Fatalf("ping %s: %v", url, err)
	}
	return got
}

func TestPingOfAFeedFollowedOnlyByAggregatorIsNotFetched(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		received := h.aggregatorFollows(readURL)
		if got := h.pinged(readURL); got != (hub.PingResult{Known: true}) {
			t.Errorf("ping result: %+v", got)
		}
		if got := received(); !slices.Equal(got, []string{"rest " + readURL}) {
			t.Errorf("the aggregator received %q", got)
		}
		if len(h.fetches) != 0 {
			t.Errorf("the hub read the feed too: %v", h.fetches)
		}
		list := h.events(event.KindPing)
		if len(list) != 1 || !list[0].OK || list[0].Peer != "192.0.2.1" || list[0].Text != "Nobody here is subscribed to this feed; there is nobody to notify." {
			t.Errorf("log: %+v", list)
		}
		if list := h.changes(); len(list) != 1 || list[0].Feed != readURL {
			t.Errorf("listed: %+v", list)
		}
	})
}

func TestPingIsNotAcknowledgedBeforeAggregatorAcceptsIt(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		away := fault.New(fault.Unavailable, "The database is away.")
		h.hub.OnPing = func(context.Context, []string, string) (bool, error) { return false, away }
		for what, do := range map[string]func() error{
			"ping":           func() error { _, err := h.ping(); return err },
			"of another":     func() error { _, err := h.hub.Ping(t.Context(), hub.Ping{URL: readURL}); return err },
			"announcement":   func() error { _, err := h.hub.Announce(t.Context(), hub.Announcement{URL: readURL}); return err },
			"list of others": func() error { _, err := h.hub.ReceiveChanges(t.Context(), []string{readURL}, "changes"); return err },
		} {
			if err := do(); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("%s: %v", what, err)
			}
		}
		h.settle(time.Second)
		if n := h.count(cb) + len(h.fetches) + len(h.changes()); n != 0 {
			t.Errorf("a rejected ping had %d effects", n)
		}
	})
}

func TestAggregatorReceivesPingForEachURLOfASubscribedFeed(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.abouts = map[string]hub.About{feedURL: {Home: siteURL, Self: "http://feeds.test/canonical"}}
		h.register("http://a.test/n")
		received := h.aggregatorFollows("http://feeds.test/canonical")
		h.set("two")
		if got := h.pinged(siteURL); !got.Changed {
			t.Errorf("ping result: %+v", got)
		}
		if got := received(); !slices.Equal(got, []string{"rest " + siteURL, "rest " + feedURL, "rest http://feeds.test/canonical"}) {
			t.Errorf("the aggregator received %q", got)
		}
		h.settle(time.Second)
		if n := h.count("http://a.test/n"); n != 1 {
			t.Errorf("the subscriber was notified %d times", n)
		}
		h.set("three")
		if _, err := h.hub.Ping(t.Context(), hub.Ping{URL: feedURL, Via: "notify-websub", ReaderNotified: true}); err != nil {
			t.Fatal(err)
		}
		if got := received(); len(got) != 0 {
			t.Errorf("with ReaderNotified the aggregator received %q", got)
		}
	})
}

func TestAggregatorReceivesSitePingsAndChangesLists(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		received := h.aggregatorFollows(readURL)
		h.pages = map[string][]string{siteURL: {readURL}}
		if got := h.announce(hub.Announcement{URL: siteURL, Feed: readURL}); got.Looking {
			t.Error("the site was read although its feed is known")
		}
		if got := received(); !slices.Equal(got, []string{"weblogs " + readURL, "weblogs " + siteURL}) {
			t.Errorf("after an announcement the aggregator received %q", got)
		}
		if list := h.events(event.KindPing); len(list) != 1 || !strings.Contains(list[0].Text, "nobody to notify") {
			t.Errorf("log: %+v", list)
		}
		if got := h.announce(hub.Announcement{URL: siteURL}); !got.Looking {
			t.Error("an unknown site was not read")
		}
		h.settle(time.Second)
		if got := received(); !slices.Contains(got, "weblogs "+readURL) {
			t.Errorf("after reading the site the aggregator received %q", got)
		}
		if _, err := h.hub.ReceiveChanges(t.Context(), []string{readURL, siteURL}, "changes"); err != nil {
			t.Fatal(err)
		}
		if got := received(); !slices.Equal(got, []string{"changes " + readURL, "changes " + siteURL}) {
			t.Errorf("after a changes list the aggregator received %q", got)
		}
	})
}

func TestHostedFeedIsListedInRecentChangesByItsTitle(t *testing.T) {
	t.Parallel()
	own := hub.Options{IsOwnTopic: func(url string) bool { return url == readURL }}
	withHarness(t, own, func(t *testing.T, h *harness) {
		h.aggregatorFollows(readURL)
		h.feeds[readURL] = "one"
		h.abouts = map[string]hub.About{readURL: {Title: "Ours"}}
		for _, notified := range []bool{false, true} {
			if _, err := h.hub.Ping(t.Context(), hub.Ping{URL: readURL, Via: "save", ReaderNotified: notified}); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range h.changes() {
			if c.Name != "Ours" {
				t.Errorf("listed: %+v", c)
			}
		}
		if _, err := h.hub.Ping(t.Context(), hub.Ping{URL: "http://feeds.test/far.xml", Via: "notify-rsscloud", ReaderNotified: true}); err != nil {
			t.Fatal(err)
		}
		if n := len(h.fetches); n != 2 {
			t.Errorf("feeds were read %d times", n)
		}
	})
}

func TestPingThatLoopsBetweenHubsDoesNotReachAggregator(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		received := h.aggregatorFollows(readURL)
		if _, err := h.hub.Ping(t.Context(), hub.Ping{URL: readURL, Hops: 4}); fault.CodeOf(err) != fault.Refused {
			t.Errorf("a ping that passed through four hubs: %v", err)
		}
		if got := received(); len(got) != 0 {
			t.Errorf("the aggregator received %q", got)
		}
	})
}

// TestReceivedPushIsForwardedToSubscribersOnly sends the pings that follow a push received for
// the aggregator. Subscribers are notified. Without subscribers, neither the log nor the list of
// changes reveals what the users follow.
func TestReceivedPushIsForwardedToSubscribersOnly(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		received := h.aggregatorFollows(readURL)
		callback := h.subscribers(1)[0]
		forward := func(url string) hub.PingResult {
			t.Helper()
			got, err := h.hub.Ping(t.Context(), hub.Ping{
				URL: url, Via: "notify-rsscloud", Source: netip.MustParseAddr("192.0.2.7"), Hops: 1, ReaderNotified: true, Forward: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		h.fetches = nil
		if got := forward(readURL); got != (hub.PingResult{}) {
			t.Errorf("result without subscribers: %+v", got)
		}
		if events, listed := h.events(event.KindPing), h.changes(); len(events)+len(listed)+len(h.fetches) != 0 {
			t.Errorf("without subscribers: log %+v, changes %+v, reads %v", events, listed, h.fetches)
		}
		h.set("two")
		if got := forward(feedURL); !got.Changed {
			t.Errorf("result with a subscriber: %+v", got)
		}
		h.settle(time.Second)
		if n := h.count(callback); n != 1 {
			t.Errorf("the subscriber received %d notifications", n)
		}
		if list := h.events(event.KindPing); len(list) != 1 || list[0].Via != "notify-rsscloud" {
			t.Errorf("log: %+v", list)
		}
		if got := received(); len(got) != 0 {
			t.Errorf("the aggregator received the ping again: %q", got)
		}
	})
}

func TestReceivedPushCountsOnceAgainstTheRateOfItsSource(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{SourceRate: 1}, func(t *testing.T, h *harness) {
		h.aggregatorFollows(readURL)
		source := netip.MustParseAddr("192.0.2.7")
		taken := 0
		for ; taken < 100 && h.hub.Admit(source) == nil; taken++ {
			if _, err := h.hub.Ping(t.Context(), hub.Ping{URL: readURL, Via: "notify-rsscloud", Source: source, ReaderNotified: true}); err != nil {
				t.Fatalf("signal %d was counted twice: %v", taken, err)
			}
		}
		if taken == 0 || taken == 100 {
			t.Errorf("%d signals were accepted at once", taken)
		}
		if err := h.hub.Admit(netip.MustParseAddr("198.51.100.7")); err != nil {
			t.Errorf("another source: %v", err)
		}
	})
}

func TestAggregatorReceivesOtherSpellingsOfAPingedURL(t *testing.T) {
	t.Parallel()
	names := func(url string) []string { return []string{strings.ToLower(url)} }
	withHarness(t, hub.Options{Names: names}, func(t *testing.T, h *harness) {
		received := h.aggregatorFollows(readURL)
		if got := h.pinged(strings.ToUpper(readURL)); !got.Known {
			t.Errorf("ping result: %+v", got)
		}
		if got := received(); !slices.Contains(got, "rest "+readURL) {
			t.Errorf("the aggregator received %q", got)
		}
	})
}
