package app_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// registerAll registers a new subscriber for some feeds.
func (r *running) registerAll(feeds ...string) *subscriber {
	r.t.Helper()
	s := newSubscriber(r.t)
	form := s.form("", "yes")
	form.Del("url1")
	for i, u := range feeds {
		form.Set(fmt.Sprint("url", i+1), u)
	}
	if code, body := post(r.t, r.base+"/rsscloud/pleaseNotify", form); code != http.StatusOK || !strings.Contains(body, `success="true"`) {
		r.t.Fatalf("pleaseNotify: %d %s", code, body)
	}
	return s
}

// waitAll waits until the subscriber is notified of all feeds.
func (s *subscriber) waitAll(t *testing.T, feeds ...string) {
	t.Helper()
	missing := slices.Clone(feeds)
	for len(missing) > 0 {
		got := s.wait(t, strings.Join(missing, ", "))
		missing = slices.DeleteFunc(missing, func(u string) bool { return u == got })
	}
}

// spec:cloudburst#ping-related
func TestSavedFeedReachesSubscribersOfAllSpellingsOfItsURLs(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	r.addAlice()
	file := filepath.Join(t.TempDir(), "rss.xml")
	put := func(item string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(rssOf(item)), 0o600); err != nil {
			t.Fatal(err)
		}
		expectAnswer(t, "put", curl(t, "-u", "alice:"+alicePassword, "-T", file, r.base+"/alice/rss.xml"), "20")
	}
	put("one")
	feeds := []string{
		r.base + "/alice/feed.atom?x=1", r.base + "/alice/feed.json?x=1", r.byName("LOCALHOST", "/alice/feed.xml"),
		r.byName("localhost", "/alice/feed.atom?x=2"), strings.Replace(r.base, "http", "HTTP", 1) + "/alice/feed.json",
		r.base + "/%61lice/rss.xml", r.base + "/alice/%66eed.atom?x=3",
	}
	for i := range 15 {
		feeds = append(feeds, fmt.Sprint(r.base, "/alice/rss.xml?u=", i), r.byName("localhost", fmt.Sprint("/alice/rss.xml?u=", i)))
	}
	s := r.registerAll(feeds...)
	for _, item := range []string{"two", "three"} {
		put(item)
		s.waitAll(t, feeds...)
	}
}

func TestTestFeedReachesSubscribersOfAllSpellingsOfItsURL(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	admin := r.addAlice()
	feeds := []string{strings.Replace(r.base, "http", "HTTP", 1) + "/test/rss.xml", r.byName("LOCALHOST", "/test/rss.xml"), r.byName("localhost", "/test/rss.xml"), r.base + "/test/rss.xml?x"}
	s := r.registerAll(feeds...)
	if _, err := admin.TickTestFeed(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.waitAll(t, feeds...)
}

func TestURLsOfThisServerWithoutFeedAreRejectedAsSuch(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	r.addAlice()
	for _, path := range []string{"/alice/", "/alice", "/changes.xml", "/alice/feeds.opml", "/test/rss.xml/x", "/alice/category/none/rss.xml"} {
		s := newSubscriber(t)
		if _, body := post(t, r.base+"/rsscloud/pleaseNotify", s.form(r.base+path, "yes")); !strings.Contains(body, "There is no such feed here.") {
			t.Errorf("%s: %s", path, body)
		}
	}
}
