package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
)

// titled sets the titles of feeds in w. key of titles: URL of the feed. The result contains the
// URLs of each look-up that the pages make.
func titled(w *Web, titles map[string]string) *[][]string {
	asked := &[][]string{}
	w.Titles = func(_ context.Context, urls []string) (map[string]string, error) {
		*asked = append(*asked, urls)
		return titles, nil
	}
	return asked
}

func TestHubPagesReadAllFeedTitlesWithOneQuery(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	addBusyDay(f, bus)
	asked := titled(w, map[string]string{scripting: "Scripting <News>", "https://xkcd.com/atom.xml": "Comics", "https://people.example.net/~user02/rss.xml": "Second user"})
	h := w.Routes()
	for path, want := range map[string][]string{
		"/log":                {`<bdi class="topic" title="https://scripting.com/rss.xml">Scripting &lt;News&gt;</bdi>`, "<dt>Address</dt><dd><bdi>https://scripting.com/rss.xml</bdi>"},
		"/topics?q=xkcd":      {`<bdi>Comics</bdi></a>`, `<bdi class="second">xkcd.com/atom.xml</bdi>`},
		"/topics?q=scripting": {`<bdi>Scripting News</bdi></a>`}, // the title in the feed itself takes precedence
		"/changes":            {`<bdi>Second user</bdi>`},
	} {
		*asked = nil
		rec := get(t, h, path)
		check(t, rec)
		for _, part := range want {
			if !strings.Contains(rec.Body.String(), part) {
				t.Errorf("%s lacks %s", path, part)
			}
		}
		if len(*asked) > 1 {
			t.Errorf("%s makes %d look-ups", path, len(*asked))
		}
	}
	*asked = nil
	get(t, h, "/log")
	if len(*asked) != 0 {
		t.Errorf("the titles are looked up again at once: %v", *asked)
	}
	w.Titles = func(context.Context, []string) (map[string]string, error) {
		return nil, errors.New("the store is away")
	}
	if rec := get(t, w.Routes(), "/log"); rec.Code != 200 || !strings.Contains(rec.Body.String(), "scripting.com/rss.xml") {
		t.Errorf("without titles the log answers %d", rec.Code)
	}
}

func TestLiveLogLineContainsFeedTitleAndKeepsFilters(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	titled(w, map[string]string{scripting: "Scripting News"})
	server := serveWeb(t, w)
	all, filtered := watch(t, server, "?as=html", ""), watch(t, server, "?as=html&kind=ping&q=thanks", "")
	f.add(bus, ping("Thanks"))
	id := hub.TopicID(scripting)
	for r, links := range map[*reader][]string{
		all:      {fmt.Sprintf(`href="/topics/%d"`, id), `href="/log?topic=https%3A%2F%2Fscripting.com%2Frss.xml"`, `href="/log?kind=ping"`},
		filtered: {fmt.Sprintf(`href="/topics/%d?kind=ping&q=thanks"`, id), `href="/log?kind=ping&q=thanks&topic=https%3A%2F%2Fscripting.com%2Frss.xml"`},
	} {
		line := html.UnescapeString(r.next(false).data)
		for _, part := range append(links, ">Scripting News</bdi>") {
			if !strings.Contains(line, part) {
				t.Errorf("the line lacks %s:\n%s", part, line)
			}
		}
	}
}

func TestLinksOfTheLogKeepItsFilters(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	f.add(bus, ping("Thanks"))
	h := w.Routes()
	body := html.UnescapeString(get(t, h, "/log?q=thanks").Body.String())
	topic := topicPath(scripting) + "?q=thanks"
	for _, part := range []string{`href="` + topic + `"`, `href="/log?q=thanks&topic=https%3A%2F%2Fscripting.com%2Frss.xml">Only this feed`, `href="/log?kind=ping&q=thanks">Only pings`} {
		if !strings.Contains(body, part) {
			t.Errorf("the log lacks %s", part)
		}
	}
	if body := get(t, h, "/log?kind=ping&topic="+url.QueryEscape(scripting)).Body.String(); strings.Contains(body, "Only this feed") || strings.Contains(body, "Only pings") {
		t.Error("a filter that is set is offered again")
	}
	body = html.UnescapeString(get(t, h, topic).Body.String())
	id := fmt.Sprint(hub.TopicID(scripting))
	for _, part := range []string{`href="/log?q=thanks">Back to the filtered log`, `href="/log?q=thanks&topic=` + id + `">Show all`} {
		if !strings.Contains(body, part) {
			t.Errorf("the topic's page lacks %s", part)
		}
	}
	if body := get(t, h, topicPath(scripting)+"?kind=nonsense").Body.String(); strings.Contains(body, "Back to the filtered log") {
		t.Error("an invalid filter is kept")
	}
}

func TestConsecutiveChangesOfOneFeedAreCollapsed(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, _ := newWeb(t, f)
	f.listed(site1(1), site1(2), site1(2), site1(2), site1(1))
	rec := get(t, w.Routes(), "/changes")
	rows, _ := ids(t, check(t, rec))
	body := rec.Body.String()
	if len(rows) != 5 || strings.Count(body, `<li class="event many"`) != 2 || strings.Count(body, `<span class="n">3</span> changes of <bdi class="name">Site number 2</bdi>`) != 1 {
		t.Errorf("%d changes, or not one run of three:\n%s", len(rows), body)
	}
	list := func(n int) []hub.Change { // returns n changes of one feed
		var all []hub.Change
		for range n {
			all = append(all, site1(3))
		}
		return all
	}
	f.changes = nil
	f.listed(list(2)...)
	if body := get(t, w.Routes(), "/changes").Body.String(); !strings.Contains(body, `<span class="n">2</span>`) {
		t.Error("two changes of one feed do not fold")
	}
}

func TestTopicsAreSortedAndPaged(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, _ := newWeb(t, f)
	for i := range 120 {
		u := fmt.Sprintf("https://example.net/%03d", i)
		f.topics = append(f.topics, hub.TopicInfo{Topic: hub.Topic{ID: hub.TopicID(u), URL: u, Version: 1, CheckedAt: f.now, ChangedAt: f.now.Add(-time.Duration((i*7)%120) * time.Minute)}, Subscribers: int64(i % 10)})
	}
	h := w.Routes()
	for _, sort := range []string{"", "subscribers", "address"} {
		seen, last := map[string]bool{}, int64(1<<62)
		for path := "/topics?q=EXAMPLE&sort=" + sort; path != ""; {
			rec := get(t, h, path)
			doc := check(t, rec)
			_, links := ids(t, doc)
			for n := range doc.Descendants() {
				if n.Data == "bdi" && n.Parent.Data == "a" && n.Parent.Parent.Data == "th" {
					u := "https://" + n.FirstChild.Data
					if seen[u] {
						t.Fatalf("%s: %s is listed twice", sort, u)
					}
					seen[u] = true
					for _, topic := range f.topics {
						if topic.URL != u {
							continue
						}
						value := map[string]int64{"": topic.ChangedAt.UnixMilli(), "subscribers": topic.Subscribers}[sort]
						if value > last {
							t.Fatalf("%s: %s is in the wrong place", sort, u)
						}
						last = value
					}
				}
			}
			if sort == "address" {
				last = 0
			}
			path = links["Next page"]
			if path != "" && (!strings.Contains(path, "q=EXAMPLE") || sort != "" && !strings.Contains(path, "sort="+sort)) {
				t.Errorf("the search is lost in %s", path)
			}
		}
		if len(seen) != 120 {
			t.Errorf("%q: %d topics", sort, len(seen))
		}
	}
	for _, query := range []string{"sort=nonsense", "after=x.y", "sort=subscribers&after=1"} {
		rec := get(t, h, "/topics?"+query)
		check(t, rec)
		if rec.Code != 400 || !strings.Contains(rec.Body.String(), `class="wrong"`) {
			t.Errorf("%s: %d", query, rec.Code)
		}
	}
}

func TestTopicWithoutChangeShowsTheReason(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, _ := newWeb(t, f)
	for i, topic := range []hub.Topic{{}, {Version: 1, CheckedAt: f.now}} {
		topic.URL = fmt.Sprint("https://example.net/", i)
		topic.ID = hub.TopicID(topic.URL)
		f.topics = append(f.topics, hub.TopicInfo{Topic: topic})
	}
	body := get(t, w.Routes(), "/topics").Body.String()
	if !strings.Contains(body, "not read yet") || !strings.Contains(body, "none seen yet") || strings.Contains(body, "never") {
		t.Errorf("the page says:\n%s", body)
	}
}

func TestStatusPageListsProblemsBeforeFigures(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	addBusyDay(f, bus)
	for i := range f.subs {
		f.subs[i].Failures = i % 2
	}
	w.Warnings = func() []string { return []string{"the disk is almost full"} }
	rec := get(t, w.Routes(), "/status")
	check(t, rec)
	body, at := rec.Body.String(), 0
	for _, part := range []string{`class="verdict`, "602 of 1,204 subscriptions fail.", "The disk is almost full.", `id="s-charts"`, "<title id=", "<desc id=", ">Deliveries</h3>", ">Subscriptions</h3>", ">Feeds</h3>", ">Machine</h3>", `id="s-table"`} {
		i := strings.Index(body[at:], part)
		if i < 0 {
			t.Fatalf("%q is missing or not in order", part)
		}
		at += i
	}
}

func TestHubPageShowsTheElementsOfEachProtocol(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	w.TestFeed = "http://hub.example:5337/test/rss.xml"
	h := w.Routes()
	for path, want := range map[string][]string{
		"/hub":             {`<cloud domain="hub.example"`, "/rsscloud/ping", "cloudburst listen http://hub.example:5337/test/rss.xml"},
		"/hub?with=websub": {`rel="hub" href="http://hub.example:5337/websub"/>`, `"hubs": [{"type": "WebSub"`, "hub.mode=publish"},
	} {
		rec := get(t, h, path)
		check(t, rec)
		body := html.UnescapeString(rec.Body.String())
		for _, part := range want {
			if !strings.Contains(body, part) {
				t.Errorf("%s lacks %s", path, part)
			}
		}
	}
}

func TestLogFilterListsEventKinds(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	f.add(bus, event.Event{Kind: event.KindSystem, OK: true, Text: "Started."})
	if body := get(t, w.Routes(), "/log").Body.String(); !strings.Contains(body, ">Only system</a>") || strings.Contains(body, "Only this feed") {
		t.Error("an event without a feed offers the wrong filters")
	}
}
