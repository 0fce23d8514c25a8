package river

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river/location"
	"cloudburst/internal/river/naming"
)

// Request describes a feed that a user wants to follow.
type Request struct {
	Reader     string
	URL        string // URL of the feed, or of a page that links to the feed
	Title      string // title that the user chose for the feed
	Categories []string
	Interval   time.Duration
	Login      Login // login at the feed's server; Login.Secret is in clear text
	First      bool  // true: if the page links to several feeds, follow the first one instead of returning Choices
	Operator   bool  // true: the server's operator adds the feed, so the feed limit is MaxOfOperator
}

// Choice is one of several feeds that a page links to.
type Choice = location.Choice

// Added is the result of Add.
type Added struct {
	Followed
	New     bool     // true if the user did not follow the feed before
	Choices []Choice // feeds of a page that links to several; Add followed none, and the caller passes one of their URLs to Add
}

// Add follows a feed. It fetches a new feed at once, and the feed's items are stored when Add
// returns. For a page, Add looks for the feeds that the page links to. Add sends no request for a
// feed that the database already has. Errors: fault.Invalid: the URL cannot be parsed; NotFound:
// the page links to no feed, or the server answered 404 or 410; Unreadable: there is no usable
// response, or the document is neither a feed nor a page; Refused: the server may not fetch the
// address, or the feed needs a login (ErrNeedsLogin); TooMany: the user's feed limit is reached;
// Unavailable: the database or another local service failed.
func (r *River) Add(ctx context.Context, q Request) (Added, error) {
	r.Init()
	a, err := newAddition(r, q)
	if err != nil {
		return Added{}, err
	}
	for _, u := range a.urls {
		done, ok, err := a.followKnown(ctx, u)
		if ok || err != nil {
			return done, err
		}
	}
	unlock, err := a.lockAddress(ctx, a.urls[len(a.urls)-1])
	if err != nil {
		return Added{}, err
	}
	defer unlock()
	for i, u := range a.urls {
		done, ok, err := a.followKnown(ctx, u) // another request may have added the feed while this one waited for the lock
		if !ok && err == nil {
			done, err = a.fetchNew(ctx, u)
		}
		if ok || err == nil || i == len(a.urls)-1 || !noServerAnswered(err) {
			return done, err
		}
	}
	return Added{}, nil
}

// addition is the state of one call of Add.
type addition struct {
	*River
	q      Request // the request; its Login is sealed (encrypted)
	urls   []string
	origin string // origin of the URL that the user typed; only this origin receives the login
}

func newAddition(r *River, q Request) (*addition, error) {
	typed, err := addressOf(r, q.URL)
	if err != nil {
		return nil, err
	}
	if q.Login.Kind == "" {
		q.Login = typed.Login
	}
	a := &addition{River: r, urls: typed.URLs}
	if err := q.Login.Check(); err != nil {
		return nil, err
	}
	if q.Login.Kind != "" {
		a.urls = a.urls[:1] // a password must not be sent over http after the https request failed
	}
	if q.Title, err = naming.Title(q.Title); err != nil {
		return nil, err
	}
	if q.Categories, err = naming.Categories(q.Categories); err != nil {
		return nil, err
	}
	if err := checkInterval(q.Interval); err != nil {
		return nil, err
	}
	if q.Login, err = location.Seal(r.Key, q.Login); err != nil {
		return nil, err
	}
	a.q = q
	return a, nil
}

// followKnown makes the user follow the source that exists at url. ok is false if there is no
// source that the user may use.
//
// spec:cloudburst#river-add-reads-once
func (a *addition) followKnown(ctx context.Context, url string) (done Added, ok bool, err error) {
	list, err := a.Store.SourcesAt(ctx, url)
	if err != nil || len(list) == 0 {
		return Added{}, false, err
	}
	mine, err := a.Store.RiverFollowing(ctx, a.q.Reader)
	if err != nil {
		return Added{}, false, err
	}
	login := a.maySeeLogin(url)
	i := slices.IndexFunc(list, func(s Source) bool { return mine[s.ID] && (s.Private() || !login) })
	if i < 0 && !login {
		i = slices.IndexFunc(list, func(s Source) bool { return !s.Private() })
	}
	if i < 0 {
		return Added{}, false, nil
	}
	done, err = a.follow(ctx, list[i])
	return done, true, err
}

// fetchNew fetches url. If the response is a feed, fetchNew follows it. If the response is a
// page, fetchNew follows the feed of the page.
func (a *addition) fetchNew(ctx context.Context, url string) (Added, error) {
	a.origin = location.Origin(url)
	s := a.newSource(url)
	got := checker{a.River}.fetchPaced(ctx, &s, polling.ByHand)
	if err := responseError(&s, got); err != nil {
		return Added{}, location.AccountError(url, err)
	}
	switch d := got.parse(); {
	case d.err != nil:
		return a.fromPage(ctx, s, got)
	case d.feed.Moved != nil && d.feed.Moved.Gone:
		// spec:feedstate-2007#gone-xml
		return Added{}, fault.New(fault.NotFound, "The feed %s is permanently gone: it is an empty <redirect>.", location.Brief(s.URL))
	case d.feed.Format == feed.Redirect:
		_, decided := polling.Next(s.State, got.toAnswer(&s), a.now(), polling.Options{})
		return Added{}, fault.New(fault.Unreadable, "%s could not be read: %s.", location.Brief(s.URL), cmp.Or(decided.Failure, "a redirect document"))
	}
	return a.followNew(ctx, s, got)
}

// maySeeLogin reports whether the login may be sent to the server of url. Only the origin for
// which the user entered the login may receive it.
func (a *addition) maySeeLogin(url string) bool {
	return a.q.Login.Kind != "" && (a.origin == "" || a.origin == location.Origin(url))
}

// newSource returns a new source at url.
func (a *addition) newSource(url string) Source {
	now := a.now()
	s := Source{ID: SourceID(url), URL: url, State: polling.New(url, now), CreatedAt: now}
	if a.maySeeLogin(url) {
		s.ID, s.Login = rand.Int64N(1<<62)+1, a.q.Login
	}
	s.State.Interval = a.q.Interval
	return s
}

// followNew follows a new source and stores the items of its first response, so that no second
// request is needed. If the response came from the URL of an existing source, followNew follows
// that source instead.
//
// spec:cloudburst#river-add-reads-once
func (a *addition) followNew(ctx context.Context, s Source, got fetchResult) (Added, error) {
	end, err := fetch.Normal(got.res.URL)
	if end = a.canonical(end); err == nil && end != s.URL {
		if done, ok, err := a.followKnown(ctx, end); ok || err != nil {
			return done, err
		}
		// The feed moved permanently and no source has the old URL yet, so the new source gets
		// the new URL. A source with a login moves only if the new server may receive the login.
		if polling.Permanent(got.hops) && (a.q.Login.Kind == "" || a.maySeeLogin(end)) {
			s, got.hops = a.newSource(end), nil
		}
	}
	lease := a.options().Lease
	s.NextAt = a.now().Add(lease) // until this time, no other process fetches the source
	s.State.NextAt = s.NextAt
	done, err := a.follow(ctx, s)
	if err != nil || !done.Source.State.ReadAt.IsZero() {
		return done, err
	}
	claimed, err := runner{a.River}.claimOne(ctx, s.ID)
	if err == nil {
		_, err = checker{a.River}.saveNew(ctx, claimed, got)
	}
	switch {
	case err == nil:
	case fault.CodeOf(err) == fault.Conflict: // another process is checking the source and stores its items
	default:
		if done.New {
			a.undo(ctx, s.ID)
		}
		return Added{}, err
	}
	done.Followed, err = a.findFollowed(ctx, a.q.Reader, s.ID)
	return done, err
}

// undo removes a subscription if the first items of its source could not be stored.
func (a *addition) undo(ctx context.Context, id int64) {
	ctx, cancel := saveContext(ctx)
	defer cancel()
	_, err := a.Store.RiverUnsubscribe(ctx, a.q.Reader, []int64{id})
	a.logError(ctx, "cannot unfollow a feed whose items could not be stored", err)
	a.forget(a.q.Reader)
}

// follow makes the user follow s, which may be a new source.
func (a *addition) follow(ctx context.Context, s Source) (Added, error) {
	now := a.now()
	fresh, err := a.Store.RiverSubscribe(ctx, []Addition{{
		Subscription: Subscription{Reader: a.q.Reader, SourceID: s.ID, Title: a.q.Title, Categories: a.q.Categories, AddedAt: now, Interval: a.q.Interval},
		Source:       s,
	}}, now, maxFeeds(a.River, a.q.Operator))
	if fault.CodeOf(err) == fault.TooMany && err != nil {
		err = overLimit(maxFeeds(a.River, a.q.Operator))
	}
	if err != nil {
		return Added{}, err
	}
	a.forget(a.q.Reader)
	a.Wake()
	f, err := a.findFollowed(ctx, a.q.Reader, s.ID)
	if err == nil && a.q.Interval > 0 && f.Source.State.Interval != a.q.Interval && !f.Source.State.CheckedAt.IsZero() {
		f, err = a.Change(ctx, a.q.Reader, s.ID, func(s *Subscription) error { s.Interval = a.q.Interval; return nil })
	}
	return Added{Followed: f, New: len(fresh) == 1 && fresh[0]}, err
}

// findFollowed returns a user's subscription to a source. fault.NotFound: the user does not
// follow the source.
func (r *River) findFollowed(ctx context.Context, user string, source int64) (Followed, error) {
	list, err := r.Store.RiverSubscriptions(ctx, SubscriptionQuery{Reader: user, SourceID: source, Limit: 1})
	if err != nil {
		return Followed{}, err
	}
	if len(list) == 0 {
		return Followed{}, fault.New(fault.NotFound, "You do not follow a feed with the number %d.", source)
	}
	return list[0], nil
}

// lockAddress waits until no other request of this process fetches url for the first time.
// Requests that waited then find the stored source.
func (a *addition) lockAddress(ctx context.Context, url string) (unlock func(), err error) {
	for {
		a.listState.mu.Lock()
		busy := a.listState.addresses[url]
		if busy == nil {
			if a.listState.addresses == nil {
				a.listState.addresses = map[string]chan struct{}{}
			}
			done := make(chan struct{})
			a.listState.addresses[url] = done
			a.listState.mu.Unlock()
			return func() {
				a.listState.mu.Lock()
				delete(a.listState.addresses, url)
				a.listState.mu.Unlock()
				close(done)
			}, nil
		}
		a.listState.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, fault.Wrap(fault.Unavailable, ctx.Err(), "This took too long; please try again.")
		}
	}
}
