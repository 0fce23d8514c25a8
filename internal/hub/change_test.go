package hub_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

const siteURL = "http://site.test/"

func (h *harness) announce(a hub.Announcement) hub.Announced {
	h.t.Helper()
	if !a.Source.IsValid() {
		a.Source = netip.MustParseAddr("192.0.2.9")
	}
	a.Via = "weblogs"
	got, err := h.hub.Announce(h.t.Context(), a)
	if err != nil {
		h.t.Fatalf("announce %+v: %v", a, err)
	}
	return got
}

func (h *harness) changes() []hub.Change {
	h.t.Helper()
	list, err := h.store.Changes(h.t.Context(), hub.ChangeQuery{Forward: true})
	if err != nil {
		h.t.Fatal(err)
	}
	return list
}

func TestSitePingChecksTheFeedUnderEachOfItsURLs(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]hub.Announcement{
		"URL of the feed":             {URL: feedURL},
		"URL and feed":                {URL: "http://elsewhere.test/", Feed: feedURL},
		"home page":                   {URL: siteURL},
		"home page without the slash": {URL: strings.TrimSuffix(siteURL, "/")},
		"changed page":                {URL: "http://elsewhere.test/", Page: siteURL},
		"canonical URL of the feed":   {URL: "http://feeds.test/canonical"},
	} {
		withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
			h.abouts = map[string]hub.About{feedURL: {Title: "Site", Home: siteURL, Self: "http://feeds.test/canonical"}}
			h.register("http://a.test/n")
			h.set("two")
			if got := h.announce(a); !slices.Equal(got.Checking, []string{feedURL}) {
				t.Errorf("%s: checks %v", name, got)
			}
			h.settle(time.Second)
			if n := h.count("http://a.test/n"); n != 1 {
				t.Errorf("%s: notified %d times", name, n)
			}
			if list := h.changes(); len(list) != 1 || list[0].URL != a.URL || list[0].Via != "weblogs" {
				t.Errorf("%s: listed %+v, want the ping once", name, list)
			}
		})
	}
}

func TestAnnouncementIsAnsweredBeforeTheFeedIsRead(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.register("http://a.test/n")
		h.slow = time.Minute
		begun := time.Now()
		h.announce(hub.Announcement{URL: feedURL})
		if took := time.Since(begun); took > 100*time.Millisecond {
			t.Errorf("answered after %s", took)
		}
	})
}

func TestAnnouncedFeedIsCheckedAfterACrash(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.register("http://a.test/n")
		h.set("two")
		h.slow = time.Hour // the check does not finish before the crash
		h.announce(hub.Announcement{URL: feedURL})
		h.stop()
		h.slow = 0
		h.start(hub.Options{})
		h.settle(time.Minute)
		if n := h.count("http://a.test/n"); n != 1 {
			t.Errorf("notified %d times after the restart", n)
		}
	})
}

func TestSearchOfUnknownSitesForSubscribedFeedsIsRateLimited(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.register("http://a.test/n")
		h.set("two")
		h.pages = map[string][]string{"http://new.test/": {"http://nobody.test/f", feedURL}}
		if got := h.announce(hub.Announcement{URL: "http://new.test/", Name: "New"}); !got.Looking || len(got.Checking) != 0 {
			t.Errorf("%+v", got)
		}
		h.settle(time.Second)
		if n := h.count("http://a.test/n"); n != 1 {
			t.Errorf("notified %d times", n)
		}
		if got := h.announce(hub.Announcement{URL: "http://new.test/", Name: "New"}); got.Looking {
			t.Error("checked again at once")
		}
		if list := h.changes(); len(list) != 2 || list[0].Name != "New" {
			t.Errorf("listed %+v", list)
		}
		if e := h.events(event.KindPing); len(e) < 2 {
			t.Errorf("the log has %d pings", len(e))
		}
	})
}

func TestChangesFromAllEndpointsAreListed(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.abouts = map[string]hub.About{feedURL: {Title: "Site", Home: siteURL}}
		h.register("http://a.test/n")
		h.change("two") // the REST endpoint
		h.settle(2 * time.Second)
		if _, err := h.ping(); err != nil { // this ping finds no change, so it is not listed
			t.Fatal(err)
		}
		h.feeds["http://nobody.test/f"] = "x"
		if _, err := h.hub.Ping(t.Context(), hub.Ping{URL: "http://nobody.test/f", Via: "websub", Source: netip.MustParseAddr("192.0.2.2")}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range h.changes() {
			got = append(got, fmt.Sprintf("%s %s %s %s", c.Name, c.URL, c.Feed, c.Via))
		}
		want := []string{"Site " + siteURL + " " + feedURL + " rest", " http://nobody.test/f http://nobody.test/f websub"}
		if !slices.Equal(got, want) {
			t.Errorf("listed\n%q\nwant\n%q", got, want)
		}
		if n, err := h.store.CountChanges(t.Context()); n != 2 || err != nil {
			t.Errorf("count %d, %v", n, err)
		}
	})
}

func TestPingOfCanonicalURLNotifiesSubscribersOfTheAlias(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.abouts = map[string]hub.About{feedURL: {Self: "http://feeds.test/canonical"}}
		h.register("http://a.test/n")
		h.set("two")
		got, err := h.hub.Ping(t.Context(), hub.Ping{URL: "http://feeds.test/canonical", Via: "rest", Source: netip.MustParseAddr("192.0.2.1")})
		if err != nil || !got.Changed {
			t.Fatalf("%+v, %v", got, err)
		}
		h.settle(time.Second)
		if n := h.count("http://a.test/n"); n != 1 {
			t.Errorf("notified %d times", n)
		}
	})
}

func TestPingOfAnAliasURLFindsTheSubscribedFeed(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.register("http://a.test/n")
		h.set("two")
		h.feeds["http://feeds.test/rss.xml?utm=1"] = "two"
		h.abouts = map[string]hub.About{"http://feeds.test/rss.xml?utm=1": {Self: feedURL}}
		if _, err := h.hub.Ping(t.Context(), hub.Ping{URL: "http://feeds.test/rss.xml?utm=1", Via: "rest", Source: netip.MustParseAddr("192.0.2.1")}); err != nil {
			t.Fatal(err)
		}
		h.settle(time.Second)
		if n := h.count("http://a.test/n"); n != 1 {
			t.Errorf("notified %d times", n)
		}
	})
}

func TestOnlySubscribedFeedsOfAChangesListAreChecked(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.register("http://a.test/n")
		h.set("two")
		before := len(h.fetches)
		got, err := h.hub.ReceiveChanges(t.Context(), []string{"http://x.test/", feedURL, "http://y.test/f"}, "changes")
		if err != nil || !slices.Equal(got, []string{feedURL}) {
			t.Fatal(got, err)
		}
		h.settle(time.Second)
		if n := h.count("http://a.test/n"); n != 1 || len(h.fetches) != before+1 {
			t.Errorf("notified %d times, %d fetches", n, len(h.fetches)-before)
		}
	})
}

func TestInvalidAnnouncementsAreRejected(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{SourceRate: 1}, func(t *testing.T, h *harness) {
		from := netip.MustParseAddr("198.51.100.1")
		for _, c := range []struct {
			a    hub.Announcement
			want fault.Code
		}{
			{hub.Announcement{URL: ""}, fault.Invalid},
			{hub.Announcement{URL: "javascript:alert(1)"}, fault.Invalid},
			{hub.Announcement{URL: siteURL, Feed: "x"}, fault.Invalid},
			{hub.Announcement{URL: siteURL, Hops: 4}, fault.Refused},
		} {
			c.a.Source = from
			if _, err := h.hub.Announce(t.Context(), c.a); err == nil || fault.CodeOf(err) != c.want {
				t.Errorf("%+v: %v", c.a, err)
			}
		}
		var err error
		for range 12 {
			_, err = h.hub.Announce(t.Context(), hub.Announcement{URL: siteURL, Source: from})
		}
		if fault.CodeOf(err) != fault.TooMany || fault.RetryAfter(err) <= 0 {
			t.Errorf("twelfth ping at once: %v", err)
		}
		if n := len(h.changes()); n != 10 {
			t.Errorf("%d changes are listed, want the 10 accepted ones", n)
		}
	})
}

func TestAnnouncementAboveTheRateOfTheHostIsCheckedLater(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{HostRate: 0.1}, func(t *testing.T, h *harness) {
		h.register("http://a.test/n") // uses the only permitted read of this host
		h.set("two")
		if got := h.announce(hub.Announcement{URL: feedURL}); len(got.Checking) != 1 {
			t.Fatalf("%+v", got)
		}
		h.settle(2 * time.Second)
		if n := h.count("http://a.test/n"); n != 0 {
			t.Fatalf("notified %d times before the crash, want 0", n)
		}
		h.settle(2 * time.Minute)
		if n := h.count("http://a.test/n"); n != 1 {
			t.Errorf("notified %d times", n)
		}
	})
}

func TestAllTopicsOfAPingAreCheckedAfterACrash(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		feeds := []string{feedURL, "http://feeds.test/atom.xml", "http://feeds.test/comments.xml"}
		h.abouts = map[string]hub.About{}
		for i, f := range feeds {
			h.feeds[f] = "one"
			h.abouts[f] = hub.About{Home: siteURL}
			cb := fmt.Sprintf("http://s%d.test/n", i)
			if _, err := h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: cb, Feeds: []string{f}, Via: "rest"}); err != nil {
				t.Fatal(err)
			}
		}
		h.slow = time.Hour // the check does not finish before the crash
		for _, f := range feeds {
			h.feeds[f] = "two"
		}
		got, err := h.hub.Ping(t.Context(), hub.Ping{URL: siteURL, Via: "rest", Source: netip.MustParseAddr("192.0.2.1")})
		if err != nil || !got.Pending {
			t.Fatalf("%+v, %v", got, err)
		}
		h.stop()
		h.slow = 0
		h.start(hub.Options{})
		h.settle(2 * time.Minute)
		for i := range feeds {
			if n := h.count(fmt.Sprintf("http://s%d.test/n", i)); n != 1 {
				t.Errorf("subscriber %d was notified %d times", i, n)
			}
		}
	})
}
