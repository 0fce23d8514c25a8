package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"cloudburst/feed/discover"
	"cloudburst/feed/render"
	"cloudburst/internal/author"
)

// microformat is a parsed microformat with its types and the values of its properties. The values are in
// the order of the document.
type microformat struct {
	kinds  []string
	props  map[string][]string
	inside []*microformat // nested microformats; if a nested microformat is also a property, props contains its text
}

// microformats parses a page by the rules of microformats2. It implements only the rules that the tests
// need.
func microformats(n *html.Node, base *url.URL) (all []*microformat) {
	var walk func(n *html.Node, in *microformat)
	walk = func(n *html.Node, in *microformat) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type != html.ElementNode {
				continue
			}
			next := in
			classes := strings.Fields(attrOf(c, "class"))
			var kinds []string
			for _, class := range classes {
				if strings.HasPrefix(class, "h-") {
					kinds = append(kinds, class)
				}
			}
			if len(kinds) > 0 {
				next = &microformat{kinds: kinds, props: map[string][]string{}}
				if in != nil {
					in.inside = append(in.inside, next)
				} else {
					all = append(all, next)
				}
			}
			for _, class := range classes {
				kind, name, ok := strings.Cut(class, "-")
				if in == nil || !ok || !slices.Contains([]string{"p", "u", "dt", "e"}, kind) {
					continue
				}
				in.props[name] = append(in.props[name], valueOf(c, kind, base))
			}
			walk(c, next)
		}
	}
	walk(n, nil)
	return all
}

func valueOf(n *html.Node, kind string, base *url.URL) string {
	switch kind {
	case "u":
		for _, key := range []string{"href", "src", "poster"} {
			if v := attrOf(n, key); v != "" {
				if u, err := base.Parse(v); err == nil {
					return u.String()
				}
			}
		}
	case "dt":
		return attrOf(n, "datetime")
	}
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// newAuthorHarness returns a writeHarness in which alice has a public feed, like every user with posts.
func newAuthorHarness(t *testing.T) *writeHarness {
	t.Helper()
	x := newWriteHarness(t)
	x.FileOf = func(_ context.Context, user, hash string) (author.File, error) {
		return author.File{User: user, Hash: hash, Width: 640, Height: 480}, nil
	}
	x.PublicURL = "https://hub.example"
	x.pages, x.author = x.Routes(), x.AuthorPage()
	x.save("alice", author.Public, rss())
	return x
}

// see requests a path from the handler of author pages. headers contains names and values in turn.
func (x *writeHarness) see(path string, headers ...string) *httptest.ResponseRecorder {
	x.Helper()
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if x.cookie != "" {
		r.AddCookie(&http.Cookie{Name: "__Host-cloudburst", Value: x.cookie})
	}
	rec := httptest.NewRecorder()
	x.author.ServeHTTP(rec, r)
	return rec
}

func (x *writeHarness) contains(status int, path string, words ...string) *html.Node {
	x.Helper()
	rec := x.see(path)
	if rec.Code != status {
		x.Errorf("%s: %d, want %d", path, rec.Code, status)
	}
	doc := check(x.T, rec)
	for _, w := range words {
		if !strings.Contains(rec.Body.String(), w) {
			x.Errorf("%s: there is no %q in\n%s", path, w, rec.Body)
		}
	}
	return doc
}

func (x *writeHarness) items(path string) []*microformat {
	x.Helper()
	base, err := url.Parse("https://hub.example" + path)
	if err != nil {
		x.Fatal(err)
	}
	return microformats(x.contains(http.StatusOK, path), base)
}

func one(t *testing.T, m *microformat, name, want string) {
	t.Helper()
	if got := m.props[name]; !slices.Equal(got, strings.Split(want, "\n")) && (want != "" || len(got) > 0) {
		t.Errorf("%s is %q, want %q", name, got, want)
	}
}

func TestPostPageContainsHEntryMicroformat(t *testing.T) {
	t.Parallel()
	x := newAuthorHarness(t)
	x.profile("alice", author.Profile{Name: "Alice", Title: "Walks", Blurb: "About me", Avatar: "/alice/media/0123456789abcdef/me.png"})
	short := x.write("alice", author.Published, author.Content{Source: "Hello *you*", Categories: []string{"Go", "Fun stuff"}, Reply: &author.Reply{URL: "https://bob.example/1", Title: "What Bob said"},
		Enclosures: []author.Enclosure{{URL: "/alice/media/0123456789abcdef/a.png", Type: "image/png", Alt: "A cat"}, {URL: "https://m.example/a.mp3", Type: "audio/mpeg", Length: 4800000},
			{URL: "https://m.example/a.mp4", Type: "video/mp4"}, {URL: "https://m.example/a.pdf", Type: "application/pdf"}}})
	x.advance(time.Hour)
	long := x.write("alice", author.Published, author.Content{Title: "A title", Source: "Words", Link: "https://example.com/about"})
	all := x.items("/alice/")
	if len(all) != 1 || all[0].kinds[0] != "h-feed" {
		t.Fatalf("the page has %+v", all)
	}
	feed := all[0]
	one(t, feed, "name", "Walks")
	one(t, feed, "summary", "About me")
	one(t, feed, "url", "https://hub.example/alice/")
	if len(feed.inside) != 3 {
		t.Fatalf("inside are %d", len(feed.inside))
	}
	card := feed.inside[2]
	one(t, card, "name", "Alice")
	one(t, card, "photo", "https://hub.example/alice/media/0123456789abcdef/me.png")
	one(t, card, "note", "About me")
	for i, p := range []author.Post{long, short} {
		onList, alone := feed.inside[i], x.items(x.posts.Path(p))[0]
		for _, e := range []*microformat{onList, alone} {
			if e.kinds[0] != "h-entry" {
				t.Errorf("%v", e.kinds)
			}
			one(t, e, "name", p.Title)
			one(t, e, "bookmark-of", p.Link)
			one(t, e, "url", x.posts.Address(p))
			one(t, e, "uid", x.posts.Address(p))
			one(t, e, "published", p.PublishedAt.Format("2006-01-02T15:04:05.000Z"))
		}
		if alone.inside[0].kinds[0] != "h-card" || alone.props["author"] == nil {
			t.Errorf("wrong author: %+v", alone)
		}
		one(t, alone.inside[0], "name", "Alice")
		one(t, alone.inside[0], "url", "https://hub.example/alice/")
	}
	e := x.items(x.posts.Path(short))[0]
	one(t, e, "content", "Hello you")
	one(t, e, "category", "Go\nFun stuff")
	one(t, e, "in-reply-to", "https://bob.example/1")
	one(t, e, "photo", "https://hub.example/alice/media/0123456789abcdef/a.png")
	one(t, e, "audio", "https://m.example/a.mp3")
	one(t, e, "video", "https://m.example/a.mp4")
	one(t, e, "enclosure", "https://m.example/a.mp3\nhttps://m.example/a.mp4\nhttps://m.example/a.pdf")
	x.contains(http.StatusOK, x.posts.Path(short), `<img src="/alice/media/0123456789abcdef/a.png" alt="A cat" width="640" height="480"`, `<audio class="u-audio" controls`, "What Bob said", `href="/alice/category/fun-stuff/"`, "4.8 MB")
	x.contains(http.StatusOK, x.posts.Path(long), "example.com/about", `rel="next" href="`+x.posts.Path(short)+`"`, `<meta property="og:title" content="A title · Walks">`, `<meta property="og:type" content="article">`)
	x.advance(time.Hour)
	if _, err := x.posts.Save(t.Context(), author.Edit{User: "alice", ID: short.ID, Change: func(c *author.Content) error { c.Source = "Hello all"; return nil }}); err != nil {
		t.Fatal(err)
	}
	e = x.items(x.posts.Path(short))[0]
	one(t, e, "updated", x.fake.now.UTC().Format("2006-01-02T15:04:05.000Z"))
}

func TestMovedPostRedirectsAndDeletedPostIsGone(t *testing.T) {
	t.Parallel()
	x := newAuthorHarness(t)
	p := x.write("alice", author.Published, author.Content{Title: "Café au lait", Source: "x"})
	draft := x.write("alice", author.Draft, author.Content{Title: "Secret", Source: "x"})
	path := x.posts.Path(p)
	if !strings.HasSuffix(path, "caf%C3%A9-au-lait") {
		t.Fatalf("the path is %s", path)
	}
	x.contains(http.StatusOK, path, "Café au lait")
	slug := path[strings.LastIndexByte(path, '/'):]
	for _, wrong := range []string{"/alice/2001/01/01" + slug, "/alice/2001/01/01" + strings.ToLower(slug) + "?utm=1", strings.ReplaceAll(path, "%C3%A9", "%c3%a9")} {
		rec := x.see(wrong)
		to, _, _ := strings.Cut(rec.Header().Get("Location"), "?")
		if rec.Code != http.StatusMovedPermanently || to != path {
			t.Errorf("%s: %d %s", wrong, rec.Code, rec.Header().Get("Location"))
		}
	}
	for _, none := range []string{"/alice/2026/11/22/secret", "/alice/2026/11/22/none", path + "/", path + "/x", "/alice/2026/13/01" + slug, "/alice/2026/11/31" + slug, "/alice/26/11/22" + slug, "/bob" + strings.TrimPrefix(path, "/alice"), "/alice/x", "/alice/category/none/", "/alice/2001/", "/alice/archive/x", "/bob/archive/", "/everyone/archive/"} {
		x.contains(http.StatusNotFound, none)
	}
	_ = draft
	if _, err := x.posts.Delete(t.Context(), "alice", p.ID, 0, "test"); err != nil {
		t.Fatal(err)
	}
	x.contains(http.StatusGone, path, "has deleted or unpublished")
	rec := httptest.NewRecorder()
	x.author.ServeHTTP(rec, httptest.NewRequest("POST", path, nil))
	if rec.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", rec.Code)
	}
}

func TestConditionalRequestOfUnchangedPageReturns304(t *testing.T) {
	t.Parallel()
	x := newAuthorHarness(t)
	p := x.write("alice", author.Published, author.Content{Source: "Hello", Categories: []string{"Go"}})
	for _, path := range []string{"/alice/", x.posts.Path(p), "/alice/archive/", "/alice/category/", "/alice/category/go/", "/everyone/"} {
		first := x.see(path)
		tag, date := first.Header().Get("ETag"), first.Header().Get("Last-Modified")
		x.advance(time.Minute)
		for _, h := range [][]string{{"If-None-Match", tag}, {"If-None-Match", `"x", ` + strings.TrimPrefix(tag, "W/")}} {
			again := x.see(path, h...)
			if again.Code != http.StatusNotModified || again.Body.Len() > 0 || again.Header().Get("ETag") != tag || again.Header().Get("Vary") == "" || again.Header().Get("Cache-Control") != "no-cache" {
				t.Errorf("%s with %v: %d %v", path, h, again.Code, again.Header())
			}
		}
		if a := x.see(path, "If-Modified-Since", date); a.Code != http.StatusOK {
			t.Errorf("%s: a date proves that the page is current", path)
		}
	}
	tag := x.see("/alice/").Header().Get("ETag")
	x.as("alice")
	mine := x.see("/alice/", "If-None-Match", tag)
	if mine.Code != http.StatusOK || mine.Header().Get("Cache-Control") != "private, no-cache" {
		t.Errorf("signed in: %d %v", mine.Code, mine.Header())
	}
	x.cookie = ""
	x.advance(time.Minute)
	x.write("alice", author.Published, author.Content{Source: "More"})
	if a := x.see("/alice/", "If-None-Match", tag); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), "More") {
		t.Errorf("a new post: %d", a.Code)
	}
}

func TestLastModifiedOfAPageIsTheLastChangeOfItsPosts(t *testing.T) {
	t.Parallel()
	x := newAuthorHarness(t)
	p := x.write("alice", author.Published, author.Content{Source: "Hello", Categories: []string{"Go"}})
	month := "/alice/" + p.PublishedAt.UTC().Format("2006/01/")
	for _, path := range []string{"/alice/", x.posts.Path(p), "/alice/archive/", month, "/alice/category/", "/alice/category/go/", "/everyone/"} {
		date := x.see(path).Header().Get("Last-Modified")
		x.advance(time.Minute)
		if _, err := x.posts.Save(t.Context(), author.Edit{User: "alice", ID: p.ID, Change: func(c *author.Content) error { c.Source += "!"; return nil }}); err != nil {
			t.Fatal(err)
		}
		before, err := http.ParseTime(date)
		if after, err2 := http.ParseTime(x.see(path).Header().Get("Last-Modified")); err != nil || err2 != nil || !after.After(before) {
			t.Errorf("%s: %s, after a change %s", path, before, after)
		}
	}
}

func TestPagesOfPostsAreCompleteAndLinkToTheFeed(t *testing.T) {
	t.Parallel()
	x := newAuthorHarness(t)
	var want []string
	for i := range 45 {
		p := x.write("alice", author.Published, author.Content{Source: fmt.Sprint("post ", i), Categories: []string{"All", fmt.Sprint("M", i%2)}})
		want = append([]string{x.posts.Address(p)}, want...)
		if i%3 > 0 { // some posts have the same time
			x.advance(time.Hour)
		}
	}
	walk := func(path string) (got []string) {
		for n := 0; path != ""; n++ {
			feed := x.items(path)[0]
			for _, e := range feed.inside {
				if e.kinds[0] == "h-entry" {
					got = append(got, e.props["url"]...)
				}
			}
			doc, next := x.contains(http.StatusOK, path), ""
			for d := range doc.Descendants() {
				if d.Data == "link" && attrOf(d, "rel") == "next" {
					next = attrOf(d, "href")
				}
			}
			if path = next; n > 5 {
				t.Fatal("it goes on for ever")
			}
		}
		return got
	}
	for _, path := range []string{"/alice/", "/alice/category/all/", "/everyone/", "/everyone/category/all/", "/alice/2026/"} {
		if got := walk(path); !slices.Equal(got, want) {
			t.Errorf("%s has %d posts, want %d", path, len(got), len(want))
		}
	}
	if got := walk("/alice/category/m1/"); len(got) != 22 {
		t.Errorf("every second one are %d", len(got))
	}
	for path, feed := range map[string]string{"/alice/": "/alice/", "/alice/category/m1/": "/alice/category/m1/", "/everyone/": "/everyone/", "/everyone/category/all/": "/everyone/category/all/", "/alice/2026/": "/alice/"} {
		rec := x.see(path)
		found := discover.Text(rec.Body.String(), "https://hub.example"+path, nil)
		if best, ok := found.Best(); !ok || best.URL != "https://hub.example"+feed+"rss.xml" || !slices.Contains(found.Hubs, "https://hub.example/websub") && len(found.Hubs) != 1 {
			t.Errorf("%s: readers find %+v", path, found)
		}
		list := rec.Body.String()
		if path == "/alice/" {
			list = x.see("/alice/formats").Body.String()
		}
		for _, f := range render.Formats() {
			href := feed + "feed." + f.Ext
			if f.Ext == "" {
				href = feed + "feed?format=" + f.Name
			}
			if !strings.Contains(list, `href="`+html.EscapeString(href)+`"`) {
				t.Errorf("%s does not name %s", path, href)
			}
		}
		if !strings.Contains(rec.Body.String(), `<link rel="canonical" href="`) {
			t.Errorf("%s has no address", path)
		}
	}
	const three = "BASErss.xml BASEfeed.atom BASEfeed.json"
	alice := strings.ReplaceAll(three, "BASE", "/alice/")
	for path, want := range map[string]string{
		"/alice/":             alice + " /alice/category/all/rss.xml /alice/category/m0/rss.xml /alice/category/m1/rss.xml /alice/feeds.opml",
		"/alice/2026/":        alice + " /alice/feeds.opml",
		"/alice/category/m1/": strings.ReplaceAll(three, "BASE", "/alice/category/m1/") + " " + alice + " /alice/feeds.opml",
		"/everyone/":          strings.ReplaceAll(three, "BASE", "/everyone/") + " /everyone/opml",
	} {
		if got := feedsNamed(discover.Text(x.see(path).Body.String(), "https://hub.example"+path, nil)); got != want {
			t.Errorf("the head of %s names %s; want %s", path, got, want)
		}
	}
	for path, title := range map[string]string{
		"/alice/": "alice: RSS", "/alice/2026/": "alice: RSS", "/alice/archive/": "alice: RSS", "/alice/category/": "alice: RSS",
		"/alice/category/m1/": "M1 · alice: RSS", "/everyone/category/all/": "all · Everyone here: RSS",
	} {
		x.contains(http.StatusOK, path, `title="`+title+`"`) // a feed with other posts than the page does not have its title
	}
	x.contains(http.StatusOK, "/alice/archive/", "45 posts", `href="/alice/2026/`)
	x.contains(http.StatusOK, "/alice/category/", `href="/alice/category/m0/"`, "23")
	if rec := x.see("/alice/category/ALL/"); rec.Code != http.StatusMovedPermanently || rec.Header().Get("Location") != "/alice/category/all/" {
		t.Errorf("in capitals: %d %v", rec.Code, rec.Header())
	}
	if rec := x.see("/alice/archive"); rec.Code != http.StatusPermanentRedirect || rec.Header().Get("Location") != "/alice/archive/" {
		t.Errorf("without the slash: %d %v", rec.Code, rec.Header())
	}
	for _, before := range []string{"x", "1", "1-", "-1--1", "1-0", "99999999999999999999-1", "1-1-bob", "1-1-" + strings.Repeat("b", 99)} {
		x.contains(http.StatusOK, "/alice/?before="+before)
		x.contains(http.StatusOK, "/everyone/?before="+before)
	}
}

func TestOutlineCanBeCollapsedWithoutScripts(t *testing.T) {
	t.Parallel()
	x := newAuthorHarness(t)
	p := x.write("alice", author.Published, author.Content{Title: "O", Outline: []author.Node{
		{Text: "open <script>x</script> [*a* link](https://x.example/?a=1&b=%3E)", Nodes: []author.Node{{Text: "leaf"}, {Title: "Titled", Text: "below", Folded: true, Nodes: []author.Node{{Text: "deepest"}}}}}, {Text: "alone"}}})
	doc := x.contains(http.StatusOK, x.posts.Path(p), "deepest", "alone")
	for n := range doc.Descendants() {
		if n.Data != "summary" {
			continue
		}
		for d := range n.Descendants() {
			if d.Type == html.ElementNode && d.Data == "a" {
				t.Errorf("a link in what folds: %v", d.Attr)
			}
		}
	}
	x.contains(http.StatusOK, x.posts.Path(p), `<em>a</em> link</span></summary>`, `<p class="about"><a href="https://x.example/?a=1&amp;b=%3E" rel="nofollow noopener noreferrer ugc"><em>a</em> link</a></p>`)
	var open, closed int
	for n := range doc.Descendants() {
		if n.Data == "details" && strings.Contains(attrOf(n, "class"), "fold") {
			if slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "open" }) {
				open++
			} else {
				closed++
			}
		}
		if n.Data == "script" && !strings.HasPrefix(attrOf(n, "src"), "/static/") {
			t.Errorf("a script of the post: %v", n.Attr)
		}
	}
	if open != 1 || closed != 1 {
		t.Errorf("%d are open and %d are folded", open, closed)
	}
}

// profile sets the profile of a user.
func (x *writeHarness) profile(user string, p author.Profile) {
	x.Helper()
	x.fakePostStore.mu.Lock()
	defer x.fakePostStore.mu.Unlock()
	w := x.fakePostStore.writers[user]
	w.User, w.Profile, w.Written = user, p, true
	x.fakePostStore.writers[user] = w
}

// advance moves the clock forward.
func (x *writeHarness) advance(d time.Duration) { x.fake.now = x.fake.now.Add(d) }

func TestAuthorPagesLinkToTheirStyleSheet(t *testing.T) {
	t.Parallel()
	x := newAuthorHarness(t)
	x.profile("alice", author.Profile{Accent: "#ffff00", Theme: "dark"})
	x.write("alice", author.Published, author.Content{Source: "x"})
	x.contains(http.StatusOK, "/alice/", `<link rel="stylesheet" href="/static/tint/ffff00-dark.css">`)
	for path, want := range map[string]int{"/static/tint/ffff00-dark.css": 200, "/static/tint/-light.css": 200, "/static/tint/ff0000.css": 200, "/static/tint/red.css": 404, "/static/tint/ff0000-blue.css": 404, "/static/tint/FF0000.css": 404} {
		rec := x.open(path)
		if rec.Code != want || want == 200 && (rec.Header().Get("Content-Type") != "text/css; charset=utf-8" || !strings.Contains(rec.Body.String(), "html:root{")) {
			t.Errorf("%s: %d %v %s", path, rec.Code, rec.Header(), rec.Body)
		}
	}
}
