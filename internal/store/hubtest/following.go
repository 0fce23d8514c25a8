package hubtest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// following checks which feeds the URLs resolve to.
func (e *env) following(t *testing.T, from []string, limit int, want ...string) {
	t.Helper()
	topics, err := e.Following(e.Ctx, from, 0, e.Now, limit)
	storetest.Must(t, err)
	storetest.Same(t, fmt.Sprint("following ", from), urls(topics), want)
	for _, topic := range topics {
		stored, err := e.Topic(e.Ctx, topic.ID)
		storetest.Must(t, err)
		storetest.Same(t, "whole", topic, stored)
	}
}

// named creates feeds with a subscriber that declare home as their home page.
func (e *env) named(t *testing.T, home string, feeds ...string) {
	t.Helper()
	for _, f := range feeds {
		e.followers(t, f, 1)
		storetest.Must(t, e.SetAbout(e.Ctx, hub.TopicID(f), hub.About{Home: home, Title: f}))
	}
}

const home = "http://127.0.0.1/blog/"

func followingOrder(t *testing.T, e *env) {
	e.named(t, home, "http://127.0.0.1/a", "http://127.0.0.1/b", "http://127.0.0.1/c")
	e.followers(t, home, 1)
	storetest.Must(t, e.SetAbout(e.Ctx, hub.TopicID("http://127.0.0.1/b"), hub.About{Self: "http://127.0.0.1/self", Home: home}))
	e.following(t, nil, 10)
	e.following(t, []string{"http://127.0.0.1/unknown", ""}, 10)
	e.following(t, []string{"http://127.0.0.1/c", "http://127.0.0.1/a", "http://127.0.0.1/c"}, 10, "http://127.0.0.1/c", "http://127.0.0.1/a")
	e.following(t, []string{"http://127.0.0.1/self", "http://127.0.0.1/c"}, 10, "http://127.0.0.1/c", "http://127.0.0.1/b")
	topics, err := e.Following(e.Ctx, []string{"http://127.0.0.1/c", home}, 0, e.Now, 10)
	storetest.Must(t, err)
	storetest.Same(t, "topics with the URLs first, without duplicates", urls(topics)[:2], []string{"http://127.0.0.1/c", home})
	storetest.Same(t, "all", len(topics), 4)
	var many []string
	for i := range 500 {
		many = append(many, fmt.Sprint("http://127.0.0.1/many/", i))
	}
	many = append(many, "http://127.0.0.1/self/", "http://127.0.0.1/a")
	e.following(t, many, 500, "http://127.0.0.1/a", "http://127.0.0.1/b")
}

func followingLive(t *testing.T, e *env) {
	e.named(t, home, "http://127.0.0.1/a")
	s := e.followers(t, home, 1)[0]
	storetest.Must(t, e.RecordPing(e.Ctx, "http://127.0.0.1/b", e.Now, e.Now, nil)) // this topic has no subscribers
	storetest.Must(t, e.SetAbout(e.Ctx, hub.TopicID("http://127.0.0.1/b"), hub.About{Home: home}))
	e.following(t, []string{home, "http://127.0.0.1/b"}, 10, home, "http://127.0.0.1/a")
	e.Now = s.ExpiresAt
	e.following(t, []string{home, "http://127.0.0.1/b"}, 10)
}

func followedUnder(t *testing.T, e *env) {
	const base = "http://127.0.0.1/alice/category/"
	feeds := []string{base + "c%23/rss.xml", base + "go/feed.atom", base + "go/rss.xml", base + "\u65e5/rss.xml"}
	for _, u := range append([]string{"http://127.0.0.1/alice/rss.xml", "http://127.0.0.1/alice/categoryx", "http://127.0.0.1/bob/category/go/rss.xml"}, feeds...) {
		e.followers(t, u, 1)
	}
	storetest.Must(t, e.RecordPing(e.Ctx, base+"nobody/rss.xml", e.Now, e.Now, nil))
	under := func(after string, limit int, want ...string) {
		t.Helper()
		got, err := e.FollowedUnder(e.Ctx, base, after, e.Now, limit)
		storetest.Must(t, err)
		storetest.Same(t, "after "+after, got, want)
	}
	under("", 0, feeds...)
	under("", 2, feeds[:2]...)
	under(feeds[1], 1000, feeds[2:]...)
	under(feeds[3], 1000)
	e.Now = e.In(26 * time.Hour)
	under("", 1000)
}

func followingSlash(t *testing.T, e *env) {
	for i, row := range []struct{ home, asked string }{
		{"http://a.example", "http://a.example/"}, {"http://b.example/", "http://b.example"},
		{"http://a.example/x", "http://a.example/x/"}, {"http://b.example/x/?q=1/", "http://b.example/x?q=1/"},
	} {
		f := fmt.Sprint(feed, i)
		e.named(t, row.home, f)
		e.following(t, []string{row.home}, 10, f)
		e.following(t, []string{row.asked}, 10, f)
		e.following(t, []string{row.asked + "more"}, 10)
	}
	// Only declared URLs match with or without the slash; the URL of a subscription must match
	// exactly.
	e.following(t, []string{feed + "0/"}, 10)
}

func followingLimit(t *testing.T, e *env) {
	var feeds []string
	for i := range 6 {
		feeds = append(feeds, fmt.Sprint(feed, i))
	}
	e.named(t, home, feeds...)
	for limit, want := range map[int]int{-1: 0, 0: 0, 1: 1, 4: 4, 6: 6, 100: 6} {
		for _, from := range [][]string{{home}, {feeds[0], feeds[1], home}} {
			topics, err := e.Following(e.Ctx, from, 0, e.Now, limit)
			storetest.Must(t, err)
			storetest.Same(t, fmt.Sprint("found with the limit ", limit), len(topics), want)
		}
	}
}

func followingRenamed(t *testing.T, e *env) {
	e.named(t, home, feed)
	e.check(t, hub.Check{StartedAt: e.Now, Changed: true, About: &hub.About{Self: "http://127.0.0.1/new"}})
	e.following(t, []string{home}, 10)
	e.following(t, []string{"http://127.0.0.1/new"}, 10, feed)
	storetest.Must(t, e.SetAbout(e.Ctx, hub.TopicID(feed), hub.About{Self: home, Home: home[:len(home)-1]}))
	e.following(t, []string{"http://127.0.0.1/new"}, 10)
	e.following(t, []string{home}, 10, feed)
}

// followingOwn checks that feeds on other hosts that declare the same home page do not displace the
// feeds on the host of that page.
func followingOwn(t *testing.T, e *env) {
	for i := range 30 {
		e.named(t, home, fmt.Sprintf("http://squat%d.test/rss.xml", i))
	}
	honest := []string{"http://127.0.0.1:8080/rss.xml", "http://www.127.0.0.1/rss.xml"}
	e.named(t, home, honest...)
	topics, err := e.Following(e.Ctx, []string{home}, 0, e.Now, 10)
	storetest.Must(t, err)
	storetest.Same(t, "found", len(topics), 10)
	first := urls(topics)[:2]
	slices.Sort(first)
	storetest.Same(t, "first", first, honest)
	storetest.Must(t, e.SetAbout(e.Ctx, hub.TopicID(honest[0]), hub.About{Home: "http://127.0.0.1/elsewhere"}))
	e.following(t, []string{home}, 1, honest[1])
	storetest.Must(t, e.SetAbout(e.Ctx, hub.TopicID(honest[0]), hub.About{Home: "http://127.0.0.1/elsewhere", Self: "http://other.test/"}))
	e.following(t, []string{"http://other.test/", "http://127.0.0.1/elsewhere"}, 10, honest[0])
}

// followingSpellings checks that the usual spelling of a topic's URL, and of a URL that a topic
// declares, finds the topic.
func followingSpellings(t *testing.T, e *env) {
	e.named(t, "http://127.0.0.1/bl\u00f6g", "http://127.0.0.1/f\u00e9", "http://127.0.0.2/f%c3%a9", "HTTP://127.0.0.3/rss.xml")
	e.following(t, []string{"http://127.0.0.1/f%C3%A9"}, 10, "http://127.0.0.1/f\u00e9")
	e.following(t, []string{"http://127.0.0.2/f\u00e9", "http://127.0.0.2/f%C3%A9"}, 10, "http://127.0.0.2/f%c3%a9")
	e.following(t, []string{"http://127.0.0.3/rss.xml"}, 10, "HTTP://127.0.0.3/rss.xml")
	for _, home := range []string{"http://127.0.0.1/bl\u00f6g", "http://127.0.0.1/bl%C3%B6g"} {
		topics, err := e.Following(e.Ctx, []string{home}, 0, e.Now, 10)
		storetest.Must(t, err)
		storetest.Same(t, "topics of "+home, len(topics), 3)
	}
}

// followingBatches checks that the topics on the host of a URL are listed batch by batch, and that
// no topic on another host is.
func followingBatches(t *testing.T, e *env) {
	var own []string
	for i := range 603 {
		own = append(own, fmt.Sprint(home, i))
	}
	keys := e.manyFollowers(t, own)
	e.named(t, home, "http://other.test/rss.xml")
	e.followers(t, home, 1)
	for _, i := range []int{3, 500} { // their subscriptions end
		_, err := e.Unsubscribe(e.Ctx, []hub.Key{keys[i]}, nil)
		storetest.Must(t, err)
		own[i] = ""
	}
	own = slices.DeleteFunc(own, func(u string) bool { return u == "" })
	slices.SortFunc(own, func(a, b string) int { return cmp.Compare(hub.TopicID(a), hub.TopicID(b)) })
	var listed []string
	for after := int64(-1); ; {
		topics, err := e.Following(e.Ctx, []string{home, home[:len(home)-1]}, after, e.Now, 250)
		storetest.Must(t, err)
		if len(topics) == 0 {
			break
		}
		listed, after = append(listed, urls(topics)...), topics[len(topics)-1].ID
	}
	storetest.Same(t, "all topics on the host", listed, own)
	topics, err := e.Following(e.Ctx, []string{home}, 0, e.Now, 400)
	storetest.Must(t, err)
	storetest.Same(t, "the first batch", []any{len(topics), topics[0].URL, topics[399].URL}, []any{400, home, own[398]})
}

// manyFollowers subscribes once to each of the feeds, which declare home as their home page.
func (e *env) manyFollowers(t *testing.T, feeds []string) (keys []hub.Key) {
	t.Helper()
	var subs []hub.Subscription
	for _, f := range feeds {
		s := e.sub(f, "http://127.0.0.1/many")
		subs, keys = append(subs, s), append(keys, s.Key())
	}
	storetest.Must(t, e.Subscribe(e.Ctx, feeds, subs, nil))
	for _, f := range feeds {
		storetest.Must(t, e.SetAbout(e.Ctx, hub.TopicID(f), hub.About{Home: home}))
	}
	return keys
}
