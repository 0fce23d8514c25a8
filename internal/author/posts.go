package author

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

// Posts are what people write here. Store and Feeds are needed; everything else
// may be left out. Do not copy it.
//
// A change of a published post is one transaction with the next version of its author's
// feed; then subscribers are told as of any feed that is saved ([Feeds.Put]).
type Posts struct {
	Store PostStore
	Feeds *Feeds // whose Store holds the documents, and who tells
	// Origin is where strangers reach this server ("https://example.com"): guids and
	// links are made of it.
	Origin func() string
	// About is what the document of a user's feed says of its address, its hub and its cloud.
	About func(user string) render.Options
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // nil is silent

	Limit     int    // characters of a short post [140]
	LimitMode string // LimitWarn, LimitStop or LimitOff [LimitWarn]
	MaxPosts  int    // published ones that a user may have; 0: any number
	Window    int    // posts that a feed has at least, and an archive page exactly [20]

	start   sync.Once
	wakeups chan struct{}
}

// What becomes of a short post that is longer than Limit.
const (
	LimitWarn = "warn" // it is published, and the interface that published it reports that
	LimitStop = "stop" // it is refused
	LimitOff  = "off"  // nothing is counted
)

// Edit is a change that somebody wants, or a new post.
type Edit struct {
	User string
	ID   int64 // 0: a new one
	// Base is the revision that it was made from: when the post is another by now the
	// edit is refused with a fault.Conflict. 0: whatever is there.
	Base int64
	// Change changes what is written; it may be called more than once, on a fresh copy
	// each time. nil: nothing changes.
	Change func(c *Content) error
	To     State     // Draft, Scheduled or Published; "": it stays as it is, and a new post is a Draft
	At     time.Time // when it is due, or the date that it has; zero: now, or as it is
	Slug   string    // wish for the address of a post that has none yet; "": made of its words
	Key    string    // see [Post].Key; "": none
	GUID   string    // of a new post that comes from elsewhere; "": made of its address
	Via    string    // by which it came, for the log: "write", "api", "metaWeblog", "micropub", "command"
	// NoUndo keeps nothing for Undo: of drafts that save themselves.
	NoUndo bool
}

// UndoWithin is how long the last change of a post can be taken back.
const UndoWithin = time.Minute

// errAgain means that the post changed between the look at it and the writing.
var errAgain = errors.New("the post has changed meanwhile")

// Save makes a post, or changes one; what readers see of it is on disk, and they are
// told, when it returns nil. The faults are for people: Invalid, NotFound, Conflict (Base,
// or the feed has moved), Refused (the user is disabled), TooMany (he has all the posts that he may have), Unavailable. After any of them everything is as before.
func (p *Posts) Save(ctx context.Context, e Edit) (Post, error) {
	ctx = withOrigin(ctx, SaveOrigin{At: p.now(), Via: e.Via, Kind: KindPost})
	if err := p.checkEdit(ctx, e); err != nil {
		return Post{}, err
	}
	for range 8 {
		post, err := p.trySave(ctx, e)
		if !errors.Is(err, errAgain) {
			return post, err
		}
	}
	return Post{}, fault.New(fault.Conflict, "The post is being changed by somebody else again and again; nothing was saved. Please try again.")
}

func (p *Posts) checkEdit(ctx context.Context, e Edit) error {
	if e.To != "" && e.To != Draft && e.To != Scheduled && e.To != Published {
		return fault.In(fault.New(fault.Invalid, "%q is no state in which a post can be saved: draft, scheduled or published.", clip(string(e.To))), "state")
	}
	if len(e.Key) > 200 {
		return fault.New(fault.Invalid, "The key of the post has %d bytes; at most 200 are accepted.", len(e.Key))
	}
	if p.Feeds.CheckUser == nil {
		return nil
	}
	return p.Feeds.CheckUser(ctx, e.User)
}

// save is one try: the text is made outside of the transaction, which waits for nothing.
func (p *Posts) trySave(ctx context.Context, e Edit) (Post, error) {
	was, err := p.load(ctx, e)
	if err != nil {
		return Post{}, err
	}
	with := editing{p, e}
	next, err := with.apply(was)
	if err != nil {
		return Post{}, err
	}
	if was.ID != 0 && reflect.DeepEqual(next, was) {
		return was, nil // nothing that anybody would see
	}
	if err := with.checkDraftQuota(ctx, &next); err != nil {
		return Post{}, err
	}
	converted := false
	if next.State == Published || was.State == Published {
		if converted, err = (converter{p}).convert(ctx, e.User); err != nil {
			return Post{}, err
		}
	}
	w := p.writing(e.User, e.Via)
	w.ID, w.Key, w.GUID, w.Renumber = e.ID, next.Key, e.GUID, converted
	w.Change = func(now Post, found bool, _ *Post, wr Writer, free func(string) (string, error)) (*Post, *Post, error) {
		if found {
			return nil, nil, nil // made before, by the same request
		}
		if now.Revision != was.Revision || now.State != was.State {
			return nil, nil, errAgain
		}
		return with.finalize(now, next, wr, free)
	}
	done, err := p.write(ctx, w)
	if err != nil {
		return Post{}, err
	}
	return done.Post, nil
}

// before is the post that an edit is of.
func (p *Posts) load(ctx context.Context, e Edit) (Post, error) {
	if e.ID == 0 {
		return Post{User: e.User, State: Draft}, nil
	}
	was, err := p.Store.Post(ctx, e.User, e.ID)
	switch {
	case err != nil:
		return Post{}, err
	case e.Base != 0 && e.Base != was.Revision:
		return Post{}, fault.New(fault.Conflict, "The post was changed elsewhere since it was opened here; nothing was saved. Both versions are still there: look at the other one, then save again.")
	case was.State == Deleted && e.To == "":
		return Post{}, fault.New(fault.Gone, "The post was deleted. Save it as a draft, or publish it, to bring it back.")
	}
	return was, nil
}

// editing applies one edit.
type editing struct {
	*Posts
	e Edit
}

// edited is what the post will be, as far as that does not depend on others.
func (p editing) apply(was Post) (Post, error) {
	next := was
	next.Content = was.Content.clone()
	if p.e.Change != nil {
		if err := p.e.Change(&next.Content); err != nil {
			return Post{}, err
		}
	}
	if err := checkContent(&next.Content); err != nil {
		return Post{}, err
	}
	if err := renderContent(&next.Content); err != nil {
		return Post{}, err
	}
	now := p.now()
	if next.State == "" || next.State == Deleted {
		next.State = Draft
	}
	if p.e.To != "" {
		next.State = p.e.To
	}
	if p.e.To == Published && p.e.At.Sub(now) > time.Minute {
		next.State = Scheduled // a date that is still to come
	}
	if p.e.Key != "" && was.ID == 0 {
		next.Key = p.e.Key
	}
	return next, p.setDates(&next, now)
}

// timed gives a post its dates, and says what cannot be published.
func (p editing) setDates(next *Post, now time.Time) error {
	at := p.e.At.UTC().Truncate(time.Millisecond)
	switch next.State {
	case Scheduled:
		if !at.IsZero() {
			next.DueAt = at
		}
		if next.DueAt.IsZero() {
			return fault.In(fault.New(fault.Invalid, "The post has no time at which it is to be published."), "at")
		}
		if !next.DueAt.After(now) && p.e.To != "" {
			return fault.In(fault.New(fault.Invalid, "%s is over, so the post cannot wait for it; publish it now, or choose a later time.", next.DueAt.Format("2 January 2006 15:04 MST")), "at")
		}
	case Published:
		next.DueAt = time.Time{}
		if !at.IsZero() {
			next.PublishedAt = at
		}
		if next.PublishedAt.IsZero() {
			next.PublishedAt = now
		}
	default:
		next.DueAt = time.Time{}
	}
	if next.State == Draft {
		return nil
	}
	if next.PublishedAt.Year() < 0 || next.PublishedAt.Year() > 9999 {
		return fault.In(fault.New(fault.Invalid, "The date of the post is in the year %d.", next.PublishedAt.Year()), "at")
	}
	if next.empty() {
		return fault.In(fault.New(fault.Invalid, "There is nothing in the post yet: write something, or add a file or a link."), "source")
	}
	if p.LimitMode == LimitStop {
		return p.measure(&next.Content).Refusal()
	}
	return nil
}

// place is what Writing.Change does: what depends on the other posts of the user.
func (p editing) finalize(now, next Post, w Writer, free func(string) (string, error)) (*Post, *Post, error) {
	if err := p.checkQuota(&now, &next, w); err != nil {
		return nil, nil, err
	}
	at := p.now()
	next.User, next.ID, next.Revision = now.User, now.ID, now.Revision
	if next.CreatedAt = now.CreatedAt; next.CreatedAt.IsZero() {
		next.CreatedAt = at
	}
	next.UpdatedAt = later(at, now.UpdatedAt)
	if next.State == Published {
		if now.State != Published && next.PublishedAt.Equal(at) || now.PublishedAt.IsZero() {
			next.UpdatedAt = later(next.UpdatedAt, next.PublishedAt)
		}
		if err := p.assignSlug(&next, w, free); err != nil {
			return nil, nil, err
		}
	}
	next.UndoUntil = time.Time{}
	var undo *Post
	if seen := now.State == Published || next.State == Published; seen && !p.e.NoUndo {
		was := now
		undo, next.UndoUntil = &was, at.Add(UndoWithin)
		if now.Revision == 0 { // publishing is taken back to a draft of the same
			was = next
			was.State = Draft
		}
	}
	return &next, undo, nil
}

// name gives a post that is published for the first time what stays with it.
func (p editing) assignSlug(next *Post, w Writer, free func(string) (string, error)) (err error) {
	if next.Seq == 0 {
		next.Seq = w.LastSeq + 1
	}
	if next.Slug == "" {
		wish := fold(p.e.Slug, "_", maxSlug)
		if wish == "" {
			wish = slugOf(next)
		}
		if next.Slug, err = free(wish); err != nil {
			return err
		}
	}
	if next.GUID == "" {
		next.GUID = p.e.GUID
	}
	if next.GUID == "" {
		next.GUID, next.PermaLink = p.Address(*next), true
	}
	return nil
}

// slugOf is an address made of a post's title, or of its time.
func slugOf(post *Post) string {
	if s := fold(post.Title, "_", 60); s != "" {
		return s
	}
	return post.PublishedAt.UTC().Format("150405")
}

// Delete takes a post away from everybody. For a while it can be brought back whole:
// within UndoWithin by Undo, and for thirty days by Save.
func (p *Posts) Delete(ctx context.Context, user string, id, base int64, via string) (Post, error) {
	if err := p.checkEdit(ctx, Edit{User: user}); err != nil {
		return Post{}, err
	}
	was, err := p.load(ctx, Edit{User: user, ID: id, Base: base, To: Draft})
	if err != nil {
		return Post{}, err
	}
	if was.State == Deleted {
		return was, nil
	}
	w := p.writing(user, via)
	w.ID = id
	if was.State == Published {
		if w.Renumber, err = (converter{p}).convert(ctx, user); err != nil {
			return Post{}, err
		}
	}
	w.Change = func(now Post, _ bool, _ *Post, _ Writer, _ func(string) (string, error)) (*Post, *Post, error) {
		if base != 0 && base != now.Revision {
			return nil, nil, fault.New(fault.Conflict, "The post was changed elsewhere since it was opened here; it was not deleted.")
		}
		next := now
		next.State, next.DueAt = Deleted, time.Time{}
		next.UpdatedAt = later(p.now(), now.UpdatedAt)
		next.UndoUntil = p.now().Add(UndoWithin)
		return &next, &now, nil
	}
	done, err := p.write(ctx, w)
	return done.Post, err
}

// Undo takes the last change of a post back that readers saw, or its deletion, within
// UndoWithin of it. A fault.Conflict says that there is nothing to take back.
func (p *Posts) Undo(ctx context.Context, user string, id int64, via string) (Post, error) {
	if err := p.checkEdit(ctx, Edit{User: user}); err != nil {
		return Post{}, err
	}
	was, err := p.Store.Post(ctx, user, id)
	if err != nil {
		return Post{}, err
	}
	w := p.writing(user, via)
	w.ID = id
	if was.Seq > 0 { // readers have seen it, and will see what comes of this
		if w.Renumber, err = (converter{p}).convert(ctx, user); err != nil {
			return Post{}, err
		}
	}
	w.Change = func(now Post, _ bool, before *Post, wr Writer, _ func(string) (string, error)) (*Post, *Post, error) {
		if before == nil || p.now().After(now.UndoUntil) {
			return nil, nil, fault.New(fault.Conflict, "There is nothing to take back: a change can be taken back for a minute.")
		}
		next := *before
		next.User, next.ID, next.Revision, next.CreatedAt = now.User, now.ID, now.Revision, now.CreatedAt
		next.GUID, next.PermaLink, next.Slug, next.Seq = now.GUID, now.PermaLink, now.Slug, now.Seq
		if next.State == Published && next.Seq == 0 { // an import has given all others their places anew
			next.Seq = wr.LastSeq + 1
		}
		next.UpdatedAt, next.UndoUntil = later(p.now(), now.UpdatedAt), time.Time{}
		return &next, nil, nil
	}
	done, err := p.write(ctx, w)
	return done.Post, err
}

// writing is what all changes have in common.
func (p *Posts) writing(user, via string) Writing {
	w := Writing{User: user, At: p.now(), Window: p.window(), Make: p.document(user)}
	w.Events = func(_ Post, _ Writer, f Feed, changed bool) []event.Event {
		if !changed || p.Feeds.Events == nil {
			return nil
		}
		return p.Feeds.Events(f, via)
	}
	return w
}

// write changes a post in the store, and tells of it.
func (p *Posts) write(ctx context.Context, w Writing) (Written, error) {
	events, stamped := w.Events, []event.Event(nil)
	w.Events = func(post Post, wr Writer, f Feed, changed bool) []event.Event {
		stamped = events(post, wr, f, changed)
		return stamped
	}
	done, err := p.Store.WritePost(ctx, w)
	// Also after an error: nobody knows whether the transaction went through.
	p.Feeds.cache.forget(w.User, Public)
	if err != nil {
		return Written{}, err
	}
	if done.Found {
		return done, nil
	}
	if p.Feeds.Publish != nil {
		p.Feeds.Publish(stamped...)
	}
	if done.Post.State == Scheduled {
		p.wakeRun()
	}
	if done.Feed.Version == 0 {
		return done, nil
	}
	// What is on disk stays there, whether the caller waits or not.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
	defer cancel()
	if done.Feed.Notified < done.Feed.Version {
		p.Feeds.notify(ctx, &done.Feed)
	}
	return done, nil
}

// Get returns a post in any state, or a fault.NotFound.
func (p *Posts) Get(ctx context.Context, user string, id int64) (Post, error) {
	return p.Store.Post(ctx, user, id)
}

// BySlug returns a published or deleted post by the last part of its path, or a
// fault.NotFound.
func (p *Posts) BySlug(ctx context.Context, user, slug string) (Post, error) {
	return p.Store.PostBySlug(ctx, user, slug)
}

// ByKey returns a post by its Key, or by its GUID if that is given, or a fault.NotFound.
func (p *Posts) ByKey(ctx context.Context, user, key, guid string) (Post, error) {
	return p.Store.PostByKey(ctx, user, key, guid)
}

// List lists posts.
func (p *Posts) List(ctx context.Context, q PostQuery) ([]Post, error) { return p.Store.Posts(ctx, q) }

// Counts are the numbers of published posts by month or category; see [PostStore].PostCounts.
func (p *Posts) Counts(ctx context.Context, user string, what CountOf, prefix string, limit int) ([]Count, error) {
	return p.Store.PostCounts(ctx, user, what, prefix, limit)
}

// Stamp grows with every change that readers see of the posts of a user ("": of all), within
// a category by its folded name ("": any); 0: there was none.
func (p *Posts) Stamp(ctx context.Context, user, category string) (int64, error) {
	return p.Store.PostsChanged(ctx, user, category)
}

// Sweep forgets what can no longer be taken back. Call it about once an hour.
func (p *Posts) Sweep(ctx context.Context) error {
	now := p.now()
	if err := p.Store.SweepPosts(ctx, now, now.Add(-30*24*time.Hour)); err != nil {
		return fmt.Errorf("sweep posts: %w", err)
	}
	return nil
}

func (p *Posts) now() time.Time {
	if p.Now != nil {
		return p.Now().UTC().Truncate(time.Millisecond)
	}
	return time.Now().UTC().Truncate(time.Millisecond)
}

func (p *Posts) log() *slog.Logger {
	if p.Log != nil {
		return p.Log
	}
	return slog.New(slog.DiscardHandler)
}

func (p *Posts) window() int {
	if p.Window > 0 {
		return p.Window
	}
	return 20
}

// later is t, or a moment after before where t is not later than that.
func later(t, before time.Time) time.Time {
	if t.After(before) {
		return t
	}
	return before.Add(time.Millisecond)
}
