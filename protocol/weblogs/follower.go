package weblogs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/wirehttp"
)

// Intervals of a [Follower].
const (
	FollowEvery   = 5 * time.Minute // minimum time between two rounds
	longEvery     = 30 * time.Minute
	maxWait       = time.Hour     // maximum time between two rounds after errors
	maxRetryAfter = 6 * time.Hour // maximum Retry-After of a server that is respected
	fillEvery     = 15 * time.Minute
	fillSlack     = time.Minute
	rememberFor   = 2 * time.Hour // how long a row is remembered after it has left the list
	readTime      = 2 * time.Minute
)

// Follower polls the list of changes of another server and reports new rows. It reads
// shortChanges.xml, which has the pings of the last five minutes, next to the changes.xml
// at URL. It reads changes.xml after a missed round and, with Backfill, at the start. Use a
// new Follower for each Run.
//
// spec:feedstate-2007#changes-xml
type Follower struct {
	URL       string        // URL of changes.xml or of any document in this format
	HTTP      HTTPClient    // nil: a client with a timeout
	UserAgent string        // "": Go's default
	Unit      time.Duration // unit of the when attributes; 0: a minute
	Backfill  bool          // begin with all rows of changes.xml, usually the last hour
	// OnChange is called for each new row, oldest first. If two rows of a site differ in time by
	// less than the document's resolution, they count as one row. OnChange may be nil.
	OnChange func(ctx context.Context, w Weblog)
	// OnError is called after a failed round, with the wait until the next round. It may be
	// nil.
	OnError func(err error, wait time.Duration)

	known     map[string]time.Time // key: URL of the site and of its feed, value: time of the newest row
	docs      map[string]*condition
	short     string // URL of the list of the last minutes; "": there is none
	readOnce  bool   // at least one list was read
	updated   time.Time
	filled    time.Time
	failures  int
	wholeOnly bool // there is no short list on the server
}

// condition contains the validators of a document, for the next conditional request.
type condition struct{ etag, modified string }

// Run reads the lists until ctx ends, and returns the error of ctx. After a failed round it calls
// OnError and tries again later. The time between rounds is at least [FollowEvery], and longer
// after errors.
func (f *Follower) Run(ctx context.Context) error {
	for {
		begun := time.Now()
		_, err := f.Round(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pause := f.pause(err)
		if err != nil && f.OnError != nil {
			f.OnError(err, pause)
		}
		timer := time.NewTimer(time.Until(begun.Add(pause)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// pause returns the time from the start of this round to the start of the next.
func (f *Follower) pause(err error) time.Duration {
	every := FollowEvery
	if f.wholeOnly {
		every = longEvery // a list of an hour need not be read as often
	}
	if err == nil {
		f.failures = 0
		return every
	}
	f.failures++
	wait := every
	for range min(f.failures, 8) {
		wait = min(wait*2, maxWait)
	}
	if e, ok := errors.AsType[*StatusError](err); ok {
		wait = max(wait, min(e.RetryAfter, maxRetryAfter))
	}
	return wait
}

// Round reads the lists once and returns the number of new rows. Programs that have a schedule of
// their own call Round instead of Run, with at least [FollowEvery] between rounds. The error is a
// [*StatusError], a [*ReadError], [ErrTooLarge] or that of the transport.
func (f *Follower) Round(ctx context.Context) (int, error) {
	if f.known == nil {
		f.known = map[string]time.Time{}
		f.docs = map[string]*condition{}
		f.short = shortOf(f.URL)
		f.wholeOnly = f.short == ""
	}
	if f.wholeOnly || f.Backfill && !f.readOnce {
		return f.read(ctx, f.URL)
	}
	before := f.updated
	n, err := f.read(ctx, f.short)
	if e, ok := errors.AsType[*StatusError](err); ok && (e.Status == http.StatusNotFound || e.Status == http.StatusGone) {
		// This server has no short list.
		f.wholeOnly = true
		return f.read(ctx, f.URL)
	}
	if err != nil || before.IsZero() || f.updated.Sub(before) <= FollowEvery+fillSlack || f.updated.Sub(f.filled) < fillEvery {
		return n, err
	}
	// Rounds were missed, and only the long list contains the pings since then.
	f.filled = f.updated
	more, err := f.read(ctx, f.URL)
	return n + more, err
}

// shortOf returns the URL of the short list next to a changes.xml, or "" for any other
// document.
func shortOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || !strings.EqualFold(path.Base(u.Path), "changes.xml") {
		return ""
	}
	dir := u.Path[:strings.LastIndexByte(u.Path, '/')+1]
	u.Path, u.RawPath = dir+"shortChanges.xml", ""
	return u.String()
}

// ReadError means that the document at URL is not a valid list of changes.
type ReadError struct {
	URL string
	Err error // for example [ErrNotChanges]
}

func (e *ReadError) Error() string { return e.URL + ": " + e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

// read reads one document and reports its new rows.
func (f *Follower) read(ctx context.Context, address string) (int, error) {
	reading, cancel := context.WithTimeout(ctx, readTime)
	doc, contentType, err := f.get(reading, address)
	cancel()
	if err != nil || doc == nil {
		return 0, err
	}
	c, err := ReadChanges(doc, ReadOptions{ContentType: contentType, Unit: f.Unit, Now: time.Now()})
	if err != nil {
		delete(f.docs, address)
		return 0, &ReadError{URL: address, Err: err}
	}
	f.readOnce = true
	if c.Updated.After(f.updated) {
		f.updated = c.Updated
	}
	return f.report(ctx, c), nil
}

// get returns the document at address. doc is nil if it has not changed.
func (f *Follower) get(ctx context.Context, address string) (doc []byte, contentType string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", fmt.Errorf("weblogs: reading the list of changes: %w", err)
	}
	if f.UserAgent != "" {
		req.Header.Set("User-Agent", f.UserAgent)
	}
	req.Header.Set("Accept", "text/xml, application/xml;q=0.9, */*;q=0.1")
	if last := f.docs[address]; last != nil {
		if last.etag != "" {
			req.Header.Set("If-None-Match", last.etag)
		}
		if last.modified != "" {
			req.Header.Set("If-Modified-Since", last.modified)
		}
	}
	client := f.HTTP
	if client == nil {
		client = &http.Client{Timeout: readTime}
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, "", fmt.Errorf("weblogs: reading the list of changes: %w", err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && f.docs[address] != nil:
		return nil, "", nil
	case resp.StatusCode != http.StatusOK:
		return nil, "", &StatusError{URL: address, Status: resp.StatusCode, RetryAfter: wirehttp.RetryAfter(resp.Header)}
	}
	doc, err = io.ReadAll(io.LimitReader(resp.Body, MaxChanges+1))
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("weblogs: reading %s: %w", address, err)
	case len(doc) > MaxChanges:
		return nil, "", fmt.Errorf("%s: %w: it has more than %d MiB", address, ErrTooLarge, MaxChanges>>20)
	}
	f.docs[address] = &condition{validator(resp.Header, "ETag"), validator(resp.Header, "Last-Modified")}
	if doc == nil {
		doc = []byte{}
	}
	return doc, resp.Header.Get("Content-Type"), nil
}

// longestValidator is the maximum length, in bytes, of an ETag or Last-Modified that is sent back.
const longestValidator = 1 << 10

// validator returns the ETag or Last-Modified header, or "" if it is too long to be sent
// back.
//
// spec:cloudburst#validator-limit
func validator(h http.Header, name string) string {
	if v := h.Get(name); len(v) <= longestValidator {
		return v
	}
	return ""
}

// report calls OnChange for the new rows of c, oldest first, and remembers them.
func (f *Follower) report(ctx context.Context, c *Changes) int {
	rows := slices.Clone(c.List)
	slices.Reverse(rows)
	slices.SortStableFunc(rows, func(a, b Weblog) int { return a.When.Compare(b.When) })
	remembered := make(map[string]time.Time, len(rows))
	for key, at := range f.known {
		if c.Updated.Sub(at) < rememberFor && len(remembered) < MaxWeblogs {
			remembered[key] = at
		}
	}
	n := 0
	for _, w := range rows {
		key := w.URL + "\n" + w.RSSURL
		last, known := f.known[key]
		if now, ok := remembered[key]; ok && (!known || now.After(last)) {
			last, known = now, true
		}
		if known && !w.When.After(last.Add(f.tolerance())) {
			remembered[key] = last
			continue
		}
		remembered[key] = w.When
		n++
		if f.OnChange != nil && ctx.Err() == nil {
			f.OnChange(ctx, w)
		}
	}
	f.known = remembered
	return n
}

// tolerance is the maximum difference between the times of the same row in two documents. Each
// document rounds the age to a unit, and servers cache documents for a short time.
func (f *Follower) tolerance() time.Duration {
	if f.Unit > 0 && f.Unit < time.Minute {
		return max(f.Unit*3/2, 5*time.Second)
	}
	return max(f.Unit, time.Minute) * 3 / 2
}

// StatusError is a response with a status other than 200.
type StatusError struct {
	URL        string
	Status     int
	RetryAfter time.Duration // 0: not specified
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("weblogs: %s answered %d %s", e.URL, e.Status, http.StatusText(e.Status))
}
