package bench

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// FeedPlan describes the feeds of a measurement. The feeds have the formats RSS, Atom and JSON
// Feed in turn.
type FeedPlan struct {
	Feeds int `json:"feeds"`
	Items int `json:"items"` // items per feed
	Size  int `json:"size"`  // approximate size of a feed in bytes
}

// FeedSite serves the feeds of a plan. It compresses each version of a feed only once. Create a
// site with [OpenFeedSite].
type FeedSite struct {
	plan  FeedPlan
	mu    sync.RWMutex
	feeds []servedFeed
	extra int // number of items that Add added to each feed

	full, unchanged atomic.Int64

	port   int
	server *http.Server
}

type servedFeed struct {
	etag, kind    string
	plain, packed []byte
}

// FeedCounts counts the responses with a body and the responses with status 304.
type FeedCounts struct {
	Full      int64 `json:"full"`
	Unchanged int64 `json:"unchanged"`
}

// OpenFeedSite serves the feeds of a plan on a free port of 127.0.0.1, until Close.
func OpenFeedSite(ctx context.Context, p FeedPlan) (*FeedSite, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &FeedSite{port: l.Addr().(*net.TCPAddr).Port}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(l) }() // returns after Close
	if err := s.set(p); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// Close stops the server.
func (s *FeedSite) Close() error { return s.server.Close() }

// URL returns the URL of feed i.
func (s *FeedSite) URL(i int) string { return feedURL(s.port, i) }

func feedURL(port, i int) string { return fmt.Sprintf("http://127.0.0.1:%d/feed/%d", port, i) }

// Add adds one item to each feed.
func (s *FeedSite) Add() error {
	s.mu.Lock()
	s.extra++
	s.mu.Unlock()
	return s.set(s.plan)
}

// Counts returns the number of responses since the previous call.
func (s *FeedSite) Counts() FeedCounts { return FeedCounts{s.full.Swap(0), s.unchanged.Swap(0)} }

// ServeFeeds runs the process that serves the feeds of a measurement, until in ends.
func ServeFeeds(ctx context.Context, in io.Reader, out io.Writer) error {
	var site *FeedSite
	defer func() {
		if site != nil {
			_ = site.Close()
		}
	}()
	return serveCalls(ctx, in, out, func(ctx context.Context, c call) (any, error) {
		switch c.Do {
		case "plan":
			p, err := unpack[FeedPlan](c)
			if err == nil {
				site, err = OpenFeedSite(ctx, p)
			}
			if err != nil {
				return nil, err
			}
			return site.port, nil
		case "add":
			return nil, site.Add()
		case "counts":
			return site.Counts(), nil
		}
		return nil, fmt.Errorf("what is %q?", c.Do)
	})
}

func (s *FeedSite) set(p FeedPlan) error {
	if p.Feeds < 1 || p.Items < 1 || p.Size < 1000 {
		return fmt.Errorf("feeds cannot be like %+v", p)
	}
	list := make([]servedFeed, p.Feeds)
	for i := range list {
		f := &list[i]
		f.kind, f.plain = documentOf(p, i, s.extra)
		f.etag = fmt.Sprintf(`"%d-%d"`, i, s.extra)
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		if err != nil {
			return err
		}
		_, _ = z.Write(f.plain) // a write to memory does not fail
		_ = z.Close()
		f.packed = b.Bytes()
	}
	s.mu.Lock()
	s.plan, s.feeds = p, list
	s.mu.Unlock()
	return nil
}

// ServeHTTP serves feed N at /feed/N.
func (s *FeedSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/feed/"))
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err != nil || i < 0 || i >= len(s.feeds) {
		http.NotFound(w, r)
		return
	}
	f := &s.feeds[i]
	h := w.Header()
	h.Set("ETag", f.etag)
	if r.Header.Get("If-None-Match") == f.etag {
		s.unchanged.Add(1)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.full.Add(1)
	h.Set("Content-Type", f.kind)
	body := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.packed
	}
	_, _ = w.Write(body) // the client may have disconnected
}

// words returns the vocabulary of the items. It is small, so that words occur in many items.
func words() []string {
	return strings.Fields(`river cloud feed notice morning ocean garden winter letter market engine window silver copper
		station harbour mountain village printer kitchen library engine signal planet weather bicycle paper history`)
}

// textOf returns about n bytes of HTML that depend only on the seed.
func textOf(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	list := words()
	var b strings.Builder
	b.WriteString("<p>")
	for b.Len() < n {
		w := list[r.IntN(len(list))]
		switch r.IntN(40) {
		case 0:
			fmt.Fprintf(&b, `<a href="https://example.org/%s/%d">%s</a> `, w, r.IntN(1000), w)
		case 1:
			fmt.Fprintf(&b, "<em>%s</em> ", w)
		case 2:
			b.WriteString(".</p>\n<p>")
		default:
			b.WriteString(w)
			b.WriteByte(' ')
		}
	}
	b.WriteString("</p>")
	return b.String()
}

// polledItem is one item of a feed.
type polledItem struct {
	id, title, link, html string
	at                    time.Time
}

func itemsOf(p FeedPlan, feed, extra int) []polledItem {
	total := p.Items + extra
	list := make([]polledItem, 0, p.Items)
	for n := total - 1; n >= max(0, total-p.Items); n-- {
		seed := uint64(feed)*1_000_003 + uint64(n)
		list = append(list, polledItem{
			id: fmt.Sprintf("tag:example.org,2026:%d/%d", feed, n), title: fmt.Sprintf("Item %d of feed %d", n, feed),
			link: fmt.Sprintf("https://example.org/%d/%d", feed, n), html: textOf(seed, p.Size/p.Items-300),
			at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n)*time.Hour + time.Duration(feed)*time.Second),
		})
	}
	return list
}

// documentOf renders a feed as RSS, Atom or JSON Feed.
func documentOf(p FeedPlan, feed, extra int) (kind string, doc []byte) {
	items := itemsOf(p, feed, extra)
	var b bytes.Buffer
	esc := func(s string) string {
		var e strings.Builder
		_ = xml.EscapeText(&e, []byte(s)) // a write to a strings.Builder does not fail
		return e.String()
	}
	switch feed % 3 {
	case 0:
		fmt.Fprintf(&b, "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>Feed %d</title><link>https://example.org/%d</link><description>For measuring</description>\n", feed, feed)
		for _, it := range items {
			fmt.Fprintf(&b, "<item><title>%s</title><link>%s</link><guid isPermaLink=\"false\">%s</guid><pubDate>%s</pubDate><category>%s</category><description>%s</description></item>\n",
				it.title, it.link, it.id, it.at.Format(time.RFC1123Z), words()[feed%20], esc(it.html))
		}
		b.WriteString("</channel></rss>\n")
		return "application/rss+xml", b.Bytes()
	case 1:
		fmt.Fprintf(&b, "<?xml version=\"1.0\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>Feed %d</title><id>tag:example.org,2026:%d</id><link href=\"https://example.org/%d\"/><updated>%s</updated>\n", feed, feed, feed, items[0].at.Format(time.RFC3339))
		for _, it := range items {
			fmt.Fprintf(&b, "<entry><title>%s</title><link href=\"%s\"/><id>%s</id><updated>%s</updated><author><name>Nobody</name></author><content type=\"html\">%s</content></entry>\n",
				it.title, it.link, it.id, it.at.Format(time.RFC3339), esc(it.html))
		}
		b.WriteString("</feed>\n")
		return "application/atom+xml", b.Bytes()
	}
	type entry struct {
		ID      string    `json:"id"`
		Title   string    `json:"title"`
		URL     string    `json:"url"`
		Content string    `json:"content_html"`
		At      time.Time `json:"date_published"`
	}
	out := struct {
		Version string  `json:"version"`
		Title   string  `json:"title"`
		Home    string  `json:"home_page_url"`
		Items   []entry `json:"items"`
	}{"https://jsonfeed.org/version/1.1", fmt.Sprintf("Feed %d", feed), fmt.Sprintf("https://example.org/%d", feed), nil}
	for _, it := range items {
		out.Items = append(out.Items, entry{it.id, it.title, it.link, it.html, it.at})
	}
	_ = json.NewEncoder(&b).Encode(out) // values of these types always encode
	return "application/feed+json", b.Bytes()
}

// feedProcess is a running process that serves feeds.
type feedProcess struct {
	*process
	caller
	port int
}

func startFeeds(exe, dir string, p FeedPlan) (*feedProcess, error) {
	proc, err := start(dir, "feeds", 0, exe, "bench", "feeds")
	if err != nil {
		return nil, err
	}
	f := &feedProcess{process: proc, caller: caller{proc.stdin, proc.stdout}}
	if err := f.call("plan", p, &f.port); err != nil {
		return nil, fmt.Errorf("%w; end of its standard error:\n%s", err, proc.stderrTail())
	}
	return f, nil
}

func (f *feedProcess) url(i int) string { return feedURL(f.port, i) }

// counts returns the number of responses since the previous call.
func (f *feedProcess) counts() (c FeedCounts, err error) {
	err = f.call("counts", nil, &c)
	return c, err
}
