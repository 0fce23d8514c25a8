package web

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/html"

	"cloudburst/feed/discover"
	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/accountui"
	"cloudburst/internal/web/authorui"
	"cloudburst/internal/web/shell"
)

// aliceFeed returns an RSS feed with four posts. One post has no title, and another post has a file.
func aliceFeed(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("testdata/alice.xml")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rss returns an RSS feed. Each argument is the content of an <item> element.
func rss(items ...string) string {
	return `<rss version="2.0"><channel><title>T</title><link>https://a.example/</link><description>D</description><item>` + strings.Join(items, "</item><item>") + `</item></channel></rss>`
}

// escaped returns an RSS description that contains the HTML s as escaped text.
func escaped(s string) string { return "<description>" + html.EscapeString(s) + "</description>" }

// classed returns the elements of a page with a class.
func classed(doc *html.Node, class string) (all []*html.Node) {
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "class" && slices.Contains(strings.Fields(a.Val), class) {
				all = append(all, n)
			}
		}
	}
	return all
}

func attrOf(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// feedsNamed returns the paths of the feeds that the head of a page links to, separated by spaces.
func feedsNamed(r discover.Result) string {
	var paths []string
	for _, l := range r.Links {
		if l.From == discover.FromLink && !l.Guess {
			_, rest, _ := strings.Cut(l.URL, "://")
			paths = append(paths, rest[strings.IndexByte(rest, '/'):])
		}
	}
	return strings.Join(paths, " ")
}

func TestAuthorPageShowsPostsAndLinksToTheFeed(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	x.save("alice", author.Public, aliceFeed(t))
	rec := x.page("alice", "")
	doc := check(t, rec)
	if rec.Code != 200 || rec.Header().Get("Content-Security-Policy") != shell.Policy {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	entries := classed(doc, "h-entry")
	if len(classed(doc, "h-feed")) != 1 || len(entries) != 4 || len(classed(doc, "e-content")) != 4 || len(classed(doc, "dt-published")) != 4 || len(classed(doc, "u-enclosure")) != 1 {
		t.Errorf("%d entries in\n%s", len(entries), rec.Body)
	}
	if n := len(classed(doc, "p-name")); n != 4 { // the names of the feed and of three posts; the post without a title has no name
		t.Errorf("%d names", n)
	}
	found := discover.Text(rec.Body.String(), "http://hub.example:5337/alice/", nil)
	if best, ok := found.Best(); !ok || best.URL != "http://hub.example:5337/alice/rss.xml" || !slices.Contains(found.Hubs, "http://hub.example:5337/websub") {
		t.Errorf("readers find %+v", found)
	}
	body := rec.Body.String()
	foot := body[strings.Index(body, `id="s-formats"`):]
	for _, f := range render.Formats() {
		if href := html.EscapeString(shell.FormatPath("alice", f)); strings.Count(foot, `href="`+href+`"`) != 1 {
			t.Errorf("%s is not at the foot", href)
		}
	}
	if got := feedsNamed(found); got != "/alice/rss.xml /alice/feed.atom /alice/feed.json /alice/feeds.opml" {
		t.Errorf("the head names %s", got)
	}
	if !strings.Contains(body, `<link rel="alternate" type="application/atom+xml" `) {
		t.Error("the literal type is not in the page")
	}
	for n := range doc.Descendants() {
		if slices.Contains([]string{"img", "iframe", "audio", "video", "source", "object"}, n.Data) || n.Data == "script" && !strings.HasPrefix(attrOf(n, "src"), "/static/") {
			t.Errorf("<%s> of %v would load something", n.Data, n.Attr)
		}
	}
	if !strings.Contains(body, `href="https://pictures.example/beans.jpg"`) || !strings.Contains(body, "Image: Beans on signal wire") || !strings.Contains(body, "4.8 MB") {
		t.Error("the image or the file is not a link")
	}
}

func TestAuthorPageShowsNewestPostsFirst(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	item := func(title, date string) string {
		return "<title>" + title + "</title><guid>https://a.example/" + title + "</guid>" + date
	}
	order := func() (all []string) {
		for _, n := range classed(check(t, x.page("alice", "")), "p-name")[1:] {
			for n.FirstChild != nil {
				n = n.FirstChild
			}
			all = append(all, n.Data)
		}
		return all
	}
	x.save("alice", author.Public, rss(item("old", "<pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate>"), item("new", "<pubDate>Tue, 03 Nov 2026 10:00:00 GMT</pubDate>")))
	if got := order(); !slices.Equal(got, []string{"new", "old"}) {
		t.Errorf("%v", got)
	}
	x.save("alice", author.Public, rss(item("one", ""), item("two", "<pubDate>Tue, 03 Nov 2026 10:00:00 GMT</pubDate>")))
	if got := order(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("with a date missing: %v", got)
	}
}

func TestPagesOfUserWithoutFeedAndUnknownUserAreEqual(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	x.save("carol", author.Private, small)
	want := x.page("nobody", "")
	check(t, want)
	for _, user := range []string{"bob", "carol"} {
		if got := x.page(user, ""); got.Code != 404 || got.Body.String() != want.Body.String() || fmt.Sprint(got.Header()) != fmt.Sprint(want.Header()) {
			t.Errorf("%s: %d\n%s", user, got.Code, got.Body)
		}
	}
	rec := x.as("bob").page("bob", "")
	check(t, rec)
	if rec.Code != 200 || !strings.Contains(rec.Body.String(), "Nothing is published yet") || rec.Header().Get("Cache-Control") != "private, no-cache" {
		t.Errorf("bob: %d %v", rec.Code, rec.Header())
	}
	if rec := x.page("carol", ""); rec.Code != 404 {
		t.Errorf("bob sees carol: %d", rec.Code)
	}
}

func TestAuthorPageShowsMovedAndEndedFeeds(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	x.save("alice", author.Public, small)
	if _, err := x.fakeFeeds.Move(t.Context(), "alice", "rss", "https://new.example/rss.xml"); err != nil {
		t.Fatal(err)
	}
	rec := x.page("alice", "")
	check(t, rec)
	if rec.Code != 200 || !strings.Contains(rec.Body.String(), `href="https://new.example/rss.xml"`) || strings.Contains(rec.Body.String(), "One") {
		t.Errorf("moved: %d\n%s", rec.Code, rec.Body)
	}
	if _, err := x.fakeFeeds.End(t.Context(), "alice", "rss"); err != nil {
		t.Fatal(err)
	}
	rec = x.page("alice", "")
	check(t, rec)
	if rec.Code != 410 || strings.Contains(rec.Body.String(), "One") || strings.Contains(rec.Body.String(), `rel="alternate"`) {
		t.Errorf("gone: %d\n%s", rec.Code, rec.Body)
	}
}

func TestAuthorPageSplitsManyPostsIntoPages(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	var items []string
	for i := range 120 {
		items = append(items, fmt.Sprintf("<title>Post %03d</title><guid>https://a.example/%d</guid>", i, i))
	}
	x.save("alice", author.Public, rss(items...))
	for query, want := range map[string][2]int{"": {0, 50}, "?page=2": {50, 100}, "?page=3": {100, 120}, "?page=4": {0, 0}, "?page=-1": {0, 50}, "?page=x": {0, 50}} {
		rec := x.page("alice", query)
		doc := check(t, rec)
		if n := len(classed(doc, "h-entry")); n != want[1]-want[0] {
			t.Errorf("%q: %d posts", query, n)
		}
		if want[1] > 0 && !strings.Contains(rec.Body.String(), fmt.Sprintf("Post %03d", want[0])) {
			t.Errorf("%q does not begin with %d", query, want[0])
		}
		if strings.Contains(rec.Body.String(), `rel="next"`) != (want[1] == 50 || want[1] == 100) {
			t.Errorf("%q: older posts", query)
		}
	}
}

func TestAuthorPageOfAVersionIsRenderedOnce(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	x.save("alice", author.Public, small)
	for range 3 {
		x.page("alice", "")
	}
	if x.fakeFeeds.reads != 1 {
		t.Errorf("the document was read %d times", x.fakeFeeds.reads)
	}
	x.save("alice", author.Public, strings.Replace(small, "One", "Two", 1))
	if body := x.page("alice", "").Body.String(); !strings.Contains(body, "Two") || strings.Contains(body, "One") {
		t.Error("the page is of the version before")
	}
}

// slowFeeds delays each read of a document by one second. It counts all reads and the reads in progress,
// and records the highest number of reads in progress.
type slowFeeds struct {
	accountui.Authors
	now, maxActive, all atomic.Int64
}

func (s *slowFeeds) Document(ctx context.Context, user, name string) (author.Feed, []byte, error) {
	s.all.Add(1)
	for now := s.now.Add(1); ; {
		peak := s.maxActive.Load()
		if now <= peak || s.maxActive.CompareAndSwap(peak, now) {
			break
		}
	}
	defer s.now.Add(-1)
	time.Sleep(time.Second) // the time is simulated by synctest
	return s.Authors.Document(ctx, user, name)
}

func TestConcurrentReadsForAuthorPagesAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newAccountHarness(t)
		x.save("alice", "rss", aliceFeed(t))
		s := &slowFeeds{Authors: x.fakeFeeds}
		x.Web.Authors = s
		x.rebuild()
		var group sync.WaitGroup
		for i := range 60 {
			group.Go(func() {
				if rec := x.page("alice", fmt.Sprint("?page=", 1+i%20)); rec.Code != 200 {
					t.Errorf("status %d", rec.Code)
				}
			})
		}
		group.Wait()
		// Two requests may read the document of a page at the same time. A request that waited finds the page
		// in the cache.
		if peak, all := s.maxActive.Load(), s.all.Load(); peak > shell.ConcurrentReadings || all < 20 || all > 20*shell.ConcurrentReadings {
			t.Errorf("%d read at once, %d times in all", peak, all)
		}
	})
}

func TestNestedPostsAreCollapsed(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	deep := `<item><title>in</title><guid>%d</guid>` + escaped("<p>x</p>")
	doc := `<rss version="2.0" xmlns:rssCloud="http://rsscloud.org/ns"><channel><title>T</title><link>https://a.example/</link><description>D</description>`
	doc += `<item><title>out</title><guid>o</guid>` + strings.Repeat(strings.ReplaceAll(deep, "<item>", "<rssCloud:item>"), 12) + strings.Repeat("</rssCloud:item>", 12) + `</item></channel></rss>`
	x.save("alice", author.Public, doc)
	rec := x.page("alice", "")
	page := check(t, rec)
	if n := len(classed(page, "h-entry")); n < 2 || n > authorui.MaxPostDepth {
		t.Errorf("%d posts", n)
	}
	if !strings.Contains(rec.Body.String(), "<summary>1 post inside</summary>") {
		t.Errorf("nothing is folded:\n%s", rec.Body)
	}
}

func TestAuthorPageEscapesHostileValues(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `</div></article></main><h1>mine</h1>`, `<form action=/logout><button>x</button></form>`,
		`<style>*{display:none}</style>`, `<a href="javascript:alert(1)">x</a>`, `<svg onload=alert(1)><a xlink:href="javascript:alert(1)">x</a></svg>`,
		`<p id=main class=skip style="position:fixed">x</p>`, `<td background="https://evil.example/x.png">`, `<video poster="https://evil.example/p.png" src="https://evil.example/v">x</video>`,
		`<picture><source srcset="https://evil.example/x.png"><img src="https://evil.example/y.png" srcset="https://evil.example/z.png"></picture>`,
		`<img src='https://evil.example/"><script>alert(1)</script>' alt='"><script>alert(1)</script>'>`, `<h1>x</h1><main>y</main><nav>z</nav><header>w</header>`,
		`<iframe src=https://evil.example></iframe><object data=x><embed src=y>`, `<meta http-equiv=refresh content=0><base href=//evil.example><link rel=stylesheet href=//evil.example>`,
		strings.Repeat("<div>", 5000), strings.Repeat("<b>", 5000) + "x", "\x00\x1b[31m \xff", `<time datetime="2020-01-01">x</time>`,
	} {
		x := newAccountHarness(t)
		clean := html.EscapeString(strings.ToValidUTF8(strings.Map(func(r rune) rune {
			if r < ' ' {
				return -1
			}
			return r
		}, s), ""))
		x.save("alice", author.Public, rss("<title>"+clean+"</title><link>javascript:alert(1)</link><guid>"+clean+"</guid><category>"+clean+"</category><author>"+clean+"</author><description>"+clean+
			`</description><enclosure url="javascript:alert(1)" length="-5" type="`+clean+`"/><enclosure url="https://evil.example/`+clean+`" length="99999999999999" type="`+clean+`"/>`))
		rec := x.page("alice", "")
		doc := check(t, rec)
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if slices.Contains([]string{"img", "iframe", "audio", "video", "source", "object", "embed", "form", "style", "base", "meta", "svg"}, n.Data) && attrOf(n, "src")+attrOf(n, "action")+attrOf(n, "http-equiv") != "" {
				t.Errorf("%q: <%s %v>", s, n.Data, n.Attr)
			}
			for _, a := range n.Attr {
				if slices.Contains([]string{"background", "poster", "srcset"}, a.Key) || a.Key == "id" && a.Val == "main" && n.Data != "main" {
					t.Errorf("%q: <%s %v>", s, n.Data, n.Attr)
				}
			}
		}
		if strings.Contains(rec.Body.String(), "<script>alert") {
			t.Errorf("%q: there is a script", s)
		}
	}
}

func TestAuthorPageTruncatesLongPostsAndIsBounded(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	var items []string
	for i := range 40 {
		items = append(items, fmt.Sprintf("<guid>%d</guid>", i)+escaped("<p>"+strings.Repeat("long words ", 4000)+"</p>"))
	}
	items = append(items, "<guid>huge</guid><link>https://a.example/huge</link>"+escaped("<p>"+strings.Repeat("<b>x</b> ", 60_000)+"</p>"))
	x.save("alice", author.Public, rss(items...))
	rec := x.page("alice", "")
	check(t, rec)
	if n := rec.Body.Len(); n > authorui.MaxPageText+200_000 {
		t.Errorf("%d bytes", n)
	}
	if !strings.Contains(rec.Body.String(), "The rest is") || !strings.Contains(rec.Body.String(), `href="https://a.example/huge"`) {
		t.Error("the page does not mark the shortened post")
	}
}

func TestHostedAudioAndVideoHaveAPlayer(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	x.save("alice", author.Public, rss(`<guid>1</guid><enclosure url="http://hub.example:5337/media/a.mp3" length="5" type="audio/mpeg"/>`,
		`<guid>2</guid><enclosure url="http://hub.example:5337.evil.example/a.mp3" length="5" type="audio/mpeg"/>`))
	if got := strings.Count(x.page("alice", "").Body.String(), `<audio controls preload="none" src="http://hub.example:5337/media/a.mp3">`); got != 1 {
		t.Errorf("%d players", got)
	}
}

func TestAuthorPageHasTheLanguageOfTheFeed(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	x.save("alice", author.Public, strings.Replace(small, "<item>", "<language>el</language><item>", 1))
	if body := x.page("alice", "").Body.String(); !strings.Contains(body, `<div class="h-feed" lang="el">`) {
		t.Errorf("%s", body)
	}
}

func TestAuthorPageRejectsUnsupportedMethods(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	x.save("alice", author.Public, small)
	rec := httptest.NewRecorder()
	x.author.ServeHTTP(rec, httptest.NewRequest("DELETE", "/alice/", nil))
	if check(t, rec); rec.Code != 405 || rec.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	rec = httptest.NewRecorder()
	x.author.ServeHTTP(rec, httptest.NewRequest("GET", "/alice/", nil))
	if rec.Code != 200 || !strings.Contains(rec.Body.String(), "Small") {
		t.Errorf("by its path: %d", rec.Code)
	}
}

// failingFeeds returns an error for every read.
type failingFeeds struct{ *fakeFeeds }

func (failingFeeds) Feed(context.Context, string, string) (author.Feed, error) {
	return author.Feed{}, fault.New(fault.Unavailable, "The database is away.")
}

func TestAuthorPageReportsAnUnavailableStore(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	x.Web.Authors = failingFeeds{x.fakeFeeds}
	rec := httptest.NewRecorder()
	x.AuthorPage()(rec, httptest.NewRequest("GET", "/alice/", nil), "alice")
	if check(t, rec); rec.Code != 503 {
		t.Errorf("%d", rec.Code)
	}
}
