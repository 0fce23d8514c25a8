package web

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"cloudburst/internal/hub"
	"cloudburst/internal/web/hubui"
	"cloudburst/internal/web/shell"
)

// listed adds changes to the store, without an event on the bus.
func (f *fake) listed(list ...hub.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range list {
		if c.Seq == 0 {
			c.Node, c.Seq = 17, int64(len(f.changes)+1)
		}
		if c.At.IsZero() {
			c.At = f.now
		}
		f.changes = append(f.changes, c)
	}
}

func site1(i int) hub.Change {
	return hub.Change{Name: fmt.Sprintf("Site number %d", i), URL: fmt.Sprintf("https://s%d.example/", i), Via: "weblogs"}
}

func TestPagesOfChangesContainEachChangeOnceInBothDirections(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, _ := newWeb(t, f)
	for i := range 2*hubui.ChangesPerPage + 7 {
		f.now = f.now.Add(time.Duration(i%3) * time.Millisecond) // several changes have the same time
		f.listed(site1(i))
	}
	h := w.Routes()
	var all, pages []string
	for path := "/changes?q=NUMBER"; path != ""; {
		pages = append(pages, path)
		rows, links := ids(t, check(t, get(t, h, path)))
		all = append(all, rows...)
		if path = links["Older"]; path != "" && !strings.Contains(path, "q=NUMBER") {
			t.Errorf("the filter is lost in %s", path)
		}
	}
	if len(pages) != 3 || len(all) != len(f.changes) {
		t.Fatalf("%d pages with %d changes, want 3 with %d", len(pages), len(all), len(f.changes))
	}
	for i, id := range all {
		if want := shell.FormatCursor(f.changes[len(all)-1-i].Cursor()); id != want {
			t.Fatalf("row %d is %s, want %s", i, id, want)
		}
	}
	_, links := ids(t, check(t, get(t, h, pages[2])))
	newer, _ := ids(t, check(t, get(t, h, links["Newer"])))
	if !slices.Equal(newer, all[hubui.ChangesPerPage:2*hubui.ChangesPerPage]) || links["Newest"] != "/changes?q=NUMBER" {
		t.Errorf("the page newer than the last begins with %s", newer[0])
	}
	if strings.Contains(get(t, h, pages[1]).Body.String(), "data-stream") {
		t.Error("an older page is live")
	}
}

func TestChangeIsShownWithSiteFeedEndpointAndTags(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, _ := newWeb(t, f)
	f.listed(hub.Change{Name: "A & B", URL: "https://a.example/", Feed: "https://a.example/rss.xml", Page: "https://a.example/new", Tags: []string{"rss", "a b"}, Via: "weblogs-extended"},
		hub.Change{URL: "https://b.example/feed", Feed: "https://b.example/feed", Via: "websub"},
		hub.Change{Name: "odd", URL: "gopher://c.example/", Via: "some <door>"})
	h := w.Routes()
	body := get(t, h, "/changes").Body.String()
	check(t, get(t, h, "/changes"))
	for _, want := range []string{`<bdi>A &amp; B</bdi>`, `href="https://a.example/"`, `href="https://a.example/rss.xml"`, `href="https://a.example/new"`,
		`href="/changes?q=a%20b"`, ">extended<", `<bdi>b.example</bdi>`, ">WebSub<", "some &lt;door&gt;", `href="/changes.xml"`, `href="/shortChanges.xml"`,
		`href="/2026/11/20/14.xml"`, `href="/2026/11/19/14.xml"`, `<span class="num">3</span> recent changes`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not hold %s", want)
		}
	}
	if strings.Contains(body, `href="gopher:`) || strings.Count(body, "b.example/feed") != 2 {
		t.Errorf("an unsafe URL is a link, or a feed that is the site is listed twice:\n%s", body)
	}
}

func TestSearchTextOfChangesIsInTheURL(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, _ := newWeb(t, f)
	f.listed(site1(1), hub.Change{URL: "https://x.example/", Tags: []string{"Opml"}}, hub.Change{URL: "https://y.example/", Feed: "https://y.example/OPML.xml"})
	h := w.Routes()
	for query, want := range map[string]int{"?q=opml": 2, "?q=number+1": 1, "?q=s1.EXAMPLE": 1, "?q=nowhere": 0, "": 3} {
		if rows, _ := ids(t, check(t, get(t, h, "/changes"+query))); len(rows) != want {
			t.Errorf("%q shows %d changes, want %d", query, len(rows), want)
		}
	}
	body := html.UnescapeString(get(t, h, "/changes?q="+url.QueryEscape(`a "b"`)).Body.String())
	if !strings.Contains(body, `value="a "b""`) || !strings.Contains(body, "/changes/stream?q=a+%22b%22&since=0.0.0&as=html") {
		t.Error("the search is not preserved")
	}
	if rec := get(t, h, "/changes?after=x"); rec.Code != 400 {
		t.Errorf("a place that is none: %d", rec.Code)
	}
}

func TestPingSitePageKeepsValuesAndSendsContentSecurityPolicy(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	page := w.PingSitePage()
	for status, class := range map[int]string{200: `class="verdict"`, 400: `class="verdict bad"`} {
		rec := httptest.NewRecorder()
		page(rec, httptest.NewRequest("GET", "/pingSiteForm?x=y", nil), status, "Not taken", "the address is wrong",
			url.Values{"name": {"A <b>"}, "url": {"nonsense"}, "changesURL": {"https://a.example/p"}, "rssUrl": {"https://a.example/f"}})
		check(t, rec)
		body := html.UnescapeString(rec.Body.String())
		for _, want := range []string{class, "The address is wrong.", `name="name" required maxlength="1024" autocomplete="off" value="A <b>"`, `value="nonsense"`, `value="https://a.example/p"`, `value="https://a.example/f"`, `<h1 class="hub">Not taken</h1>`} {
			if !strings.Contains(body, want) {
				t.Errorf("%d: the page does not hold %s", status, want)
			}
		}
		if rec.Code != status || rec.Header().Get("Content-Security-Policy") != shell.Policy || rec.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%d: status %d, header %v", status, rec.Code, rec.Header())
		}
	}
}
