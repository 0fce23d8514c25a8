package author

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// The feeds of each user: one for everybody, and one for the readers who have a secret.
const Public, Private = "rss", "private"

// MaxDocument is how large a document may be, in bytes.
const MaxDocument = 2 << 20

// Feed is what is known of a feed without its document.
type Feed struct {
	User, Name string // Name is Public or Private
	Version    int64  // raised by one with each change of the document, from 1
	Notified   int64  // the version that subscribers were told of last
	SavedAt    time.Time
	Type       string // Content-Type of the document
	Size       int64  // bytes of the document
	MovedTo    string // where the feed is now; "": here
	Temporary  bool   // MovedTo is where the feed is for a time only: readers keep its URL here
	Gone       bool   // it has ended
	Title      string // plain text, at most 255 characters
	Items      int
	Push       Push // by what readers of the document learn of changes
	AddCloud   bool // the public document is served with the cloud and hub of this server, where it names none
}

// Push is by what readers of a saved document learn of changes.
type Push string

// What a document says of that.
const (
	PushNamed   Push = ""         // it names a cloud or a hub, or was saved before this was recorded
	PushMissing Push = "missing"  // it names neither
	PushNoPlace Push = "no-place" // it names neither, and its format or encoding has no place for one
)

// Warning is what the author of a feed has to know about its document, in one sentence or
// two; "" for nothing.
func (f Feed) Warning() string {
	switch {
	case f.Name != Public, f.Gone, f.MovedTo != "": // nobody reads it here
	case f.Push == PushNoPlace:
		return "The document names neither a cloud nor a hub, and its format has no place for them: programs that look for them there learn of changes only when they read it again."
	case f.Push == PushMissing && !f.AddCloud:
		return "The document names neither a cloud nor a hub, so programs that look for them there learn of changes only when they read it again. Add this server's <cloud> to it, or let the server add it: on the page /account/feed, or with cloudburst feed cloud."
	}
	return ""
}

// Feeds are the saved feeds. Store is needed; everything else may be left out. Do not
// copy it.
type Feeds struct {
	Store Store
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // nil is silent
	// Known reports a fault when there is no such user, or nobody may write as him.
	// nil: everybody may.
	CheckUser func(ctx context.Context, user string) error
	// Tell tells subscribers of a public feed's new version. When it fails it is called
	// again later, with the version of then. nil: nobody is told.
	Notify func(ctx context.Context, f Feed) error
	// Late hears that a version could not be told: TellUntold is worth a call soon. It does
	// not block. nil: nobody hears.
	OnNotifyFailure func()
	// Own is the user whose feed has an address; "": it is none of this server's. nil: all
	// are elsewhere.
	Own func(url string) string
	// Shared means that other processes write to the same store.
	Shared bool
	// Memory bounds the documents that are kept in memory, in bytes [32 MiB].
	Memory int64
	// Events makes the events of a new version, stamped; they are written with it, and
	// handed to Publish afterwards. nil: none. It is asked about public feeds only.
	Events  func(f Feed, via string) []event.Event
	Publish func(events ...event.Event)

	cache       feedCache
	start       sync.Once
	inspections chan struct{}
}

// Save stores a document as the next version of a feed that it replaces whatever it
// is; see [Feeds.Put]. It must be XML, in UTF-8 if it does not say otherwise.
func (s *Feeds) Save(ctx context.Context, user, name string, doc []byte, via string) (Feed, error) {
	return s.Put(ctx, Document{User: user, Name: name, Bytes: doc, Via: via})
}

// Feed returns a feed, or a fault.NotFound.
func (s *Feeds) Feed(ctx context.Context, user, name string) (Feed, error) {
	f, _, err := s.find(ctx, user, name, false)
	return f, err
}

// Document returns a feed with its document, which is shared and must not be changed,
// or a fault.NotFound.
func (s *Feeds) Document(ctx context.Context, user, name string) (Feed, []byte, error) {
	return s.find(ctx, user, name, true)
}

// Move says that the feed is at another address now, to which its readers are sent.
//
// spec:feedstate-2007#redirect-publish
func (s *Feeds) Move(ctx context.Context, user, name, to string) (Feed, error) {
	return s.move(ctx, user, name, Place{MovedTo: to})
}

// MoveTemporarily sends readers to another URL until Restore; they keep the URL that the
// feed has here.
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
		return Feed{}, fault.New(fault.Invalid, "The new address %s is one of those that the feed has here, from which readers would be sent there for ever.", clip(to))
	}
	return s.place(ctx, user, name, place)
}

// End says that the feed is over. Its document is kept, and not served.
//
// spec:feedstate-2007#gone-publish
func (s *Feeds) End(ctx context.Context, user, name string) (Feed, error) {
	return s.place(ctx, user, name, Place{Gone: true})
}

// Restore brings a feed back that has moved or ended.
func (s *Feeds) Restore(ctx context.Context, user, name string) (Feed, error) {
	return s.place(ctx, user, name, Place{})
}

// AddCloud switches on or off that a user's public document is served with the cloud and the
// hub of this server, where it names neither. A change is a new version of the feed. Errors:
// fault.NotFound before anything was saved; fault.Unavailable.
//
// spec:cloudburst#add-cloud
func (s *Feeds) AddCloud(ctx context.Context, user string, on bool) (Feed, error) {
	f, err := s.Store.CloudSaved(ctx, user, Public, on, s.now())
	s.cache.forget(user, Public)
	if err != nil || f.Notified == f.Version {
		return f, err
	}
	// What is on disk stays there, whether the caller waits or not.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
	defer cancel()
	s.notify(ctx, &f)
	return f, nil
}

// Place is where a feed is; the zero value is here.
type Place struct {
	MovedTo         string
	Temporary, Gone bool
}

func (s *Feeds) place(ctx context.Context, user, name string, place Place) (Feed, error) {
	f, err := s.Store.PlaceSaved(ctx, user, name, place)
	s.cache.forget(user, name)
	return f, err
}

// List lists feeds by user and name, those after the place that after names
// ("alice/rss"; "" is the beginning). limit is at most 1,000; 0 means 100.
func (s *Feeds) List(ctx context.Context, after string, limit int) ([]Feed, error) {
	user, name, _ := strings.Cut(after, "/")
	return s.Store.SavedFeeds(ctx, user, name, limit)
}

// longestAddress is how long the address may be to which a feed moves.
const maxMoveURL = 2048

// checkAddress says what is wrong with the address to which a feed shall move.
func checkAddress(to string) error {
	u, err := url.Parse(to)
	switch {
	case to == "":
		return fault.New(fault.Invalid, "The new address is missing: name the URL at which the feed is now.")
	case len(to) > maxMoveURL:
		return fault.New(fault.Invalid, "The new address has %d bytes; at most %d are accepted.", len(to), maxMoveURL)
	case err != nil || u.Hostname() == "" || u.Opaque != "" || (u.Scheme != "http" && u.Scheme != "https") ||
		strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"<>\\^`{|}", r) }):
		return fault.New(fault.Invalid, "The new address %q is not the URL of a feed; it must begin with http:// or https:// and be percent-encoded.", clip(to))
	case u.User != nil:
		return fault.New(fault.Invalid, "The new address has a name or password in it, which every reader would see; leave it out.")
	}
	return nil
}

func checkFeed(user, name string) error {
	if name == Public || name == Private {
		return nil
	}
	return fault.New(fault.NotFound, "There is no feed %q of %s: the feeds are %s and %s.", clip(name), clip(user), Public, Private)
}

func clip(s string) string { return text.Clip(s, 200) }

func (s *Feeds) now() time.Time {
	if s.Now != nil {
		return s.Now().UTC().Truncate(time.Millisecond)
	}
	return time.Now().UTC().Truncate(time.Millisecond)
}

func (s *Feeds) log() *slog.Logger {
	if s.Log != nil {
		return s.Log
	}
	return slog.New(slog.DiscardHandler)
}

// key is how a feed is called in lists: "alice/rss".
func (f Feed) key() string { return fmt.Sprintf("%s/%s", f.User, f.Name) }
