package publishhttp

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// viewer is a Views whose documents a test sets. A view with version 0 does not exist.
type viewer struct {
	version map[string]int64 // key: View.Base
	asked   int
}

func (v *viewer) View(_ context.Context, w author.View) (author.Viewed, error) {
	n := v.version[w.Base()]
	if n == 0 {
		return author.Viewed{}, fault.New(fault.NotFound, "There is no such feed here.")
	}
	return author.Viewed{Version: n, Modified: time.Unix(1_700_000_000+n, 0).UTC()}, nil
}

func (v *viewer) ViewDocument(ctx context.Context, w author.View, o render.Options) ([]byte, string, error) {
	v.asked++
	if _, err := v.View(ctx, w); err != nil {
		return nil, "", err
	}
	hub := ""
	for _, h := range o.Hubs {
		hub = `<atom:link rel="hub" href="` + h + `"/>`
	}
	return fmt.Appendf(nil, `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>%s version %d</title><link>https://hub.example%s</link><description>x</description>`+
		`<atom:link rel="self" href="%s"/>%s<atom:link rel="next" href="https://hub.example%srss.xml?page=%d"/><atom:link rel="prev-archive" href="https://hub.example/alice/archive/3/rss.xml"/>`+
		`<atom:link rel="related" href="https://hub.example/alice/rss.xml"/></channel></rss>`,
		w.Base(), v.version[w.Base()], w.Base(), o.Self, hub, w.Base(), max(w.Page, 1)+1), "application/rss+xml; charset=utf-8", nil
}

func viewHarness(t *testing.T) (*harness, *viewer) {
	t.Helper()
	d, v := newHarness(t), &viewer{version: map[string]int64{
		"/alice/category/c%23/": 1, "/alice/category/caf%C3%A9/": 1, "/alice/category/go/": 1, "/alice/archive/3/": 1, "/everyone/": 1, "/everyone/category/go/": 1,
	}}
	d.Views = v
	return d, v
}

func TestCategoryAndArchiveFeedsAreServedInEveryFormat(t *testing.T) {
	t.Parallel()
	d, v := viewHarness(t)
	for base := range v.version {
		docInfo := !strings.Contains(base, "/archive/")
		for _, f := range render.Formats() {
			self := formUnder(base, f.Name)
			a := d.do(t, "GET", self, "")
			a.is(t, self, http.StatusOK)
			link := `<https://hub.example` + self + `>; rel="self"`
			if docInfo {
				link = `<https://hub.example/websub>; rel="hub", ` + link
			}
			a.has(t, self, "Content-Type", f.Type, "Link", link, "Content-Security-Policy", "sandbox; default-src 'none'")
		}
		raw := d.do(t, "GET", base+"rss.xml", "")
		raw.is(t, base, http.StatusOK, `rel="self" href="https://hub.example`+base+`rss.xml"`)
		if strings.Contains(raw.body, "websub") != docInfo {
			t.Errorf("%s: unexpected hub: %s", base, raw.body)
		}
		d.do(t, "GET", base+"rss.xml", "", "If-None-Match", raw.Header.Get("ETag")).is(t, base, http.StatusNotModified)
		d.do(t, "GET", base+"rss.xml", "", "If-Modified-Since", raw.Header.Get("Last-Modified")).is(t, base, http.StatusNotModified)
		d.do(t, "HEAD", base+"feed.atom", "").is(t, base, http.StatusOK)
		d.do(t, "PUT", base+"rss.xml", "<rss/>").is(t, base, http.StatusMethodNotAllowed)
		negotiated := d.do(t, "GET", base+"feed", "", "Accept", "application/atom+xml")
		negotiated.has(t, base, "Content-Location", base+"feed.atom")
	}
	v.version["/alice/category/go/"] = 2
	d.do(t, "GET", "/alice/category/go/feed.json", "").is(t, "the next version", http.StatusOK, "version 2")
}

func TestLinksToOtherFeedPagesKeepTheFormat(t *testing.T) {
	t.Parallel()
	d, _ := viewHarness(t)
	d.do(t, "GET", "/alice/category/go/feed.atom", "").is(t, "Atom", http.StatusOK,
		`href="https://hub.example/alice/category/go/feed.atom?page=2"`, `href="https://hub.example/alice/archive/3/feed.atom"`, `href="https://hub.example/alice/rss.xml"`)
	d.do(t, "GET", "/alice/category/go/feed.json?page=2", "").is(t, "JSON", http.StatusOK, `https://hub.example/alice/category/go/feed.json?page=3`, `https://hub.example/alice/category/go/feed.json?page=2`)
	d.do(t, "GET", "/alice/category/go/rss.xml?format=rss092&page=4", "").is(t, "RSS 0.92", http.StatusOK)
	d.do(t, "GET", "/alice/category/go/rss.xml?page=2", "").is(t, "as saved", http.StatusOK, `href="https://hub.example/alice/category/go/rss.xml?page=3"`)
	if got := referred("https://hub.example", "atom", "https://elsewhere.example/alice/rss.xml?page=2"); got != "https://elsewhere.example/alice/rss.xml?page=2" {
		t.Errorf("another server's link became %s", got)
	}
}

func TestInvalidFeedPathReturnsPageOrStatus404(t *testing.T) {
	t.Parallel()
	d, v := viewHarness(t)
	for target, want := range map[string]int{
		"/alice/category/none/rss.xml": 404, "/alice/archive/4/rss.xml": 404, "/alice/archive/03/rss.xml": 404, "/alice/archive/0/feed.atom": 404,
		"/alice/archive/-1/rss.xml": 404, "/alice/category/go/feed.exe": 404, "/everyone/archive/1/rss.xml": 404, "/everyone/private/rss.xml": 404,
	} {
		if a := d.do(t, "GET", target, ""); a.StatusCode != want && !strings.Contains(a.body, "next") && a.body != "the page" {
			t.Errorf("%s: %d %s", target, a.StatusCode, a.body)
		}
	}
	for _, page := range []string{"/alice/category/", "/alice/category/go/", "/alice/category/c%23/", "/alice/category/c%2B%2B/", "/alice/archive/", "/alice/about", "/alice/search", "/alice/formats", "/alice/2026/11/", "/alice/2026/11/22/hello", "/alice/2026/11/22/caf%c3%a9", "/everyone/", "/everyone/category/go/"} {
		if a := d.do(t, "GET", page, ""); a.body != "the page" {
			t.Errorf("%s: %d %s", page, a.StatusCode, a.body)
		}
	}
	for _, next := range []string{"/alice/media/0123456789abcdef/x.png", "/alice/rsd.xml", "/alice/202/11/", "/alice/stats", "/alice/X", "/alice/category%2Fgo/rss.xml", "/2026/11/22/", "/alice/%72ss.xml"} {
		if a := d.do(t, "GET", next, ""); !strings.HasPrefix(a.body, "next") {
			t.Errorf("%s: %d %s", next, a.StatusCode, a.body)
		}
	}
	a := d.do(t, "GET", "/alice/category/Go/feed.atom?page=2", "")
	a.is(t, "in capitals", http.StatusMovedPermanently)
	a.has(t, "in capitals", "Location", "/alice/category/go/feed.atom?page=2")
	d.save(t, author.Public, hostedRSS(2))
	d.do(t, "GET", "/alice/rss.xml?page=2", "").is(t, "page of a saved document", http.StatusOK, "Item 2")
	v.version["/alice/"] = 1
	d.do(t, "GET", "/alice/rss.xml?page=2", "").is(t, "page of posts", http.StatusOK, "/alice/ version 1")
	if _, err := d.authors.End(t.Context(), "alice", author.Public); err != nil {
		t.Fatal(err)
	}
	d.do(t, "GET", "/alice/category/go/rss.xml", "").is(t, "view of a gone feed", http.StatusGone)
}

func TestCategoryAndArchiveFeedsAreReadWithoutNetwork(t *testing.T) {
	t.Parallel()
	d, v := viewHarness(t)
	for path, query := range map[string]string{"/alice/category/c#/feed.atom": "", "/everyone/rss.xml": "", "/alice/archive/3/rss.xml": "", "/everyone/category/go/feed": "format=json&page=2"} {
		body, kind, tag, modified, ok, err := d.OwnDocument(t.Context(), path, query)
		if query == "format=json&page=2" {
			if fault.CodeOf(err) != fault.NotFound {
				t.Errorf("%s in no format: %v", path, err)
			}
			continue
		}
		if !ok || err != nil || len(body) == 0 || kind == "" || tag == "" || modified.IsZero() {
			t.Errorf("%s: %v %v %s %s %v", path, ok, err, kind, tag, modified)
		}
	}
	if _, _, _, _, ok, err := d.OwnDocument(t.Context(), "/alice/category/none/rss.xml", ""); !ok || fault.CodeOf(err) != fault.NotFound {
		t.Errorf("none: %v %v", ok, err)
	}
	if w, ok := d.ViewAt("/alice/category/go/feed.atom", "page=3"); !ok || w != (author.View{User: "alice", Category: "go", Page: 3}) || w.IsAnnounced() {
		t.Errorf("%+v %v", w, ok)
	}
	if v.asked == 0 {
		t.Error("nothing was read")
	}
}
