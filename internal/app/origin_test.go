package app_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"cloudburst/client"
)

// byName returns the URL of path at another loopback name or address of the program.
func (r *running) byName(host, path string) string {
	return strings.Replace(r.base, "127.0.0.1", host, 1) + path
}

// ask sends one request to the program without following redirects.
func (r *running) ask(method, host, path string, header ...string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.base+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Host = strings.Replace(host, "PORT", req.URL.Port(), 1)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	res.Body.Close()
	return res
}

func TestOnlyBrowsersAreRedirectedToCanonicalHost(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	r.addAlice()
	page := []string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}
	script := []string{"Accept", "text/html", "Sec-Fetch-Mode", "cors"}
	for _, c := range []struct {
		method, host, path string
		header             []string
		want               string // target of the redirect; "": no redirect
	}{
		{"GET", "localhost:PORT", "/setup?token=a%2Fb", page, r.base + "/setup?token=a%2Fb"},
		{"GET", "localhost:PORT", "/", []string{"Sec-Fetch-Mode", "navigate"}, r.base + "/"},
		{"HEAD", "LOCALHOST:PORT", "/log", page, r.base + "/log"},
		{"GET", "localhost:PORT", "/alice/", page, r.base + "/alice/"},
		{"GET", "localhost:PORT", "//evil.example/", page, ""}, // the server answers with another redirect that cleans the path
		{"GET", "127.0.0.1:PORT", "/", page, ""},
		{"GET", "localhost:PORT", "/", nil, ""}, // a request without an Accept header
		{"GET", "localhost:PORT", "/", []string{"Accept", "*/*"}, ""},
		{"GET", "localhost:PORT", "/log", script, ""},
		{"POST", "localhost:PORT", "/do/ping", page, ""},
		{"GET", "localhost:PORT", "/test/rss.xml", page, ""},
		{"GET", "localhost:PORT", "/alice/rss.xml", page, ""},
		{"GET", "localhost:PORT", "/changes.xml", page, ""},
		{"GET", "localhost:PORT", "/feeds.opml", page, ""},
		{"GET", "localhost:PORT", "/healthz", page, ""},
		{"GET", "localhost:PORT", "/readyz", page, ""},
		{"GET", "localhost:PORT", "/v1/river/items", page, ""},
		{"GET", "localhost:PORT", "/pingSiteForm", page, ""},
		{"GET", "localhost:PORT", "/websub", page, ""},
		{"GET", "localhost:PORT", "/ping?url=x", page, ""},
		{"GET", "[::1]:PORT", "/", page, ""},        // the listener does not listen on this address
		{"GET", "localhost:1", "/", page, ""},       // another port, for example of a tunnel
		{"GET", "evil.example:PORT", "/", page, ""}, // hosts other than loopback names are not redirected
		{"GET", "localhost:PORT", "/", append([]string{"X-Forwarded-For", "192.0.2.1"}, page...), ""},
	} {
		res := r.ask(c.method, c.host, c.path, c.header...)
		got := res.Header.Get("Location")
		if strings.HasPrefix(got, "/") {
			got = "" // ignore redirects to another path of the same host
		}
		if got != c.want || c.want != "" && res.StatusCode != http.StatusTemporaryRedirect {
			t.Errorf("%s %s at %s %v: %s to %q; want %q", c.method, c.path, c.host, c.header, res.Status, got, c.want)
		}
	}
}

func TestLoopbackNamesAreNotRedirectedToPublicURL(t *testing.T) {
	t.Parallel()
	cfg := conf(t, t.TempDir())
	cfg.PublicURL = "https://cloud.example"
	r := start(t, cfg)
	for _, host := range []string{"localhost:PORT", "127.0.0.1:PORT"} {
		if res := r.ask("GET", host, "/log", "Accept", "text/html", "Sec-Fetch-Mode", "navigate"); res.StatusCode != http.StatusOK {
			t.Errorf("%s answers %s, to %s", host, res.Status, res.Header.Get("Location"))
		}
	}
}

func TestBannerAndPagesShowListenerAddress(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	if _, body := get(t, r.byName("localhost", "/test/rss.xml")); !strings.Contains(body, "<link>"+r.base+"/</link>") || strings.Contains(body, "localhost") {
		t.Errorf("the test feed under another name: %.600s", body)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if banner := r.out.String(); !strings.Contains(banner, "Pages     "+r.base+"/\n") || strings.Contains(banner, "http://localhost") {
		t.Errorf("the banner is %s", banner)
	}
}

func TestHostedFeedIsOneFeedUnderAllServerNames(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	river := (&client.Client{Base: r.admin}).River("")
	var first client.AddedSource
	for i, u := range []string{r.base + "/test/rss.xml", r.byName("localhost", "/test/rss.xml"), r.byName("LocalHost", "/test/rss.xml"),
		strings.TrimPrefix(r.byName("localhost", "/test/rss.xml"), "http://")} {
		added, err := river.AddSource(t.Context(), client.SourceRequest{URL: u})
		if err != nil || added.Source == nil {
			t.Fatalf("%s: %+v, %v", u, added, err)
		}
		if i == 0 {
			first = added
		}
		if added.Source.URL != r.base+"/test/rss.xml" || added.Source.ID != first.Source.ID {
			t.Errorf("%s was added as %d at %s", u, added.Source.ID, added.Source.URL)
		}
		if _, err := river.Explain(t.Context(), u); err != nil {
			t.Errorf("explain %s: %v", u, err)
		}
	}
	list := fmt.Sprintf(`<opml version="2.0"><body><outline text="a" xmlUrl="%s"/><outline text="b" xmlUrl="%s"/></body></opml>`,
		r.base+"/test/rss.xml", r.byName("localhost", "/test/rss.xml"))
	got, err := river.ImportOPML(t.Context(), strings.NewReader(list), client.OPMLOptions{})
	if err != nil || got.Added != 0 || got.Existing != 1 {
		t.Errorf("the import returns %+v, %v", got, err)
	}
	if n := r.sources(""); n != 1 {
		t.Errorf("%d feeds are followed", n)
	}
}

// sources returns the number of feeds that a river follows.
func (r *running) sources(reader string) (n int) {
	r.t.Helper()
	for _, err := range (&client.Client{Base: r.admin}).River(reader).Sources(r.t.Context(), client.SourceQuery{}) {
		if err != nil {
			r.t.Fatal(err)
		}
		n++
	}
	return n
}

func TestPingUnderAnyServerNameNotifiesAllSubscribers(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	admin := w.addAlice()
	w.saved(admin, "one")
	names := []string{w.base + "/alice/rss.xml", w.byName("localhost", "/alice/rss.xml")}
	var clouds []*subscriber
	var ears []*recordingServer
	for _, topic := range names {
		s, e := newSubscriber(t), newRecordingServer(t, nil)
		if code, body := post(t, w.base+"/rsscloud/pleaseNotify", s.form(topic, "")); code != http.StatusOK || !strings.Contains(body, `success="true"`) {
			t.Fatalf("pleaseNotify: %d %s", code, body)
		}
		s.wait(t, "the test call")
		w.subscribe(t, topic, e.URL)
		clouds, ears = append(clouds, s), append(ears, e)
	}
	if _, body := post(t, w.base+"/ping", url.Values{"url": {names[1]}}); !strings.Contains(body, `success="true"`) {
		t.Fatal(body)
	}
	// Each subscriber must be notified with the host name that its subscription contains.
	for i, s := range clouds {
		if got := s.wait(t, "the first check counts as a change"); got != names[i] {
			t.Errorf("a subscriber of %s is notified of %s", names[i], got)
		}
		d := ears[i].await(t, http.MethodPost, 1)[0]
		if link := d.Header.Get("Link"); !strings.Contains(link, "<"+names[i]+`>; rel="self"`) {
			t.Errorf("a subscriber of %s gets %s", names[i], link)
		}
	}
	w.rest(t)
	if n := strings.Count(mustGet(t, w.base+"/changes.xml"), "/alice/rss.xml"); n != 2 { // the list contains the save of the feed and this ping
		t.Errorf("the changes are listed %d times", n)
	}
}

func mustGet(t *testing.T, url string) string {
	t.Helper()
	_, body := get(t, url)
	return body
}

func TestFeedsFollowedUnderFormerServerNameMoveToCanonicalName(t *testing.T) {
	t.Parallel()
	cfg := conf(t, t.TempDir())
	r := start(t, cfg)
	admin := r.addAlice()
	if _, err := admin.AddUser(t.Context(), "bob", alicePassword); err != nil {
		t.Fatal(err)
	}
	r.saved(admin, "one")
	var items string
	for _, reader := range []string{"", "bob"} {
		for _, path := range []string{"/test/rss.xml", "/alice/rss.xml"} {
			if _, err := admin.River(reader).AddSource(t.Context(), client.SourceRequest{URL: r.base + path, Categories: []string{"Own"}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	items = r.itemsOf(admin, r.base+"/alice/rss.xml")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}

	cfg.Listen = strings.TrimPrefix(r.base, "http://")
	cfg.PublicURL = r.byName("localhost", "")
	later := start(t, cfg)
	admin = &client.Client{Base: later.admin}
	for _, reader := range []string{"", "bob"} {
		var urls []string
		for s, err := range admin.River(reader).Sources(t.Context(), client.SourceQuery{Category: "Own"}) {
			if err != nil {
				t.Fatal(err)
			}
			urls = append(urls, s.URL)
		}
		if len(urls) != 2 || strings.Contains(strings.Join(urls, " "), "127.0.0.1") {
			t.Errorf("%q follows %v", reader, urls)
		}
	}
	if got := later.itemsOf(admin, cfg.PublicURL+"/alice/rss.xml"); got != items || items == "" {
		t.Errorf("the items were %s and are %s", items, got)
	}
}

// itemsOf returns the IDs of the items of a feed.
func (r *running) itemsOf(c *client.Client, feed string) string {
	r.t.Helper()
	var ids []string
	for it, err := range c.River("").Items(r.t.Context(), client.ItemQuery{Source: feed}) {
		if err != nil {
			r.t.Fatal(err)
		}
		ids = append(ids, fmt.Sprint(it.ID))
	}
	return strings.Join(ids, " ")
}

func TestAuthorCanBeFollowedByPageURL(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	admin := r.addAlice()
	if _, err := admin.AddUser(t.Context(), "bob", alicePassword); err != nil {
		t.Fatal(err)
	}
	text, categories := "Hello", []string{"go", "tea"}
	if _, err := admin.CreatePost(t.Context(), "alice", client.PostChange{Source: &text, Categories: &categories}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.SaveFeed(t.Context(), "bob", "rss", "application/rss+xml", []byte(rssOf("saved"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/alice/": "/alice/rss.xml", "/bob/": "/bob/rss.xml", "/alice/category/tea/": "/alice/category/tea/rss.xml", "/everyone/": "/everyone/rss.xml",
	} {
		for _, page := range []string{r.base + path, r.byName("localhost", path)} {
			added, err := admin.River("").AddSource(t.Context(), client.SourceRequest{URL: page})
			if err != nil || added.Source == nil || added.Source.URL != r.base+want || added.Source.Items != 1 && path != "/everyone/" {
				t.Errorf("%s: %+v, %v", page, added, err)
			}
		}
	}
}

func TestTopicsPageShowsWhenOwnFeedsChanged(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	admin := r.addAlice()
	if _, err := admin.AddUser(t.Context(), "bob", alicePassword); err != nil {
		t.Fatal(err)
	}
	r.saved(admin, "one")
	text, categories := "Hello", []string{"tea"}
	if _, err := admin.CreatePost(t.Context(), "bob", client.PostChange{Source: &text, Categories: &categories}, ""); err != nil {
		t.Fatal(err)
	}
	f := newFeed(t)
	for _, topic := range []string{r.base + "/alice/rss.xml", r.byName("localhost", "/alice/feed.json"), r.base + "/bob/category/tea/rss.xml", r.base + "/test/rss.xml", f.URL + "/elsewhere.xml"} {
		s := newSubscriber(t)
		if code, body := post(t, r.base+"/rsscloud/pleaseNotify", s.form(topic, "")); code != http.StatusOK || !strings.Contains(body, `success="true"`) {
			t.Fatalf("pleaseNotify: %d %s", code, body)
		}
		s.wait(t, "the test call")
	}
	body := mustGet(t, r.base+"/topics")
	if strings.Count(body, "<tr><th scope=\"row\">") != 5 || strings.Count(body, "not read yet") != 1 { // only the external feed, which was never pinged, is not read yet
		t.Errorf("page: %s", body)
	}
}
