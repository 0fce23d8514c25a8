package app_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"cloudburst/client"
)

// hubSubscriber is a server with a WebSub callback and an rssCloud callback. It records the
// topics of the notifications.
type hubSubscriber struct {
	*httptest.Server
	name, topic string

	mu  sync.Mutex
	got []string
}

func newHubSubscriber(t *testing.T, name, topic string) *hubSubscriber {
	s := &hubSubscriber{name: name, topic: topic}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := r.URL.Query().Get("hub.challenge"); c != "" {
			_, _ = io.WriteString(w, c)
			return
		}
		got := r.PostFormValue("url")
		if got == "" { // WebSub names the topic in a header of the notification
			for _, link := range r.Header.Values("Link") {
				for one := range strings.SplitSeq(link, ",") {
					if at, rel, _ := strings.Cut(one, ">"); strings.Contains(rel, `"self"`) {
						got = strings.TrimLeft(at, " <")
					}
				}
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got = append(s.got, got)
	}))
	t.Cleanup(s.Close)
	return s
}

// take returns the topics of the notifications that arrived since the last call.
func (s *hubSubscriber) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	s.got = nil
	return got
}

// send posts a form to a path of the server.
func (d *domainServer) send(path string, form url.Values) (int, string) {
	d.t.Helper()
	res, err := d.http.PostForm("https://hub.test"+path, form)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// subscribe subscribes two servers to a topic, one by WebSub and one by rssCloud.
func (d *domainServer) subscribe(topic string) []*hubSubscriber {
	d.t.Helper()
	ws, cloud := newHubSubscriber(d.t, "WebSub", topic), newHubSubscriber(d.t, "rssCloud", topic)
	if status, body := d.send("/websub", url.Values{"hub.mode": {"subscribe"}, "hub.topic": {topic}, "hub.callback": {ws.URL}}); status != http.StatusAccepted {
		d.t.Fatalf("WebSub for %s: %d\n%s", topic, status, body)
	}
	u, err := url.Parse(cloud.URL)
	if err != nil {
		d.t.Fatal(err)
	}
	form := url.Values{"notifyProcedure": {""}, "port": {u.Port()}, "path": {"/"}, "protocol": {"http-post"}, "url1": {topic}}
	if status, body := d.send("/rsscloud/pleaseNotify", form); status != http.StatusOK || !strings.Contains(body, `success="true"`) {
		d.t.Fatalf("rssCloud for %s: %d\n%s", topic, status, body)
	}
	d.settle()
	cloud.take() // drop the test notification
	return []*hubSubscriber{ws, cloud}
}

// settle waits until the hub has no pending work.
func (d *domainServer) settle() {
	d.t.Helper()
	wait(d.t, "all deliveries are done", func() bool {
		n, err := d.app.Hub().Counts(d.t.Context())
		return err == nil && n.Pending == 0 && n.ShardsDue == 0 && n.ChecksDue == 0 && n.Requests == 0
	})
}

// once checks that each subscriber received exactly one notification, which names its own topic.
func (d *domainServer) once(when string, all []*hubSubscriber) {
	d.t.Helper()
	d.settle()
	for _, s := range all {
		if got := s.take(); len(got) != 1 || got[0] != s.topic {
			d.t.Errorf("%s, %s for %s got %q", when, s.name, s.topic, got)
		}
	}
}

// TestSubscribersOfADomainAreNotifiedOnce subscribes at the old URL of a feed and at the domain
// of its author. It publishes posts while the domain is in use, and after the domain was removed.
//
// spec:cloudburst#own-domains
func TestSubscribersOfADomainAreNotifiedOnce(t *testing.T) {
	t.Parallel()
	d := newDomainServer(t)
	ctx := t.Context()
	if _, err := d.admin.AddUser(ctx, "alice", alicePassword); err != nil {
		t.Fatal(err)
	}
	post := func(text string) {
		t.Helper()
		if _, err := d.admin.CreatePost(ctx, "alice", client.PostChange{Source: &text}, ""); err != nil {
			t.Fatal(err)
		}
	}
	post("Before")
	const at, old = "https://blog.test/rss.xml", "https://hub.test/alice/rss.xml"
	all := append(d.subscribe(old), d.subscribe("https://hub.test/alice/feed.atom")...)
	site := client.Site{Client: d.admin, User: "alice"}
	if _, err := site.SetDomain(ctx, "blog.test"); err != nil {
		t.Fatal(err)
	}
	if _, err := site.VerifyDomain(ctx); err != nil {
		t.Fatal(err)
	}
	d.once("after the domain was added", all) // the feed changed, because it contains its new URL
	d.shows(at, `<cloud domain="hub.test" `, `path="/rsscloud/pleaseNotify"`, `rel="hub" href="https://hub.test/websub"`, `rel="self" type="application/rss+xml" href="`+at+`"`)
	if _, _, h := d.get(at); !strings.Contains(h.Get("Link"), `<https://hub.test/websub>; rel="hub"`) || !strings.Contains(h.Get("Link"), `<`+at+`>; rel="self"`) {
		t.Errorf("the header is %q", h.Get("Link"))
	}
	all = append(all, d.subscribe(at)...)
	all = append(all, d.subscribe("https://blog.test/feed.atom")...)
	d.once("after a subscription", nil)
	post("At the domain")
	d.once("after a post", all)
	for _, u := range []string{at, old} {
		if status, body := d.send("/rsscloud/ping", url.Values{"url": {u}}); status != http.StatusOK || !strings.Contains(body, `success="true"`) {
			t.Errorf("ping of %s: %d\n%s", u, status, body)
		}
	}
	d.settle()
	for _, s := range all {
		if got := s.take(); len(got) > 0 {
			t.Errorf("after a ping without a change, %s for %s got %q", s.name, s.topic, got)
		}
	}
	if _, err := d.admin.SaveFeed(ctx, "alice", "rss", "text/xml", []byte(`<rss version="2.0"><channel><title>Saved</title><link>http://a.example/</link><description/><item><title>Saved</title></item></channel></rss>`)); err != nil {
		t.Fatal(err)
	}
	d.once("after a saved document", all)
	post("From posts again")
	d.once("after another post", all)
	if _, err := site.RemoveDomain(ctx); err != nil {
		t.Fatal(err)
	}
	d.once("after the domain was removed", all)
	post("After")
	d.once("after a post without the domain", all)
}

// spec:cloudburst#own-domains
func TestSubscribersOfADomainAreNotifiedUnderAllSpellings(t *testing.T) {
	t.Parallel()
	d := newDomainServer(t)
	d.addUsers("alice")
	post := func(text string) {
		t.Helper()
		if _, err := d.admin.CreatePost(t.Context(), "alice", client.PostChange{Source: &text, Categories: &[]string{"go"}}, ""); err != nil {
			t.Fatal(err)
		}
	}
	post("Before")
	site := client.Site{Client: d.admin, User: "alice"}
	if _, err := site.SetDomain(t.Context(), "blog.test"); err != nil {
		t.Fatal(err)
	}
	if _, err := site.VerifyDomain(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all []*hubSubscriber
	for _, topic := range []string{"https://BLOG.test/rss.xml", "https://blog.test/%66eed.atom", "https://BLOG.test/category/go/rss.xml", "https://blog.test/%63ategory/go/feed.json", "https://hub.test:443/everyone/rss.xml"} {
		all = append(all, d.subscribe(topic)...)
	}
	for _, text := range []string{"One", "Two"} {
		post(text)
		d.once("after a post", all)
	}
}

// TestLiveStreamOfAuthorPageWorksAtOwnDomain reads the live stream of an author page at the
// domain of the author.
func TestLiveStreamOfAuthorPageWorksAtOwnDomain(t *testing.T) {
	t.Parallel()
	d := newDomainServer(t)
	ctx := t.Context()
	d.addUsers("alice", "bob")
	text := "First"
	first, err := d.admin.CreatePost(ctx, "alice", client.PostChange{Source: &text}, "")
	if err != nil {
		t.Fatal(err)
	}
	site := client.Site{Client: d.admin, User: "alice"}
	if _, err := site.SetDomain(ctx, "blog.test"); err != nil {
		t.Fatal(err)
	}
	if _, err := site.VerifyDomain(ctx); err != nil {
		t.Fatal(err)
	}
	const at = "https://blog.test"
	path := strings.TrimPrefix(first.URL, "https://hub.test/alice")
	home, thread := d.stream(at, "/"), d.stream(at, path)
	text = "Second"
	if _, err := d.admin.CreatePost(ctx, "alice", client.PostChange{Source: &text}, ""); err != nil {
		t.Fatal(err)
	}
	home(`alice/rss.xml`)
	d.shows(at+"/", "Second")
	reply := "A reply"
	if _, err := d.admin.CreatePost(ctx, "bob", client.PostChange{Source: &reply, Reply: &client.PostReply{URL: first.URL}}, ""); err != nil {
		t.Fatal(err)
	}
	thread(path + "/comments.rss")
	d.shows(at+path, "A reply")
	for _, q := range []string{"", "?kind=save", "?topic=https%3A%2F%2Fhub.test%2Fbob%2Frss.xml", "?topic=x"} {
		if status, _, _ := d.get(at + "/log/stream" + q); status != http.StatusNotFound {
			t.Errorf("/log/stream%s at the domain: %d", q, status)
		}
	}
}

// stream opens the live stream of a page at a domain. It returns a function that waits until the
// stream contains a text.
func (d *domainServer) stream(at, path string) (next func(want string)) {
	d.t.Helper()
	page := d.shows(at+path, `data-stream="/log/stream?`, `script`)
	_, ref, _ := strings.Cut(page, `data-stream="`)
	ref, _, _ = strings.Cut(ref, `"`)
	ctx, cancel := context.WithCancel(d.t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", at+strings.ReplaceAll(ref, "&amp;", "&"), nil)
	if err != nil {
		d.t.Fatal(err)
	}
	res, err := d.http.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { cancel(); res.Body.Close() })
	if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		d.t.Fatalf("%s: %s, %s", ref, res.Status, kind)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Scan() // the first line shows that the stream is open
	return func(want string) {
		d.t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		d.t.Fatalf("the stream ended without %q: %v", want, lines.Err())
	}
}
