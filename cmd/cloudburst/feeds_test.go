package main

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// feedsKey is the key under which a script stores its manyFeeds.
type feedsKey struct{}

// manyFeeds serves feeds with the names 1.xml, 2.xml and so on, and pages that link to the feeds.
// Each feed has two items and the items that were added with post.
type manyFeeds struct {
	mu    sync.Mutex
	count int
	posts map[int][]string // key: number of the feed; value: titles of the added items, oldest first
}

func (f *manyFeeds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	base := path.Base(r.URL.Path)
	n, err := strconv.Atoi(strings.TrimSuffix(base, ".xml"))
	switch {
	case base == "pages.html":
		fmt.Fprint(w, `<!DOCTYPE html><html><head><title>Pages</title><link rel="alternate" type="application/rss+xml" title="Feed 2" href="/2.xml">`+
			`<link rel="alternate" type="application/rss+xml" title="Feed 3" href="/3.xml"></head><body>Hello</body></html>`)
		return
	case err != nil || n < 1 || n > f.count:
		http.NotFound(w, r)
		return
	}
	tag := fmt.Sprintf(`"%d"`, len(f.posts[n]))
	w.Header().Set("ETag", tag)
	w.Header().Set("Content-Type", "application/rss+xml")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	fmt.Fprintf(w, `<?xml version="1.0"?><rss version="2.0"><channel><title>Feed %d</title><link>http://example.org/%d</link><description>One of many</description>`, n, n)
	for i := len(f.posts[n]) - 1; i >= 0; i-- {
		fmt.Fprintf(w, `<item><title>%s</title><link>http://example.org/%d/post%d</link><guid isPermaLink="false">post%d</guid></item>`, html.EscapeString(f.posts[n][i]), n, i, i)
	}
	for i := 2; i >= 1; i-- {
		fmt.Fprintf(w, `<item><title>Item %d of feed %d</title><link>http://example.org/%d/%d</link><guid isPermaLink="false">%d</guid><pubDate>%d May 2026 10:00:00 GMT</pubDate></item>`, i, n, n, i, i, i+2)
	}
	fmt.Fprint(w, `</channel></rss>`)
}

func serveFeeds(ts *testscript.TestScript, neg bool, args []string) {
	count, err := strconv.Atoi(strings.Join(args, " "))
	if neg || err != nil {
		ts.Fatalf("usage: feeds NUMBER")
	}
	f := ts.Value(feedsKey{}).(*manyFeeds)
	f.count, f.posts = count, map[int][]string{}
	srv := httptest.NewServer(f)
	ts.Defer(srv.Close)
	ts.Setenv("FEEDS", srv.URL)
	var list strings.Builder
	fmt.Fprintf(&list, `<opml version="2.0"><head><title>Fifty feeds</title></head><body><outline text="Fifty">`)
	for i := range count {
		fmt.Fprintf(&list, `<outline text="Feed %d" type="rss" xmlUrl="%s/%d.xml"/>`, i+1, srv.URL, i+1)
	}
	list.WriteString(`</outline></body></opml>`)
	ts.Check(os.WriteFile(ts.MkAbs("list.opml"), []byte(list.String()), 0o600))
}

func post(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: post NUMBER TITLE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	f := ts.Value(feedsKey{}).(*manyFeeds)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.posts[n] = append(f.posts[n], args[1])
}

func get(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: get URL REGEXP [TOKEN-FILE]")
	}
	re := regexp.MustCompile(args[1])
	last := ""
	defer func() { ts.Logf("%s:\n%s", args[0], last) }()
	poll(ts, args[1]+" at "+args[0], func() bool {
		req, err := http.NewRequest(http.MethodGet, args[0], nil)
		ts.Check(err)
		if len(args) == 3 {
			req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(ts.ReadFile(args[2])))
		}
		res, err := http.DefaultClient.Do(req)
		ts.Check(err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		ts.Check(err)
		last = string(body)
		return re.Match(body)
	})
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND…")
	}
	re := regexp.MustCompile(args[0])
	poll(ts, args[0], func() bool {
		ts.Check(ts.Exec(args[1], args[2:]...))
		return re.MatchString(ts.ReadFile("stdout"))
	})
}
