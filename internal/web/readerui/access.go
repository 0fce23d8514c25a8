package readerui

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/internal/fault"
	"cloudburst/internal/origin"
	"cloudburst/internal/river"
	"cloudburst/internal/river/rail"
	"cloudburst/internal/web/shell"
)

// River is the interface to the aggregator for the pages; river.River implements it.
type River interface {
	Items
	Following
	Sources
	Categories
	Lists
}

// Items reads and marks items.
type Items interface {
	Items(ctx context.Context, q river.ItemQuery) ([]river.Entry, error)
	Mark(ctx context.Context, reader string, ids []int64, read, starred *bool) (int, error)
	MarkAllRead(ctx context.Context, reader string, source int64, category string, to time.Time) error
	UndoAllRead(ctx context.Context, reader string, to time.Time) error
	CountUnread(ctx context.Context, reader string) (map[int64]river.Unread, error)
	Rail(ctx context.Context, q rail.Query) (rail.List, error)
}

// Following manages subscriptions of readers.
type Following interface {
	Add(ctx context.Context, q river.Request) (river.Added, error)
	Remove(ctx context.Context, reader string, sources ...int64) error
	Removed(ctx context.Context, reader string, source int64) (until time.Time, err error)
	UndoRemove(ctx context.Context, reader string, source int64) (river.Followed, error)
	Change(ctx context.Context, reader string, source int64, change func(*river.Subscription) error) (river.Followed, error)
	SetLogin(ctx context.Context, reader string, source int64, l river.Login) (river.Followed, error)
	Subscriptions(ctx context.Context, q river.SubscriptionQuery) ([]river.Followed, error)
	Following(ctx context.Context, reader string) (map[int64]bool, error)
}

// Sources manages the checks of feeds.
type Sources interface {
	Revive(ctx context.Context, reader string, source int64) (river.Followed, error)
	Undo(ctx context.Context, reader string, source int64) (river.Followed, error)
	Refresh(ctx context.Context, id int64) (river.Check, error)
	CheckSoon(ctx context.Context, reader string, sources []int64) (due int, err error)
	Explain(ctx context.Context, id int64) (river.Explanation, error)
}

// Categories manages the categories of a reader.
type Categories interface {
	Categories(ctx context.Context, reader string, unread bool) ([]river.Category, error)
	PutCategory(ctx context.Context, reader, name string, public bool) error
	RenameCategory(ctx context.Context, reader, from, to string) error
}

// Lists imports and exports lists of feeds, and follows reading lists.
type Lists interface {
	Import(ctx context.Context, reader string, doc io.Reader, o river.ImportOptions) (river.Imported, error)
	Export(ctx context.Context, reader, category string) (*opml.Document, error)
	ReadingLists(ctx context.Context, reader string) ([]river.ReadingList, error)
	DropReadingList(ctx context.Context, reader string, id int64, remove bool) error
}

// Listener receives new items; *river.Listener implements it.
type Listener interface {
	// C is closed if the listener was too slow.
	C() <-chan river.Arrival
	Close()
}

// access is a permission on a river.
type access int

const (
	accessNone  access = iota // no access
	accessRead                // reading public items, without private feeds and marks
	accessWrite               // reading and changing the user's own river
)

// readerOrReason returns the reader whose river the request r may show, and the permission of the
// request. An error means that the session could not be looked up.
func (s *base) readerOrReason(r *http.Request) (reader string, may access, err error) {
	v, err := s.FindVisitor(r)
	switch {
	case err != nil:
		return "", accessNone, err
	case v.User != "":
		if s.ReaderOf != nil {
			return s.ReaderOf(v.User), accessWrite, nil
		}
		return v.User, accessWrite, nil
	case s.Accounts == nil || s.Fresh != nil && s.Fresh(r.Context()):
		if s.isLocal(r) {
			return "", accessWrite, nil
		}
		return "", accessRead, nil
	case s.RiverPublic:
		return "", accessRead, nil
	}
	return "", accessNone, nil
}

// isLocal reports whether r comes from this machine and uses a host name of this machine. The Host
// check stops DNS rebinding: a page from another site sends the name of that site in Host. Requests
// through a proxy are not local. isLocal recognizes a proxy by its headers, by the public URL, or
// by HTTP/1.0, which no browser sends.
func (s *base) isLocal(r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) || origin.ThroughProxy(r) {
		return false
	}
	if s.PublicURL != "" {
		if u, err := url.Parse(s.PublicURL); err != nil || !loopbackHost(u.Host) {
			return false
		}
	}
	return s.CallerAddr(r).IsLoopback() && loopbackHost(r.Host)
}

// loopbackHost reports whether a host, with or without a port, is a loopback name or address.
func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}

// riverPage is a page of a reader's river.
type riverPage func(rw http.ResponseWriter, r *http.Request, reader string, may access) error

// forReader requires access of at least need for a page. It redirects signed-out users to the
// sign-in page, which leads back to the page. If no account exists, it shows an error.
func (s *base) forReader(need access, page riverPage) http.HandlerFunc {
	return s.Handle(func(rw http.ResponseWriter, r *http.Request) error {
		reader, may, err := s.readerOrReason(r)
		switch {
		case err != nil:
			return err
		case may >= need:
			if may == accessWrite {
				rw.Header().Set("Cache-Control", "private, no-cache")
			}
			return page(rw, r, reader, may)
		case s.Accounts == nil || s.Fresh != nil && s.Fresh(r.Context()):
			return fault.New(fault.Refused, "Only a user with an account, or a browser on the server's own machine, can change this. Create the first account.")
		}
		next := r.URL.RequestURI()
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			next = "/river"
		}
		rw.Header().Set("Cache-Control", "no-store")
		return shell.Redirect(rw, r, "/login?next="+url.QueryEscape(next))
	})
}

// ownerOf returns the name of a reader in the paths of public rivers.
func (s *base) ownerOf(reader string) string {
	if s.OwnerOf != nil {
		return s.OwnerOf(reader)
	}
	if reader == "" {
		return "server"
	}
	return reader
}

// readerOf returns the reader whose name in paths is owner.
func (s *base) readerOf(owner string) string {
	if owner == "server" {
		return ""
	}
	if s.ReaderOf != nil {
		return s.ReaderOf(owner)
	}
	return owner
}
