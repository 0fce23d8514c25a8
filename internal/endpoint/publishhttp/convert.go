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
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/syndicate"
)

// Library reads feeds that this server knows: those that it keeps, its own, and those
// that somebody follows here.
type Library interface {
	// Known reports whether url may be read for strangers. state is another one when the
	// feed is known to have changed; "": nobody would know.
	Known(ctx context.Context, url string) (state string, known bool, err error)
	// Read reads a feed as it is now. modified is the zero time when nobody knows; the
	// document is not changed afterwards.
	Read(ctx context.Context, url string) (doc []byte, contentType string, version int64, modified time.Time, err error)
}

// Convert writes feeds that this server knows in any format: GET /convert?url=&to=.
// Library and Layer must be set. Do not copy it.
type Convert struct {
	Library Library
	Layer   *syndicate.Layer
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger     // nil is silent

	once  sync.Once
	clean func(html string) string

	mu      sync.Mutex
	copies  cache.LRU[string, *copied] // by URL
	reading int
	version int64 // the last one
}

// Limits of what is read for strangers.
const (
	convertEvery   = time.Minute // between two times that a feed is read
	convertWithin  = 30 * time.Second
	convertMemory  = 32 << 20 // bytes of documents that are kept
	copySize       = 1024     // bytes of a copy without its document, about
	convertReading = 8        // feeds read at once
	longestURL     = 2048
)

// copied is a document that was read, or is being read.
type copied struct {
	url   string
	state string        // what was known of the feed before it was read
	done  chan struct{} // closed when what follows is set
	at    time.Time     // when it was read
	err   error

	doc      []byte
	hash     [32]byte
	kind     string
	version  int64
	modified time.Time
}

// ServeHTTP answers with a feed in another format. What could not be said in it is
// counted in the header X-Cloudburst-Warnings.
//
// spec:cloudburst#convert
func (c *Convert) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		say(w, http.StatusMethodNotAllowed, "GET this address with the url of a feed, and the name of a format as to.\n")
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
		d = called(d, callback, s.Modified, "public, max-age=60")
	}
	w.Header().Set("X-Cloudburst-Warnings", strconv.Itoa(len(warnings)))
	d.ServeHTTP(w, r)
	return nil
}

// source finds the feed that a request names, and the format.
func (c *Convert) source(r *http.Request) (s syndicate.Source, to string, err error) {
	q := r.URL.Query()
	address, to := q.Get("url"), q.Get("to")
	format, err := render.Lookup(to)
	if err != nil {
		return s, "", endpoint.WithStatus(http.StatusNotAcceptable, unknownFormat(err))
	}
	u, err := url.Parse(address)
	if address == "" || len(address) > longestURL || err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return s, "", endpoint.WithStatus(http.StatusBadRequest, fault.New(fault.Invalid, "The url is not the address of a feed: send url=https://… and to=, the name of a format."))
	}
	state, known, err := c.Library.Known(r.Context(), address)
	if err != nil {
		return s, "", err
	}
	if !known {
		return s, "", fault.New(fault.NotFound, "This server does not know the feed %s, and reads no feeds that it does not know: it becomes known when it is saved here, or when somebody asks to be told of its changes.", endpoint.DisplayURL(address))
	}
	address = strings.Clone(address) // what is kept is no piece of a request, which would be kept with it
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

// strictHTML makes markup safe, with links that say that nobody here vouches for them.
func strictHTML() func(string) string {
	return sanitize.New(sanitize.Options{LinkRel: "nofollow noopener noreferrer ugc"}).HTML
}

// read gives a feed as it was at most a minute ago, and not as it was before a change
// that this server knows of. Those who ask for the same one at the same time wait for one
// reading.
func (c *Convert) read(ctx context.Context, url, state string) (*copied, error) {
	now := c.now()
	c.mu.Lock()
	before, ok := c.copies.Get(url)
	if ok {
		if before.state == state && before.fresh(now) {
			c.mu.Unlock()
			return before.wait(ctx)
		}
		if !before.ready() {
			before = nil // it was begun before the change, and is still being written
		}
	}
	next := &copied{url: url, state: state, done: make(chan struct{}), at: now}
	room := c.begin(next)
	c.mu.Unlock()
	if !room {
		f := fault.New(fault.TooMany, "Many feeds are being read at the moment; please try again in a few seconds.")
		f.RetryAfter = 5 * time.Second
		return nil, f
	}
	// It goes on when the one who asked first has gone: others may wait for it.
	go c.load(context.WithoutCancel(ctx), next, before)
	return next.wait(ctx)
}

// fresh reports a copy that is not read again yet, or is being read.
func (d *copied) fresh(now time.Time) bool {
	age := now.Sub(d.at)
	return !d.ready() || age < convertEvery && age > -convertEvery
}

// ready reports that a copy was read.
func (d *copied) ready() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

func (d *copied) wait(ctx context.Context) (*copied, error) {
	select {
	case <-d.done:
		return d, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *Convert) load(ctx context.Context, next, before *copied) {
	ctx, cancel := context.WithTimeout(ctx, convertWithin)
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

// begin keeps a copy that is about to be read, in place of the one before. It is called
// with the lock held; false means that too many are being read.
func (c *Convert) begin(next *copied) bool {
	if c.reading >= convertReading {
		return false
	}
	c.reading++
	// Later than all before, of every feed: what was made of one may be kept longer than
	// its copy. Neither a clock that is set back nor a reading that ends late changes that.
	c.version = max(c.version+1, next.at.UnixMilli())
	next.version = c.version
	c.copies.MaxSize = convertMemory
	c.copies.Put(next.url, next, copySize)
	return true
}

// end counts what was read, and lets go of what was not asked for for longest.
func (c *Convert) end(next *copied) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading--
	if now, _ := c.copies.Peek(next.url); now == next {
		c.copies.Resize(next.url, copySize+int64(len(next.doc)))
	}
}

func (c *Convert) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}
