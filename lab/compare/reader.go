package compare

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/client"
	"cloudburst/lab/bench"
)

const (
	readSoon  = 10 * time.Minute // a measurement fails if the reader needs longer for all feeds
	refreshes = 64               // number of concurrent requests that ask to check a feed
	askEvery  = 25 * time.Millisecond
	lostAfter = 20 * time.Second
)

// reader is a running program that follows feeds.
type reader struct {
	*program
	rest    func(ctx context.Context) error // waits until refresh can be called again
	follow  func(ctx context.Context, opml []byte) error
	refresh func(ctx context.Context) error        // asks the program to check all feeds
	items   func(ctx context.Context) (int, error) // returns the number of stored items
}

type startReader func(ctx context.Context, dir string) (*reader, error)

func (o Options) ourReader(ctx context.Context, dir string) (*reader, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	p, err := o.cloudburst(ctx, dir, "127.0.0.1:"+port)
	if err != nil {
		return nil, err
	}
	river := (&client.Client{Base: "http://127.0.0.1:" + port}).River("")
	r := &reader{program: p}
	r.follow = func(ctx context.Context, opml []byte) error {
		_, err := river.ImportOPML(ctx, bytes.NewReader(opml), client.OPMLOptions{})
		return err
	}
	r.refresh = func(ctx context.Context) error {
		got, err := river.RefreshSources(ctx)
		if err == nil && got.Due < o.Feeds { // the river also follows the test feed, which may have been read just now
			err = fmt.Errorf("only %d of %d feeds may be read again", got.Due, got.Sources)
		}
		return err
	}
	r.rest = func(ctx context.Context) error { // the program allows a user to request checks once per minute
		t := time.NewTimer(time.Minute + time.Second)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			return nil
		}
	}
	r.items = func(ctx context.Context) (int, error) {
		s, err := river.Status(ctx)
		if err != nil || s.Counts == nil {
			return 0, err
		}
		return int(s.Counts.Items), nil
	}
	return r, nil
}

// each calls do for 0 ≤ i < n concurrently, and stops after the first error.
func each(n int, do func(i int) error) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	for range refreshes {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && failed.Load() == nil; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (o Options) yarr(ctx context.Context, dir string) (*reader, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	p, err := launch(ctx, "yarr", dir, "http://127.0.0.1:"+port, nil, o.Yarr, "-addr", "127.0.0.1:"+port, "-db", filepath.Join(dir, "yarr.db"))
	if err != nil {
		return nil, err
	}
	r := &reader{program: p}
	r.follow = func(ctx context.Context, opml []byte) error {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		w, err := form.CreateFormFile("opml", "feeds.opml")
		if err != nil {
			return err
		}
		_, _ = w.Write(opml) // a write to memory does not fail
		_ = form.Close()
		_, err = request(ctx, http.DefaultClient, "POST", p.base+"/opml/import", form.FormDataContentType(), body.Bytes())
		return err
	}
	r.refresh = func(ctx context.Context) error {
		_, err := request(ctx, http.DefaultClient, "POST", p.base+"/api/feeds/refresh", "", nil)
		return err
	}
	type status struct {
		Running int // number of feeds that are being read
		Stats   []struct{ Unread int }
	}
	ask := func(ctx context.Context) (s status, err error) {
		text, err := request(ctx, http.DefaultClient, "GET", p.base+"/api/status", "", nil)
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		return s, err
	}
	r.rest = func(ctx context.Context) error { // yarr ignores requests to refresh while it reads feeds
		return poll(ctx, askEvery, func() (bool, error) {
			s, err := ask(ctx)
			return s.Running == 0, err
		})
	}
	r.items = func(ctx context.Context) (n int, err error) {
		s, err := ask(ctx)
		for _, f := range s.Stats {
			n += f.Unread
		}
		return n, err
	}
	return r, nil
}

// miniflux starts Miniflux on the next of the databases. Each database must be empty.
func (o Options) miniflux(databases []string) startReader {
	return func(ctx context.Context, dir string) (*reader, error) {
		database := databases[0]
		databases = databases[1:]
		return o.minifluxOn(ctx, dir, database)
	}
}

func (o Options) minifluxOn(ctx context.Context, dir, database string) (*reader, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	const user, password = "compare", "compare-password"
	env := []string{
		"DATABASE_URL=" + database, "LISTEN_ADDR=127.0.0.1:" + port, "RUN_MIGRATIONS=1", "CREATE_ADMIN=1", "ADMIN_USERNAME=" + user,
		"ADMIN_PASSWORD=" + password, "FETCHER_ALLOW_PRIVATE_NETWORKS=1", "LOG_LEVEL=error",
	}
	p, err := launch(ctx, "Miniflux", dir, "http://127.0.0.1:"+port, env, o.Miniflux)
	if err != nil {
		return nil, err
	}
	r := &reader{program: p, rest: func(context.Context) error { return nil }}
	key, err := minifluxKey(ctx, p.base, user, password)
	if err != nil {
		p.stop()
		return nil, err
	}
	call := func(ctx context.Context, method, path string, body []byte) ([]byte, error) {
		return request(ctx, http.DefaultClient, method, p.base+path, "application/xml", body, "X-Auth-Token", key)
	}
	r.follow = func(ctx context.Context, opml []byte) error {
		if _, err := call(ctx, "POST", "/v1/import", opml); err != nil {
			return err
		}
		_, err := call(ctx, "PUT", "/v1/feeds/refresh", nil) // without this request, Miniflux reads the new feeds later
		return err
	}
	r.refresh = func(ctx context.Context) error {
		var list []struct{ ID int64 }
		text, err := call(ctx, "GET", "/v1/feeds", nil)
		if err == nil {
			err = json.Unmarshal(text, &list)
		}
		if err != nil {
			return err
		}
		return each(len(list), func(i int) error { // a single request for all feeds would only read feeds that are due
			_, err := call(ctx, "PUT", fmt.Sprintf("/v1/feeds/%d/refresh", list[i].ID), nil)
			return err
		})
	}
	r.items = func(ctx context.Context) (int, error) {
		var list struct{ Total int }
		text, err := call(ctx, "GET", "/v1/entries?limit=1", nil)
		if err == nil {
			err = json.Unmarshal(text, &list)
		}
		return list.Total, err
	}
	return r, nil
}

// minifluxKey creates an API key. With a password instead of a key, Miniflux would hash the
// password for each request.
func minifluxKey(ctx context.Context, base, user, password string) (string, error) {
	login := "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	text, err := request(ctx, http.DefaultClient, "POST", base+"/v1/api-keys", "application/json", []byte(`{"description":"compare"}`), "Authorization", login)
	if err != nil {
		return "", err
	}
	var key struct{ Token string }
	err = json.Unmarshal(text, &key)
	return key.Token, err
}

// reader runs one round of a reader on an empty folder. It measures three reads of all feeds: the
// first read, a read without changes, and a read with one new item in each feed.
func (o Options) reader(ctx context.Context, start startReader, add func(figure string, value float64)) error {
	return inFolder(func(dir string) error {
		site, err := bench.OpenFeedSite(ctx, bench.FeedPlan{Feeds: o.Feeds, Items: o.Items, Size: o.Size})
		if err != nil {
			return err
		}
		defer site.Close()
		r, err := start(ctx, dir)
		if err != nil {
			return err
		}
		defer r.stop()
		return o.readings(ctx, r, site, add)
	})
}

// readings measures the three reads of all feeds for a running reader.
func (o Options) readings(ctx context.Context, r *reader, site *bench.FeedSite, add func(figure string, value float64)) error {
	measure := func(figure, cpuFigure string, begin func(context.Context) error, end func(context.Context) (time.Time, error)) error {
		ctx, cancel := context.WithTimeout(ctx, readSoon)
		defer cancel()
		before, begun := r.cpu(), time.Now()
		if err := begin(ctx); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		ended, err := end(ctx)
		if err != nil {
			return fmt.Errorf("%s, %s: %w\n%s", r.name, figure, err, r.output())
		}
		add(figure, float64(o.Feeds)/ended.Sub(begun).Seconds())
		add(cpuFigure, float64((r.cpu()-before).Microseconds())/float64(o.Feeds))
		return nil
	}
	missing := 0
	stored := func(want int) func(context.Context) (time.Time, error) {
		return func(ctx context.Context) (ended time.Time, err error) {
			missing, ended, err = r.stored(ctx, want)
			return ended, err
		}
	}
	err := measure(firstReading, firstCPU, func(ctx context.Context) error { return r.follow(ctx, listOf(site, o.Feeds)) }, stored(o.Feeds*o.Items))
	if err != nil {
		return err
	}
	if err := r.rest(ctx); err != nil {
		return err
	}
	site.Counts() // reset the counts
	if err := measure(unchanged, unchangedCPU, r.refresh, func(ctx context.Context) (time.Time, error) { return served(ctx, site, o.Feeds) }); err != nil {
		return err
	}
	if err := errors.Join(r.rest(ctx), site.Add()); err != nil {
		return err
	}
	err = measure(oneNew, oneNewCPU, r.refresh, stored(o.Feeds*(o.Items+1)))
	add(lost, float64(missing))
	return err
}

// served waits until a site has answered n requests, and returns the time.
func served(ctx context.Context, site *bench.FeedSite, n int) (time.Time, error) {
	have := int64(0)
	err := poll(ctx, tick, func() (bool, error) {
		c := site.Counts()
		have += c.Full + c.Unchanged
		return have >= int64(n), nil
	})
	return time.Now(), err
}

// stored waits until want items are stored, or until no new item is stored for lostAfter. It
// returns the number of missing items and the time of the last new item.
func (r *reader) stored(ctx context.Context, want int) (missing int, last time.Time, err error) {
	have := -1
	err = poll(ctx, askEvery, func() (bool, error) {
		n, err := r.items(ctx)
		if n != have {
			have, last = n, time.Now()
		}
		return n >= want || time.Since(last) > lostAfter, err
	})
	return max(0, want-have), last, err
}

// listOf returns the first n feeds of a site as OPML.
func listOf(site *bench.FeedSite, n int) []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><opml version="2.0"><head><title>Feeds</title></head><body>`)
	for i := range n {
		fmt.Fprintf(&b, `<outline type="rss" text="Feed %d" title="Feed %d" xmlUrl="%s"/>`, i, i, site.URL(i))
	}
	b.WriteString("</body></opml>\n")
	return []byte(b.String())
}
