package publishhttp

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

func TestFeedIsServedAsSavedWithHeaders(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	doc := hostedRSS(40)
	d.save(t, author.Public, doc)
	a := d.do(t, "GET", "/alice/rss.xml", "")
	a.is(t, "GET", http.StatusOK)
	if a.body != doc {
		t.Errorf("served is %q", a.body)
	}
	a.has(t, "GET", "Cache-Control", "public, max-age=300, must-revalidate, stale-if-error=3600", "Cache-Tag", "author-alice,feed-alice", "Content-Type", "application/rss+xml; charset=utf-8", "Last-Modified", "Sun, 01 Mar 2026 12:00:00 GMT",
		"Content-Security-Policy", "sandbox; default-src 'none'", "X-Content-Type-Options", "nosniff", "Access-Control-Allow-Origin", "*",
		"Link", `<https://hub.example/websub>; rel="hub", <https://hub.example/alice/rss.xml>; rel="self"`)
	tag := a.Header.Get("ETag")
	if !strings.HasPrefix(tag, `"`) {
		t.Errorf("the tag is %q", tag)
	}
	d.do(t, "GET", "/alice/rss.xml", "", "If-None-Match", tag).is(t, "If-None-Match with the ETag", http.StatusNotModified)
	d.do(t, "GET", "/alice/rss.xml", "", "If-Modified-Since", "Sun, 01 Mar 2026 12:00:00 GMT").is(t, "If-Modified-Since", http.StatusNotModified)
	for _, encoding := range []string{"gzip", "br"} {
		b := d.do(t, "GET", "/alice/rss.xml", "", "Accept-Encoding", encoding)
		b.is(t, encoding, http.StatusOK)
		b.has(t, encoding, "Content-Encoding", encoding)
	}
	h := d.do(t, "HEAD", "/alice/rss.xml", "")
	h.has(t, "HEAD", "ETag", tag)
	if h.body != "" {
		t.Error("HEAD has a body")
	}
	d.now = d.now.Add(time.Second)
	d.save(t, author.Public, hostedRSS(41))
	b := d.do(t, "GET", "/alice/rss.xml", "", "If-None-Match", tag)
	b.is(t, "the next version", http.StatusOK, "Item 41")
	d.do(t, "GET", "/alice/rss.xml", "", "If-Match", `"x"`).is(t, "old ETag", http.StatusPreconditionFailed)
	var want []ServedFeed
	for _, status := range []int{200, 304, 304, 200, 200, 200, 200} {
		want = append(want, ServedFeed{Feed: "alice/rss", Status: status})
	}
	if !slices.Equal(d.hits, want) {
		t.Errorf("the hits are %+v", d.hits)
	}
}

func TestEachFormatIsServedWithItsMediaTypeAndHub(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(3))
	for _, f := range render.Formats() {
		targets := []string{"/alice/rss.xml?format=" + f.Name, "/alice/feed?format=" + f.Name}
		if f.Ext != "" {
			targets = append(targets, "/alice/feed."+f.Ext)
		}
		for _, target := range targets {
			a := d.do(t, "GET", target, "")
			a.is(t, target, http.StatusOK)
			a.has(t, target, "Content-Type", f.Type, "Content-Security-Policy", "sandbox; default-src 'none'",
				"Link", `<https://hub.example/websub>; rel="hub", <https://hub.example`+formPath("alice", f.Name)+`>; rel="self"`)
		}
	}
	d.do(t, "GET", "/alice/feed.xml", "").is(t, "RSS 2.0", http.StatusOK, `<cloud domain="hub.example" port="443" path="/rsscloud/pleaseNotify"`,
		"https://hub.example/websub", "https://hub.example/alice/feed.xml")
	d.do(t, "GET", "/alice/feed.atom", "").is(t, "Atom", http.StatusOK, `rel="hub"`, "https://hub.example/websub", "https://hub.example/alice/feed.atom")
	d.do(t, "GET", "/alice/feed.json", "").is(t, "JSON", http.StatusOK, "https://hub.example/websub", "https://hub.example/alice/feed.json")
	html := d.do(t, "GET", "/alice/feed.html", "")
	html.is(t, "HTML", http.StatusOK, `type="application/atom+xml" title="Atom 1.0" href="https://hub.example/alice/feed.atom"`)
	if strings.Contains(html.body, "<script") || strings.Contains(html.body, "onclick") {
		t.Errorf("the page runs scripts: %s", html.body)
	}
}

func TestUnknownFormatErrorListsFormats(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(1))
	d.do(t, "GET", "/alice/feed.exe", "").is(t, "unknown extension", http.StatusNotFound, `"exe"`, "xml, rdf, atom, json", "rss091")
	d.do(t, "GET", "/alice/feed.", "").is(t, "no extension", http.StatusNotFound, "xml, rdf, atom, json")
	d.do(t, "GET", "/alice/rss.xml?format=word", "").is(t, "unknown format name", http.StatusNotFound, "word", "rss090, rss091", "jsonp")
	d.do(t, "GET", "/alice/feed", "", "Accept", "image/png").is(t, "unknown media type", http.StatusNotAcceptable, "application/atom+xml", "application/feed+json")
}

func TestAcceptHeaderSelectsFormat(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(1))
	for _, c := range []struct{ accept, at string }{
		{"", "/alice/rss.xml"},
		{" ", "/alice/rss.xml"}, // the header Accept is empty
		{",", "/alice/rss.xml"},
		{"*/*", "/alice/rss.xml"},
		{"application/rss+xml, */*;q=0.1", "/alice/rss.xml"},
		{"application/xml", "/alice/rss.xml"},
		{"text/xml;q=0.5", "/alice/rss.xml"},
		{"application/atom+xml", "/alice/feed.atom"},
		{"application/atom+xml, application/rss+xml", "/alice/rss.xml"},
		{"application/rss+xml;q=0.8, application/atom+xml", "/alice/feed.atom"},
		{"application/json", "/alice/feed.json"},
		{"application/feed+json, */*;q=0.9", "/alice/feed.json"},
		{"APPLICATION/RDF+XML", "/alice/feed.rdf"},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "/alice/feed.html"},
		{"text/plain", "/alice/feed.txt"},
		{"text/csv; header=present", "/alice/feed.csv"},
		{"text/*;q=0.5, text/xml;q=0, text/html;q=0", "/alice/feed.txt"},
		{"*/*, application/rss+xml;q=0", "/alice/feed.atom"},
	} {
		var headers []string
		if c.accept != "" {
			headers = []string{"Accept", strings.TrimSpace(c.accept)}
		}
		a := d.do(t, "GET", "/alice/feed", "", headers...)
		a.is(t, c.accept, http.StatusOK)
		a.has(t, c.accept, "Content-Location", c.at)
		if vary := strings.Join(a.Header.Values("Vary"), ", "); !strings.Contains(vary, "Accept,") || !strings.Contains(vary, "Accept-Encoding") {
			t.Errorf("%s: it varies by %q", c.accept, vary)
		}
	}
}

func TestTooLongAcceptHeaderIsRejected(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(1))
	long := strings.Repeat("a/b,", 600)
	d.do(t, "GET", "/alice/feed", "", "Accept", long+"*/*").is(t, "long", http.StatusOK)
	d.do(t, "GET", "/alice/feed", "", "Accept", long+long+"*/*").is(t, "too long", http.StatusBadRequest, "4096")
	d.do(t, "GET", "/alice/feed", "", "Accept", long, "Accept", long, "Accept", "*/*").is(t, "several too long Accept headers", http.StatusBadRequest)
	d.do(t, "GET", "/alice/rss.xml", "", "Accept", long+long).is(t, "long Accept for a fixed format", http.StatusOK)
}

func TestPathsWithoutUserArePassedToTheNextHandler(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(1))
	for _, target := range []string{"/", "/Alice/rss.xml", "/alice.b/rss.xml", "/alice/other", "/alice/rss.xml/", "/alice/rss%2Exml", "/alice%2Frss.xml",
		"/" + strings.Repeat("a", 33) + "/rss.xml", "/alice/privat/rss.xml", "//alice/rss.xml", "/é/rss.xml", "/2026/rss.xml", "/2026", "/docs/rss.xml", "/ping", "/hub"} {
		d.do(t, "GET", target, "").is(t, target, http.StatusTeapot, "next /")
	}
	d.do(t, "POST", "/alice", "x=y").is(t, "a POST", http.StatusTeapot)
	d.do(t, "GET", "/alice/", "").is(t, "the page", http.StatusOK, "the page")
	a := d.do(t, "GET", "/alice?x=1", "")
	a.is(t, "without the slash", http.StatusPermanentRedirect)
	a.has(t, "without the slash", "Location", "/alice/?x=1")
	a = d.do(t, "POST", "/alice/rss.xml", "x")
	a.is(t, "POST", http.StatusMethodNotAllowed)
	a.has(t, "POST", "Allow", "GET, HEAD, OPTIONS, PUT, DELETE")
	d.do(t, "PUT", "/alice/feed.xml", "x").is(t, "PUT of a form", http.StatusMethodNotAllowed)
	d.do(t, "OPTIONS", "/alice/rss.xml", "").has(t, "OPTIONS", "Access-Control-Allow-Methods", "GET, HEAD, OPTIONS", "Allow", "GET, HEAD, OPTIONS, PUT, DELETE")
	unknown, empty := d.do(t, "GET", "/nobody/rss.xml", ""), d.do(t, "GET", "/carol/rss.xml", "")
	unknown.is(t, "an unknown user", http.StatusNotFound)
	if unknown.body != empty.body {
		t.Errorf("a user without a feed differs from no user: %q and %q", empty.body, unknown.body)
	}
	if len(d.hits) != 0 {
		t.Errorf("hits of missing feeds: %+v", d.hits)
	}
}

func TestMovedFeedRedirectsAndEndedFeedIsGoneInEveryFormat(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(1))
	if _, err := d.authors.Move(t.Context(), "alice", author.Public, "https://b.example/feed?a=1&b=2"); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/alice/rss.xml", "/alice/feed.json", "/alice/feed", "/alice/rss.xml?format=csv"} {
		a := d.do(t, "GET", target, "", "If-None-Match", "*")
		a.is(t, target, http.StatusMovedPermanently, `<?xml version="1.0"`, "<redirect>", "<newLocation>https://b.example/feed?a=1&amp;b=2</newLocation>")
		a.has(t, target, "Location", "https://b.example/feed?a=1&b=2", "Content-Type", "text/xml; charset=utf-8")
	}
	if _, err := d.authors.MoveTemporarily(t.Context(), "alice", author.Public, "https://b.example/now"); err != nil {
		t.Fatal(err)
	}
	now := d.do(t, "GET", "/alice/rss.xml", "")
	now.is(t, "moved for now", http.StatusFound, "https://b.example/now")
	now.has(t, "moved for now", "Location", "https://b.example/now", "Cache-Control", "no-cache")
	if strings.Contains(now.body, "redirect") { // a permanent redirect would make readers store the new URL
		t.Errorf("the body of a temporary redirect is %q", now.body)
	}
	if _, err := d.authors.End(t.Context(), "alice", author.Public); err != nil {
		t.Fatal(err)
	}
	d.do(t, "GET", "/alice/feed.atom", "").is(t, "gone feed", http.StatusGone, "<redirect>", "<newLocation/>")
	if a := d.do(t, "HEAD", "/alice/rss.xml", ""); a.StatusCode != http.StatusGone || a.body != "" {
		t.Errorf("HEAD: %d %q", a.StatusCode, a.body)
	}
	if _, err := d.authors.Restore(t.Context(), "alice", author.Public); err != nil {
		t.Fatal(err)
	}
	d.do(t, "GET", "/alice/rss.xml", "").is(t, "restored", http.StatusOK)
}

func TestHubReadsTheSameBytesAsFeedReaders(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(5))
	addresses := d.Addresses("alice")
	if addresses[0] != "/alice/rss.xml" || !slices.Contains(addresses, "/alice/feed.json") || !slices.Contains(addresses, "/alice/rss.xml?format=rss091") {
		t.Errorf("the addresses are %q", addresses)
	}
	for _, target := range addresses {
		path, query, _ := strings.Cut(target, "?")
		body, kind, tag, modified, ok, err := d.OwnDocument(t.Context(), path, query)
		if err != nil || !ok || !modified.Equal(d.now) {
			t.Fatalf("%s: %v %v %v", target, ok, err, modified)
		}
		a := d.do(t, "GET", target, "")
		if a.body != string(body) || a.Header.Get("ETag") != tag || a.Header.Get("Content-Type") != kind {
			t.Errorf("%s: readers get %q %q, the hub %q %q", target, a.Header.Get("ETag"), a.Header.Get("Content-Type"), tag, kind)
		}
	}
	for _, path := range []string{"/alice/", "/alice", "/", "/alice/other", "/Alice/rss.xml"} {
		if _, _, _, _, ok, err := d.OwnDocument(t.Context(), path, ""); ok || err != nil {
			t.Errorf("%s is a feed: %v", path, err)
		}
	}
	for path, code := range map[string]fault.Code{
		"/alice/private/rss.xml": fault.Refused, "/alice/private/sel1." + goodSecret + "/rss.xml": fault.Refused,
		"/bob/rss.xml": fault.NotFound, "/alice/feed.exe": fault.NotFound,
	} {
		_, _, _, _, ok, err := d.OwnDocument(t.Context(), path, "")
		if !ok || fault.CodeOf(err) != code || strings.Contains(fault.Message(err), goodSecret) {
			t.Errorf("%s: %v %v", path, ok, err)
		}
	}
	if _, err := d.authors.End(t.Context(), "alice", author.Public); err != nil {
		t.Fatal(err)
	}
	if _, _, _, _, _, err := d.OwnDocument(t.Context(), "/alice/rss.xml", ""); fault.CodeOf(err) != fault.Gone {
		t.Errorf("one that ended: %v", err)
	}
}
