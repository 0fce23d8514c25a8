package conversation

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/lease"
	"cloudburst/internal/limit"
)

// Transport sends one webmention. Package publishhttp implements it. fault.NotFound: the target has
// no endpoint. fault.Refused, Invalid and Gone are final. Any other error is temporary, and the next
// attempt is after its RetryAfter. A StatusError in the error chain has the HTTP status.
type Transport interface {
	// Discover finds the endpoint of a target.
	Discover(ctx context.Context, target string) (endpoint string, err error)
	// Send notifies an endpoint and returns the HTTP status, 200 to 299.
	Send(ctx context.Context, endpoint, source, target string) (status int, err error)
}

// SendOptions are the options of a [Sender]. Zero fields mean the default in brackets.
type SendOptions struct {
	Timeout time.Duration   // time limit of one attempt [30 s]
	Retry   []time.Duration // pauses after temporary failures; after the last one the webmention has failed [1 min, 10 min, 1 h, 6 h, 24 h]
	AtOnce  int             // maximum number of concurrent attempts, with one per host [8]
}

// Sender sends the webmentions of posts. Store, Transport and Page are required. Do not copy it.
//
// The transaction that changes a public post stores a reminder, so a crash loses nothing. The reminder
// compares the links of the post with the rows of earlier webmentions. A new link, a removed one, and
// the page that a changed post replies to each get one webmention; an unchanged link gets none.
type Sender struct {
	Store     SendStore
	Transport Transport
	// Page returns the page of a post, also of a deleted one.
	Page func(ctx context.Context, user string, post int64) (Page, error)
	// Own reports whether a URL belongs to this server. Local receives webmentions for own URLs
	// without a request. nil: no URL is own.
	Own     func(url string) bool
	Local   func(ctx context.Context, source, target string) error
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger     // nil: no log
	Options SendOptions

	once    sync.Once
	wakeups chan struct{}
	active  *limit.Semaphore // attempts in progress, by host
}

func (s *Sender) init() {
	s.once.Do(func() {
		if s.Log == nil {
			s.Log = slog.New(slog.DiscardHandler)
		}
		if s.Now == nil {
			s.Now = time.Now
		}
		o := &s.Options
		o.Timeout, o.AtOnce = cmp.Or(o.Timeout, 30*time.Second), cmp.Or(o.AtOnce, 8)
		if len(o.Retry) == 0 {
			o.Retry = []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}
		}
		s.wakeups = make(chan struct{}, 1)
		s.active = limit.NewSemaphore(1)
	})
}

// now returns the current time in the precision of the store: milliseconds, UTC.
func (s *Sender) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// Wake makes Run check for due webmentions. Call it after a public change of a post.
func (s *Sender) Wake() {
	s.init()
	lease.Wake(s.wakeups)
}

// List lists webmentions of a user.
func (s *Sender) List(ctx context.Context, q SentQuery) ([]Sent, error) {
	return s.Store.SentMentions(ctx, q)
}

// Tidy deletes the rows of deleted posts. Call it about once an hour.
func (s *Sender) Tidy(ctx context.Context) error { return s.Store.TidySent(ctx) }

// Again schedules the failed webmentions of a post for a new attempt. It returns their number.
func (s *Sender) Again(ctx context.Context, user string, post int64) (n int, err error) {
	s.init()
	err = s.Store.ChangeSent(ctx, user, post, func(rows []Sent) []Sent {
		n = 0
		for i := range rows {
			if o := &rows[i]; o.Target != "" && o.Lease == 0 && (o.Result == Failed || o.Result == NoEndpoint) {
				o.Result, o.Tries, o.DueAt = Pending, 0, s.now()
				n++
			}
		}
		return rows
	})
	s.Wake()
	return n, err
}

// hostOf returns the host to which the next attempt sends a request; "": none.
func (s *Sender) hostOf(o Sent) string {
	if o.Target == "" || s.own(o.Target) {
		return ""
	}
	return href.Host(cmp.Or(o.Ready, o.Target))
}

func (s *Sender) own(url string) bool { return s.Own != nil && s.Own(url) }

// plan compares the links of a post with the stored rows of its webmentions and deletes the
// reminder.
//
// spec:webmention-2017#update-sent
func (s *Sender) plan(ctx context.Context, was Sent) {
	page, err := s.Page(ctx, was.User, was.Post)
	if fault.CodeOf(err) == fault.NotFound && err != nil {
		page, err = Page{}, nil
	}
	if err != nil {
		s.Log.WarnContext(ctx, "cannot read a post to send webmentions", "user", was.User, "post", was.Post, "err", err)
		s.settle(ctx, was, func(o *Sent) { o.DueAt = s.now().Add(s.Options.Retry[0]) })
		return
	}
	now := s.now()
	s.change(ctx, was, func(rows []Sent) []Sent {
		at := slices.IndexFunc(rows, func(o Sent) bool { return o.Target == "" })
		if at < 0 || rows[at].Lease != was.Lease {
			return rows // the post has changed again, so a newer reminder is due
		}
		if rows = slices.Delete(rows, at, at+1); page.Off {
			return rows
		}
		return merge(rows, page, was, now)
	})
}

// merge updates the rows of a post after the links of its page have changed.
func merge(rows []Sent, page Page, of Sent, now time.Time) []Sent {
	due := func(o *Sent) {
		o.Result = Pending
		if o.Lease == 0 { // a leased row has an attempt in progress, which schedules the next attempt
			o.Tries, o.DueAt = 0, now
		}
	}
	var all []Sent
	for _, o := range rows {
		linked := slices.Contains(page.Targets, o.Target)
		switch {
		case linked && o.Removed:
			o.Removed = false
			due(&o)
		case linked && page.ReplyTo == o.Target && o.Accepted != "" && o.Accepted != page.Hash:
			due(&o)
		case !linked && !o.Removed && o.Accepted == "" && o.Tries == 0 && o.Lease == 0:
			continue // the target never received a webmention, so there is no link to remove
		case !linked && !o.Removed:
			// spec:webmention-2017#delete-sent
			o.Removed = true
			due(&o)
		}
		o.Source, o.Reply, o.Hash = cmp.Or(page.URL, o.Source), linked && page.ReplyTo == o.Target, page.Hash
		all = append(all, o)
	}
	for _, to := range page.Targets[:min(len(page.Targets), MaxTargets)] {
		if !slices.ContainsFunc(all, func(o Sent) bool { return o.Target == to }) {
			all = append(all, Sent{User: of.User, Post: of.Post, Target: to, DueAt: now, Sending: Sending{Source: page.URL, Reply: page.ReplyTo == to, Hash: page.Hash, Result: Pending}})
		}
	}
	return all
}

// deliver makes one attempt to send a webmention and stores the result.
func (s *Sender) deliver(ctx context.Context, was Sent) {
	switch page, err := s.Page(ctx, was.User, was.Post); {
	case err != nil && fault.CodeOf(err) != fault.NotFound:
		s.settle(ctx, was, func(o *Sent) { o.DueAt = s.now().Add(s.Options.Retry[0]) })
		return
	case page.Off:
		s.settle(ctx, was, func(o *Sent) {
			o.Result, o.DueAt, o.Answer = Failed, time.Time{}, "Sending is turned off."
		})
		return
	case !was.Removed && !slices.Contains(page.Targets, was.Target): // the post was edited or is no longer public
		s.settle(ctx, was, func(o *Sent) {
			o.DueAt = time.Time{}
			if o.Removed {
				o.DueAt = s.now()
			}
		})
		return
	}
	within, stop := context.WithTimeout(ctx, s.Options.Timeout)
	defer stop()
	endpoint, status, err := s.attempt(within, &was)
	switch {
	case err == errBusy:
		s.settle(ctx, was, func(o *Sent) { o.Ready, o.DueAt = was.Ready, s.now().Add(deferFor) })
	case err != nil && ctx.Err() != nil: // a shutdown is not a failure of the target
		s.settle(ctx, was, func(o *Sent) { o.DueAt = s.now() })
	case err == nil:
		s.settle(ctx, was, func(o *Sent) { s.accepted(o, was, endpoint, status) })
	default:
		s.settle(ctx, was, func(o *Sent) { s.failed(o, was, endpoint, err) })
	}
}

// errBusy means that another attempt requests the host of the endpoint.
var errBusy = fault.New(fault.Unavailable, "Another webmention is being sent to this host.")

// attempt sends a webmention. The endpoint may be on another host than the target.
func (s *Sender) attempt(ctx context.Context, o *Sent) (endpoint string, status int, err error) {
	if s.own(o.Target) {
		return "", 0, s.Local(ctx, o.Source, o.Target)
	}
	if endpoint = o.Ready; endpoint == "" {
		if endpoint, err = s.Transport.Discover(ctx, o.Target); err != nil {
			return "", 0, err
		}
		if host := href.Host(endpoint); host != href.Host(o.Target) {
			if _, ok := s.active.Acquire(host); !ok {
				o.Ready = endpoint
				return endpoint, 0, errBusy
			}
			defer s.active.Release(host)
		}
	}
	status, err = s.Transport.Send(ctx, endpoint, o.Source, o.Target)
	return endpoint, status, err
}

// accepted records that a target accepted the webmention. If the post changed during the attempt,
// accepted schedules another attempt.
func (s *Sender) accepted(o *Sent, was Sent, endpoint string, status int) {
	o.Ready, o.Endpoint, o.Status, o.LastAt, o.Tries, o.DueAt = "", endpoint, status, s.now(), 0, time.Time{}
	o.Result, o.Accepted, o.Answer = Accepted, was.Hash, "Accepted."
	if o.Removed {
		o.Accepted = ""
	}
	if o.Removed != was.Removed || o.Reply && o.Hash != was.Hash {
		o.Result, o.DueAt = Pending, o.LastAt
	}
}

// failed schedules the next attempt, or gives up.
func (s *Sender) failed(o *Sent, was Sent, endpoint string, err error) {
	code := fault.CodeOf(err)
	o.Ready, o.Endpoint, o.LastAt, o.Answer = "", endpoint, s.now(), fault.Message(err)
	o.Status = StatusOf(err)
	final := code == fault.Refused || code == fault.Invalid || code == fault.Gone
	switch {
	case o.Removed != was.Removed:
		o.Result, o.Tries, o.DueAt = Pending, 0, o.LastAt
	case code == fault.NotFound:
		o.Result, o.DueAt = NoEndpoint, time.Time{}
	case final, o.Tries >= len(s.Options.Retry):
		o.Result, o.Tries, o.DueAt = Failed, 0, time.Time{}
	default:
		wait := s.Options.Retry[o.Tries]
		o.Tries++
		o.Result, o.DueAt = Pending, o.LastAt.Add(max(wait, min(fault.RetryAfter(err), 24*time.Hour)))
	}
}
