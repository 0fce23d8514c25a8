package syndicate

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/fault"
	"cloudburst/internal/serve"
)

// Source is one version of a feed, with options for serving it.
type Source struct {
	Key      string    // name of the feed: "alice/rss", or a URL
	Version  int64     // increases with each change
	Modified time.Time // time when this version was saved

	Raw     []byte // the saved document; must not be modified afterwards
	RawType string // Content-Type of Raw; "": derived from the format of the document
	// Load reads the document if Raw is nil and the cache does not have the document. Its context
	// continues after the end of the request that caused the call. The feed may have changed since
	// this Source was made. rawType is the Content-Type of the returned document; "": RawType.
	Load func(ctx context.Context) (raw []byte, rawType string, err error)
	URL  string // URL of the document, the base of relative references

	// Render returns the options for rendering the document in a format; nil: no options. It is
	// called for each request, and may return different options each time.
	Render func(format string) render.Options
	Link   func(format string) []string // returns the Link headers for a format; nil: no headers; called for each request
	// Refer rewrites a link to another document of the same feed, such as a further page or an
	// archive, so that it leads to a document in this format. nil: links are not rewritten.
	Refer func(format, href string) string
	Tags  string // value of Cache-Tag for a public feed, see [serve.FeedTags]; "": no header
	// Private means that only authorized readers may get the feed. Shared caches must not store it,
	// and it is not compressed with brotli.
	Private bool
}

// Limits of a layer.
const (
	defaultMemory = 64 << 20
	buildTimeout  = 30 * time.Second // maximum time to load, parse and render one document
	maxVariants   = 8                // maximum number of cached documents in one format with different options
)

// Layer renders and caches documents. The zero value is ready to use.
type Layer struct {
	Memory int64 // maximum size of the cache in bytes [64 MiB]; a document that is larger is never cached
	Now    func() time.Time
	Log    *slog.Logger

	started  atomic.Bool
	seed     maphash.Seed
	building chan struct{} // slots of concurrent builds

	mu    sync.Mutex
	feeds map[feedKey]*entry
	ring  node  // head of the LRU ring: next is the most recently used node, prev the least recently used
	used  int64 // size of all cached nodes in bytes
	clock int64 // counter that each use of a node increases
	state int64 // greatest state number so far, see history
}

// start initializes the unexported fields of the layer on first use.
func (l *Layer) start() {
	if l.started.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.started.Load() {
		return
	}
	if l.Now == nil {
		l.Now = time.Now
	}
	if l.Log == nil {
		l.Log = slog.New(slog.DiscardHandler)
	}
	if l.Memory <= 0 {
		l.Memory = defaultMemory
	}
	l.seed = maphash.MakeSeed()
	l.building = make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	l.feeds = map[feedKey]*entry{}
	l.ring.next, l.ring.prev = &l.ring, &l.ring
	l.started.Store(true)
}

// Document returns the feed in a format ("": as saved) with warnings about data that the format
// cannot contain. The document has this version or a newer version. Errors: fault.NotFound (the
// format does not exist; the text lists the formats), fault.Invalid (the name of the callback is
// invalid), fault.Unreadable (the saved document is not a feed), and the errors of Load and of ctx.
func (l *Layer) Document(ctx context.Context, s Source, format string) (*serve.Document, []render.Warning, error) {
	n, err := l.document(ctx, s, format)
	if err != nil {
		return nil, nil, err
	}
	return n.doc, n.warnings, nil
}

func (l *Layer) document(ctx context.Context, s Source, format string) (*node, error) {
	l.start()
	k := nodeKey{kind: whole, format: format, variant: l.variantOf(&s, format)}
	if n := l.lookup(feedKey{s.Key, s.Private}, s.Version, k); n != nil {
		return n, nil
	}
	return l.miss(ctx, s, k)
}

// miss builds a document that is not cached. It is a function of its own because its goroutine
// moves variables to the heap, and a request for a cached document must not allocate them.
func (l *Layer) miss(ctx context.Context, s Source, k nodeKey) (*node, error) {
	if k.format != "" {
		f, err := render.Lookup(k.format)
		if err != nil {
			return nil, faultOf(err)
		}
		k.format = f.Name // do not cache the caller's string, which may keep a whole request in memory
	}
	e := l.entryFor(&s)
	return l.buildOnce(ctx, e, s.Version, k, func(ctx context.Context) (*node, error) {
		return l.write(ctx, e, s, k)
	})
}

// faultOf converts an error that the client caused to a fault.
func faultOf(err error) error {
	if unknown, ok := errors.AsType[*render.UnknownFormatError](err); ok {
		return fault.Wrap(fault.NotFound, err, "%s", sentence(unknown.Error()))
	}
	if callback, ok := errors.AsType[*render.CallbackError](err); ok {
		return fault.Wrap(fault.Invalid, err, "%s", sentence(callback.Error()))
	}
	return err
}

// Serve sends the feed in a format ("": as saved). It sends the complete feed (200), no content if
// nothing has changed (304), or only the new items if the client accepts them (226). It returns the
// status that was sent; see also [serve.Document.Answer]. The errors are those of Document; after
// an error, nothing was sent.
func (l *Layer) Serve(w http.ResponseWriter, r *http.Request, s Source, format string) (status int, err error) {
	n, err := l.document(r.Context(), s, format)
	if err != nil {
		return 0, err
	}
	if wantsDelta(r) && !n.doc.ClientHas(r.Header) {
		d, same := l.delta(r, s, n)
		switch {
		case same:
			return n.doc.NotModified(w, r), nil
		case d != nil:
			return d.Answer(w, r), nil
		}
	}
	return n.doc.Answer(w, r), nil
}

// Drop removes a feed from the cache. The results of builds in progress are not cached.
func (l *Layer) Drop(key string) {
	l.start()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, private := range []bool{false, true} {
		if e := l.feeds[feedKey{key, private}]; e != nil {
			for _, n := range e.nodes {
				l.remove(n)
			}
			delete(l.feeds, e.key)
		}
	}
}
