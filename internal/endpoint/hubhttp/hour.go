package hubhttp

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/serve"
	"cloudburst/protocol/weblogs"
)

// hourDocument is one hour of the archive in memory.
type hourDocument struct {
	doc   *serve.Document
	final bool // the hour has ended, so the document no longer changes
	until time.Time
	used  time.Time
}

// serveArchive serves the hour that the path names.
func (d *changeLists) serveArchive(w http.ResponseWriter, r *http.Request) {
	start, ok := hourOf(r.PathValue("year"), r.PathValue("month"), r.PathValue("day"), r.PathValue("hour"))
	if !ok {
		d.notFound.ServeHTTP(w, r)
		return
	}
	withCORS("GET, HEAD, OPTIONS", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.serveHour(w, r, start)
	})).ServeHTTP(w, r)
}

// serveHour responds with the rows of one UTC hour.
//
// spec:feedstate-2007#changes-archive
func (d *changeLists) serveHour(w http.ResponseWriter, r *http.Request, start time.Time) {
	now := d.now()
	switch {
	case start.After(now):
		http.Error(w, "This hour has not started yet.", http.StatusNotFound)
		return
	case start.Before(now.Add(-d.keep)):
		http.Error(w, fmt.Sprintf("This hour is no longer available; changes are stored for %d days.", int(d.keep.Hours()/24)), http.StatusNotFound)
		return
	}
	h, err := d.hour(r.Context(), start, now)
	if err != nil {
		d.unavailable(w, err)
		return
	}
	h.doc.ServeHTTP(w, r)
}

// hourOf parses the path of an hour, YYYY/MM/DD/HH.xml.
func hourOf(year, month, day, file string) (start time.Time, ok bool) {
	const form = "2006/01/02/15.xml"
	s := year + "/" + month + "/" + day + "/" + file
	if len(s) != len(form) {
		return time.Time{}, false
	}
	start, err := time.Parse(form, s)
	// Reject other spellings of the same hour.
	return start, err == nil && start.Format(form) == s
}

// hour returns one hour of the archive, from memory or from the store.
func (d *changeLists) hour(ctx context.Context, start, now time.Time) (*hourDocument, error) {
	if h := d.cachedHour(start, now); h != nil {
		return h, nil
	}
	if d.waiting.Add(1) > archivesWait {
		d.waiting.Add(-1)
		return nil, fault.New(fault.TooMany, "Too many requests for the archive at once. Please try again later.")
	}
	defer d.waiting.Add(-1)
	select {
	case d.building <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-d.building }()
	if h := d.cachedHour(start, now); h != nil {
		return h, nil
	}
	h, err := d.makeHour(ctx, start, now)
	if err != nil {
		if ctx.Err() == nil {
			d.log.WarnContext(ctx, "cannot read an hour of the archive of changes", "hour", start, "err", err)
		}
		return nil, err
	}
	d.cacheHour(start, h)
	return h, nil
}

func (d *changeLists) makeHour(ctx context.Context, start, now time.Time) (*hourDocument, error) {
	ctx, cancel := context.WithTimeout(ctx, renewTime)
	defer cancel()
	end := start.Add(time.Hour)
	h := &hourDocument{final: !now.Before(end.Add(hourSettles)), used: now, until: now.Add(time.Minute)}
	out := rowWriter{unit: d.unit, floor: end, rows: archiveRows, bytes: archiveBytes}
	if now.Before(end) {
		out.floor = now.UTC().Truncate(time.Minute)
	}
	if err := d.each(ctx, hub.ChangeQuery{Since: start, Until: end}, out.row); err != nil {
		return nil, err
	}
	// Count is the number of changes in this hour only, so that the document does not change later.
	head := weblogs.Changes{Updated: out.updated(), Count: int64(out.n)}
	h.doc = hourOfArchive(out.document(&head, len(out.body)), out.updated(), h.final)
	return h, nil
}

// hourOfArchive returns the document of an hour. It is stored compressed, because many hours are
// cached and few are requested.
func hourOfArchive(body []byte, modified time.Time, final bool) *serve.Document {
	cache := "public, max-age=60"
	if final {
		cache = "public, max-age=31536000, immutable"
	}
	return serve.New(body, serve.Options{Type: listType, Modified: modified, Cache: cache, Packed: true})
}

// cachedHour returns an hour from memory if it is still valid.
func (d *changeLists) cachedHour(start, now time.Time) *hourDocument {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.hours[start.Unix()]
	if h == nil || !h.final && !now.Before(h.until) {
		return nil
	}
	h.used = now
	return h
}

// cacheHour stores an hour in memory. It evicts the least recently used hours if the limits are
// exceeded.
func (d *changeLists) cacheHour(start time.Time, h *hourDocument) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hours[start.Unix()] = h
	for {
		size, oldest := 0, int64(0)
		var used time.Time
		for at, o := range d.hours {
			size += o.doc.Size()
			if o != h && (used.IsZero() || o.used.Before(used)) {
				oldest, used = at, o.used
			}
		}
		if used.IsZero() || len(d.hours) <= archivesKept && size <= archivesBytes {
			return
		}
		delete(d.hours, oldest)
	}
}
