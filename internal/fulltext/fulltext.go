// Package fulltext fetches the pages of items and extracts their text, for feeds that have only
// summaries. A page is read once for all users of the server, and only if a user asked for it: for
// the new items of a feed, or for one item.
//
// The pages to read are rows with a due time, like all pending work; a lease makes each row the
// work of one process. Start with [Service] and [Extract].
//
// # Rules
//
//   - An item never waits for its page: it is stored and shown first.
//   - A host gets one request at a time, with the same pause between two requests as for feeds.
//   - A failed request is repeated after 5 minutes, 1 hour and 6 hours, or when the server allows
//     it (Retry-After). Failures that another request would not change are not repeated.
//   - The text replaces that of the feed only if it is longer.
//   - The result is sanitized like the content of feeds, and it is shown only to users.
package fulltext

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"cloudburst/internal/fetch"
	"cloudburst/internal/lease"
	"cloudburst/internal/river/item"
)

// Store stores the pages to read and their texts. Each method is one transaction. Times are in UTC
// with millisecond precision.
type Store interface {
	// FullText returns the stored full text of an item; the zero Text if none is stored.
	// fault.NotFound: the item does not exist.
	FullText(ctx context.Context, item int64) (Text, error)
	// WantFullText makes the page of an item due at now, before the pages of new items, and resets
	// the number of attempts. It changes nothing if the text is stored or the page is already
	// pending. fault.NotFound: the item does not exist. fault.Invalid: the item has no link.
	// fault.TooMany: limit pages are already waiting.
	WantFullText(ctx context.Context, item int64, now time.Time, limit int) error
	// ClaimFullTexts claims up to limit due pages until the time until. Pages with the earliest due
	// times come first. It sets Page.Claim to claim.
	ClaimFullTexts(ctx context.Context, now, until time.Time, limit int, claim int64) ([]Page, error)
	// NextFullText returns the time when the next page is due; zero: no page is due.
	NextFullText(ctx context.Context) (time.Time, error)
	// PutOffFullTexts gives back claimed pages that were not read.
	PutOffFullTexts(ctx context.Context, list []lease.Back[Page]) error
	// SaveFullText stores the result for a claimed page, and makes the text searchable. It writes
	// nothing if the claim was lost or the item is gone. followed reports whether a user wants the
	// full text of all items of the feed; the item then has the Seq of the result.
	SaveFullText(ctx context.Context, r Result) (saved, followed bool, err error)
}

// Page is a page to read.
type Page struct {
	Item, Source int64 // IDs of the item and of its source
	Claim        int64
	Link         string // URL of the page
	Tries        int    // number of failed attempts so far
	Words        string // text of the item in the feed
}

// Result is the result of reading a page. Either HTML or Problem is set.
type Result struct {
	Page
	HTML    string // sanitized HTML
	At      time.Time
	Problem string    // reason for the missing text, as a sentence
	NextAt  time.Time // time of the next attempt; zero: none
	Seq     int64     // new Seq of the item; used only if the item changes for users
}

// Text is the stored full text of an item.
type Text struct {
	item.Full
	Problem string    // reason for the missing text, as a sentence; "": there is a text, or no attempt was made
	NextAt  time.Time // time when the page is due; zero: never
}

// Pending reports whether the page is still to be read for the first time, or is being read.
func (t *Text) Pending() bool { return t.HTML == "" && t.Problem == "" && !t.NextAt.IsZero() }

// Fetcher fetches pages; *fetch.Client implements it.
type Fetcher interface {
	Get(ctx context.Context, r fetch.Request) (*fetch.Response, error)
}

// River publishes items whose text changed; river.Publisher implements it.
type River interface {
	NextSeq() int64
	Announce(source, id, seq int64)
}

// Service reads pages. Store, Fetch, River and Log are required.
type Service struct {
	Store Store
	Fetch Fetcher
	River River
	Log   *slog.Logger
	Now   func() time.Time // nil: time.Now
	// Interval returns the pause between two requests to the host of a URL. nil: one second.
	Interval func(url string) time.Duration
	Options  Options

	once    sync.Once
	wake    chan struct{}
	hosts   hosts
	parsing sync.Mutex // one page is parsed at a time, which bounds memory
	clean   *item.Converter
	mu      sync.Mutex
	done    chan struct{} // closed when a page was read, then replaced
}

// Options of a service. Zero fields mean the default in brackets.
type Options struct {
	AtOnce int           // maximum number of pages in progress [4]
	Lease  time.Duration // duration of a claim [2 m]
	Retry  time.Duration // wait until a user can request a failed page again [1 m]
	Max    int           // maximum number of waiting pages [10,000]; further requests of users are rejected
}

func (s *Service) init() {
	s.once.Do(func() {
		if s.Now == nil {
			s.Now = time.Now
		}
		if s.Interval == nil {
			s.Interval = func(string) time.Duration { return time.Second }
		}
		o := &s.Options
		for value, standard := range map[*time.Duration]time.Duration{&o.Lease: 2 * time.Minute, &o.Retry: time.Minute} {
			if *value == 0 {
				*value = standard
			}
		}
		for value, standard := range map[*int]int{&o.AtOnce: 4, &o.Max: 10_000} {
			if *value == 0 {
				*value = standard
			}
		}
		s.wake, s.done = make(chan struct{}, 1), make(chan struct{})
		s.clean = item.NewConverter()
		s.hosts.interval = s.Interval
	})
}

// Wake makes the service search for due pages.
func (s *Service) Wake() {
	s.init()
	lease.Wake(s.wake)
}

// Get returns the stored full text of an item; the zero Text if none is stored. fault.NotFound: the
// item does not exist.
func (s *Service) Get(ctx context.Context, id int64) (Text, error) {
	s.init()
	return s.Store.FullText(ctx, id)
}

// Request requests the full text of an item and waits for it, at most for wait. The result may
// still be pending. A page that failed less than Options.Retry ago is not requested again.
// fault.NotFound: the item does not exist. fault.Invalid: the item has no link. fault.TooMany:
// Options.Max pages are already waiting.
func (s *Service) Request(ctx context.Context, id int64, wait time.Duration) (Text, error) {
	s.init()
	t, err := s.Store.FullText(ctx, id)
	now := s.Now()
	if err != nil || t.HTML != "" || t.Problem != "" && now.Sub(t.At) < s.Options.Retry {
		return t, err
	}
	if !t.Pending() {
		if err := s.Store.WantFullText(ctx, id, now, s.Options.Max); err != nil {
			return Text{}, err
		}
	}
	s.Wake()
	return s.await(ctx, id, wait)
}

// pollEvery is the interval at which a waiting request checks for a result of another process.
const pollEvery = 500 * time.Millisecond

// await waits until the page of an item is no longer pending, at most for wait, and returns the
// stored text.
func (s *Service) await(ctx context.Context, id int64, wait time.Duration) (Text, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		s.mu.Lock()
		done := s.done
		s.mu.Unlock()
		t, err := s.Store.FullText(context.WithoutCancel(ctx), id)
		if err != nil || !t.Pending() || !lease.Sleep(ctx, done, pollEvery) {
			return t, err
		}
	}
}

// finished wakes the requests that wait for a page.
func (s *Service) finished() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.done)
	s.done = make(chan struct{})
}

// pause is the minimum time between two searches for due pages, because each new item wakes the
// service.
const pause = 100 * time.Millisecond

// Run reads due pages until ctx ends.
func (s *Service) Run(ctx context.Context) {
	s.init()
	loop := lease.Loop[Page]{
		Claim: s.claim, Next: s.Store.NextFullText, Do: s.read, Admit: s.hosts.admit, GiveBack: s.Store.PutOffFullTexts,
		AtOnce: s.Options.AtOnce, For: s.Options.Lease, Wake: s.wake, Now: s.Now, Name: "full texts",
		Failed: func(ctx context.Context, doing string, err error) {
			s.Log.WarnContext(ctx, "full text: cannot "+doing, "err", err)
		},
		Caught: func(p Page, panicked any, stack []byte) {
			s.hosts.leave(p.Link, s.Now())
			s.Log.Error("reading a page panicked", "item", p.Item, "url", fetch.Redact(p.Link), "panic", panicked, "stack", string(stack))
			s.save(context.WithoutCancel(ctx), Result{Page: p, At: s.Now(), Problem: "The text of this page could not be extracted. Open the original instead."})
		},
	}
	loop.Run(ctx)
}

// claim claims due pages, after a pause. It first queries the next due time, because this query is
// cheaper than a claim without pages.
func (s *Service) claim(ctx context.Context, _, _ time.Time, limit int, claim int64) ([]Page, error) {
	if !lease.Sleep(ctx, nil, pause) {
		return nil, nil
	}
	next, err := s.Store.NextFullText(ctx)
	now := s.Now()
	if err != nil || next.IsZero() || next.After(now) {
		return nil, err
	}
	return s.Store.ClaimFullTexts(ctx, now, now.Add(s.Options.Lease), limit, claim)
}

// save stores a result, and publishes the item if it changed for users.
func (s *Service) save(ctx context.Context, r Result) {
	if r.HTML != "" {
		r.Seq = s.River.NextSeq()
	}
	saved, followed, err := s.Store.SaveFullText(ctx, r)
	switch {
	case err != nil:
		s.Log.WarnContext(ctx, "full text: cannot store a result", "item", r.Item, "err", err) // the page is read again after the claim expires
	case saved && followed && r.Seq != 0:
		s.River.Announce(r.Source, r.Item, r.Seq)
	}
	s.finished()
}
