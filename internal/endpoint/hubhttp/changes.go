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

// Limits of the lists of changes, and how long they are good for.
const (
	liveRows     = 5_000
	liveBytes    = 8 << 20 // of one document before it is compressed
	archiveRows  = 50_000
	archiveBytes = 32 << 20
	pageRows     = 1_000 // rows of one read of the store

	longWindow  = time.Hour
	shortWindow = 5 * time.Minute

	checkEvery  = time.Second      // between two looks whether there is anything new
	staleFor    = 10 * time.Second // others get the old list that long while one makes a new one
	staleFailed = 5 * time.Minute  // and that long while the store is away
	renewTime   = 15 * time.Second
	hourSettles = 2 * time.Minute // after its end an hour gets no more rows
	keepDefault = 720 * time.Hour

	archivesKept  = 16       // hours in memory
	archivesBytes = 32 << 20 // compressed, all together
	archivesWait  = 64       // callers that may wait for one
)

// ChangeList is what the list of changes is read from; a hub.Store is one.
type ChangeList interface {
	Changes(ctx context.Context, q hub.ChangeQuery) ([]hub.Change, error)
	CountChanges(ctx context.Context) (int64, error)
}

// changesRoutes are the lists of changes: the last hour, the last five minutes, and
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
		{Path: "/changes.xml", Handler: openDoor(methods, d.serveLive(func(l *liveLists) *serve.Document { return l.long })), Purpose: "Lists the sites that changed in the last hour."},
		{Path: "/shortChanges.xml", Handler: openDoor(methods, d.serveLive(func(l *liveLists) *serve.Document { return l.short })), Purpose: "Lists the sites that changed in the last five minutes."},
		{Method: "GET", Path: "/{year}/{month}/{day}/{hour}", Handler: http.HandlerFunc(d.hourDoor), Purpose: "Lists the sites that changed in one hour of the archive."},
	}
}

// changeLists makes the documents, keeps them, and serves them to everybody. The
// store is read for one of them at a time, however many ask.
type changeLists struct {
	list     ChangeList
	unit     time.Duration
	keep     time.Duration
	now      func() time.Time
	log      *slog.Logger
	notFound http.Handler

	reading  chan struct{} // the one read of the store
	renewing chan struct{} // who makes the live lists
	live     atomic.Pointer[liveLists]

	building chan struct{} // who makes an hour of the archive
	waiting  atomic.Int64  // callers that wait for an hour
	mu       sync.Mutex
	hours    map[int64]*hourDocument // by their start in Unix seconds
}

// liveLists are the two lists of now. They are never changed once they are shared.
type liveLists struct {
	long, short *serve.Document // nil: never made
	newest      event.Cursor    // the newest row when they were made
	minute      time.Time       // in which they were made
	next        time.Time       // when the age of a row in them is another number; zero: never
	madeAt      time.Time
	fresh       time.Time // until then nobody looks whether they are still right
	err         error     // the last look failed
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

// lists are the live lists. Who finds them too old looks after them; whoever comes
// meanwhile gets the old ones, or waits when they are too old for that.
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
		// Others need it too: it goes on when this caller leaves.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTime)
		defer cancel()
		l = d.renewed(ctx, l, now)
		d.live.Store(l)
	}
	return l.usable(now)
}

func (l *liveLists) isFresh(now time.Time) bool {
	return l != nil && now.Before(l.fresh) && l.fresh.Sub(now) < time.Hour // a clock that was set back
}

// usable is l, or why it cannot be shown.
func (l *liveLists) usable(now time.Time) (*liveLists, error) {
	if l.long == nil || l.err != nil && now.Sub(l.madeAt) > staleFailed {
		return nil, l.err
	}
	return l, nil
}

// renewed is old with a new date when nothing has changed, new lists otherwise, and
// old with the error when the store cannot be read.
func (d *changeLists) renewed(ctx context.Context, old *liveLists, now time.Time) *liveLists {
	next := liveLists{}
	if old != nil {
		next = *old
	}
	begun := time.Now()
	next.err = d.look(ctx, &next, now)
	if next.err != nil {
		d.log.WarnContext(ctx, "the list of changes could not be read", "error", next.err)
	}
	// Making them may take a tenth of the time and no more.
	next.fresh = now.Add(max(checkEvery, min(10*time.Since(begun), staleFor)))
	return &next
}

// look makes new lists in l if there are new rows since, or a new minute, or if the age of a
// row is another number by now.
func (d *changeLists) look(ctx context.Context, l *liveLists, now time.Time) error {
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
	// The windows begin with a minute, so that nodes make the same documents of the same rows.
	if err := d.each(ctx, hub.ChangeQuery{Since: minute.Add(-longWindow)}, out.row); err != nil {
		return err
	}
	head := weblogs.Changes{Updated: out.updated(), Count: count}
	l.long = liveDocument(out.document(&head, len(out.body)), out.updated())
	l.short = liveDocument(out.document(&head, out.marked()), out.updated())
	l.newest, l.minute, l.next, l.madeAt = cursor, minute, out.next, now
	return nil
}

// listType is what all lists of changes are.
const listType = "text/xml; charset=utf-8"

// liveDocument is a list of now. It is made again and again, so it is packed quickly.
//
// spec:cloudburst#changes-cached
func liveDocument(body []byte, modified time.Time) *serve.Document {
	return serve.New(body, serve.Options{Type: listType, Modified: modified, Cache: "public, max-age=60", Level: gzip.BestSpeed})
}

// rowWriter writes rows, newest first, up to its limits.
type rowWriter struct {
	unit        time.Duration
	at          time.Time // the moment that ages count to; zero: that of the document
	floor       time.Time // the document is not older than this
	mark        time.Time // rows before this one are only in the long list
	rows, bytes int       // that may still come

	body   []byte
	n      int
	newest time.Time
	turned time.Time // when the age of a row last became another number
	next   time.Time // when the next one does
	short  int       // length of body where the rows before mark begin
	past   bool
}

// row writes one and says whether there may be more.
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

// ageAt is the moment to which the age of a row counts.
func (o *rowWriter) ageAt(row time.Time) time.Time {
	if o.at.IsZero() {
		return o.updated()
	}
	at := date.Later(o.at, o.newest)
	turned := row.Add(max(at.Sub(row), 0) / o.unit * o.unit)
	o.turned = date.Later(o.turned, turned)
	if next := turned.Add(o.unit); o.next.IsZero() || next.Before(o.next) {
		o.next = next
	}
	return at
}

// updated is the moment of the document: of the newest row, but not before floor. Where
// ages count to the moment of serving, it is the last one at which any of them turned, so
// that nodes make the same documents of the same rows.
func (o *rowWriter) updated() time.Time { return date.Later(date.Later(o.newest, o.floor), o.turned) }

// marked is the length of the rows that are not before mark.
func (o *rowWriter) marked() int {
	if !o.past {
		return len(o.body)
	}
	return o.short
}

// document is head with the first n bytes of rows.
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

// each gives rows to do, newest first, until do says that it is enough.
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

// read is the one way to the rows of the store.
func (d *changeLists) read(ctx context.Context, q hub.ChangeQuery) ([]hub.Change, error) {
	if err := d.turn(ctx); err != nil {
		return nil, err
	}
	defer func() { <-d.reading }()
	return d.list.Changes(ctx, q)
}

func (d *changeLists) count(ctx context.Context) (int64, error) {
	if err := d.turn(ctx); err != nil {
		return 0, err
	}
	defer func() { <-d.reading }()
	return d.list.CountChanges(ctx)
}

func (d *changeLists) turn(ctx context.Context) error {
	select {
	case d.reading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readOnly lets GET and HEAD through.
func readOnly(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD, OPTIONS")
	http.Error(w, "This is a list to be read: send a GET.", http.StatusMethodNotAllowed)
	return false
}

// unavailable says that there is no list now. The error was logged where it arose.
func (d *changeLists) unavailable(w http.ResponseWriter, err error) {
	text := "The list of changes cannot be read now. Please try again later."
	if fault.CodeOf(err) == fault.TooMany {
		text = fault.Message(err)
	}
	w.Header().Set("Retry-After", "30")
	http.Error(w, text, http.StatusServiceUnavailable)
}
