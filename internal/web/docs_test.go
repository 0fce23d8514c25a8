package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"cloudburst/feed/discover"
	"cloudburst/internal/web/docsui"
)

func TestDocsShowEveryExample(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	body := html.UnescapeString(get(t, w.Routes(), "/docs").Body.String())
	all, err := docsui.Examples()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if !strings.Contains(body, `id="x-`+e.ID+`"`) {
			t.Errorf("%s is not shown", e.ID)
		}
	}
	if !strings.Contains(body, "Host: hub.example:5337\n") {
		t.Error("the requests do not name this server")
	}
}

// The discovery of this program must find the elements in the documentation for feeds,
// headers and pages.
func TestDocumentedElementsAreDiscoverable(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	doc, err := html.Parse(strings.NewReader(get(t, w.Routes(), "/docs").Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	const hub, feed, site = "http://hub.example:5337/websub", "https://author.example/rss.xml", "https://author.example/"
	parts := map[string]string{}
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "id" && n.Data == "code" {
				parts[a.Val] = n.FirstChild.Data
			}
		}
	}
	rss := `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>x</title>` + parts["cloud"] + parts["ad-rss"] + `</channel></rss>`
	atom := `<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title>` + parts["ad-atom"] + `</feed>`
	page := `<!doctype html><html><head>` + parts["ad-html"] + `</head><body></body></html>`
	jsonFeed := `{"version": "https://jsonfeed.org/version/1.1", "title": "x", ` + parts["ad-json"] + `}`
	name, value, _ := strings.Cut(parts["ad-header"], ": ")
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
