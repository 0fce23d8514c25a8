package hub

import (
	"context"
	"net/netip"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

// Change is one line of the list of changes (changes.xml): a site or a feed of
// which somebody said that it changed. (At, Node, Seq) orders all of them.
type Change struct {
	Node, Seq int64
	At        time.Time // UTC, millisecond precision
	Name      string    // of the site or feed, as it was told; may be empty
	URL       string    // of the site, or of the feed where no site is known
	Feed      string    // of the feed; "": not known
	Page      string    // the page that changed; "": not known
	Tags      []string
	Door      string // event.Event.Door
}

// Cursor is the place of c.
func (c Change) Cursor() event.Cursor {
	return event.Cursor{At: c.At.UnixMilli(), Node: c.Node, Seq: c.Seq}
}

// Announcement says that a site changed, in the words of weblogs.com.
type Announcement struct {
	Name   string
	URL    string // of the site; it may be a feed itself
	Page   string // the page that changed; "": not told
	Feed   string // "": not told
	Tags   []string
	Door   string
	Source netip.Addr // who says so; the zero Addr is this program
	Hops   int
}

// Announced is what an announcement came to.
type Announced struct {
	Checking []string // followed feeds that are being checked because of it
	Looking  bool     // the site is being looked at for feeds that somebody follows
}

// Discoverer finds the feeds of a page.
type Discoverer interface {
	// Discover returns the URLs of the feeds that the page at url names, best
	// first; url itself when it is a feed. Errors as of Fetcher.
	Discover(ctx context.Context, url string) ([]string, error)
}

// Announce takes a ping of a site. When it returns, the change is listed and on
// disk, and so are the checks of the followed feeds that it means: the topics with
// one of its URLs, and those that call one of them their home or their own. If
// there are none, the site may be looked at afterwards for feeds that somebody
// follows, once in a while for each source. It does not wait for any reading.
//
// Errors: fault.Invalid (a URL that can be none), TooMany, Refused (the news has
// gone round), Unavailable.
func (h *Hub) Announce(ctx context.Context, a Announcement) (Announced, error) {
	return Announced{}, fault.New(fault.Unsupported, "not yet")
}
