package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/client"
	"cloudburst/feed/polling"
	"cloudburst/internal/river"
)

const (
	pageTries   = 60
	pageFeeds   = 1000
	openAtOnce  = 64 // number of live pages that are opened concurrently
	openWithin  = 2 * time.Minute
	screenWait  = 10 * time.Second
	pollSources = 64 // number of client addresses of the live pages
)

// pages measures the time of pages in a store with many items.
func (b Poll) pages(ctx context.Context, s *stage) error {
	if s.Database != "" {
		s.progress.Step("pages: only with SQLite", 0, 0)
		return nil
	}
	dir := filepath.Join(s.dir, "data")
	if err := b.fill(ctx, s, dir, pageFeeds); err != nil {
		return err
	}
	if err := s.serve(ctx); err != nil {
		return err
	}
	base := "http://" + s.server.listen
	for _, p := range []struct {
		name, path string
		most       float64 // limit in milliseconds; 0 means no limit
	}{
		{"river page", "/river", 20},
		{"river page, the 20th", "", 20},
		{"river of one category", "/river?category=garden", 20},
		{"search, a word in most items", "/river?q=river", 50},
		{"search, a phrase", "/river?q=" + url.QueryEscape(`"silver copper"`), 50},
		{"search, one item", "/river?q=" + url.QueryEscape("item 7 feed 77"), 50},
		{"search in one category", "/river?q=" + url.QueryEscape("category:garden letter"), 50},
	} {
		path := p.path
		if path == "" {
			var err error
			if path, err = deepPage(ctx, base, 20); err != nil {
				return err
			}
		}
		p50, p99, err := timeToFirst(ctx, base+path)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		f := s.report.add(p.name+", first byte, p50", p50*1e3, "ms").note("of %s items; p99 %.1f ms", thousands(int64(b.Many)), p99*1e3)
		if p.most > 0 {
			f.target("<", p.most)
		}
	}
	err := s.server.stop(stopWithin)
	s.server = nil
	return err
}

// fill creates a store in dir with Many items in the given number of feeds.
func (b Poll) fill(ctx context.Context, s *stage, dir string, feeds int) (err error) {
	r, err := b.open(ctx, s, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	each := max(1, b.Many/feeds)
	now := time.Now().UTC().Truncate(time.Millisecond)
	for i := range feeds {
		s.progress.Step("filling", i, feeds)
		if err := b.fillFeed(ctx, r, i, feeds, each, now); err != nil {
			return err
		}
	}
	for {
		n, err := r.store.IndexItems(ctx, 5000)
		if err != nil || n == 0 {
			return err
		}
	}
}

func (b Poll) fillFeed(ctx context.Context, r *pollReader, i, feeds, each int, now time.Time) error {
	u := fmt.Sprintf("http://127.0.0.1:9/feed/%d", i)
	id := river.SourceID(u)
	later := now.Add(240 * time.Hour)
	category := []string{}
	if i%10 == 0 {
		category = append(category, "garden")
	}
	state := polling.New(u, now)
	state.NextAt = later
	src := river.Source{ID: id, URL: u, State: state, About: river.About{Title: fmt.Sprintf("Feed %d", i)}, NextAt: later, CreatedAt: now}
	if _, err := r.store.RiverSubscribe(ctx, []river.Addition{{
		Subscription: river.Subscription{SourceID: id, AddedAt: now, Categories: category}, Source: src,
	}}, now, feeds); err != nil {
		return err
	}
	src, err := r.store.ClaimSource(ctx, id, now, now.Add(time.Minute), 1)
	if err != nil {
		return err
	}
	for users := range slices.Chunk(b.followers(i, id, now), 1000) {
		if _, err := r.store.RiverSubscribe(ctx, users, now, feeds); err != nil {
			return err
		}
	}
	saved := river.Saved{Source: src, Check: river.Check{At: now, URL: u, Status: 200}, Now: now}
	for n, it := range itemsOf(FeedPlan{Items: each, Size: 800 * each}, i, 0) {
		at := now.Add(-time.Duration(n)*time.Duration(feeds)*time.Second - time.Duration(i)*time.Second).Truncate(time.Millisecond)
		item := river.Item{
			ID: river.ItemID(id, it.id), SourceID: id, GUID: it.id, Seq: now.UnixMicro() - int64(n*feeds+i), At: at, ReadAt: at, Hash: int64(n),
			Content: river.Content{Title: it.title, Link: it.link, HTML: it.html, Text: strings.NewReplacer("<p>", "", "</p>", "", "<em>", "", "</em>", "").Replace(it.html), Published: it.at},
		}
		item.First = item.Seq
		saved.Put = append(saved.Put, item)
		saved.Source.Last = append(saved.Source.Last, river.Known{ID: item.ID, Hash: item.Hash})
	}
	saved.Source.NextAt = later
	ok, err := r.store.SaveCheck(ctx, saved)
	if err == nil && !ok {
		err = errors.New("a feed could not be filled")
	}
	return err
}

// followers returns the subscriptions of other users to feed i. Each user follows a tenth of the
// feeds.
func (b Poll) followers(i int, id int64, now time.Time) (list []river.Addition) {
	for n := i % 10; n < b.users; n += 10 {
		list = append(list, river.Addition{Subscription: river.Subscription{Reader: fmt.Sprintf("user%d", n), SourceID: id, AddedAt: now, Categories: []string{"all"}}})
	}
	return list
}

// deepPage returns the path of the n-th page. It follows the links to older items.
func deepPage(ctx context.Context, base string, n int) (string, error) {
	path := "/river"
	for range n {
		doc, _, err := fetchAs(ctx, base+path, "identity")
		if err != nil {
			return "", err
		}
		_, rest, found := strings.Cut(string(doc), `before=`)
		if !found {
			return "", errors.New("the page has no link to older items")
		}
		at := strings.IndexAny(rest, `"&`)
		path = "/river?before=" + rest[:max(at, 0)]
	}
	return path, nil
}

// timeToFirst returns percentiles of the seconds to the first byte of the body.
func timeToFirst(ctx context.Context, address string) (p50, p99 float64, err error) {
	web := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{Protocols: onlyHTTP1()}}
	var all []float64
	for i := range pageTries + 3 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return 0, 0, err
		}
		begin := time.Now()
		resp, err := web.Do(req)
		if err != nil {
			return 0, 0, err
		}
		one := make([]byte, 1)
		_, err = io.ReadFull(resp.Body, one)
		took := time.Since(begin).Seconds()
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			return 0, 0, fmt.Errorf("%s was answered %s, %w", address, resp.Status, err)
		}
		if i >= 3 { // skip the first requests, which fill caches
			all = append(all, took)
		}
	}
	return quantile(all, 0.5), quantile(all, 0.99), nil
}

// live measures open live pages, and the time from a post to its display on a live page.
func (b Poll) live(ctx context.Context, s *stage) error {
	if s.NoFile == 0 {
		s.NoFile = min(4*b.Open+4000, openLimit()) // the server reserves a quarter of the open files for incoming connections
	}
	if err := s.serveEmpty(ctx); err != nil {
		return err
	}
	api := s.server.api
	if _, err := api.AddUser(ctx, "writer", "correct horse battery"); err != nil {
		return err
	}
	feed := "http://" + s.server.listen + "/writer/rss.xml"
	if err := b.post(ctx, s, 0); err != nil {
		return err
	}
	if _, err := api.River("").AddSource(ctx, client.SourceRequest{URL: feed}); err != nil {
		return err
	}
	cookie, err := signIn(ctx, s.server.listen, "writer", "correct horse battery")
	if err != nil {
		return err
	}
	one, err := openLive(ctx, s.server.listen, cookie, 0)
	if err != nil {
		return err
	}
	defer one.Close()
	if err := b.toScreen(ctx, s, one); err != nil {
		return err
	}
	b.Open-- // one live page is already open
	return b.subscribers(ctx, s, cookie)
}

// post saves the hosted feed with its n newest posts.
func (b Poll) post(ctx context.Context, s *stage, n int) error {
	var doc strings.Builder
	doc.WriteString(`<?xml version="1.0"?><rss version="2.0"><channel><title>Writer</title><link>http://example.org/</link><description>Posts</description>`)
	for i := n; i >= max(0, n-20); i-- {
		fmt.Fprintf(&doc, `<item><title>Post number %d of many</title><guid isPermaLink="false">post-%d</guid></item>`, i, i)
	}
	doc.WriteString(`</channel></rss>`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://"+s.server.listen+"/writer/rss.xml", strings.NewReader(doc.String()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/rss+xml")
	req.SetBasicAuth("writer", "correct horse battery")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the save was answered %s: %s", resp.Status, text)
	}
	return nil
}

// toScreen measures the time from the start of a save until a live page receives the item.
func (b Poll) toScreen(ctx context.Context, s *stage, page *livePage) error {
	var all []float64
	for i := range b.Posts {
		s.progress.Step("posts to the screen", i, b.Posts)
		n := i + 1
		begin := time.Now()
		failed := make(chan error, 1)
		go func() { failed <- b.post(ctx, s, n) }()
		at, err := page.until(fmt.Sprintf("Post number %d of many", n), screenWait)
		if err != nil {
			return err
		}
		if err := <-failed; err != nil {
			return err
		}
		all = append(all, at.Sub(begin).Seconds()*1e3)
	}
	s.report.add("save → screen, p50", quantile(all, 0.5), "ms").note("from the first byte of the save, its log-in included, to the item on an open page")
	s.report.add("save → screen, p99", quantile(all, 0.99), "ms").target("<", 100)
	return nil
}

// subscribers measures the memory of many live pages, and one post that all pages receive.
func (b Poll) subscribers(ctx context.Context, s *stage, cookie string) error {
	before := s.server.usage().rss
	pages, err := b.openSubscribers(ctx, s, cookie)
	defer func() {
		for _, p := range pages {
			if p != nil {
				p.Close()
			}
		}
	}()
	if err != nil {
		return err
	}
	cpu := s.server.usage().cpu
	timer := time.NewTimer(5 * time.Second)
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	u := s.server.usage()
	s.report.add("live pages open", float64(b.Open+1), "").target("≥", float64(b.Open+1))
	s.report.add("memory of each", float64(u.rss-before)/float64(b.Open)/1024, "KiB").note("with its connection")
	s.report.add("CPU of all, idle", float64((u.cpu-cpu).Milliseconds())/5/10, "%").note("of one processor")
	begin := time.Now()
	if err := b.post(ctx, s, b.Posts+1); err != nil {
		return err
	}
	times := make([]float64, b.Open)
	var missed atomic.Int64
	var readers sync.WaitGroup
	for i, p := range pages {
		readers.Go(func() {
			at, err := p.until(fmt.Sprintf("Post number %d of many", b.Posts+1), 30*time.Second)
			if err != nil {
				missed.Add(1)
				return
			}
			times[i] = at.Sub(begin).Seconds() * 1e3
		})
	}
	readers.Wait()
	s.report.add("one post on all of them", quantile(times, 1), "ms").note("median %.0f ms", quantile(times, 0.5))
	s.report.add("pages that missed it", float64(missed.Load()), "").target("=", 0)
	return nil
}

// openSubscribers opens all live pages, up to openAtOnce concurrently.
func (b Poll) openSubscribers(ctx context.Context, s *stage, cookie string) ([]*livePage, error) {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	pages := make([]*livePage, b.Open)
	var next, opened atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	for range openAtOnce {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < b.Open && failed.Load() == nil; i = int(next.Add(1)) - 1 {
				p, err := openLive(ctx, s.server.listen, cookie, i)
				if err != nil {
					failed.Store(&err)
					return
				}
				pages[i] = p
				opened.Add(1)
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return pages, fmt.Errorf("%d of %d live pages were opened: %w", opened.Load(), b.Open, *err)
	}
	return pages, nil
}

// signIn signs in at the server and returns the cookie of the new session.
func signIn(ctx context.Context, listen, user, password string) (string, error) {
	form := url.Values{"name": {user}, "password": {password}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+listen+"/login", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	for _, c := range resp.Cookies() {
		if c.Value != "" {
			return c.Name + "=" + c.Value, nil
		}
	}
	return "", fmt.Errorf("signing in was answered %s without a cookie", resp.Status)
}

// livePage is an open event stream for a river page.
type livePage struct {
	net.Conn
	in *bufio.Reader
}

// openLive opens a live page from one of several loopback addresses, and waits for the headers of
// the response.
func openLive(ctx context.Context, listen, cookie string, i int) (*livePage, error) {
	d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%pollSources))}}
	c, err := d.DialContext(ctx, "tcp", listen)
	if err != nil {
		return nil, err
	}
	p := &livePage{c, bufio.NewReaderSize(c, 512)}
	_, err = fmt.Fprintf(c, "GET /river/stream HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\nAccept: text/event-stream\r\n\r\n", listen, cookie)
	if err == nil {
		err = c.SetReadDeadline(time.Now().Add(screenWait))
	}
	for err == nil {
		var line string
		if line, err = p.in.ReadString('\n'); strings.HasPrefix(line, "HTTP/1.1 ") && !strings.Contains(line, " 200 ") {
			err = fmt.Errorf("a live page was answered %s", strings.TrimSpace(line))
		}
		if line == "\r\n" {
			break
		}
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return p, nil
}

// until reads the stream until a line contains text, and returns the time of this line.
func (p *livePage) until(text string, within time.Duration) (time.Time, error) {
	if err := p.SetReadDeadline(time.Now().Add(within)); err != nil {
		return time.Time{}, err
	}
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			return time.Time{}, fmt.Errorf("%q did not come: %w", text, err)
		}
		if strings.Contains(line, text) {
			return time.Now(), nil
		}
	}
}
