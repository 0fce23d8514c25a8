package author

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/author/rules"
	"cloudburst/internal/date"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

// Posts creates, changes and publishes posts. Store and Feeds are required. Do not copy it.
//
// A change of a published post and the next version of its author's feed are one transaction. Then
// subscribers are notified as for any saved feed ([Feeds.Put]).
type Posts struct {
	Store PostStore
	Feeds *Feeds // Feeds stores the documents and notifies subscribers
	// Origin returns the public URL of this server ("https://example.com"), the base of guids and
	// links.
	Origin func() string
	// Locate returns the URL of a path on this server. For authors with their own domain, the URL is
	// on that domain. nil: all URLs are at Origin.
	Locate func(path string) string
	// About returns the render options of a user's feed: the URL, hub and cloud of the feed.
	About func(user string) render.Options
	Now   func() time.Time // clock; nil: time.Now
	Log   *slog.Logger     // nil: nothing is logged

	// Name returns the name that the post with this URL has in threads. nil: the name is the URL.
	Name func(url string) string
	// Replied is called after a post that replies to another item was published, changed or removed.
	// nil: not called.
	Replied func(ctx context.Context, p Post)
	// Changed is called after each change of posts or of a profile that visitors may see. nil: not
	// called.
	Changed func(ctx context.Context)

	Limit     int    // maximum characters of a short post [140]
	LimitMode string // LimitWarn, LimitStop or LimitOff; applies to authors who did not set a rule [LimitWarn]
	// Mentioned is called after a public change of a post. The store then lists the links of the
	// post for webmentions. nil: no webmentions are sent.
	Mentioned func()
	MaxPosts  int // maximum published posts of a user; 0: no limit
	Window    int // minimum number of posts in a feed, and number of posts in an archive page [20]

	start     sync.Once
	wakeups   chan struct{}
	importing atomic.Int64 // number of imports that are adding posts
}

// Modes for short posts that are longer than Limit.
const (
	LimitWarn = "warn" // the post is published, and the response contains a warning
	LimitStop = "stop" // the post is rejected
	LimitOff  = "off"  // no limit applies
)

// Edit is a change of a post, or a new post.
type Edit struct {
	User string
	ID   int64 // ID of the post to change; 0: a new post
	// Base is the revision that the edit is based on. If the post has another revision, the edit
	// fails with fault.Conflict. 0: any revision.
	Base int64
	// Change modifies the content. It may be called several times, each time with a new copy of the
	// content. nil: the content does not change.
	Change func(c *Content) error
	To     State     // Draft, Scheduled, Published, or ForGroups; "": the state does not change; a new post becomes a Draft
	At     time.Time // time of publication, or date of a published post, which a date in the future schedules; zero: now for a new publication, otherwise unchanged
	Slug   string    // preferred slug of a post that has no slug yet; "": the one of an earlier edit, or a slug from the title or the time
	Key    string    // see [Post].Key; "": no key
	GUID   string    // guid of a new post that was on another server; "": the guid is the URL of the post
	Via    string    // endpoint, for the log: "write", "api", "metaWeblog", "micropub", "command"
	// NoUndo means that no undo state is stored, as for automatic saves of drafts.
	NoUndo bool
	// Automatic means that a program saved the post without a request of the author. It limits
	// earlier versions; see MaxVersions.
	Automatic bool
}

// UndoWithin is the period in which the last change of a post can be undone.
const UndoWithin = time.Minute

// errAgain means that the post changed between the read and the write.
var errAgain = errors.New("the post was changed concurrently")

// Save creates or changes a post. When it returns nil, the public change is on disk and subscribers
// were notified. Nothing has changed if Save returns an error. Errors have texts for users:
// fault.Invalid, fault.NotFound (the post does not exist), fault.Conflict (the post has another
// revision than Base, or the feed has moved), fault.Refused (the user is disabled), fault.TooMany
// (the quota is reached), fault.Unavailable.
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
	return Post{}, fault.New(fault.Conflict, "Other programs keep changing the post; nothing was saved. Please try again.")
}

func (p *Posts) checkEdit(ctx context.Context, e Edit) error {
	if e.To != "" && e.To != Draft && e.To != Scheduled && !e.To.HasReaders() {
		return fault.In(fault.New(fault.Invalid, "%q is not a state of a saved post: use draft, scheduled, published or private.", clip(string(e.To))), "state")
	}
	if len(e.Key) > 200 {
		return fault.New(fault.Invalid, "The key of the post has %d bytes; at most 200 are accepted.", len(e.Key))
	}
	if p.Feeds.CheckUser == nil {
		return nil
	}
	return p.Feeds.CheckUser(ctx, e.User)
}

// trySave makes one attempt. It renders the text before the transaction begins, so that the
// transaction is short.
func (p *Posts) trySave(ctx context.Context, e Edit) (Post, error) {
	was, err := p.load(ctx, e)
	if err != nil {
		return Post{}, err
	}
	composer, err := p.Composer(ctx, e.User)
	if err != nil {
		return Post{}, err
	}
	with := editing{p, e, composer}
	next, err := with.apply(was)
	if err != nil {
		return Post{}, err
	}
	if was.ID != 0 && reflect.DeepEqual(next, was) {
		return was, nil // the edit changes nothing that readers see
	}
	if err := with.checkQuotaOf(ctx, was.State, &next); err != nil {
		return Post{}, err
	}
	if err := with.checkGroups(ctx, &was.Content, &next.Content); err != nil {
		return Post{}, err
	}
	converted := false
	if next.State == Published || was.State == Published {
		if converted, err = (converter{p}).convert(ctx, e.User); err != nil {
			return Post{}, err
		}
	}
	w := p.writing(e.User, e.Via)
	w.ID, w.Key, w.GUID, w.Renumber, w.Keep = e.ID, next.Key, e.GUID, converted, keepVersion(e.Automatic)
	w.Mention = w.Mention && (was.ID != 0 || mayLink(&next.Content))
	w.Change = func(now Post, found bool, _ *Post, wr Writer, free func(string) (string, error)) (*Post, *Post, error) {
		if found {
			return nil, nil, nil // a repeated request: the post already exists
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

// mayLink reports whether a content may contain a link or a file. If not, its HTML has no attributes.
func mayLink(c *Content) bool {
	return c.Reply != nil || c.Link != "" || len(c.Outline) > 0 || strings.Contains(c.HTML, "=")
}

// load returns the post that an edit changes.
func (p *Posts) load(ctx context.Context, e Edit) (Post, error) {
	if e.ID == 0 {
		return Post{User: e.User, State: Draft}, nil
	}
	was, err := p.Store.Post(ctx, e.User, e.ID)
	switch {
	case err != nil:
		return Post{}, err
	case e.Base != 0 && e.Base != was.Revision:
		return Post{}, fault.New(fault.Conflict, "The post was changed elsewhere since you opened it; nothing was saved. Both versions still exist: read the other one, then save again.")
	case was.State == Deleted && e.To == "":
		return Post{}, fault.New(fault.Gone, "The post was deleted. Save it as a draft, or publish it, to bring it back.")
	}
	return was, nil
}

// editing applies one edit.
type editing struct {
	*Posts
	e        Edit
	composer Composer
}

// apply returns the edited post without the fields that depend on other posts, which finalize sets.
func (p editing) apply(was Post) (Post, error) {
	next := was
	next.Content = was.Content.Clone()
	if p.e.Change != nil {
		if err := p.e.Change(&next.Content); err != nil {
			return Post{}, err
		}
	}
	if err := p.composer.compose(&next.Content); err != nil {
		return Post{}, err
	}
	now := p.now()
	if next.State == "" || next.State == Deleted {
		next.State = Draft
	}
	if p.e.To != "" {
		next.State = p.e.To
	}
	if p.e.To == ForGroups && len(next.Groups) == 0 {
		return Post{}, fault.In(fault.New(fault.Invalid, "A private post names at least one group; nothing was published."), "groups")
	}
	if next.State.HasReaders() && p.e.At.Sub(now) > time.Minute {
		next.State = Scheduled // the date is in the future
	}
	if next.State.HasReaders() { // the groups decide whether the post is public; the state of the caller is ignored
		if next.State = Published; len(next.Groups) > 0 {
			next.State = ForGroups
		}
	}
	if next.Slug == "" {
		next.SlugWish = cmp.Or(fold(p.e.Slug, "_", maxSlug), was.SlugWish)
	}
	if p.e.Key != "" && was.ID == 0 {
		next.Key = p.e.Key
	}
	return next, p.setDates(&next, now)
}

// setDates sets the dates of a post, and returns a fault if it cannot be published.
func (p editing) setDates(next *Post, now time.Time) error {
	at := p.e.At.UTC().Truncate(time.Millisecond)
	switch next.State {
	case Scheduled:
		if !at.IsZero() {
			next.DueAt = at
		}
		if next.DueAt.IsZero() {
			return fault.In(fault.New(fault.Invalid, "The scheduled post has no time of publication."), "at")
		}
		if !next.DueAt.After(now) && p.e.To != "" {
			return fault.In(fault.New(fault.Invalid, "%s is in the past; publish the post now, or choose a later time.", next.DueAt.Format("2 January 2006 15:04 MST")), "at")
		}
	case Published, ForGroups:
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
	if p.composer.Short == rules.ShortEnforce {
		return p.composer.measure(&next.Content).Refusal()
	}
	return nil
}

// finalize is the Change function of a Writing. It sets the fields that depend on the user's other
// posts.
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
	if next.State.HasReaders() {
		if !now.State.HasReaders() && next.PublishedAt.Equal(at) || now.PublishedAt.IsZero() {
			next.UpdatedAt = later(next.UpdatedAt, next.PublishedAt)
		}
		if err := p.assignSlug(&next, w, free); err != nil {
			return nil, nil, err
		}
	}
	next.UndoUntil = time.Time{}
	var undo *Post
	if seen := now.State.HasReaders() || next.State.HasReaders(); seen && !p.e.NoUndo {
		was := now
		undo, next.UndoUntil = &was, at.Add(UndoWithin)
		if now.Revision == 0 { // undoing the first publication turns the post into a draft
			was = next
			was.State = Draft
		}
	}
	return &next, undo, nil
}

// Delete removes a post everywhere. Undo can restore the post within UndoWithin, and Save can
// restore it for thirty days.
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
			return nil, nil, fault.New(fault.Conflict, "The post was changed elsewhere since you opened it; it was not deleted.")
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

// Undo reverts the last public change of a post, or its deletion, within UndoWithin.
// fault.Conflict: the last change cannot be undone any more.
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
	if was.Seq > 0 { // the post was public, so the feed changes
		if w.Renumber, err = (converter{p}).convert(ctx, user); err != nil {
			return Post{}, err
		}
	}
	w.Change = func(now Post, _ bool, before *Post, wr Writer, _ func(string) (string, error)) (*Post, *Post, error) {
		if before == nil || p.now().After(now.UndoUntil) {
			return nil, nil, fault.New(fault.Conflict, "There is nothing to undo: a change can be undone for a minute.")
		}
		next := *before
		next.User, next.ID, next.Revision, next.CreatedAt = now.User, now.ID, now.Revision, now.CreatedAt
		next.GUID, next.PermaLink, next.Slug, next.SlugWish, next.Seq = now.GUID, now.PermaLink, now.Slug, now.SlugWish, now.Seq
		if next.State == Published && next.Seq == 0 { // an import has renumbered the other posts since
			next.Seq = wr.LastSeq + 1
		}
		next.UpdatedAt, next.UndoUntil = later(p.now(), now.UpdatedAt), time.Time{}
		return &next, nil, nil
	}
	done, err := p.write(ctx, w)
	return done.Post, err
}

// writing returns a Writing with the fields that all kinds of changes share.
func (p *Posts) writing(user, via string) Writing {
	w := Writing{User: user, At: p.now(), Window: p.window(), Make: p.document(user), MakeGroup: groupDocument(p, user), Mention: p.Mentioned != nil, Keep: keepVersion(false)}
	w.Thread = func(post Post) ThreadPlace { return PlaceOf(post, p.Name) }
	w.Events = func(_ Post, _ Writer, f Feed, changed bool) []event.Event {
		if !changed || p.Feeds.Events == nil {
			return nil
		}
		return p.Feeds.Events(f, via)
	}
	return w
}

// write stores a change of a post, publishes its events and notifies subscribers.
func (p *Posts) write(ctx context.Context, w Writing) (Written, error) {
	events, stamped := w.Events, []event.Event(nil)
	w.Events = func(post Post, wr Writer, f Feed, changed bool) []event.Event {
		stamped = events(post, wr, f, changed)
		return stamped
	}
	done, err := p.Store.WritePost(ctx, w)
	// Forget the cached feed also after an error, because the transaction may have been committed.
	p.Feeds.cache.forget(w.User, Public)
	defer notifyChanged(ctx, p.Changed)
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
	if w.Mention {
		p.Mentioned()
	}
	if p.Replied != nil && done.Post.Reply != nil && done.Feed.Version > 0 {
		p.Replied(ctx, done.Post)
	}
	if done.Feed.Version == 0 && len(done.Groups) == 0 {
		return done, nil
	}
	// The version is on disk, so the notification continues even if the caller's context ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
	defer cancel()
	for _, f := range append(done.Groups, done.Feed) {
		if f.Notified < f.Version {
			p.Feeds.notify(ctx, &f)
		}
	}
	return done, nil
}

func (p *Posts) now() time.Time {
	return date.Now(p.Now).UTC().Truncate(time.Millisecond)
}

func (p *Posts) log() *slog.Logger {
	return cmp.Or(p.Log, slog.New(slog.DiscardHandler))
}

func (p *Posts) window() int {
	if p.Window > 0 {
		return p.Window
	}
	return 20
}

// later returns t, or one millisecond after before if t is not later than before.
func later(t, before time.Time) time.Time {
	if t.After(before) {
		return t
	}
	return before.Add(time.Millisecond)
}
