package hub_test

import (
	"net/netip"
	"testing"
	"time"

	"cloudburst/internal/hub"
)

// ownNames are the names of a feed of this program.
func ownNames(url string) []string {
	const other = "http://localhost.test/rss.xml"
	if url == feedURL || url == other {
		return []string{feedURL, other}
	}
	return nil
}

func TestAPingByOneNameChecksTheTopicsOfAllNames(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{Names: ownNames}, func(t *testing.T, w *world) {
		other := ownNames(feedURL)[1]
		w.feeds[other] = "one"
		source := netip.MustParseAddr("192.0.2.1")
		w.register("http://a.test/notify")
		for _, callback := range []string{"http://b.test/notify", "http://c.test/notify"} {
			if _, err := w.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: callback, Feeds: []string{other}, Via: "rest"}); err != nil {
				t.Fatal(err)
			}
		}
		counts := func() [3]int {
			return [3]int{w.count("http://a.test/notify"), w.count("http://b.test/notify"), w.count("http://c.test/notify")}
		}
		got, err := w.hub.Ping(t.Context(), hub.Ping{URL: other, Via: "rest", Source: source, Count: true})
		if err != nil || !got.Changed || got.Topic != other || got.Subscribers != 3 {
			t.Errorf("%+v, %v", got, err)
		}
		w.settle(time.Second)
		if counts() != [3]int{1, 1, 1} {
			t.Errorf("notified %v times", counts())
		}
		w.set("two")
		w.feeds[other] = "two"
		if _, err := w.hub.Announce(t.Context(), hub.Announcement{URL: feedURL, Via: "weblogs", Source: source}); err != nil {
			t.Fatal(err)
		}
		w.settle(2 * time.Second)
		if counts() != [3]int{2, 2, 2} {
			t.Errorf("after the ping of a site they were notified %v times", counts())
		}
		w.set("three")
		w.feeds[other] = "three"
		if _, err := w.hub.Ping(t.Context(), hub.Ping{URL: feedURL, Via: "save", OnlyThisURL: true}); err != nil {
			t.Fatal(err)
		}
		w.settle(2 * time.Second)
		if counts() != [3]int{3, 2, 2} {
			t.Errorf("a ping of one name alone brought them to %v", counts())
		}
		if n := len(w.changes()); n != 3 {
			t.Errorf("%d changes are listed, want one for each signal", n)
		}
	})
}

func TestSubscribersAreCountedOnlyForThoseWhoAsk(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.subscribers(4)
		if got, err := w.ping(); err != nil || !got.Changed || got.Subscribers != 0 {
			t.Errorf("%+v, %v", got, err)
		}
		w.settle(2 * time.Second)
		w.set("two")
		got, err := w.hub.Ping(t.Context(), hub.Ping{URL: feedURL, Via: "rest", Count: true})
		if err != nil || got.Subscribers != 4 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
