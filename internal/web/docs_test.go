package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"cloudburst/feed/discover"
)

func TestProtocolPagesContainTheURLOfThisServer(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	body := html.UnescapeString(get(t, w.Routes(), "/docs/reference/rsscloud").Body.String())
	if !strings.Contains(body, "Host: hub.example:5337\n") || !strings.Contains(body, "The server replies") || !strings.Contains(body, "data-copy=") {
		t.Error("the requests do not name this server, or cannot be copied")
	}
}

func TestDocumentationCanBeSearchedAndPaged(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	for path, want := range map[string][]string{
		"/docs":                    {"Get started", `href="/docs/get-started/reader"`, `role="search"`},
		"/docs?q=restore+backup":   {"<mark>restore</mark>", "guides/backup#restore"},
		"/docs?q=%3Cb%3E+zeppelin": {"No section contains", "&lt;b&gt; zeppelin"},
		"/docs/guides/backup":      {`rel="prev"`, `rel="next"`, `aria-current="page"`},
		"/docs/images/ping.svg":    {"<title id=\"t\">"},
		"/docs/get-started/reader": {`rel="next"`},
	} {
		rec := get(t, w.Routes(), path)
		for _, text := range want {
			if rec.Code != http.StatusOK || !strings.Contains(rec.Body.String(), text) {
				t.Errorf("%s: %d, without %s", path, rec.Code, text)
			}
		}
	}
	for _, path := range []string{"/docs/images/none.svg", "/docs/images/../docs.go", "/docs/guides"} {
		if rec := get(t, w.Routes(), path); rec.Code == http.StatusOK {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
}

// The documentation shows elements for feeds, HTTP headers and HTML pages. Package discover must find the
// hub in each of these examples.
func TestDocumentedFeedElementsCanBeDiscovered(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	doc, err := html.Parse(strings.NewReader(get(t, w.Routes(), "/docs/reference/protocols").Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	const hub, feed, site = "http://hub.example:5337/websub", "https://author.example/rss.xml", "https://author.example/"
	var parts []string // texts of the <code> elements with an id, in document order
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "id" && n.Data == "code" {
				parts = append(parts, n.FirstChild.Data)
			}
		}
	}
	if len(parts) < 6 {
		t.Fatalf("only %d blocks", len(parts))
	}
	rss := `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>x</title>` + parts[0] + parts[1] + `</channel></rss>`
	atom := `<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title>` + parts[2] + `</feed>`
	jsonFeed := `{"version": "https://jsonfeed.org/version/1.1", "title": "x", ` + strings.TrimPrefix(strings.TrimSpace(parts[3]), "{")
	page := `<!doctype html><html><head>` + parts[4] + `</head><body></body></html>`
	name, value, _ := strings.Cut(strings.TrimSpace(parts[5]), ": ")
	for what, got := range map[string]discover.Result{
		"rss":    discover.Text(rss, feed, http.Header{"Content-Type": {"application/rss+xml"}}),
		"atom":   discover.Text(atom, feed, http.Header{"Content-Type": {"application/atom+xml"}}),
		"json":   discover.Text(jsonFeed, feed, http.Header{"Content-Type": {"application/feed+json"}}),
		"header": discover.Header(http.Header{name: {value}}, feed),
		"html":   discover.Text(page, site, http.Header{"Content-Type": {"text/html"}}),
	} {
		if !slices.Contains(got.Hubs, hub) {
			t.Errorf("%s: no hub in %+v", what, got)
		}
		if best, ok := got.Best(); what == "html" && (!ok || best.URL != feed) {
			t.Errorf("the page names no feed: %+v", got)
		}
	}
}
