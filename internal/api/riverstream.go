package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

const (
	itemBuffer = 64  // arrivals that may wait for a reader before it is dropped
	itemPage   = 200 // items of a page of the catch-up
	// itemOverlap is how far the catch-up goes back before what the reader has seen, in
	// microseconds: items are numbered before they are on disk, so that one that was
	// slow to get there may have a smaller number than another that was sent.
	itemOverlap = 5_000_000
	// searchWait is how long an item may take until searches find it, and searchLook how
	// often is looked.
	searchWait  = 10 * time.Second
	searchLook  = 500 * time.Millisecond
	mostPending = 1000 // items that wait for that
)

// Kinds of events.
const (
	itemNew       = "new"
	itemEdited    = "edited"
	itemWithdrawn = "withdrawn"
)

// itemStream sends items as they come and change. With Last-Event-ID it begins a
// little before that Seq. A reader that is too slow is dropped, and comes back.
func (s *Server) itemStream(c *riverCall) error {
	p := c.params("source", "category", "starred", "unread", "q")
	q, err := s.itemQuery(c, p)
	if err != nil {
		return err
	}
	f := &itemFeed{server: s, c: c, control: http.NewResponseController(c.w), query: q, sent: map[int64]int64{}}
	last := c.r.Header.Get("Last-Event-ID")
	if last != "" {
		if f.seen, err = strconv.ParseInt(last, 10, 64); err != nil || f.seen < 0 {
			return fault.New(fault.Invalid, "%q is not the id of an event of this stream.", cut(last, 100))
		}
	}
	arrivals, stop := s.listen(itemBuffer)
	defer func() { stop() }()
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.WriteHeader(http.StatusOK)
	if last != "" {
		f.at = max(f.seen-itemOverlap, 0)
		// The catch-up may be longer than the buffer: listen anew behind the bulk of it,
		// and read the rest while listening.
		if err := f.catchUp(); err != nil {
			return s.broken(c.r, err)
		}
		stop()
		arrivals, stop = s.listen(itemBuffer)
		if err := f.catchUp(); err != nil {
			return s.broken(c.r, err)
		}
	}
	if err := f.comment("listening"); err != nil {
		return nil
	}
	f.live(arrivals)
	return nil
}

// itemFeed is one open stream.
type itemFeed struct {
	server  *Server
	c       *riverCall
	control *http.ResponseController
	query   river.ItemQuery
	seen    int64           // what the reader had when it came
	at      int64           // the store has been read up to this Seq
	sent    map[int64]int64 // Seq by item, of the last that were sent from the store
	pending map[int64]pending
}

// pending is an item that searches do not find yet.
type pending struct {
	kind  string
	until time.Time
}

// catchUp sends what came after f.at.
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
				if err := f.send(kindOf(e, f.seen), e); err != nil {
					return err
				}
			}
			f.sent[e.ID], f.at = e.Seq, e.Seq
		}
		for id, seq := range f.sent {
			if seq < f.at-2*itemOverlap {
				delete(f.sent, id)
			}
		}
		if len(rows) < itemPage {
			// The next one reads the last seconds again, for what was slow.
			f.at = max(f.at-itemOverlap, 0)
			return f.control.Flush()
		}
	}
}

// kindOf says what an item is to a reader who has seen everything up to a Seq.
func kindOf(e *river.Entry, seen int64) string {
	switch {
	case !e.WithdrawnAt.IsZero():
		return itemWithdrawn
	case e.First > seen || e.Seq == e.First:
		return itemNew
	}
	return itemEdited
}

// live sends what arrives until somebody ends it.
func (f *itemFeed) live(arrivals <-chan river.Arrival) {
	beat := time.NewTicker(f.server.Heartbeat)
	defer beat.Stop()
	for {
		// Nothing is looked for while nothing waits.
		var look <-chan time.Time
		if len(f.pending) > 0 {
			look = time.After(searchLook)
		}
		var err error
		select {
		case a, open := <-arrivals:
			if !open {
				return
			}
			err = f.arrived(a)
		case <-look:
			err = f.lookAgain()
		case <-beat.C:
			if f.c.still != nil && f.c.still() != nil {
				return
			}
			err = f.comment("still here")
		case <-f.server.Done:
			return
		case <-f.c.ctx().Done():
			return
		}
		if err != nil {
			_ = f.server.broken(f.c.r, err)
			return
		}
	}
}

// arrived sends the items of an arrival that are for this reader.
func (f *itemFeed) arrived(a river.Arrival) error {
	if f.query.SourceID != 0 && a.SourceID != f.query.SourceID {
		return nil
	}
	following, err := f.server.River.Following(f.c.ctx(), f.c.reader)
	if err != nil || !following[a.SourceID] {
		return err
	}
	kinds := map[int64]string{}
	for _, it := range a.Items {
		if f.sent[it.ID] >= it.Seq {
			continue
		}
		kinds[it.ID] = itemEdited
		if it.New {
			kinds[it.ID] = itemNew
		}
	}
	return f.sendThose(kinds)
}

// sendThose sends those items that the stream is about.
func (f *itemFeed) sendThose(kinds map[int64]string) error {
	ids := make([]int64, 0, len(kinds))
	for id := range kinds {
		ids = append(ids, id)
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
			delete(kinds, rows[i].ID)
			if kind == itemEdited && !rows[i].WithdrawnAt.IsZero() {
				kind = itemWithdrawn
			}
			if err := f.send(kind, &rows[i]); err != nil {
				return err
			}
		}
	}
	f.wait(kinds)
	return f.control.Flush()
}

// wait remembers what was not found: searches find an item some time after it came.
func (f *itemFeed) wait(kinds map[int64]string) {
	if f.query.Match == "" {
		return
	}
	if f.pending == nil {
		f.pending = map[int64]pending{}
	}
	until := time.Now().Add(searchWait)
	for id, kind := range kinds {
		if old, ok := f.pending[id]; ok {
			f.pending[id] = pending{kind, old.until}
		} else if len(f.pending) < mostPending {
			f.pending[id] = pending{kind, until}
		}
	}
}

// lookAgain looks for what was not found before.
func (f *itemFeed) lookAgain() error {
	now := time.Now()
	kinds := map[int64]string{}
	for id, p := range f.pending {
		kinds[id] = p.kind
	}
	err := f.sendThose(kinds)
	for id, p := range f.pending {
		if _, waits := kinds[id]; !waits || now.After(p.until) {
			delete(f.pending, id)
		}
	}
	return err
}

func (f *itemFeed) send(kind string, e *river.Entry) error {
	data, err := json.Marshal(itemOf(e))
	if err != nil {
		return err
	}
	f.server.extend(f.c.w)
	_, err = fmt.Fprintf(f.c.w, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, kind, data)
	return err
}

func (f *itemFeed) comment(text string) error {
	f.server.extend(f.c.w)
	if _, err := fmt.Fprintf(f.c.w, ": %s\n\n", text); err != nil {
		return err
	}
	return f.control.Flush()
}
