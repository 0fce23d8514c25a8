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

// Source is one version of a feed, and how it wants to be served.
type Source struct {
	Key      string    // what the feed is called: "alice/rss", or a URL
	Version  int64     // grows with each change
	Modified time.Time // when this version came to be

	Raw     []byte // the document as it was saved; it may not be changed afterwards
	RawType string // its Content-Type; "": by the format that it is in
	// Load reads the document where Raw is nil. It is called when the document is not
	// in memory, and goes on when the reader who caused it leaves. The feed may have
	// changed since this source was made: rawType is that of what was read; "": RawType.
	Load func(ctx context.Context) (raw []byte, rawType string, err error)
	URL  string // its own address, which relative references stand on

	// Render gives what the written document says of itself, in each format; nil says
	// nothing. It is called for each request, and need not give the same each time.
	Render func(format string) render.Options
	Link   func(format string) []string // Link headers, likewise
	// Refer gives where a link to another document of the same feed leads in a format: to
	// further pages, to an archive. nil: where it leads in the saved document.
	Refer func(format, href string) string
	// Private is only for those who may: no cache of others keeps it, and there is no
	// brotli form.
	Private bool
}

// Limits of what one layer does and keeps.
const (
	defaultMemory = 64 << 20
	buildTimeout  = 30 * time.Second // to load, read and write one document
	maxVariants   = 8                // documents of one format that differ in what they were told to say
)

// Layer makes the documents and keeps them. The zero value is ready.
type Layer struct {
	Memory int64 // bytes that all documents may take [64 MiB]; one that is larger is made each time
	Now    func() time.Time
	Log    *slog.Logger

	started  atomic.Bool
	seed     maphash.Seed
	building chan struct{} // a place for each that reads or writes a document now

	mu    sync.Mutex
	feeds map[feedKey]*entry
	ring  node  // of what is kept: next is what was used last, prev what was not for longest
	used  int64 // bytes
	clock int64 // counts uses
	state int64 // counts states of feeds, see history
}

// start makes ready what the zero value is not.
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

// Document is the feed in a format, "" as it was saved, with what the format could not
// say. It is of this version or a newer one. Errors: fault.NotFound for an unknown
// format, with the list of all; fault.Invalid for a callback that is none;
// fault.Unreadable where the saved document is no feed; those of Load; ctx's own.
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

// miss makes a document that is not there. It stands by itself because what a
// goroutine holds is on the heap, which a hit need not pay for.
func (l *Layer) miss(ctx context.Context, s Source, k nodeKey) (*node, error) {
	if k.format != "" {
		f, err := render.Lookup(k.format)
		if err != nil {
			return nil, faultOf(err)
		}
		k.format = f.Name // the caller's may be a piece of a request
	}
	e := l.entryFor(&s)
	return l.buildOnce(ctx, e, s.Version, k, func(ctx context.Context) (*node, error) {
		return l.write(ctx, e, s, k)
	})
}

// faultOf makes faults of errors that are the asking reader's.
func faultOf(err error) error {
	if unknown, ok := errors.AsType[*render.UnknownFormatError](err); ok {
		return fault.Wrap(fault.NotFound, err, "%s", sentence(unknown.Error()))
	}
	if callback, ok := errors.AsType[*render.CallbackError](err); ok {
		return fault.Wrap(fault.Invalid, err, "%s", sentence(callback.Error()))
	}
	return err
}

// Serve answers r with the feed in a format, "" as it was saved: whole (200), or that
// nothing has changed (304), or only what is new for those who can add it to what they
// have (226). The status is the one that was sent, those of [serve.Document.Answer]
// among them. The error is one of Document's, and nothing has been written then.
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

// Drop forgets all of a feed. What is being made meanwhile is not kept.
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
