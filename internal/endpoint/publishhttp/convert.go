package publishhttp

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/cache"
	"cloudburst/internal/date"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/syndicate"
)

// Library reads the feeds that this server knows: hosted feeds, its own feeds, and feeds that users
// follow.
type Library interface {
	// Known reports whether anyone may read the feed at url. state changes when this server detects
	// a change of the feed; "" means that the state is unknown.
	Known(ctx context.Context, url string) (state string, known bool, err error)
	// Read reads the current feed. modified is zero if unknown. The caller must not change doc.
	Read(ctx context.Context, url string) (doc []byte, contentType string, version int64, modified time.Time, err error)
}

// Convert serves known feeds in any format: GET /convert?url=&to=. Library and Layer must be set.
// Do not copy a Convert.
type Convert struct {
	Library Library
	Layer   *syndicate.Layer
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger     // nil: no log

	once  sync.Once
	clean func(html string) string

	mu      sync.Mutex
	copies  cache.LRU[string, *copyEntry] // key: URL of the feed
	reading int
	version int64 // last assigned version
}

// Limits of conversions.
const (
	convertEvery   = time.Minute // minimum time between two reads of a feed
	convertTimeout = 30 * time.Second
	convertMemory  = 32 << 20 // maximum bytes of cached documents
	copySize       = 1024     // approximate bytes of a cache entry without its document
	convertReading = 8        // maximum number of concurrent reads
	maxURL         = 2048
)

// copyEntry is a cache entry: a document that was read or is being read.
type copyEntry struct {
	url   string
	state string        // state of the feed when the read began
	done  chan struct{} // closed when the read has ended and the fields below are set
	at    time.Time     // when the read began
	err   error

	doc      []byte
	hash     [32]byte
	kind     string
	version  int64
	modified time.Time
}

// ServeHTTP responds with a feed in another format. The header X-Cloudburst-Warnings contains the
// number of details of the feed that the requested format cannot express.
//
// spec:cloudburst#convert
func (c *Convert) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		writeText(w, http.StatusMethodNotAllowed, "GET this address with the url of a feed, and the name of a format as to.\n")
		return
	}
	s, to, err := c.source(r)
	if err == nil {
		err = c.answer(w, r, s, to)
	}
	if err != nil {
		refuseWith(w, r, c.Log, endpoint.StatusOf(err), err)
	}
}

func (c *Convert) answer(w http.ResponseWriter, r *http.Request, s syndicate.Source, to string) error {
	callback, err := callbackOf(to, r.URL.RawQuery)
	if err != nil {
		return err
	}
	d, warnings, err := c.Layer.Document(r.Context(), s, to)
	if err != nil {
		return err
	}
	if callback != "" {
		d = withCallback(d, callback, s.Modified, "public, max-age=60")
	}
	w.Header().Set("X-Cloudburst-Warnings", strconv.Itoa(len(warnings)))
	d.ServeHTTP(w, r)
	return nil
}

// source returns the feed and the format that a request names, and the function that sanitizes
// HTML.
func (c *Convert) source(r *http.Request) (s syndicate.Source, to string, err error) {
	q := r.URL.Query()
	address, to := q.Get("url"), q.Get("to")
	format, err := render.Lookup(to)
	if err != nil {
		return s, "", endpoint.WithStatus(http.StatusNotAcceptable, unknownFormat(err))
	}
	u, err := url.Parse(address)
	if address == "" || len(address) > maxURL || err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return s, "", endpoint.WithStatus(http.StatusBadRequest, fault.New(fault.Invalid, "The url is not the URL of a feed: send url=https://… and to=, the name of a format."))
	}
	state, known, err := c.Library.Known(r.Context(), address)
	if err != nil {
		return s, "", err
	}
	if !known {
		return s, "", fault.New(fault.NotFound, "This server does not know the feed %s, and converts only known feeds: a feed becomes known when it is hosted here, or when it has a subscriber.", endpoint.DisplayURL(address))
	}
	address = strings.Clone(address) // clone the string, because the cache must not keep the memory of the request
	got, err := c.read(r.Context(), address, state)
	if err != nil {
		return s, "", err
	}
	return syndicate.Source{
		Key: "convert " + address, Version: got.version, Modified: got.modified, Raw: got.doc, RawType: got.kind, URL: address,
		Render: c.render,
	}, format.Name, nil
}

func (c *Convert) render(string) render.Options {
	c.once.Do(func() { c.clean = strictHTML() })
	return render.Options{Sanitize: c.clean, Strict: true}
}

// strictHTML returns a function that sanitizes HTML and marks all links as untrusted.
func strictHTML() func(string) string {
	return sanitize.New(sanitize.Options{LinkRel: sanitize.PageRel}).HTML
}

// read returns a feed that is at most a minute old and includes all changes that this server knows
// of. Concurrent requests for the same feed share one read.
func (c *Convert) read(ctx context.Context, url, state string) (*copyEntry, error) {
	now := c.now()
	c.mu.Lock()
	before, ok := c.copies.Get(url)
	if ok {
		if before.state == state && before.fresh(now) {
			c.mu.Unlock()
			return before.wait(ctx)
		}
		if !before.ready() {
			before = nil // the read of before began before the change, and is not finished
		}
	}
	next := &copyEntry{url: url, state: state, done: make(chan struct{}), at: now}
	accepted := c.begin(next)
	c.mu.Unlock()
	if !accepted {
		f := fault.New(fault.TooMany, "Many feeds are being read at the moment; please try again in a few seconds.")
		f.RetryAfter = 5 * time.Second
		return nil, f
	}
	// The read continues if this client disconnects, because other requests may wait for the
	// result.
	go c.load(context.WithoutCancel(ctx), next, before)
	return next.wait(ctx)
}

// fresh reports whether an entry is recent or still being read.
func (d *copyEntry) fresh(now time.Time) bool {
	age := now.Sub(d.at)
	return !d.ready() || age < convertEvery && age > -convertEvery
}

// ready reports whether the read is finished.
func (d *copyEntry) ready() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

func (d *copyEntry) wait(ctx context.Context) (*copyEntry, error) {
	select {
	case <-d.done:
		return d, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *Convert) load(ctx context.Context, next, before *copyEntry) {
	ctx, cancel := context.WithTimeout(ctx, convertTimeout)
	defer cancel()
	next.doc, next.kind, _, next.modified, next.err = c.Library.Read(ctx, next.url)
	next.hash = sha256.Sum256(next.doc)
	switch same := before != nil && before.doc != nil && before.hash == next.hash && before.kind == next.kind; {
	case next.err != nil:
	case same:
		next.version, next.modified = before.version, before.modified
	case next.modified.IsZero():
		next.modified = next.at
	}
	c.end(next)
	close(next.done)
}

// begin stores the entry of a new read in place of the previous one. It returns false if too many
// reads are in progress. The caller holds c.mu.
func (c *Convert) begin(next *copyEntry) bool {
	if c.reading >= convertReading {
		return false
	}
	c.reading++
	// The version is greater than all earlier versions of all feeds, because converted documents
	// may be cached longer than their entry. It also increases if the clock is set back or reads
	// end in another order.
	c.version = max(c.version+1, next.at.UnixMilli())
	next.version = c.version
	c.copies.MaxSize = convertMemory
	c.copies.Put(next.url, next, copySize)
	return true
}

// end records the size of an entry and evicts the least recently used entries above the limit.
func (c *Convert) end(next *copyEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading--
	if now, _ := c.copies.Peek(next.url); now == next {
		c.copies.Resize(next.url, copySize+int64(len(next.doc)))
	}
}

func (c *Convert) now() time.Time {
	return date.Now(c.Now)
}
