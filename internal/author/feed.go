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

// The feeds of each user: a public one, and one for readers with a secret.
const Public, Private = "rss", "private"

// MaxDocument is the maximum size of a document in bytes.
const MaxDocument = inspect.MaxBytes

// Feed is the state of a feed without its document.
type Feed struct {
	User, Name string // Name is Public, or that of a group, see [GroupFeed]
	Version    int64  // increases by one with each change of the document, from 1
	Notified   int64  // last version that subscribers were notified of
	SavedAt    time.Time
	Type       string // Content-Type of the document
	Size       int64  // bytes of the document
	MovedTo    string // new URL of the feed; "": it has not moved
	Temporary  bool   // MovedTo is temporary: readers keep the URL here
	Gone       bool   // the feed has ended
	Title      string // plain text, at most 255 characters
	Items      int
	Push       Push // cloud or hub in the document
	AddCloud   bool // serve the public document with this server's cloud and hub if it has none
}

// Push records whether a saved document names a cloud or a hub.
type Push = inspect.Push

// Values of Push.
const (
	PushNamed   = inspect.PushNamed
	PushMissing = inspect.PushMissing
	PushNoPlace = inspect.PushNoPlace
)

// Warning returns a warning for the author about the document, in one or two sentences; "": none.
func (f Feed) Warning() string {
	switch {
	case f.Name != Public, f.Gone, f.MovedTo != "": // the document is not served here
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
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // nil is silent
	// CheckUser returns a fault if there is no such user or the user may not publish. nil: every
	// user may publish.
	CheckUser func(ctx context.Context, user string) error
	// Notify notifies subscribers of a new version of a feed, public or private. After an error it is
	// called again later, with the version at that time. nil: no notifications.
	Notify func(ctx context.Context, f Feed) error
	// OnNotifyFailure is called when a notification failed and NotifyPending should be called soon.
	// It must not block. nil: no call.
	OnNotifyFailure func()
	// Own returns the user whose feed has a URL; "": the URL is not of this server. nil: no URL is.
	Own func(url string) string
	// Shared means that other processes write to the same store.
	Shared bool
	// Memory limits the cached documents in bytes [32 MiB].
	Memory int64
	// Events returns the stamped events of a new version of a public feed. They are stored with the
	// version and then passed to Publish. nil: none.
	Events  func(f Feed, via string) []event.Event
	Publish func(events ...event.Event)

	cache       feedCache
	start       sync.Once
	inspections chan struct{}
}

// Save stores a document as the next version of a feed, whatever the current version is; see
// [Feeds.Put]. It must be XML, in UTF-8 unless it declares another encoding.
func (s *Feeds) Save(ctx context.Context, user, name string, doc []byte, via string) (Feed, error) {
	return s.Put(ctx, Document{User: user, Name: name, Bytes: doc, Via: via})
}

// Feed returns a feed. fault.NotFound.
func (s *Feeds) Feed(ctx context.Context, user, name string) (Feed, error) {
	f, _, err := s.find(ctx, user, name, false)
	return f, err
}

// Document returns a feed with its document, which is shared and must not be modified.
// fault.NotFound.
func (s *Feeds) Document(ctx context.Context, user, name string) (Feed, []byte, error) {
	return s.find(ctx, user, name, true)
}

// Move redirects readers permanently to another URL.
//
// spec:feedstate-2007#redirect-publish
func (s *Feeds) Move(ctx context.Context, user, name, to string) (Feed, error) {
	return s.move(ctx, user, name, Place{MovedTo: to})
}

// MoveTemporarily redirects readers to another URL until Restore; they keep the URL of the feed
// here.
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
// server if it has neither. A change is a new version of the feed. Errors: fault.NotFound before
// the first save; fault.Unavailable.
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

// List lists feeds by user and name, after the given one ("alice/rss"; "": from the beginning).
// limit is at most 1,000; 0 means 100.
func (s *Feeds) List(ctx context.Context, after string, limit int) ([]Feed, error) {
	user, name, _ := strings.Cut(after, "/")
	return s.Store.SavedFeeds(ctx, user, name, limit)
}

// maxMoveURL is the maximum length of the new URL of a moved feed in bytes.
const maxMoveURL = 2048

// checkAddress returns a fault.Invalid if a feed cannot move to a URL.
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

// checkFeed rejects names of feeds for which users cannot save a document.
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

// key returns the name of a feed in the log: "alice/rss". It names no group.
func (f Feed) key() string {
	if f.Name != Public {
		return f.User + "/" + Private
	}
	return f.User + "/" + f.Name
}

// FeedPath returns the path of the public feed of an author as it is saved: "/alice/rss.xml".
func FeedPath(user string) string { return "/" + url.PathEscape(user) + "/rss.xml" }
