package hubhttp

import (
	"compress/gzip"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/internal/date"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/route"
	"cloudburst/internal/serve"
	"cloudburst/protocol/weblogs"
)

// Limits and time intervals of the recent changes.
const (
	liveRows     = 5_000
	liveBytes    = 8 << 20 // bytes per document, before compression
	archiveRows  = 50_000
	archiveBytes = 32 << 20
	pageRows     = 1_000 // rows per query of the store

	longWindow  = time.Hour
	shortWindow = 5 * time.Minute

	checkEvery  = time.Second      // minimum time between two checks for new rows
	staleFor    = 10 * time.Second // how long requests get the old lists while new ones are being generated
	staleFailed = 5 * time.Minute  // how long requests get the old lists while the store is unavailable
	renewTime   = 15 * time.Second
	hourSettles = 2 * time.Minute // time after the end of an hour when its document becomes final
	keepDefault = 720 * time.Hour

	archivesKept  = 16       // maximum number of hours in memory
	archivesBytes = 32 << 20 // maximum total size of these hours, compressed
	archivesWait  = 64       // maximum number of requests that wait for an hour
)

// ChangeList reads recent changes from the store. Every hub.Store implements it.
type ChangeList interface {
	Changes(ctx context.Context, q hub.ChangeQuery) ([]hub.Change, error)
	CountChanges(ctx context.Context) (int64, error)
}

// changesRoutes lists the endpoints for recent changes: the last hour, the last five minutes, and
// the archive of hours.
//
// spec:feedstate-2007#changes-xml
// spec:feedstate-2007#changes-archive
func (g *Endpoints) changesRoutes() []route.Route {
	d := &changeLists{
		list: g.Changes, unit: time.Minute, keep: g.KeepChanges, now: g.Now, log: g.Log, notFound: g.NotFound,
		reading: make(chan struct{}, 1), renewing: make(chan struct{}, 1), building: make(chan struct{}, 1),
		hours: map[int64]*hourDocument{},
	}
	// spec:cloudburst#changes-when
	if g.When == "seconds" {
		d.unit = time.Second
	}
	if d.keep <= 0 {
		d.keep = keepDefault
	}
	if d.now == nil {
		d.now = time.Now
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.notFound == nil {
		d.notFound = http.NotFoundHandler()
	}
	const methods = "GET, HEAD, OPTIONS"
	return []route.Route{
		{Path: "/changes.xml", Handler: withCORS(methods, d.serveLive(func(l *liveLists) *serve.Document { return l.long })), Purpose: "Lists the sites that changed in the last hour."},
		{Path: "/shortChanges.xml", Handler: withCORS(methods, d.serveLive(func(l *liveLists) *serve.Document { return l.short })), Purpose: "Lists the sites that changed in the last five minutes."},
		{Method: "GET", Path: pathArchive, Handler: http.HandlerFunc(d.serveArchive), Purpose: "Lists the sites that changed in one hour of the archive."},
		{Method: "OPTIONS", Path: pathArchive, Handler: http.HandlerFunc(d.serveArchive), Purpose: "Lets pages of other sites read the archive."},
	}
}

// changeLists generates, caches and serves the documents. Only one query of the store runs at a
// time, for any number of clients.
type changeLists struct {
	list     ChangeList
	unit     time.Duration
	keep     time.Duration
	now      func() time.Time
	log      *slog.Logger
	notFound http.Handler

	reading  chan struct{} // semaphore of the running query
	renewing chan struct{} // semaphore of the generation of the live lists
	live     atomic.Pointer[liveLists]

	building chan struct{} // semaphore of the generation of an hour of the archive
	waiting  atomic.Int64  // number of requests that wait for an hour
	mu       sync.Mutex
	hours    map[int64]*hourDocument // key: start time in Unix seconds
}

// liveLists contains the two current lists. It must not change once other goroutines can see it.
type liveLists struct {
	long, short *serve.Document // nil until the lists are generated for the first time
	newest      event.Cursor    // newest row at the time of generation
	minute      time.Time       // minute of the generation
	next        time.Time       // time at which the displayed age of a row changes; zero: never
	madeAt      time.Time
	fresh       time.Time // time before which the store is not checked for new rows
	err         error     // error of the last check of the store
}

func (d *changeLists) serveLive(which func(*liveLists) *serve.Document) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !readOnly(w, r) {
			return
		}
		l, err := d.lists(r.Context())
		if err != nil {
			d.unavailable(w, err)
			return
		}
		which(l).ServeHTTP(w, r)
	})
}

// lists returns the live lists. The first request after they have become too old renews the lists.
// Requests during the renewal get the old lists, or wait if these are much too old.
func (d *changeLists) lists(ctx context.Context) (*liveLists, error) {
	now := d.now()
	l := d.live.Load()
	if l.isFresh(now) {
		return l.usable(now)
	}
	select {
	case d.renewing <- struct{}{}:
	default:
		if l != nil && l.long != nil && now.Sub(l.fresh) < staleFor {
			return l, nil
		}
		select {
		case d.renewing <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer func() { <-d.renewing }()
	now = d.now()
	if l = d.live.Load(); !l.isFresh(now) {
		// Other requests need the lists too, so continue after this client disconnects.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTime)
		defer cancel()
		l = d.renew(ctx, l, now)
		d.live.Store(l)
	}
	return l.usable(now)
}

func (l *liveLists) isFresh(now time.Time) bool {
	return l != nil && now.Before(l.fresh) && l.fresh.Sub(now) < time.Hour // the second condition detects a clock that was set back
}

// usable returns l, or an error if l must not be served.
func (l *liveLists) usable(now time.Time) (*liveLists, error) {
	if l.long == nil || l.err != nil && now.Sub(l.madeAt) > staleFailed {
		return nil, l.err
	}
	return l, nil
}

// renew returns the next live lists: old with a new date if nothing changed, new lists if rows
// changed, or old with the error if the query failed.
func (d *changeLists) renew(ctx context.Context, old *liveLists, now time.Time) *liveLists {
	next := liveLists{}
	if old != nil {
		next = *old
	}
	begun := time.Now()
	next.err = d.refresh(ctx, &next, now)
	if next.err != nil {
		d.log.WarnContext(ctx, "cannot read the recent changes", "err", next.err)
	}
	// Spend at most a tenth of the time on generation: a slow generation delays the next check.
	next.fresh = now.Add(max(checkEvery, min(10*time.Since(begun), staleFor)))
	return &next
}

// refresh generates new lists in l if there are new rows, if a new minute has begun, or if the
// displayed age of a row has changed.
func (d *changeLists) refresh(ctx context.Context, l *liveLists, now time.Time) error {
	newest, err := d.read(ctx, hub.ChangeQuery{Limit: 1})
	if err != nil {
		return err
	}
	var cursor event.Cursor
	if len(newest) > 0 {
		cursor = newest[0].Cursor()
	}
	minute := now.UTC().Truncate(time.Minute)
	if l.long != nil && cursor == l.newest && minute.Equal(l.minute) && (l.next.IsZero() || now.Before(l.next)) {
		l.madeAt = now
		return nil
	}
	count, err := d.count(ctx)
	if err != nil {
		return err
	}
	out := rowWriter{unit: d.unit, at: now, floor: minute, mark: minute.Add(-shortWindow), rows: liveRows, bytes: liveBytes}
	// The windows start at a full minute, so all nodes generate the same documents from the same
	// rows.
	if err := d.each(ctx, hub.ChangeQuery{Since: minute.Add(-longWindow)}, out.row); err != nil {
		return err
	}
	head := weblogs.Changes{Updated: out.updated(), Count: count}
	l.long = liveDocument(out.document(&head, len(out.body)), out.updated())
	l.short = liveDocument(out.document(&head, out.marked()), out.updated())
	l.newest, l.minute, l.next, l.madeAt = cursor, minute, out.next, now
	return nil
}

// listType is the Content-Type of all lists of changes.
const listType = "text/xml; charset=utf-8"

// liveDocument returns a current list. It is generated often, so it uses fast compression.
//
// spec:cloudburst#changes-cached
func liveDocument(body []byte, modified time.Time) *serve.Document {
	return serve.New(body, serve.Options{Type: listType, Modified: modified, Cache: "public, max-age=60", Level: gzip.BestSpeed})
}

// rowWriter writes rows, newest first, up to its limits.
type rowWriter struct {
	unit        time.Duration
	at          time.Time // ages are measured up to this time; zero: up to the time of the document
	floor       time.Time // minimum time of the document
	mark        time.Time // rows before this time are only in the long list
	rows, bytes int       // remaining rows and bytes

	body          []byte
	n             int
	newest        time.Time
	lastAgeChange time.Time // when the displayed age of a row last changed
	next          time.Time // when the next displayed age changes
	short         int       // length of body at the first row before mark
	past          bool
}

// row writes one row and reports whether more rows fit.
func (o *rowWriter) row(c hub.Change) bool {
	if o.n == 0 {
		o.newest = c.At.Truncate(time.Second)
	}
	if !o.past && c.At.Before(o.mark) {
		o.past, o.short = true, len(o.body)
	}
	before := len(o.body)
	o.body = weblogOf(c).Append(o.body, o.ageAt(c.At), o.unit)
	if len(o.body) > o.bytes {
		o.body = o.body[:before]
		return false
	}
	o.n++
	return o.n < o.rows
}

// ageAt returns the time up to which the age of a row is measured.
func (o *rowWriter) ageAt(row time.Time) time.Time {
	if o.at.IsZero() {
		return o.updated()
	}
	at := date.Later(o.at, o.newest)
	lastAgeChange := row.Add(max(at.Sub(row), 0) / o.unit * o.unit)
	o.lastAgeChange = date.Later(o.lastAgeChange, lastAgeChange)
	if next := lastAgeChange.Add(o.unit); o.next.IsZero() || next.Before(o.next) {
		o.next = next
	}
	return at
}

// updated returns the time of the document: the time of the newest row, but at least floor. If ages
// are measured up to the time of the request, it is the time at which a displayed age last changed.
// As a result, all nodes generate the same documents from the same rows.
func (o *rowWriter) updated() time.Time {
	return date.Later(date.Later(o.newest, o.floor), o.lastAgeChange)
}

// marked returns the length, in bytes, of the rows that are not before mark.
func (o *rowWriter) marked() int {
	if !o.past {
		return len(o.body)
	}
	return o.short
}

// document returns head followed by the first n bytes of rows.
func (o *rowWriter) document(head *weblogs.Changes, n int) []byte {
	const around = 256
	doc := head.AppendHead(make([]byte, 0, n+around))
	return weblogs.AppendTail(append(doc, o.body[:n]...))
}

func weblogOf(c hub.Change) *weblogs.Weblog {
	w := &weblogs.Weblog{Name: c.Name, URL: c.URL, RSSURL: c.Feed, When: c.At}
	if w.URL == "" {
		w.URL = c.Feed
	}
	w.Name = weblogs.Ping{Name: c.Name, URL: w.URL}.Title()
	return w
}

// each calls do for each row, newest first, until do returns false.
func (d *changeLists) each(ctx context.Context, q hub.ChangeQuery, do func(hub.Change) bool) error {
	q.Limit = pageRows
	for {
		page, err := d.read(ctx, q)
		if err != nil {
			return err
		}
		for _, c := range page {
			if !do(c) {
				return nil
			}
		}
		if len(page) < pageRows {
			return nil
		}
		q.Before = page[len(page)-1].Cursor()
	}
}

// read queries rows from the store. It is the only function that does.
func (d *changeLists) read(ctx context.Context, q hub.ChangeQuery) ([]hub.Change, error) {
	if err := d.lockStore(ctx); err != nil {
		return nil, err
	}
	defer func() { <-d.reading }()
	return d.list.Changes(ctx, q)
}

func (d *changeLists) count(ctx context.Context) (int64, error) {
	if err := d.lockStore(ctx); err != nil {
		return 0, err
	}
	defer func() { <-d.reading }()
	return d.list.CountChanges(ctx)
}

func (d *changeLists) lockStore(ctx context.Context) error {
	select {
	case d.reading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readOnly reports whether a request is GET or HEAD. It rejects requests with other methods.
func readOnly(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD, OPTIONS")
	http.Error(w, "This list is read-only: send a GET request.", http.StatusMethodNotAllowed)
	return false
}

// unavailable responds that the list is unavailable at the moment. The caller has already logged
// err.
func (d *changeLists) unavailable(w http.ResponseWriter, err error) {
	text := "The recent changes are not available now. Please try again later."
	if fault.CodeOf(err) == fault.TooMany {
		text = fault.Message(err)
	}
	w.Header().Set("Retry-After", "30")
	http.Error(w, text, http.StatusServiceUnavailable)
}
