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
	"strconv"
	"strings"
	"time"
)

// Waits of a [Follower].
const (
	FollowEvery = 5 * time.Minute // between two rounds, at least
	longEvery   = 30 * time.Minute
	maxWait     = time.Hour     // after errors
	maxAsked    = 6 * time.Hour // that a server may ask for
	fillEvery   = 15 * time.Minute
	fillSlack   = time.Minute
	forget      = 2 * time.Hour // how long a row is known that is not listed any more
	readTime    = 2 * time.Minute
)

// Follower follows the list of changes of another server. It reads shortChanges.xml,
// which has the pings of the last five minutes, beside the changes.xml that URL
// names; it reads changes.xml itself at the start, if that is wanted, and when it
// has missed a round. Make one for each Run.
//
// spec:feedstate-2007#changes-xml
type Follower struct {
	URL       string        // of changes.xml, or of any document of that form
	HTTP      HTTPClient    // nil: one with a time limit
	UserAgent string        // empty: Go's own
	Unit      time.Duration // what the when attributes count [a minute]
	Backfill  bool          // begin with all that changes.xml has, the last hour
	// New takes each row that was not there before, oldest first. Rows of one site
	// whose moments differ by less than the document can tell are one.
	OnChange func(ctx context.Context, w Weblog)
	// Failed hears of rounds that failed, and how long the next one waits. May be nil.
	OnError func(err error, wait time.Duration)

	known     map[string]time.Time // newest moment of each site and feed
	docs      map[string]*condition
	short     string // "" when URL is all there is
	heard     bool   // a list was read once
	updated   time.Time
	filled    time.Time
	failures  int
	wholeOnly bool // there is no short list
}

// condition is what the next request for a document says about the last answer.
type condition struct{ etag, modified string }

// Run reads until ctx ends, and gives its error; an [ErrNotChanges] or another
// failure of a round is told and tried again later. Rounds are at least
// [FollowEvery] apart, and further after errors.
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

// pause is how long after the start of this round the next one starts.
func (f *Follower) pause(err error) time.Duration {
	every := FollowEvery
	if f.wholeOnly {
		every = longEvery // a list of an hour need not, and should not, be read as often
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
		wait = max(wait, min(e.RetryAfter, maxAsked))
	}
	return wait
}

// Round reads once, hands out what is new and says how many rows that were. It is
// for those who keep the time themselves; they should keep [FollowEvery].
func (f *Follower) Round(ctx context.Context) (int, error) {
	if f.known == nil {
		f.known = map[string]time.Time{}
		f.docs = map[string]*condition{}
		f.short = shortOf(f.URL)
		f.wholeOnly = f.short == ""
	}
	if f.wholeOnly || f.Backfill && !f.heard {
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
	// Rounds were missed, and what was listed meanwhile is only in the long list.
	f.filled = f.updated
	more, err := f.read(ctx, f.URL)
	return n + more, err
}

// shortOf is the short list beside a changes.xml; "" for any other document.
func shortOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || !strings.EqualFold(path.Base(u.Path), "changes.xml") {
		return ""
	}
	dir := u.Path[:strings.LastIndexByte(u.Path, '/')+1]
	u.Path, u.RawPath = dir+"shortChanges.xml", ""
	return u.String()
}

// ReadError is a failure to understand the document at URL as a list of changes.
type ReadError struct {
	URL string
	Err error // such as [ErrNotChanges]
}

func (e *ReadError) Error() string { return e.URL + ": " + e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

// read gets one document and hands out what is new in it.
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
	f.heard = true
	if c.Updated.After(f.updated) {
		f.updated = c.Updated
	}
	return f.tell(ctx, c), nil
}

// get is the document at address; nil when it is the same as last time.
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
		return nil, "", &StatusError{URL: address, Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"), time.Now())}
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

// longestValidator is the length, in bytes, of the longest ETag or Last-Modified that is
// sent back.
const longestValidator = 1 << 10

// validator is an ETag or Last-Modified, or "" when it is too long to be sent back.
//
// spec:cloudburst#validator-limit
func validator(h http.Header, name string) string {
	if v := h.Get(name); len(v) <= longestValidator {
		return v
	}
	return ""
}

// tell hands out the rows of c that are new, oldest first, and remembers them.
func (f *Follower) tell(ctx context.Context, c *Changes) int {
	rows := slices.Clone(c.List)
	slices.Reverse(rows)
	slices.SortStableFunc(rows, func(a, b Weblog) int { return a.When.Compare(b.When) })
	kept := make(map[string]time.Time, len(rows))
	for key, at := range f.known {
		if c.Updated.Sub(at) < forget && len(kept) < MaxWeblogs {
			kept[key] = at
		}
	}
	n := 0
	for _, w := range rows {
		key := w.URL + "\n" + w.RSSURL
		last, known := f.known[key]
		if now, ok := kept[key]; ok && (!known || now.After(last)) {
			last, known = now, true
		}
		if known && !w.When.After(last.Add(f.tolerance())) {
			kept[key] = last
			continue
		}
		kept[key] = w.When
		n++
		if f.OnChange != nil && ctx.Err() == nil {
			f.OnChange(ctx, w)
		}
	}
	f.known = kept
	return n
}

// tolerance is how far apart two readings of one moment can be: its age is rounded
// to a unit in each document anew, and servers keep a document for a little while.
func (f *Follower) tolerance() time.Duration {
	if f.Unit > 0 && f.Unit < time.Minute {
		return max(f.Unit*3/2, 5*time.Second)
	}
	return max(f.Unit, time.Minute) * 3 / 2
}

// StatusError is an answer with another status than 200.
type StatusError struct {
	URL        string
	Status     int
	RetryAfter time.Duration // 0: it does not say
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("weblogs: %s is answered %d %s", e.URL, e.Status, http.StatusText(e.Status))
}

// retryAfter reads the header of that name, seconds or a date.
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}
