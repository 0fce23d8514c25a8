package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/live"
	"cloudburst/internal/river"
)

const (
	itemBuffer = 64  // maximum number of arrivals queued for a client; if more are queued, the stream ends
	itemPage   = 200 // number of stored items that are read at once
	// itemOverlap is the distance, in microseconds, by which reading the store starts before the
	// last Seq of the client. An item gets its Seq before it is stored, so an item that is stored
	// late can have a smaller Seq than an item that was already sent.
	itemOverlap = 5_000_000
	// The search index contains new items only after a delay. A stream with a search text therefore
	// searches searchSoon after an arrival, and then at growing intervals up to searchLate. The
	// first searches cover the time searchBack before the last arrival, and later searches cover
	// searchWait. Both are in microseconds, the unit of Seq.
	searchSoon = 300 * time.Millisecond
	searchLate = 30 * time.Second
	searchBack = 10_000_000
	searchWait = 60_000_000
)

// Kinds of events.
const (
	itemNew       = "new"
	itemEdited    = "edited"
	itemWithdrawn = "withdrawn"
)

// itemStream sends new and changed items. If the request has Last-Event-ID, the stream starts
// shortly before that Seq. The stream ends if the client is too slow; the client can connect again.
func (s riverAPI) itemStream(c *riverCall) error {
	p := c.params("source", "category", "starred", "unread", "q")
	q, err := s.itemQuery(c, p)
	if err != nil {
		return err
	}
	f := &itemFeed{Stream: s.openStream(c.w), server: s.Server, c: c, query: q, sent: map[int64]int64{}}
	last := c.r.Header.Get("Last-Event-ID")
	if f.seen, err = f.begin(last); err != nil {
		return err
	}
	f.begun = f.seen
	arrivals, stop := s.listen(itemBuffer)
	defer func() { stop() }()
	defer f.Close()
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.WriteHeader(http.StatusOK)
	if last != "" {
		f.begun = max(f.seen-itemOverlap, 0)
		f.at = f.begun
		// While many stored items are sent, more arrivals can occur than the buffer holds. Therefore
		// send most of the stored items, then begin with an empty buffer, and send the rest of the
		// stored items.
		if err := f.catchUp(); err != nil {
			return s.abort(c.r, err)
		}
		stop()
		arrivals, stop = s.listen(itemBuffer)
		if err := f.catchUp(); err != nil {
			return s.abort(c.r, err)
		}
	}
	if err := f.Comment("listening"); err != nil {
		return nil
	}
	f.timer = time.NewTimer(searchLate)
	f.timer.Stop() // the first search is scheduled by the first arrival
	f.Wake, f.Woken = f.timer.C, f.search
	if q.Match != "" {
		f.scheduleSearch() // find items that arrived while the stored items were sent
	}
	f.Beat = func() bool { return c.stillAllowed == nil || c.stillAllowed() == nil }
	if err := live.Follow(c.ctx(), f.Stream, arrivals, f.arrived); err != nil && !errors.Is(err, live.ErrSlow) {
		return s.abort(c.r, err)
	}
	return nil
}

// itemFeed is one open stream.
type itemFeed struct {
	*live.Stream
	server *Server
	c      *riverCall
	query  river.ItemQuery
	seen   int64           // the client already has the items with a smaller Seq
	at     int64           // Seq up to which the stream has read the store
	sent   map[int64]int64 // key: ID of an item; value: last Seq of the item sent from the store

	begun int64 // Seq at which the stream starts
	// The following fields are used only for a stream with a search text.
	newest int64         // Seq of the last arrival
	pause  time.Duration // time until the next search; 0: no search is scheduled
	timer  *time.Timer   // starts the next search
}

// begin returns the Seq at which the stream starts: the Seq in last, which a reconnecting client
// sends, or the newest Seq.
func (f *itemFeed) begin(last string) (int64, error) {
	if last != "" {
		seq, err := strconv.ParseInt(last, 10, 64)
		if err != nil || seq < 0 {
			return 0, fault.New(fault.Invalid, "%q is not the id of an event of this stream.", cut(last, 100))
		}
		return seq, nil
	}
	rows, err := f.server.River.Items(f.c.ctx(), river.ItemQuery{Reader: f.c.reader, BySeq: true, Bare: true, Limit: 1})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return rows[0].Seq, nil
}

// catchUp sends the stored items after the Seq f.at.
func (f *itemFeed) catchUp() error {
	for {
		q := f.query
		q.ChangedIn, q.BySeq, q.Oldest, q.Limit = f.at, true, true, itemPage
		rows, err := f.server.River.Items(f.c.ctx(), q)
		if err != nil {
			return err
		}
		for i := range rows {
			e := &rows[i]
			if f.sent[e.ID] < e.Seq {
				if err := f.send(f.kind(e), e); err != nil {
					return err
				}
			}
			f.sent[e.ID], f.at = e.Seq, e.Seq
		}
		for id, seq := range f.sent {
			if seq < f.at-searchWait-itemOverlap {
				delete(f.sent, id)
			}
		}
		if len(rows) < itemPage {
			// The next call reads the last five seconds again, because some items are stored late.
			f.at = max(f.at-itemOverlap, 0)
			return f.Flush()
		}
	}
}

// kind returns the event kind of an item for this client.
func (f *itemFeed) kind(e *river.Entry) string {
	_, sent := f.sent[e.ID]
	switch {
	case !e.WithdrawnAt.IsZero():
		return itemWithdrawn
	case e.First > f.seen && !sent || e.Seq == e.First:
		return itemNew
	}
	return itemEdited
}

// arrived sends those items of an arrival that match the query of the stream.
func (f *itemFeed) arrived(a river.Arrival) error {
	if f.query.SourceID != 0 && a.SourceID != f.query.SourceID {
		return nil
	}
	following, err := f.server.River.Following(f.c.ctx(), f.c.reader)
	if err != nil || !following[a.SourceID] {
		return err
	}
	if f.query.Match != "" {
		f.newest = max(f.newest, a.Seq)
		f.scheduleSearch()
		return nil
	}
	var ids []int64
	kinds := map[int64]string{}
	for _, it := range a.Items {
		if f.sent[it.ID] >= it.Seq {
			continue
		}
		ids = append(ids, it.ID)
		kinds[it.ID] = itemEdited
		if it.New {
			kinds[it.ID] = itemNew
		}
	}
	for some := range slices.Chunk(ids, itemPage) {
		q := f.query
		q.IDs, q.Limit = some, len(some)
		rows, err := f.server.River.Items(f.c.ctx(), q)
		if err != nil {
			return err
		}
		slices.SortFunc(rows, func(a, b river.Entry) int { return cmp.Compare(a.Seq, b.Seq) })
		for i := range rows {
			kind := kinds[rows[i].ID]
			if kind == itemEdited && !rows[i].WithdrawnAt.IsZero() {
				kind = itemWithdrawn
			}
			if err := f.send(kind, &rows[i]); err != nil {
				return err
			}
		}
	}
	return f.Flush()
}

// scheduleSearch schedules a search soon, unless a search is already scheduled soon.
func (f *itemFeed) scheduleSearch() {
	if f.pause == 0 || f.pause > 2*searchSoon {
		f.pause = searchSoon
		f.timer.Reset(f.pause)
	}
}

// search sends recent items that the search index contains by now.
func (f *itemFeed) search() error {
	back := int64(searchBack)
	if f.pause > 10*searchSoon {
		back = searchWait
	}
	if f.pause *= 2; f.pause > searchLate {
		f.pause = 0
	} else {
		f.timer.Reset(f.pause)
	}
	f.at = max(f.begun, f.newest-back)
	f.seen = max(f.seen, f.newest-searchWait)
	return f.catchUp()
}

func (f *itemFeed) send(kind string, e *river.Entry) error {
	data, err := json.Marshal(form.Item(e))
	if err != nil {
		return err
	}
	return f.Event(strconv.FormatInt(e.Seq, 10), kind, data)
}
