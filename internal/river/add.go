package river

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/feedstate"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river/location"
)

// Request says what a reader wants to follow.
type Request struct {
	Reader     string
	URL        string // of a feed, or of a page that has feeds
	Title      string // the reader's own
	Categories []string
	Interval   time.Duration
	Login      Login // with its plain secret
	First      bool  // take the first feed of a page that has several, instead of asking
	Operator   bool  // the operator of the server asks: the limit is MostOfOperator
}

// Choice is a feed of a page that has several.
type Choice struct {
	URL    string
	Title  string
	Format string
	Kind   string // "feed", "comments", …
}

// Added is what came of a Request.
type Added struct {
	Followed
	New     bool     // it was not followed before
	Choices []Choice // the page has several feeds: nothing was added, ask with one of them
}

// Add follows a feed. A new one is read at once, and what it holds is there when Add
// returns; a page is looked through for its feeds. A feed that is known here already is
// not asked for anything. Errors: fault.Invalid (no URL that can be read), NotFound (a
// page without feeds, or its server says there is nothing), Unreadable (no usable answer,
// or neither feed nor page), Refused (its address may not be read, or its server wants a
// login: see NeedsLogin), TooMany (the reader has as many as he may), Unavailable.
func (r *River) Add(ctx context.Context, q Request) (Added, error) {
	r.Init()
	a, err := r.newAddition(q)
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
		done, ok, err := a.followKnown(ctx, u) // somebody else may have added it meanwhile
		if !ok && err == nil {
			done, err = a.fetchNew(ctx, u)
		}
		if ok || err == nil || i == len(a.urls)-1 || !noServerAnswered(err) {
			return done, err
		}
	}
	return Added{}, nil
}

// addition is one Add under way.
type addition struct {
	*River
	q      Request // its Login sealed
	urls   []string
	origin string // of what was typed: the only one that sees the login
}

func (r *River) newAddition(q Request) (*addition, error) {
	typed, err := r.address(q.URL)
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
		a.urls = a.urls[:1] // no password goes over http because https failed
	}
	if q.Title, err = checkTitle(q.Title); err != nil {
		return nil, err
	}
	if q.Categories, err = checkCategories(q.Categories); err != nil {
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

// known follows the source at url if there is one already that the reader may share.
//
// spec:cloudburst#river-one-reading
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

// read asks url for what it is.
func (a *addition) fetchNew(ctx context.Context, url string) (Added, error) {
	a.origin = originOf(url)
	s := a.newSource(url)
	got := checker{a.River}.fetchPaced(ctx, &s, feedstate.ByHand)
	if err := responseError(&s, got); err != nil {
		return Added{}, err
	}
	switch d := got.parse(); {
	case d.err != nil:
		return a.fromPage(ctx, s, got)
	case d.feed.Moved != nil && d.feed.Moved.Gone:
		// spec:feedstate-2007#gone-xml
		return Added{}, fault.New(fault.NotFound, "The feed %s is gone for good: it is an empty <redirect>.", location.Brief(s.URL))
	case d.feed.Format == feed.Redirect:
		_, decided := feedstate.Next(s.State, got.toAnswer(&s), a.now(), feedstate.Options{})
		return Added{}, fault.New(fault.Unreadable, "%s could not be read: %s.", location.Brief(s.URL), cmp.Or(decided.Failure, "a redirect document"))
	}
	return a.followNew(ctx, s, got)
}

// sees reports whether the server of url may see the login: it goes to the origin only
// that it was given for.
func (a *addition) maySeeLogin(url string) bool {
	return a.q.Login.Kind != "" && (a.origin == "" || a.origin == originOf(url))
}

// source is a new one at url.
func (a *addition) newSource(url string) Source {
	now := a.now()
	s := Source{ID: SourceID(url), URL: url, State: feedstate.New(url, now), CreatedAt: now}
	if a.maySeeLogin(url) {
		s.ID, s.Login = rand.Int64N(1<<62)+1, a.q.Login
	}
	s.State.Interval = a.q.Interval
	return s
}

// begin follows a new source and stores what its first answer held, so that it need not
// be asked for twice. Where the answer came from a source that there is already, that is
// followed instead.
//
// spec:cloudburst#river-one-reading
func (a *addition) followNew(ctx context.Context, s Source, got fetchResult) (Added, error) {
	end, err := fetch.Normal(got.res.URL)
	if end = a.canonical(end); err == nil && end != s.URL {
		if done, ok, err := a.followKnown(ctx, end); ok || err != nil {
			return done, err
		}
		// Nobody knows the old URL here yet, so the new one is stored at once. A login stays
		// with the server that it is for.
		if feedstate.Permanent(got.hops) && (a.q.Login.Kind == "" || a.maySeeLogin(end)) {
			s, got.hops = a.newSource(end), nil
		}
	}
	lease := a.options().Lease
	s.NextAt = a.now().Add(lease) // nobody else reads it meanwhile
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
	case fault.CodeOf(err) == fault.Conflict: // it is being read by somebody else
	default:
		if done.New {
			a.undo(ctx, s.ID)
		}
		return Added{}, err
	}
	done.Followed, err = a.findFollowed(ctx, a.q.Reader, s.ID)
	return done, err
}

// undo takes a subscription back whose first items could not be stored.
func (a *addition) undo(ctx context.Context, id int64) {
	ctx, cancel := saveContext(ctx)
	defer cancel()
	_, err := a.Store.RiverUnsubscribe(ctx, a.q.Reader, []int64{id})
	a.logError(ctx, "a feed that was not read at first stays followed", err)
	a.forget(a.q.Reader)
}

// follow makes the reader follow s, which may be new.
func (a *addition) follow(ctx context.Context, s Source) (Added, error) {
	now := a.now()
	fresh, err := a.Store.RiverSubscribe(ctx, []Addition{{
		Subscription: Subscription{Reader: a.q.Reader, SourceID: s.ID, Title: a.q.Title, Categories: a.q.Categories, AddedAt: now, Interval: a.q.Interval},
		Source:       s,
	}}, now, a.maxFeeds(a.q.Operator))
	if fault.CodeOf(err) == fault.TooMany && err != nil {
		err = overLimit(a.maxFeeds(a.q.Operator))
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

// one is the subscription of a reader.
func (r *River) findFollowed(ctx context.Context, reader string, source int64) (Followed, error) {
	list, err := r.Store.RiverSubscriptions(ctx, SubscriptionQuery{Reader: reader, SourceID: source, Limit: 1})
	if err != nil {
		return Followed{}, err
	}
	if len(list) == 0 {
		return Followed{}, fault.New(fault.NotFound, "You do not follow a feed with the number %d.", source)
	}
	return list[0], nil
}

// lockAddress has one reader at a time read an address for the first time: the others
// find it known then.
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

// originOf is the scheme, host and port of a normal URL.
func originOf(url string) string {
	for i, slashes := 0, 0; i < len(url); i++ {
		if url[i] == '/' {
			if slashes++; slashes == 3 {
				return url[:i]
			}
		}
	}
	return url
}
