package author

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/author/inspect"
	"cloudburst/internal/date"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// Public is the name of a user's public feed. Private is the name of the feed of [DefaultGroup],
// which readers fetch with a secret.
const Public, Private = "rss", "private"

// MaxDocument is the maximum size of a document in bytes.
const MaxDocument = inspect.MaxBytes

// Feed is the state of a feed without its document.
type Feed struct {
	User, Name string // Name is Public, or the name of a group's feed, see [GroupFeed]
	Version    int64  // number of the document's version: 1, and increased by one with each change
	Notified   int64  // last version that subscribers were notified of
	SavedAt    time.Time
	Type       string // Content-Type of the document
	Size       int64  // size of the document in bytes
	MovedTo    string // new URL of the feed; "": it has not moved
	Temporary  bool   // the move is temporary: readers keep the URL on this server
	Gone       bool   // the author has ended the feed
	Title      string // plain text, at most 255 characters
	Items      int
	Push       Push // whether the document names a cloud or a hub
	AddCloud   bool // add this server's cloud and hub to the served public document if it names neither
}

// Push records whether a saved document names a cloud or a hub.
type Push = inspect.Push

// Values of Push.
const (
	PushNamed   = inspect.PushNamed
	PushMissing = inspect.PushMissing
	PushNoPlace = inspect.PushNoPlace
)

// Warning returns a warning for the author about the document, in one or two sentences; "": no
// warning.
func (f Feed) Warning() string {
	switch {
	case f.Name != Public, f.Gone, f.MovedTo != "": // this server does not serve the document as the public feed
	case f.Push == PushNoPlace:
		return "The document names neither a cloud nor a hub, and its format has no place for them: programs that look for them there learn of changes only when they read it again."
	case f.Push == PushMissing && !f.AddCloud:
		return "The document names neither a cloud nor a hub, so programs that look for them there learn of changes only when they read it again. Add this server's <cloud> to it, or let the server add it: on the page /account/feed, or with cloudburst feed cloud."
	}
	return ""
}

// Feeds stores and serves feed documents. Store is required. Do not copy it.
type Feeds struct {
	Store Store
	Now   func() time.Time // clock; nil: time.Now
	Log   *slog.Logger     // nil: nothing is logged
	// CheckUser returns a fault if the user does not exist or may not publish. nil: every user may
	// publish.
	CheckUser func(ctx context.Context, user string) error
	// Notify notifies subscribers of a new version of a feed, public or private. After an error,
	// NotifyPending calls Notify again with the version at that time. nil: nobody is notified.
	Notify func(ctx context.Context, f Feed) error
	// OnNotifyFailure is called after a failed notification, so that the caller runs NotifyPending
	// soon. It must not block. nil: not called.
	OnNotifyFailure func()
	// Own returns the user whose feed has this URL; "": the URL is not on this server. nil: no URL
	// is on this server.
	Own func(url string) string
	// Shared means that other processes write to the same store, so cached feeds can be outdated.
	Shared bool
	// Memory is the maximum size of all cached documents in bytes [32 MiB].
	Memory int64
	// Events returns the events, with their times set, of a new version of a public feed. The store
	// saves them with the version; then they are passed to Publish. nil: no events.
	Events  func(f Feed, via string) []event.Event
	Publish func(events ...event.Event)

	cache       feedCache
	start       sync.Once
	inspections chan struct{}
}

// Save stores a document as the next version of a feed and replaces any current version; see
// [Feeds.Put]. The document must be XML, in UTF-8 unless it declares another encoding.
func (s *Feeds) Save(ctx context.Context, user, name string, doc []byte, via string) (Feed, error) {
	return s.Put(ctx, Document{User: user, Name: name, Bytes: doc, Via: via})
}

// Feed returns a feed without its document. fault.NotFound: the feed does not exist.
func (s *Feeds) Feed(ctx context.Context, user, name string) (Feed, error) {
	f, _, err := s.find(ctx, user, name, false)
	return f, err
}

// Document returns a feed with its document, which is shared and must not be modified.
// fault.NotFound: the feed does not exist.
func (s *Feeds) Document(ctx context.Context, user, name string) (Feed, []byte, error) {
	return s.find(ctx, user, name, true)
}

// Move redirects readers permanently to another URL.
//
// spec:feedstate-2007#redirect-publish
func (s *Feeds) Move(ctx context.Context, user, name, to string) (Feed, error) {
	return s.move(ctx, user, name, Place{MovedTo: to})
}

// MoveTemporarily redirects readers to another URL until Restore. Readers keep the URL of the feed
// on this server.
//
// spec:feedstate-2007#redirect-publish
func (s *Feeds) MoveTemporarily(ctx context.Context, user, name, to string) (Feed, error) {
	return s.move(ctx, user, name, Place{MovedTo: to, Temporary: true})
}

func (s *Feeds) move(ctx context.Context, user, name string, place Place) (Feed, error) {
	to := place.MovedTo
	if err := checkAddress(to); err != nil {
		return Feed{}, err
	}
	if s.Own != nil && s.Own(to) == user {
		return Feed{}, fault.New(fault.Invalid, "The new address %s is one of the feed's own URLs here, so readers would be redirected forever.", clip(to))
	}
	return s.setPlace(ctx, user, name, place)
}

// End ends the feed. Its document stays stored but is not served.
//
// spec:feedstate-2007#gone-publish
func (s *Feeds) End(ctx context.Context, user, name string) (Feed, error) {
	return s.setPlace(ctx, user, name, Place{Gone: true})
}

// Restore reverts Move, MoveTemporarily and End.
func (s *Feeds) Restore(ctx context.Context, user, name string) (Feed, error) {
	return s.setPlace(ctx, user, name, Place{})
}

// AddCloud sets whether a user's public document is served with the cloud and the hub of this
// server if it has neither. A change is a new version of the feed. Errors: fault.NotFound (the user
// has not saved a feed), fault.Unavailable.
//
// spec:cloudburst#add-cloud
func (s *Feeds) AddCloud(ctx context.Context, user string, on bool) (Feed, error) {
	f, err := s.Store.CloudSaved(ctx, user, Public, on, s.now())
	s.cache.forget(user, Public)
	if err != nil || f.Notified == f.Version {
		return f, err
	}
	// The version is on disk, so subscribers are notified even if the request is canceled.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
	defer cancel()
	s.notify(ctx, &f)
	return f, nil
}

// Place is the location of a feed; the zero value is this server.
type Place struct {
	MovedTo         string
	Temporary, Gone bool
}

func (s *Feeds) setPlace(ctx context.Context, user, name string, place Place) (Feed, error) {
	f, err := s.Store.PlaceSaved(ctx, user, name, place)
	s.cache.forget(user, name)
	return f, err
}

// List lists feeds sorted by user and name. It begins with the feed that follows the feed after,
// such as "alice/rss"; "": from the beginning. limit is at most 1,000; 0 means 100.
func (s *Feeds) List(ctx context.Context, after string, limit int) ([]Feed, error) {
	user, name, _ := strings.Cut(after, "/")
	return s.Store.SavedFeeds(ctx, user, name, limit)
}

// maxMoveURL is the maximum length in bytes of the URL that a feed moves to.
const maxMoveURL = 2048

// checkAddress returns a fault.Invalid if a feed cannot move to this URL.
func checkAddress(to string) error {
	u, err := url.Parse(to)
	switch {
	case to == "":
		return fault.New(fault.Invalid, "The new address is missing: enter the URL of the feed.")
	case len(to) > maxMoveURL:
		return fault.New(fault.Invalid, "The new address has %d bytes; at most %d are accepted.", len(to), maxMoveURL)
	case err != nil || u.Hostname() == "" || u.Opaque != "" || (u.Scheme != "http" && u.Scheme != "https") ||
		strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"<>\\^`{|}", r) }):
		return fault.New(fault.Invalid, "The new address %q is not the URL of a feed; it must begin with http:// or https:// and be percent-encoded.", clip(to))
	case u.User != nil:
		return fault.New(fault.Invalid, "The new address contains a user name or password, which every reader would see; remove it.")
	}
	return nil
}

// checkFeed returns a fault if users cannot save a document for a feed with this name.
func checkFeed(user, name string) error {
	if name == Public || name == Private {
		return nil
	}
	return noFeed(user, name)
}

func noFeed(user, name string) error {
	return fault.New(fault.NotFound, "There is no feed %q of %s: the feeds are %s and %s.", clip(name), clip(user), Public, Private)
}

func clip(s string) string { return text.Clip(s, 200) }

func (s *Feeds) now() time.Time {
	return date.Now(s.Now).UTC().Truncate(time.Millisecond)
}

func (s *Feeds) log() *slog.Logger {
	return cmp.Or(s.Log, slog.New(slog.DiscardHandler))
}

// key returns the name of a feed for the log: "alice/rss". The key of a private feed does not
// contain the group.
func (f Feed) key() string {
	if f.Name != Public {
		return f.User + "/" + Private
	}
	return f.User + "/" + f.Name
}

// FeedPath returns the path of the public feed of an author as the author saved it:
// "/alice/rss.xml".
func FeedPath(user string) string { return "/" + url.PathEscape(user) + "/rss.xml" }
