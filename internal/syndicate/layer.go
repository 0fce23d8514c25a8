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

// Source is one version of a feed and its serving options.
type Source struct {
	Key      string    // name of the feed: "alice/rss", or a URL
	Version  int64     // increases with each change
	Modified time.Time // when this version was saved

	Raw     []byte // the saved document; must not be modified afterwards
	RawType string // its Content-Type; "": derived from its format
	// Load reads the document if Raw is nil and it is not cached. It continues when the request
	// that caused it ends. The feed may have changed since this Source was made: rawType is the
	// type of the returned document; "": RawType.
	Load func(ctx context.Context) (raw []byte, rawType string, err error)
	URL  string // URL of the document, the base of relative references

	// Render returns the options of the rendered document for each format; nil: none. It is called
	// for each request, and its result may vary.
	Render func(format string) render.Options
	Link   func(format string) []string // Link headers; the same rules apply
	// Refer rewrites a link to another document of the same feed (a further page, an archive) for a
	// format. nil: links stay as saved.
	Refer func(format, href string) string
	Tags  string // Cache-Tag of a public feed, see [serve.FeedTags]; "": none
	// Private marks a feed for authorized readers: shared caches must not store it, and it is not
	// compressed with brotli.
	Private bool
}

// Limits of a layer.
const (
	defaultMemory = 64 << 20
	buildTimeout  = 30 * time.Second // time to load, parse and render one document
	maxVariants   = 8                // cached documents of one format with different options
)

// Layer renders and caches documents. The zero value is ready to use.
type Layer struct {
	Memory int64 // limit of the cache in bytes [64 MiB]; a larger document is never cached
	Now    func() time.Time
	Log    *slog.Logger

	started  atomic.Bool
	seed     maphash.Seed
	building chan struct{} // slots of concurrent builds

	mu    sync.Mutex
	feeds map[feedKey]*entry
	ring  node  // LRU ring: next is the newest, prev the oldest
	used  int64 // bytes
	clock int64 // number of uses
	state int64 // last state number, see history
}

// start initializes the zero value.
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

// Document returns the feed in a format ("": as saved) of this version or a newer one, with
// warnings about lost content. Errors: fault.NotFound for an unknown format, with the list of
// formats; fault.Invalid for an invalid callback; fault.Unreadable if the saved document is not a
// feed; errors of Load and of ctx.
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

// miss builds a document that is not cached. It is separate from document because its goroutine
// moves variables to the heap; a hit must not pay for that.
func (l *Layer) miss(ctx context.Context, s Source, k nodeKey) (*node, error) {
	if k.format != "" {
		f, err := render.Lookup(k.format)
		if err != nil {
			return nil, faultOf(err)
		}
		k.format = f.Name // the caller's string may reference a whole request
	}
	e := l.entryFor(&s)
	return l.buildOnce(ctx, e, s.Version, k, func(ctx context.Context) (*node, error) {
		return l.write(ctx, e, s, k)
	})
}

// faultOf converts errors that the client caused to faults.
func faultOf(err error) error {
	if unknown, ok := errors.AsType[*render.UnknownFormatError](err); ok {
		return fault.Wrap(fault.NotFound, err, "%s", sentence(unknown.Error()))
	}
	if callback, ok := errors.AsType[*render.CallbackError](err); ok {
		return fault.Wrap(fault.Invalid, err, "%s", sentence(callback.Error()))
	}
	return err
}

// Serve answers r with the feed in a format ("": as saved): the complete feed (200), no change
// (304), or only new items (226) if the client accepts them. It returns the status that was sent;
// see also [serve.Document.Answer]. Errors are those of Document, and nothing is written then.
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

// Drop removes a feed from the cache. Builds in progress are not cached.
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
