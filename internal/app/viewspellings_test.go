package app

import (
	"strings"
	"testing"
	"time"

	"cloudburst/internal/config"
)

// spec:cloudburst#view-feeds-notify
func TestSubscribersOfViewsAreNotifiedUnderAllSpellings(t *testing.T) {
	t.Parallel()
	a := programWith(t, func(c *config.Config) { c.Hub.PingInterval, c.Hub.ClientRate, c.Hub.HostRate = time.Millisecond, 0, 0 })
	write := signUp(t, a, "alice")
	write("alice", "first", "Go")
	write("alice", "first of tea", "Tea")
	upper := strings.Replace(a.names.Public(), "http", "HTTP", 1)
	localhost := strings.NewReplacer("http", "HTTP", "127.0.0.1", "LOCALHOST").Replace(a.names.Public())
	follow, goes := map[string]*follower{}, map[string]bool{}
	for _, u := range []string{upper + "/alice/category/go/rss.xml", localhost + "/alice/category/go/feed.csv?x=1", a.names.Public() + "/%61lice/category/go/feed.json"} {
		follow[u], goes[u] = newFollower(t), true
	}
	for _, u := range []string{upper + "/everyone/rss.xml", localhost + "/everyone/feed.opml", a.names.Public() + "/%65veryone/category/tea/feed.atom"} {
		follow[u] = newFollower(t)
	}
	for u, f := range follow {
		f.follow(t, a, u)
	}
	notified := func(what string, want func(u string) bool) {
		t.Helper()
		rest(t, a)
		for u, f := range follow {
			cloud, websub := 0, 0
			if want(u) {
				until(t, what+": "+u+" is notified", func() bool { cloud, websub = f.count(); return cloud > 0 && websub > 0 })
			}
			if cloud, websub = f.count(); cloud != websub || cloud > 1 || (cloud == 1) != want(u) {
				t.Errorf("%s: %s received %d and %d notifications", what, u, cloud, websub)
			}
			f.mu.Lock()
			for _, got := range f.received {
				if got != u {
					t.Errorf("%s: %s was notified of %s", what, u, got)
				}
			}
			f.received, f.bodies = nil, nil
			f.mu.Unlock()
		}
	}
	everyone := func(u string) bool { return !goes[u] && !strings.Contains(u, "tea") }
	write("alice", "about nothing")
	notified("a post in none", everyone)
	for range 2 {
		write("alice", "about go", "go")
		notified("a post", func(u string) bool { return goes[u] || everyone(u) })
	}
	write("alice", "about tea", "tea")
	notified("a post about tea", func(u string) bool { return !goes[u] })
}
