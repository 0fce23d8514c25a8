package hub_test

import (
	"net/netip"
	"testing"
	"time"

	"cloudburst/internal/hub"
)

// ownNames returns the URLs of a hosted feed.
func ownNames(url string) []string {
	const other = "http://localhost.test/rss.xml"
	if url == feedURL || url == other {
		return []string{feedURL, other}
	}
	return nil
}

func TestPingUnderOneServerNameChecksTopicsOfAllServerNames(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{Names: ownNames}, func(t *testing.T, h *harness) {
		other := ownNames(feedURL)[1]
		h.feeds[other] = "one"
		source := netip.MustParseAddr("192.0.2.1")
		h.register("http://a.test/notify")
		for _, callback := range []string{"http://b.test/notify", "http://c.test/notify"} {
			if _, err := h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: callback, Feeds: []string{other}, Via: "rest"}); err != nil {
				t.Fatal(err)
			}
		}
		counts := func() [3]int {
			return [3]int{h.count("http://a.test/notify"), h.count("http://b.test/notify"), h.count("http://c.test/notify")}
		}
		got, err := h.hub.Ping(t.Context(), hub.Ping{URL: other, Via: "rest", Source: source, Count: true})
		if err != nil || !got.Changed || got.Topic != other || got.Subscribers != 3 {
			t.Errorf("%+v, %v", got, err)
		}
		h.settle(time.Second)
		if counts() != [3]int{1, 1, 1} {
			t.Errorf("notified %v times", counts())
		}
		h.set("two")
		h.feeds[other] = "two"
		if _, err := h.hub.Announce(t.Context(), hub.Announcement{URL: feedURL, Via: "weblogs", Source: source}); err != nil {
			t.Fatal(err)
		}
		h.settle(2 * time.Second)
		if counts() != [3]int{2, 2, 2} {
			t.Errorf("after the ping of a site: notified %v times", counts())
		}
		h.set("three")
		h.feeds[other] = "three"
		if _, err := h.hub.Ping(t.Context(), hub.Ping{URL: feedURL, Via: "save", OnlyThisURL: true}); err != nil {
			t.Fatal(err)
		}
		h.settle(2 * time.Second)
		if counts() != [3]int{3, 2, 2} {
			t.Errorf("after the ping of one name: notified %v times", counts())
		}
		if n := len(h.changes()); n != 3 {
			t.Errorf("%d changes are listed, want one for each signal", n)
		}
	})
}

func TestPingReturnsNumberOfSubscribersOnlyOnRequest(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribers(4)
		if got, err := h.ping(); err != nil || !got.Changed || got.Subscribers != 0 {
			t.Errorf("%+v, %v", got, err)
		}
		h.settle(2 * time.Second)
		h.set("two")
		got, err := h.hub.Ping(t.Context(), hub.Ping{URL: feedURL, Via: "rest", Count: true})
		if err != nil || got.Subscribers != 4 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
