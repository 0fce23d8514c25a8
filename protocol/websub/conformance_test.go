package websub_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"cloudburst/protocol/websub"
)

// site publishes arbitrary documents for programs that discover its hub.
type site struct {
	*httptest.Server
	mux *http.ServeMux
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{mux: http.NewServeMux()}
	s.Server = httptest.NewServer(s.mux)
	t.Cleanup(s.Close)
	return s
}

// page serves a document. SITE in content and header is replaced by the site's own URL.
func (s *site) page(path string, content string, header ...string) {
	s.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Add(header[i], strings.ReplaceAll(header[i+1], "SITE", s.URL))
		}
		_, _ = io.WriteString(w, strings.ReplaceAll(content, "SITE", s.URL))
	})
}

const (
	htmlLinks = `<!doctype html><html><head><link rel="hub" href="SITE/hub"><link rel="self" href="SITE/blog"></head><body><link rel="hub" href="http://visitor.example/"></body></html>`
	atomLinks = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>x</title><link rel="hub" href="SITE/hub"/><link rel="self" href="SITE/blog"/></feed>`
	rssLinks  = `<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><atom:link rel="hub" href="SITE/hub"/><atom:link rel="self" href="SITE/blog"/><link>http://x.example/</link></channel></rss>`
	jsonLinks = `{"version":"https://jsonfeed.org/version/1.1","title":"x","feed_url":"SITE/blog","hubs":[{"type":"WebSub","url":"SITE/hub"}],"items":[]}`
	bothLinks = `<SITE/hub>; rel="hub", <SITE/blog>; rel="self"`
)

// TestSubscriberDiscoversHubAndTopic has the checks of the public test site for subscribers that
// concern discovery and redirects of the topic.
func TestSubscriberDiscoversHubAndTopic(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.page("/header", "<html>nothing</html>", "Link", `<SITE/blog>; rel="self"`, "Link", `<SITE/hub>; rel="hub"`)
	s.page("/combined", "text", "Link", bothLinks, "Content-Type", "text/plain")
	s.page("/relative", "text", "Link", `</hub>; rel=hub, <blog>; rel=self`, "Content-Type", "application/json")
	s.page("/html", htmlLinks, "Content-Type", "text/html")
	s.page("/atom", atomLinks, "Content-Type", "text/xml")
	s.page("/rss", rssLinks, "Content-Type", "text/xml")
	s.page("/json", jsonLinks, "Content-Type", "application/feed+json")
	s.page("/priority", strings.ReplaceAll(atomLinks, `SITE/`, `SITE/wrong/`), "Content-Type", "text/xml", "Link", bothLinks)
	s.page("/half", atomLinks, "Content-Type", "text/xml", "Link", `<SITE/hub>; rel="hub"`)
	s.page("/other-self", "x", "Link", `<SITE/hub>; rel="hub", <SITE/blog?self=other>; rel="self"`)
	s.page("/two-hubs", "x", "Link", bothLinks, "Link", `<http://second.example/>; rel="hub"`)
	s.page("/no-self", "x", "Link", `<SITE/hub>; rel="hub"`)
	s.page("/no-hub", "<html><head></head><body>"+htmlLinks+"</body></html>", "Content-Type", "text/html")
	for path, status := range map[string]int{"/302": 302, "/301": 301, "/307": 307, "/308": 308} {
		s.mux.Handle(path, http.RedirectHandler("/other-self", status))
	}
	s.mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	s.mux.Handle("/file", http.RedirectHandler("file:///etc/passwd", http.StatusFound))
	for _, c := range []struct {
		name, path, self string
	}{
		{"in headers", "/header", "/blog"},
		{"in one combined header", "/combined", "/blog"},
		{"by relative links", "/relative", "/blog"},
		{"in the head of a page", "/html", "/blog"},
		{"in an Atom feed", "/atom", "/blog"},
		{"in an RSS feed", "/rss", "/blog"},
		{"in a JSON feed", "/json", "/blog"},
		{"in headers before the body", "/priority", "/blog"},
		{"the self of the body where headers name none", "/half", "/blog"},
		{"a self other than the requested URL", "/other-self", "/blog?self=other"},
		{"one of two hubs", "/two-hubs", "/blog"},
		{"a topic without self", "/no-self", "/no-self"},
		{"behind a temporary redirect", "/302", "/blog?self=other"},
		{"behind a permanent redirect", "/301", "/blog?self=other"},
		{"behind 307", "/307", "/blog?self=other"},
		{"behind 308", "/308", "/blog?self=other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, client := range []*websub.Client{{}, {HTTP: http.DefaultClient}} {
				d, err := client.Discover(t.Context(), s.URL+c.path)
				if err != nil || d.Topic() != s.URL+c.self || len(d.Hubs) == 0 || d.Hubs[0] != s.URL+"/hub" {
					t.Errorf("%+v, %v", d, err)
				}
				if slices.Contains(d.Hubs, "http://visitor.example/") {
					t.Error("the hub came from the content of a visitor")
				}
			}
		})
	}
	c := &websub.Client{}
	if d, err := c.Discover(t.Context(), s.URL+"/no-hub"); !errors.Is(err, websub.ErrNoHub) {
		t.Errorf("a hub in the body of a page: %+v, %v", d, err)
	}
	for path, want := range map[string]string{"/loop": "more than 5 redirects", "/file": "302 Found", "/nothing": "404 Not Found"} {
		if _, err := c.Discover(t.Context(), s.URL+path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestSubscriberVerifiesSubscriptionAndReceivesContent has the checks that concern redirected hubs, verification and
// content. Each uses a subscription of its own.
func TestSubscriberVerifiesSubscriptionAndReceivesContent(t *testing.T) {
	t.Parallel()
	f := newFollower()
	callbacks := httptest.NewServer(&websub.Subscriber{Callbacks: f, Log: quiet(t)})
	t.Cleanup(callbacks.Close)
	hub := newHub(t)
	moved := newSite(t)
	moved.mux.Handle("/307", http.RedirectHandler(hub.URL, http.StatusTemporaryRedirect))
	moved.mux.Handle("/308", http.RedirectHandler(hub.URL, http.StatusPermanentRedirect))
	topic := publisher(t, hub.URL+"/", "text/plain", "hello")
	client := &websub.Client{}
	follow := func(t *testing.T, endpoint, topic, secret string) websub.Subscription {
		t.Helper()
		token := websub.NewToken()
		s := websub.Subscription{Callback: callbacks.URL + "/" + token, Topic: topic, Secret: secret}
		f.expect(token, "subscribe", topic, secret)
		if err := client.Subscribe(t.Context(), endpoint, s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	known := func(s websub.Subscription) bool {
		hub.mu.Lock()
		defer hub.mu.Unlock()
		_, ok := hub.subs[[2]string{s.Topic, s.Callback}]
		return ok
	}
	for _, endpoint := range []string{hub.URL, moved.URL + "/307", moved.URL + "/308"} {
		s := follow(t, endpoint, topic.URL+"/a", "")
		if hub.settle(t); !known(s) {
			t.Errorf("%s: not subscribed", endpoint)
		}
	}

	t.Run("refuses a verification of another topic", func(t *testing.T) {
		s := follow(t, hub.URL, topic.URL+"/b", "")
		status, body := get(t, websub.VerifyURL(s.Callback, websub.Verification{Mode: "subscribe", Topic: topic.URL + "/c", Challenge: "abc", Lease: websub.MinLease}))
		if status != 404 || strings.Contains(string(body), "abc") {
			t.Errorf("%d %s", status, body)
		}
		if hub.settle(t); !known(s) {
			t.Error("another hub's verification consumed the pending request")
		}
	})
	t.Run("uses a unique callback each time", func(t *testing.T) {
		if a, b := follow(t, hub.URL, topic.URL+"/d", ""), follow(t, hub.URL, topic.URL+"/d", ""); a.Callback == b.Callback {
			t.Error(a.Callback)
		}
	})
	post := func(t *testing.T, s websub.Subscription, signature string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(context.Background(), "POST", s.Callback, strings.NewReader("hello"))
		if err != nil {
			t.Fatal(err)
		}
		if signature != "" {
			r.Header.Set("X-Hub-Signature", signature)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	arrived := func() int { return len(f.arrived) }
	t.Run("responds to content with a 2xx status", func(t *testing.T) {
		if status := post(t, follow(t, hub.URL, topic.URL+"/e", ""), ""); status/100 != 2 || arrived() != 1 {
			t.Errorf("%d, %d arrived", status, arrived())
		}
	})
	t.Run("ignores content with a wrong signature", func(t *testing.T) {
		s := follow(t, hub.URL, topic.URL+"/f", "geheim")
		wrong, err := websub.Sign("sha256", "falsch", []byte("hello"))
		if status := post(t, s, wrong); err != nil || status/100 != 2 || arrived() != 1 {
			t.Errorf("%d, %d arrived", status, arrived())
		}
	})
	t.Run("ignores unsigned content if there is a secret", func(t *testing.T) {
		if status := post(t, follow(t, hub.URL, topic.URL+"/g", "geheim"), ""); status/100 != 2 || arrived() != 1 {
			t.Errorf("%d, %d arrived", status, arrived())
		}
	})
	t.Run("rejects content after the end", func(t *testing.T) {
		s := websub.Subscription{Callback: callbacks.URL + "/" + websub.NewToken()}
		if status := post(t, s, ""); status != 410 || arrived() != 1 {
			t.Errorf("%d, %d arrived", status, arrived())
		}
	})
}

// TestHandlerAcceptsPublishers has the checks for publishers: a subscriber finds a hub and
// exactly one self URL, and the hub receives the notification of a change.
func TestHandlerAcceptsPublishers(t *testing.T) {
	t.Parallel()
	hub := newHub(t)
	feed := publisher(t, hub.URL+"/", "application/rss+xml", "<rss/>")
	resp, err := http.Get(feed.URL + "/rss.xml")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	link := strings.Join(resp.Header.Values("Link"), ", ")
	if strings.Count(link, `rel="self"`) != 1 || strings.Count(link, `rel="hub"`) != 1 {
		t.Errorf("%s", link)
	}
	c := &websub.Client{}
	d, err := c.Discover(t.Context(), feed.URL+"/rss.xml")
	if err != nil || d.Self != feed.URL+"/rss.xml" || len(d.Hubs) != 1 || d.Hubs[0] != hub.URL+"/" {
		t.Fatalf("%+v, %v", d, err)
	}
	if err := c.Publish(t.Context(), d.Hubs[0], d.Topic()); err != nil {
		t.Error(err)
	}
	if err := c.Publish(t.Context(), d.Hubs[0], "http://127.0.0.1:1/gone"); err == nil {
		t.Error("an unreachable topic was accepted")
	}
}
