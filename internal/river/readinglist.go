package river

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/opml"
	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river/location"
	"cloudburst/internal/text"
)

const (
	maxLists        = 100 // maximum number of lists of one user, including lists within other lists
	maxListDepth    = 5   // maximum depth of lists within lists
	minListInterval = time.Hour
	maxListInterval = 24 * time.Hour
	doubtPeriod     = time.Hour
	listRetry       = time.Minute // wait after a local failure before the list is fetched again
)

// newList returns a user's list at a normalized URL. The ID is derived from the user and the URL,
// so a user has at most one list per URL.
func newList(user, url string, now time.Time) ReadingList {
	return ReadingList{ID: text.ID("list\x00" + user + "\x00" + url), Reader: user, URL: url, State: polling.New(url, now), NextAt: now}
}

// ReadingLists lists the reading lists that a user follows, including lists within other lists.
func (r *River) ReadingLists(ctx context.Context, user string) ([]ReadingList, error) {
	r.Init()
	return r.Store.ReadingLists(ctx, user)
}

// DropReadingList unfollows a reading list and the lists that it includes. The feeds of these
// lists stay followed as the user's own feeds. With remove, the feeds are unfollowed unless the
// user starred one of their items. fault.NotFound: the user does not follow the list.
func (r *River) DropReadingList(ctx context.Context, user string, id int64, remove bool) error {
	r.Init()
	lists, err := r.Store.ReadingLists(ctx, user)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(lists, func(l ReadingList) bool { return l.ID == id }) {
		return fault.New(fault.NotFound, "You do not follow a reading list with the number %d.", id)
	}
	return listReader{r}.dropLists(ctx, user, []int64{id}, lists, remove)
}

// listReader fetches reading lists and applies the changes of their documents.
type listReader struct{ *River }

// dropLists removes lists and the lists that they include. With remove, it also removes the feeds
// that are in none of the user's other lists. It changes lists, which has all lists of the user.
func (r listReader) dropLists(ctx context.Context, user string, ids []int64, lists []ReadingList, remove bool) error {
	for i := 0; i < len(ids); i++ {
		for _, l := range lists {
			if l.Memory.Parent == ids[i] && !slices.Contains(ids, l.ID) {
				ids = append(ids, l.ID)
			}
		}
	}
	lists = slices.DeleteFunc(lists, func(l ReadingList) bool { return slices.Contains(ids, l.ID) })
	for _, id := range slices.Backward(ids) {
		if remove {
			subs, err := r.Store.RiverSubscriptions(ctx, SubscriptionQuery{Reader: user, ListID: id})
			if err == nil {
				err = r.releaseFeeds(ctx, user, id, subs, lists)
			}
			if err != nil {
				return err
			}
		}
		if err := r.Store.DropReadingList(ctx, user, id); err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
	}
	return nil
}

// followList makes the user follow a document as a reading list. The document was just fetched.
func (r listReader) followList(ctx context.Context, user string, s Source, got fetchResult, list *opml.Stream, o ImportOptions) (Imported, error) {
	now := r.now()
	l := newList(user, s.URL, now)
	l.Category = o.Category
	lists, err := r.Store.ReadingLists(ctx, user)
	switch {
	case err != nil:
		return Imported{}, err
	case slices.ContainsFunc(lists, func(h ReadingList) bool { return h.ID == l.ID }):
		return Imported{}, fault.New(fault.Conflict, "You already follow the reading list %s.", location.Brief(l.URL))
	case len(lists) >= maxLists:
		return Imported{}, fault.New(fault.TooMany, "You follow %d reading lists, which is the limit.", len(lists))
	}
	var c listedSources
	t, err := importer(r).newBatchFollower(ctx, user, o.Operator)
	if err != nil {
		return Imported{}, err
	}
	how := gatherOptions{category: o.Category, base: got.res.URL, list: l.ID, progress: o.Progress}
	g, err := importer(r).gather(ctx, user, list, how, func(batch []Addition) error {
		c.add(batch)
		return t.batch(batch)
	})
	out := t.result(g.imported)
	if err == nil {
		err = importer(r).addLists(ctx, user, g.lists, &out)
	}
	if err == nil {
		l.Title = g.imported.Title
		r.decide(&l, answerOf(got, list, nil), now)
		l.remember(&c, g.lists)
		l.forgetOverLimit(t, polling.State{})
		// The list is stored after its feeds: after a crash in between, the feeds exist without
		// the list, instead of a list that looks complete.
		err = r.Store.AddReadingList(ctx, l)
	}
	r.forget(user)
	if err != nil {
		r.undoList(ctx, user, l.ID)
		return Imported{}, err
	}
	out.Lists++
	r.Wake()
	return out, nil
}

// listedSources collects the IDs of the sources of a list, batch by batch.
type listedSources struct{ ids []int64 }

func (c *listedSources) add(batch []Addition) {
	for i := range batch {
		c.ids = append(c.ids, batch[i].SourceID)
	}
}

// forgetOverLimit removes the feeds beyond the user's limit from Memory.Last, so that the next
// check tries to add them again. It restores the validators and the hash of before, so that the
// next check reads the whole document.
func (l *ReadingList) forgetOverLimit(t *batchFollower, before polling.State) {
	if t.over.len() == 0 {
		return
	}
	l.Memory.Last = difference(l.Memory.Last, t.over.all())
	l.Problem, l.State.Validators, l.State.Hash = t.overText(), before.Validators, before.Hash
}

// undoList removes the feeds that a list added, because the list itself could not be stored.
func (r listReader) undoList(ctx context.Context, user string, id int64) {
	ctx, cancel := saveContext(ctx)
	defer cancel()
	lists, err := r.Store.ReadingLists(ctx, user)
	if err != nil || slices.ContainsFunc(lists, func(l ReadingList) bool { return l.ID == id }) {
		return // keep the feeds: another request has stored the same list
	}
	subs, err := r.Store.RiverSubscriptions(ctx, SubscriptionQuery{Reader: user, ListID: id})
	if err == nil {
		err = r.releaseFeeds(ctx, user, id, subs, lists)
	}
	for _, l := range lists {
		if l.Memory.Parent == id && err == nil {
			err = r.Store.DropReadingList(ctx, user, l.ID)
		}
	}
	r.logError(ctx, "cannot remove the feeds of a reading list", err)
}

// readList checks a claimed list and applies its changes to the user's feeds.
func (r listReader) readList(ctx context.Context, l ReadingList) {
	if err := r.readListOnce(ctx, &l); err != nil && ctx.Err() == nil {
		r.logError(ctx, "cannot check a reading list", err)
		l.NextAt = r.now().Add(listRetry)
		_, err = r.Store.SaveReadingList(ctx, l)
		r.logError(ctx, "cannot postpone a reading list", err)
	}
}

func (r listReader) readListOnce(ctx context.Context, l *ReadingList) error {
	now := r.now()
	s := Source{URL: l.State.URL, State: l.State}
	if s.URL == "" {
		s.URL, s.State.URL = l.URL, l.URL
		l.State.URL = l.URL
	}
	if !l.Memory.DoubtAt.IsZero() {
		s.State.Validators = polling.Validators{} // fetch the whole document, which is needed to confirm the loss of feeds
	}
	got := checker(r).fetchPaced(ctx, &s, polling.Poll)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var list *opml.Stream
	var bad error
	if got.err == nil && got.res.OK() && !got.res.NotModified {
		list, bad = readOPML(bytes.NewReader(got.res.Body), got.res.Header.Get("Content-Type"))
	}
	before := *l
	r.decide(l, answerOf(got, list, bad), now)
	if list != nil {
		if err := r.reconcile(ctx, l, list, got.res.URL, &before); err != nil {
			return err
		}
	}
	c, cancel := saveContext(ctx)
	defer cancel()
	_, err := r.Store.SaveReadingList(c, *l)
	return err
}

// answerOf converts the result of a fetch for package polling. A list is a feed without hints.
func answerOf(got fetchResult, list *opml.Stream, bad error) polling.Answer {
	a := polling.Answer{Hops: got.hops}
	if got.err != nil {
		a.Error, a.Detail = polling.ErrUnreachable, fetch.Text(got.err)
		if kind := fetch.KindOf(got.err); kind == fetch.Ours || fault.CodeOf(got.err) != fault.Internal {
			a.Error = polling.ErrLocal
		}
		return a
	}
	a.Status, a.Header, a.URL = got.res.Status, got.res.Header, got.res.URL
	if !got.res.OK() {
		return a
	}
	sum := sha256.Sum256(got.res.Body)
	a.Hash = hex.EncodeToString(sum[:])
	if list != nil {
		a.Hints = &feed.Hints{}
	} else if bad != nil {
		a.Hash, a.Looks = "", notOPML(bad)
	}
	return a
}

// decide applies a response and sets the time of the next check. The list is checked again after a
// quarter of the time since its last change, but after at least an hour and at most a day.
// Failures can delay the check further.
//
// spec:cloudburst#reading-list-interval
func (r listReader) decide(l *ReadingList, a polling.Answer, now time.Time) {
	state, d := polling.Next(l.State, a, now, polling.Options{Jitter: rand.Float64()})
	l.State, l.ReadAt, l.Problem = state, now, ""
	if d.Failure != "" {
		l.Problem = text.ClipRunes(text.PlainLine(d.Failure), 300)
	}
	if d.Gone {
		l.NextAt = time.Time{}
		l.Problem = "Its server reports that it is permanently gone: its feeds stay as they are."
		return
	}
	wait := min(max(now.Sub(state.ChangedAt)/4, minListInterval), maxListInterval)
	l.NextAt = state.NextAt
	if at := now.Add(wait); l.NextAt.Before(at) {
		l.NextAt = at
	}
	l.State.NextAt = l.NextAt
}

// remember stores the IDs of the feeds and lists of the document in l.Memory.
func (l *ReadingList) remember(c *listedSources, lists []ReadingList) {
	slices.Sort(c.ids)
	c.ids = slices.Compact(c.ids)
	l.Feeds = len(c.ids)
	l.Memory.Last = slices.Clone(c.ids)
	for i := range lists {
		l.Memory.Last = append(l.Memory.Last, lists[i].ID)
	}
	slices.Sort(l.Memory.Last)
}
