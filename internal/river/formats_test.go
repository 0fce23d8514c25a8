package river_test

import (
	"net/http"
	"strings"
	"testing"

	"cloudburst/internal/river"
)

// named returns a page with links. Each link has the form "type title=href".
func named(links ...string) http.HandlerFunc {
	types := map[string]string{"rss": "application/rss+xml", "atom": "application/atom+xml", "json": "application/feed+json", "rdf": "application/rdf+xml"}
	var b strings.Builder
	for _, l := range links {
		kind, rest, _ := strings.Cut(l, " ")
		title, href, _ := strings.Cut(rest, "=")
		b.WriteString(`<link rel="alternate" type="` + types[kind] + `" title="` + title + `" href="` + href + `">`)
	}
	return doc("<!doctype html><html><head><title>Page</title>" + b.String() + "</head><body>Hello</body></html>")
}

func TestAddOfPageWithOneFeedInSeveralFormatsNeedsNoChoice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		links []string
		want  string // URL of the followed feed; "": Add returns choices
		asks  int
	}{
		"two formats":                {[]string{"rss Site (RSS)=/rss.xml", "atom Site (Atom)=/atom.xml"}, "/rss.xml", 0},
		"atom first":                 {[]string{"atom Site=/atom.xml", "rss Site=/rss.xml"}, "/atom.xml", 0},
		"json first":                 {[]string{"json Site=/feed.json", "rss Site=/feed.xml"}, "/feed.xml", 0},
		"words of formats only":      {[]string{"rss RSS 2.0=/a", "atom Atom=/b", "json JSON Feed=/c"}, "/a", 0},
		"many formats and two feeds": {[]string{"rss A: as saved=/a/rss.xml", "rss A: RSS 2.0=/a/feed.xml", "rdf A: RSS 1.0=/a/feed.rdf", "rss A: RSS 0.91=/a/feed.rss091", "atom A: Atom=/a/feed.atom"}, "", 2},
		"with comments":              {[]string{"rss Site Feed=/rss.xml", "atom Site Atom=/atom.xml", "rss Site Comments Feed=/comments.xml"}, "/rss.xml", 0},
		"two feeds":                  {[]string{"rss News=/news.xml", "rss Sports=/sports.xml"}, "", 2},
		"two feeds in two formats":   {[]string{"rss News=/news.xml", "atom News=/news.atom", "rss Sports=/sports.xml", "atom Sports=/sports.atom"}, "", 2},
		"one title, one format":      {[]string{"rss Feed=/one.xml", "rss Feed=/two.xml"}, "", 2},
		"numbered":                   {[]string{"rss Feed 1=/one.xml", "atom Feed 2=/two.xml"}, "", 2},
		"of two hosts":               {[]string{"rss Site=/rss.xml", "atom Site=http://other.test/atom.xml"}, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withDisk(t, river.Options{HostInterval: -1}, func(t *testing.T, h *diskHarness) {
				h.serve("http://site.test/", named(c.links...))
				for _, l := range c.links {
					_, href, _ := strings.Cut(l, "=")
					if strings.HasPrefix(href, "/") {
						h.serve("http://site.test"+href, doc(rss("", "a")))
					}
				}
				a, err := h.river.Add(t.Context(), river.Request{Reader: "ann", URL: "http://site.test/"})
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.TrimPrefix(a.Source.URL, "http://site.test"); got != c.want || len(a.Choices) != c.asks {
					t.Errorf("followed %q with choices %+v; want %q and %d choices", got, a.Choices, c.want, c.asks)
				}
			})
		})
	}
}

func TestAddOfPageOfThisServerFollowsItsFirstFeed(t *testing.T) {
	t.Parallel()
	own := func(url string) bool { return strings.HasPrefix(url, "http://own.test/") }
	withDisk(t, river.Options{Own: own}, func(t *testing.T, h *diskHarness) {
		h.serve("http://own.test/alice/", named("rss Alice: RSS=/alice/rss.xml", "atom Alice: Atom=/alice/feed.atom", "rss #go · Alice=/alice/category/go/rss.xml"))
		h.serve("http://own.test/alice/rss.xml", doc(rss("", "a")))
		if a := h.add(river.Request{URL: "http://own.test/alice/"}); a.Source.URL != "http://own.test/alice/rss.xml" || !a.New {
			t.Errorf("%+v", a)
		}
	})
}
