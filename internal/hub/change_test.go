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

func (w *world) announce(a hub.Announcement) hub.Announced {
	w.t.Helper()
	if !a.Source.IsValid() {
		a.Source = netip.MustParseAddr("192.0.2.9")
	}
	a.Via = "weblogs"
	got, err := w.hub.Announce(w.t.Context(), a)
	if err != nil {
		w.t.Fatalf("announce %+v: %v", a, err)
	}
	return got
}

func (w *world) changes() []hub.Change {
	w.t.Helper()
	list, err := w.store.Changes(w.t.Context(), hub.ChangeQuery{Forward: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

func TestAPingOfASiteChecksItsFeedHoweverItIsCalled(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]hub.Announcement{
		"the feed itself as the site":  {URL: feedURL},
		"the feed named beside it":     {URL: "http://elsewhere.test/", Feed: feedURL},
		"the home page":                {URL: siteURL},
		"without the slash":            {URL: strings.TrimSuffix(siteURL, "/")},
		"the page that changed":        {URL: "http://elsewhere.test/", Page: siteURL},
		"the address it calls its own": {URL: "http://feeds.test/canonical"},
	} {
		inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
			w.abouts = map[string]hub.About{feedURL: {Title: "Site", Home: siteURL, Self: "http://feeds.test/canonical"}}
			w.register("http://a.test/n")
			w.set("two")
			if got := w.announce(a); !slices.Equal(got.Checking, []string{feedURL}) {
				t.Errorf("%s: checking %v", name, got)
			}
			w.settle(time.Second)
			if n := w.count("http://a.test/n"); n != 1 {
				t.Errorf("%s: told %d times", name, n)
			}
			if list := w.changes(); len(list) != 1 || list[0].URL != a.URL || list[0].Via != "weblogs" {
				t.Errorf("%s: listed %+v, want the ping once", name, list)
			}
		})
	}
}

func TestAnAnnouncementIsAnsweredBeforeTheFeedIsRead(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.register("http://a.test/n")
		w.slow = time.Minute
		begun := time.Now()
		w.announce(hub.Announcement{URL: feedURL})
		if took := time.Since(begun); took > 100*time.Millisecond {
			t.Errorf("answered after %s", took)
		}
	})
}

func TestAnAnnouncedFeedIsCheckedAfterACrash(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.register("http://a.test/n")
		w.set("two")
		w.slow = time.Hour // nothing comes of it in this life
		w.announce(hub.Announcement{URL: feedURL})
		w.stop()
		w.slow = 0
		w.start(hub.Options{})
		w.settle(time.Minute)
		if n := w.count("http://a.test/n"); n != 1 {
			t.Errorf("told %d times after the restart", n)
		}
	})
}

func TestAnUnknownSiteIsLookedAtOnceInAWhileForFeedsThatSomebodyFollows(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.register("http://a.test/n")
		w.set("two")
		w.pages = map[string][]string{"http://new.test/": {"http://nobody.test/f", feedURL}}
		if got := w.announce(hub.Announcement{URL: "http://new.test/", Name: "New"}); !got.Looking || len(got.Checking) != 0 {
			t.Errorf("%+v", got)
		}
		w.settle(time.Second)
		if n := w.count("http://a.test/n"); n != 1 {
			t.Errorf("told %d times", n)
		}
		if got := w.announce(hub.Announcement{URL: "http://new.test/", Name: "New"}); got.Looking {
			t.Error("looked at again at once")
		}
		if list := w.changes(); len(list) != 2 || list[0].Name != "New" {
			t.Errorf("listed %+v", list)
		}
		if e := w.events(event.KindPing); len(e) < 2 {
			t.Errorf("the log has %d pings", len(e))
		}
	})
}

func TestChangesOfAllDoorsAreListed(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.abouts = map[string]hub.About{feedURL: {Title: "Site", Home: siteURL}}
		w.register("http://a.test/n")
		w.change("two") // over rest
		w.settle(2 * time.Second)
		if _, err := w.ping(); err != nil { // nothing has changed: not listed
			t.Fatal(err)
		}
		w.feeds["http://nobody.test/f"] = "x"
		if _, err := w.hub.Ping(t.Context(), hub.Ping{URL: "http://nobody.test/f", Via: "websub", Source: netip.MustParseAddr("192.0.2.2")}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range w.changes() {
			got = append(got, fmt.Sprintf("%s %s %s %s", c.Name, c.URL, c.Feed, c.Via))
		}
		want := []string{"Site " + siteURL + " " + feedURL + " rest", " http://nobody.test/f http://nobody.test/f websub"}
		if !slices.Equal(got, want) {
			t.Errorf("listed\n%q\nwant\n%q", got, want)
		}
		if n, err := w.store.CountChanges(t.Context()); n != 2 || err != nil {
			t.Errorf("count %d, %v", n, err)
		}
	})
}

func TestAPingOfTheCanonicalURLTellsSubscribersOfTheOther(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.abouts = map[string]hub.About{feedURL: {Self: "http://feeds.test/canonical"}}
		w.register("http://a.test/n")
		w.set("two")
		got, err := w.hub.Ping(t.Context(), hub.Ping{URL: "http://feeds.test/canonical", Via: "rest", Source: netip.MustParseAddr("192.0.2.1")})
		if err != nil || !got.Changed {
			t.Fatalf("%+v, %v", got, err)
		}
		w.settle(time.Second)
		if n := w.count("http://a.test/n"); n != 1 {
			t.Errorf("told %d times", n)
		}
	})
}

func TestAPingOfAnotherURLOfAFollowedFeedFindsIt(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.register("http://a.test/n")
		w.set("two")
		w.feeds["http://feeds.test/rss.xml?utm=1"] = "two"
		w.abouts = map[string]hub.About{"http://feeds.test/rss.xml?utm=1": {Self: feedURL}}
		if _, err := w.hub.Ping(t.Context(), hub.Ping{URL: "http://feeds.test/rss.xml?utm=1", Via: "rest", Source: netip.MustParseAddr("192.0.2.1")}); err != nil {
			t.Fatal(err)
		}
		w.settle(time.Second)
		if n := w.count("http://a.test/n"); n != 1 {
			t.Errorf("told %d times", n)
		}
	})
}

func TestOfAnotherServersListOnlyFollowedFeedsAreChecked(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.register("http://a.test/n")
		w.set("two")
		before := len(w.fetches)
		got, err := w.hub.ReceiveChanges(t.Context(), []string{"http://x.test/", feedURL, "http://y.test/f"}, "changes")
		if err != nil || !slices.Equal(got, []string{feedURL}) {
			t.Fatal(got, err)
		}
		w.settle(time.Second)
		if n := w.count("http://a.test/n"); n != 1 || len(w.fetches) != before+1 {
			t.Errorf("told %d times, %d fetches", n, len(w.fetches)-before)
		}
	})
}

func TestBadAnnouncementsAreRefused(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{SourceRate: 1}, func(t *testing.T, w *world) {
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
			if _, err := w.hub.Announce(t.Context(), c.a); err == nil || fault.CodeOf(err) != c.want {
				t.Errorf("%+v: %v", c.a, err)
			}
		}
		var err error
		for range 12 {
			_, err = w.hub.Announce(t.Context(), hub.Announcement{URL: siteURL, Source: from})
		}
		if fault.CodeOf(err) != fault.TooMany || fault.RetryAfter(err) <= 0 {
			t.Errorf("the twelfth at once: %v", err)
		}
		if n := len(w.changes()); n != 10 {
			t.Errorf("%d are listed, want those 10 that were taken", n)
		}
	})
}

func TestAnAnnouncementThatTheHostsLimitPutsOffIsCheckedLater(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{HostRate: 0.1}, func(t *testing.T, w *world) {
		w.register("http://a.test/n") // takes the only read of its host for now
		w.set("two")
		if got := w.announce(hub.Announcement{URL: feedURL}); len(got.Checking) != 1 {
			t.Fatalf("%+v", got)
		}
		w.settle(2 * time.Second)
		if n := w.count("http://a.test/n"); n != 0 {
			t.Fatalf("told %d times: this proves nothing", n)
		}
		w.settle(2 * time.Minute)
		if n := w.count("http://a.test/n"); n != 1 {
			t.Errorf("told %d times", n)
		}
	})
}

func TestEverythingThatASignalMeansIsCheckedAfterACrash(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		feeds := []string{feedURL, "http://feeds.test/atom.xml", "http://feeds.test/comments.xml"}
		w.abouts = map[string]hub.About{}
		for i, f := range feeds {
			w.feeds[f] = "one"
			w.abouts[f] = hub.About{Home: siteURL}
			cb := fmt.Sprintf("http://s%d.test/n", i)
			if _, err := w.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: cb, Feeds: []string{f}, Via: "rest"}); err != nil {
				t.Fatal(err)
			}
		}
		w.slow = time.Hour // nothing comes of it in this life
		for _, f := range feeds {
			w.feeds[f] = "two"
		}
		got, err := w.hub.Ping(t.Context(), hub.Ping{URL: siteURL, Via: "rest", Source: netip.MustParseAddr("192.0.2.1")})
		if err != nil || !got.Pending {
			t.Fatalf("%+v, %v", got, err)
		}
		w.stop()
		w.slow = 0
		w.start(hub.Options{})
		w.settle(2 * time.Minute)
		for i := range feeds {
			if n := w.count(fmt.Sprintf("http://s%d.test/n", i)); n != 1 {
				t.Errorf("subscriber %d was told %d times", i, n)
			}
		}
	})
}
