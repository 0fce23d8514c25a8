package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/content"
)

// riverHarness is an accountHarness with rivers. The river of alice and the river of the server have equal
// items, and the river of bob is empty.
type riverHarness struct {
	*accountHarness
	fakeRiver  *fakeRiver
	fakeImages *fakeImages
}

func newRiverHarness(t *testing.T) *riverHarness {
	t.Helper()
	x := newAccountHarness(t)
	b, g := newFakeRiver(func() time.Time { return x.fake.now }), &fakeImages{}
	addRiverItems(b, "alice")
	addRiverItems(b, "")
	x.River, x.Arrivals, x.Images, x.Remote, x.ImageKey = b, b.Listen, content.ImagesProxy, g, []byte("0123456789abcdef0123456789abcdef")
	x.pages = x.Routes()
	return &riverHarness{x, b, g}
}

func (x *riverHarness) as(name string) *riverHarness {
	x.Helper()
	x.accountHarness.as(name)
	return x
}

// find returns the elements with a name and a class. An empty name or class matches all elements.
func find(n *html.Node, name, class string) (all []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && (name == "" || d.Data == name) && (class == "" || strings.Contains(" "+attr(d, "class")+" ", " "+class+" ")) {
			all = append(all, d)
		}
	}
	return all
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// entryOf returns the item on a page whose text contains the words.
func entryOf(t *testing.T, doc *html.Node, words string) *html.Node {
	t.Helper()
	for _, item := range find(doc, "article", "item") {
		if strings.Contains(text(item), words) {
			return item
		}
	}
	t.Fatalf("no item has the words %q", words)
	return nil
}

func TestRiverPagesAreValid(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	for _, path := range []string{"/river", "/river?category=Weblogs", "/river?q=rain", "/river?q=nowhere+to+be+found", "/river?starred=1", "/river?unread=1", "/river?counts=1",
		"/river?before=no", "/river?source=x", "/rivers/alice", "/rivers/alice/Weblogs", "/river?q=%22unclosed"} {
		rec := x.open(path)
		check(t, rec)
		if got := rec.Header().Get("Content-Security-Policy"); strings.HasPrefix(path, "/river") && rec.Code == 200 && path != "/rivers/alice" && !strings.Contains(got, "media-src 'self' http: https:;") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestRiverGroupsItemsOfOneCheckByFeedAndDay(t *testing.T) {
	t.Parallel()
	doc := check(t, newRiverHarness(t).as("alice").open("/river"))
	days := find(doc, "section", "day")
	if len(days) < 2 || text(days[0].FirstChild) != "Today" || text(days[1].FirstChild) != "Yesterday" {
		t.Fatalf("%d days", len(days))
	}
	items := find(days[0], "article", "item")
	first := 0
	for i, item := range items {
		if attr(item, "tabindex") != "0" {
			t.Errorf("item %d is not reached by Tab", i)
		}
		if strings.Contains(attr(item, "class"), "first") {
			first++
		}
	}
	if heads := find(days[0], "p", "from"); first != len(heads) || text(heads[0]) != "SScripting News fetched 14:01" {
		t.Errorf("%d first items and %d headings, the first %q", first, len(heads), text(heads[0]))
	}
	if attr(items[0], "data-group") != attr(items[2], "data-group") || strings.Contains(attr(items[1], "class"), "first") {
		t.Error("items of one check are not grouped")
	}
}

func TestRiverShowsAllPropertiesOfItems(t *testing.T) {
	t.Parallel()
	doc := check(t, newRiverHarness(t).as("alice").open("/river"))
	plain := entryOf(t, doc, "It is snowing")
	if len(find(plain, "h3", "")) != 0 {
		t.Error("a title was invented")
	}
	if got := text(find(plain, "div", "about")[0]); !strings.HasPrefix(got, "1 min ago Dave +2 details weather mountains") {
		t.Errorf("about: %q", got)
	}
	long := entryOf(t, doc, "Why a hub is a small thing")
	if !strings.Contains(text(long), "edited 5 s ago") || strings.Contains(text(long), "No algorithm") || len(find(long, "a", "whole")) != 1 {
		t.Errorf("the long one: %s", text(long))
	}
	radio := entryOf(t, doc, "Episode 214")
	if a := find(radio, "a", "play"); len(a) != 1 || attr(a[0], "data-kind") != "audio" || !strings.Contains(text(radio), "1 h 2 min, 31.2 MB") {
		t.Errorf("the sound: %s", text(radio))
	}
	if early := entryOf(t, doc, "said too early"); !strings.Contains(text(early), "removed from the feed 30 min ago") {
		t.Error(text(early))
	}
	walk := entryOf(t, doc, "A walk, as an outline")
	if folds, leaves := find(walk, "details", "fold"), find(walk, "div", "leaf"); len(folds) != 3 || len(leaves) != 2 {
		t.Errorf("%d wedges are filled, %d are not", len(folds), len(leaves))
	}
	if arabic := entryOf(t, doc, "مطر غزير"); attr(find(arabic, "div", "e-content")[0], "lang") != "ar" || attr(find(arabic, "h3", "")[0], "dir") != "auto" {
		t.Error("direction and language are missing")
	}
	if img := find(entryOf(t, doc, "Cloud"), "img", ""); !strings.HasPrefix(attr(img[len(img)-1], "src"), "/river/image?") || attr(img[len(img)-1], "loading") != "lazy" || attr(img[len(img)-1], "width") != "640" {
		t.Error("the image is wrong")
	}
}

func TestItemPageShowsTheCompleteText(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	more := find(check(t, x.open("/river")), "a", "whole")
	doc := check(t, x.open(attr(more[0], "href")))
	if !strings.Contains(text(doc), "No algorithm") || len(find(doc, "a", "whole")) != 0 {
		t.Error("it is not whole")
	}
	for _, path := range []string{"/river/item/0", "/river/item/x", "/river/item/12345"} {
		if rec := x.open(path); rec.Code != 404 {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
}

func TestOlderLinkShowsTheNextPageOfTheRiver(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	seen := map[string]bool{}
	path, pages := "/river", 0
	for ; path != ""; pages++ {
		doc := check(t, x.open(path))
		for _, item := range find(doc, "article", "item") {
			if id := attr(item, "id"); seen[id] {
				t.Fatalf("%s comes twice", id)
			} else {
				seen[id] = true
			}
		}
		path = ""
		for _, a := range find(doc, "a", "") {
			if attr(a, "rel") == "next" {
				path = attr(a, "href")
			}
		}
		if pages > 0 && len(find(doc, "", "live")) > 0 {
			t.Error("an older page is live")
		}
	}
	if pages != 2 || len(seen) != 72 {
		t.Errorf("%d pages with %d items", pages, len(seen))
	}
}

func TestSearchShowsResultCountAndSyntaxHelp(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	for query, want := range map[string]string{"rain": "2 results", "feed:xkcd cloud": "1 result", "number": "More than 50 results",
		"zzz": "No results Try fewer words", `"unclosed`: "The phrase is not closed", "is:starred": "No results"} {
		rec := x.open("/river?q=" + url.QueryEscape(query))
		if doc := check(t, rec); !strings.Contains(text(doc), want) {
			t.Errorf("%s: the page lacks %q", query, want)
		}
		if wrong := query == `"unclosed`; wrong != (rec.Code == 400) {
			t.Errorf("%s: %d", query, rec.Code)
		}
	}
	doc := check(t, x.open("/river?q=snow"))
	if marks := find(doc, "mark", ""); len(marks) != 1 || text(marks[0]) != "snowing" || text(find(doc, "h1", "")[0]) != "Search: snow" {
		t.Errorf("%d words are marked below %s", len(marks), text(find(doc, "h1", "")[0]))
	}
	last := x.fakeRiver.queries[len(x.fakeRiver.queries)-1]
	_ = x.open("/river?q=is:unread+IS:Starred+snow&category=Weblogs")
	last = x.fakeRiver.queries[len(x.fakeRiver.queries)-1]
	if !last.Unread || !last.Starred || last.Match != "snow" || last.Category != "Weblogs" {
		t.Errorf("asked for %+v", last)
	}
}

func TestEmptyRiverShowsTheFirstSteps(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("bob")
	if doc := check(t, x.open("/river")); len(find(doc, "section", "welcome")) != 1 || len(find(doc, "div", "empty")) != 0 {
		t.Error("an empty river offers no first steps")
	}
	_ = x.fakeRiver.PutCategory(t.Context(), "bob", "Hens", false)
	x.fakeRiver.follow("bob", river.Source{URL: "https://quiet.example/feed"})
	for path, want := range map[string]string{"/river": "No items yet. New items appear here immediately.", "/river?category=Hens": "No feed is in this category.", "/river?starred=1": "No starred items yet."} {
		if doc := check(t, x.open(path)); !strings.Contains(text(doc), want) {
			t.Errorf("%s: %s", path, text(doc))
		}
	}
	if rec := x.open("/river?category=Nothing"); rec.Code != 404 {
		t.Errorf("a category that is not there: %d", rec.Code)
	}
	if rec := x.open("/river?source=77"); rec.Code != 404 {
		t.Errorf("a feed that is not followed: %d", rec.Code)
	}
}

func TestRiverShowsTheFirstStepsUntilOneIsTaken(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t)
	x.TestFeed = "http://hub.example/test/rss.xml"
	x.pages = x.Routes()
	offered := func(path string) (links []string) {
		for _, box := range find(check(t, x.open(path)), "section", "welcome") {
			for _, a := range find(box, "a", "") {
				links = append(links, attr(a, "href"))
			}
		}
		return links
	}
	x.as("bob")
	want := []string{"/feeds/import", "/feeds/add", "/feeds/start", "/write", "/hub"}
	if got := offered("/river"); !slices.Equal(got, want) {
		t.Errorf("with nothing followed: %q, not %q", got, want)
	}
	x.fakeRiver.follow("bob", river.Source{URL: x.TestFeed})
	if got := offered("/river"); !slices.Equal(got, want) {
		t.Errorf("with the test feed alone: %q, not %q", got, want)
	}
	if got := offered("/river?starred=1"); got != nil {
		t.Errorf("on another page: %q", got)
	}
	p := x.write("bob", author.Draft, author.Content{Source: "Hello"})
	if got := offered("/river"); got != nil {
		t.Errorf("with something written: %q", got)
	}
	if _, err := x.posts.Delete(t.Context(), "bob", p.ID, 0, "write"); err != nil {
		t.Fatal(err)
	}
	x.fakeRiver.follow("bob", river.Source{URL: "https://quiet.example/feed"})
	if got := offered("/river"); got != nil {
		t.Errorf("with a feed followed: %q", got)
	}
	x.cookie, x.fakeAccounts.first = "", "k3v9-7qpd"
	x.Web.Fresh = func(context.Context) bool { return true }
	clear(x.fakeRiver.subs[""])
	x.PublicURL = ""
	x.pages = x.Routes()
	r := httptest.NewRequest("GET", "http://localhost/river", nil)
	r.RemoteAddr = "127.0.0.1:4711"
	rec := httptest.NewRecorder()
	x.pages.ServeHTTP(rec, r)
	if doc := check(t, rec); !strings.Contains(text(doc), "Create the first account") || strings.Contains(text(doc), "Write your first post") {
		t.Errorf("before the first account: %s", text(doc))
	}
}

// riverSeenFrom requests the river from a client address with a Host header. It returns "own" or "public"
// for the river that the page shows, "sign in" for a redirect, or the status of an error.
func (x *riverHarness) riverSeenFrom(peer, host string) string {
	x.Helper()
	r := httptest.NewRequest("GET", "/river", nil)
	r.RemoteAddr, r.Host = peer, host
	if x.cookie != "" {
		r.AddCookie(&http.Cookie{Name: "cloudburst", Value: x.cookie})
	}
	rec := httptest.NewRecorder()
	x.pages.ServeHTTP(rec, r)
	body := rec.Body.String()
	switch {
	case rec.Code == 303:
		return "sign in"
	case rec.Code != 200:
		return rec.Result().Status
	case strings.Contains(body, "Grandfather") && strings.Contains(body, `class="star"`):
		return "own"
	case !strings.Contains(body, "Grandfather") && !strings.Contains(body, "Family") && !strings.Contains(body, `class="star"`) && strings.Contains(body, "Why a hub"):
		return "public"
	}
	return "something else"
}

func TestAccessToTheRiverDependsOnAccountsAndSettings(t *testing.T) {
	t.Parallel()
	const unknown, local = "203.0.113.9:4711", "127.0.0.1:4711"
	for _, c := range []struct {
		name       string
		fresh, all bool
		public     string // public URL of the server
		peer, host string
		want       string
	}{
		{"signed out", false, false, "", unknown, "hub.example", "sign in"},
		{"signed out, with a public river", false, true, "", unknown, "hub.example", "public"},
		{"on this machine, with accounts", false, false, "http://localhost:5337", local, "localhost:5337", "sign in"},
		{"fresh, from elsewhere", true, false, "http://localhost:5337", unknown, "192.0.2.1:5337", "public"},
		{"fresh, on this machine", true, false, "http://localhost:5337", local, "localhost:5337", "own"},
		{"fresh, on this machine by number", true, false, "", "[::1]:9", "[::1]:5337", "own"},
		{"fresh, a page elsewhere whose name leads here", true, false, "http://localhost:5337", local, "evil.example:5337", "public"},
		{"fresh, behind a proxy", true, false, "https://hub.example", local, "127.0.0.1:5337", "public"},
		{"fresh, not on this machine but with its name", true, false, "http://localhost:5337", unknown, "localhost:5337", "public"},
	} {
		x := newRiverHarness(t)
		x.Fresh = func(context.Context) bool { return c.fresh }
		x.RiverPublic, x.PublicURL = c.all, c.public
		x.pages = x.Routes()
		if got := x.riverSeenFrom(c.peer, c.host); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
	x := newRiverHarness(t).as("alice")
	if got := x.riverSeenFrom(unknown, "hub.example"); got != "own" {
		t.Errorf("signed in: %s", got)
	}
	x.fakeAccounts.sessionErr = fault.New(fault.Unavailable, "The store is away.")
	if got := x.riverSeenFrom(unknown, "hub.example"); !strings.HasPrefix(got, "503") {
		t.Errorf("when the session lookup fails: %s", got)
	}
}

func TestRequestThroughAProxyIsNotLocal(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t)
	x.Fresh = func(context.Context) bool { return true }
	x.PublicURL = ""
	x.pages = x.Routes()
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "Via", "X-Real-Ip"} {
		r := httptest.NewRequest("GET", "/river", nil)
		r.RemoteAddr, r.Host = "127.0.0.1:1", "localhost"
		r.Header.Set(name, "203.0.113.1")
		rec := httptest.NewRecorder()
		x.pages.ServeHTTP(rec, r)
		if strings.Contains(rec.Body.String(), "Grandfather") {
			t.Errorf("with %s it is taken for this machine", name)
		}
	}
	old := httptest.NewRequest("POST", "/feeds/add", strings.NewReader("url=http://a.example/"))
	old.RemoteAddr, old.Host, old.Proto, old.ProtoMinor = "127.0.0.1:1", "localhost", "HTTP/1.0", 0 // such a request comes from an nginx that sets no forwarding headers
	old.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	x.pages.ServeHTTP(rec, old)
	if rec.Code != http.StatusForbidden {
		t.Errorf("a proxy without headers counts as this machine: %d", rec.Code)
	}
}

func TestPublicRiverHidesReadMarksAndCategories(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t)
	x.RiverPublic = true
	x.pages = x.Routes()
	for path, want := range map[string]int{"/river?category=Weblogs": 200, "/river?category=Family": 404, "/river?category=News": 404, "/river?q=category:Family": 400, "/river?q=is:starred": 400, "/river?q=is:%22read%22": 400, "/river?q=Grandfather": 200, "/river?starred=1": 200,
		"/river/stream?category=News": 404, "/river?source=" + strconv.FormatInt(river.SourceID("https://family.example/secret.xml"), 10): 404} {
		rec := x.open(path)
		if rec.Code != want || strings.Contains(rec.Body.String(), secret) || strings.Contains(rec.Body.String(), ">Family<") {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
	for _, q := range x.fakeRiver.queries {
		if q.Starred || q.Unread || q.Read {
			t.Errorf("asked for %+v", q)
		}
	}
	for _, e := range x.fakeRiver.items {
		if strings.Contains(e.HTML, secret) {
			if rec := x.open(fmt.Sprintf("/river/item/%d", e.ID)); rec.Code != 404 {
				t.Errorf("a private item: %d", rec.Code)
			}
		}
	}
	if rec := x.send("/river/mark", "star", "1"); rec.Code != 303 || !strings.HasPrefix(rec.Header().Get("Location"), "/login") {
		t.Errorf("a signed-out client marks: %d %s", rec.Code, rec.Header().Get("Location"))
	}
}

func TestDaysOfTheRiverAreInTheTimeZoneOfTheUser(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	r := httptest.NewRequest("GET", "/river", nil)
	r.AddCookie(&http.Cookie{Name: "tz", Value: "600"}) // minutes east of UTC; 14:02 UTC is 00:02 on the next day there
	doc := check(t, x.do(r))
	days := find(doc, "section", "day")
	if attr(days[0], "data-day") != "2026-11-21" || !strings.Contains(text(days[0]), "fetched 00:01") {
		t.Error(attr(days[0], "data-day"), text(days[0])[:80])
	}
	r = httptest.NewRequest("GET", "/river", nil)
	r.AddCookie(&http.Cookie{Name: "tz", Value: "Australia/Brisbane"})
	if days := find(check(t, x.do(r)), "section", "day"); attr(days[0], "data-day") != "2026-11-21" {
		t.Errorf("in Brisbane: %s", attr(days[0], "data-day"))
	}
	for _, bad := range []string{"x", "99999", "-5000", "", "Local", "../etc/passwd", strings.Repeat("a/", 100)} {
		r := httptest.NewRequest("GET", "/river", nil)
		r.AddCookie(&http.Cookie{Name: "tz", Value: bad})
		if days := find(check(t, x.do(r)), "section", "day"); attr(days[0], "data-day") != "2026-11-20" {
			t.Errorf("tz=%q: %s", bad, attr(days[0], "data-day"))
		}
	}
}

func BenchmarkRiverPage(b *testing.B) {
	f := newFake()
	br := newFakeRiver(func() time.Time { return f.now })
	addRiverItems(br, "")
	w := &Web{Hub: f, Store: f, River: br, Arrivals: br.Listen, Now: func() time.Time { return f.now }}
	pages := w.Routes()
	for b.Loop() {
		r := httptest.NewRequest("GET", "http://localhost/river", nil)
		r.RemoteAddr = "127.0.0.1:1"
		r.Header.Set("Accept-Encoding", "gzip")
		rec := httptest.NewRecorder()
		if pages.ServeHTTP(rec, r); rec.Code != 200 {
			b.Fatal(rec.Code)
		}
	}
}

func TestNavigationBarShowsFourEntriesAndTheTabsOfThePage(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	for path, want := range map[string][2]string{
		"/river": {"Read", "River"}, "/feeds": {"Read", "Feeds"}, "/river/display": {"Read", "Display"}, "/write": {"Write", "New post"}, "/write/posts": {"Write", "Posts"},
		"/account/author": {"Write", "Your page"}, "/hub": {"Hub", "Overview"}, "/changes": {"Hub", "Recent changes"}, "/account/tokens": {"", "Apps and tokens"}, "/docs": {"", ""},
	} {
		doc := check(t, x.open(path))
		var entries, current, tabs []string
		for n := range doc.Descendants() {
			if n.Data != "a" || n.Parent == nil {
				continue
			}
			inBar := n.Parent.Data == "li" && attr(n.Parent.Parent.Parent, "aria-label") == "Sections"
			inTabs := attr(n.Parent, "class") == "tabs section"
			if inBar {
				entries = append(entries, text(n))
			}
			if attr(n, "aria-current") != "" && inBar {
				current = append(current, text(n))
			}
			if attr(n, "aria-current") != "" && inTabs {
				tabs = append(tabs, text(n))
			}
		}
		if got := strings.Join(entries, " "); got != "Read Write Hub" {
			t.Errorf("%s: the bar has %s", path, got)
		}
		if got := [2]string{strings.Join(current, " "), strings.Join(tabs, " ")}; got != want {
			t.Errorf("%s: current are %q, want %q", path, got, want)
		}
		if menu := find(doc, "li", "menu me"); len(menu) != 1 || !strings.Contains(text(menu[0]), "Sign out") {
			t.Errorf("%s: no menu of the account", path)
		}
	}
}
