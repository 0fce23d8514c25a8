package river

import (
	"context"
	"io"
	"time"

	"cloudburst/opml"
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
// returns; a page is looked through for its feeds. Errors: fault.Invalid (no URL that
// can be read), NotFound (a page without feeds, or its server says there is nothing),
// Unreadable (no usable answer, or neither feed nor page), Refused (its address may not
// be read), TooMany (the reader has as many as he may), Unavailable.
func (r *River) Add(ctx context.Context, q Request) (Added, error) { return Added{}, later() }

// Remove ends following. fault.NotFound.
func (r *River) Remove(ctx context.Context, reader string, sources ...int64) error { return later() }

// Change changes a subscription; change sees it as it is. fault.NotFound, Invalid.
func (r *River) Change(ctx context.Context, reader string, source int64, change func(*Subscription) error) (Followed, error) {
	return Followed{}, later()
}

// SetLogin gives the source that a reader follows alone another login (the zero Login:
// none); one that others follow too becomes a source of his own.
func (r *River) SetLogin(ctx context.Context, reader string, source int64, l Login) (Followed, error) {
	return Followed{}, later()
}

// Revive has a source read again that is gone or failing.
func (r *River) Revive(ctx context.Context, reader string, source int64) (Followed, error) {
	return Followed{}, later()
}

// Undo takes a source back to the address that it was moved from. fault.Conflict: it
// was not moved.
func (r *River) Undo(ctx context.Context, reader string, source int64) (Followed, error) {
	return Followed{}, later()
}

// Subscriptions lists what a reader follows, by name.
func (r *River) Subscriptions(ctx context.Context, q SubscriptionQuery) ([]Followed, error) {
	return nil, later()
}

// Find is the subscription of a reader at a URL, or with an id in decimal; fault.NotFound
// says what there is like it.
func (r *River) Find(ctx context.Context, reader, what string) (Followed, error) {
	return Followed{}, later()
}

// Following is the set of sources that a reader follows; it may be from a moment ago.
func (r *River) Following(ctx context.Context, reader string) (map[int64]bool, error) {
	return nil, later()
}

// Items lists entries. Words "feed:…" and "category:…" in q.Match restrict too.
// fault.Invalid.
func (r *River) Items(ctx context.Context, q ItemQuery) ([]Entry, error) { return nil, later() }

// Mark sets marks; nil leaves what was. At most 1,000 items.
func (r *River) Mark(ctx context.Context, reader string, ids []int64, read, starred *bool) error {
	return later()
}

// MarkAllRead makes everything up to a moment read (zero: now), of one source or category, or all.
func (r *River) MarkAllRead(ctx context.Context, reader string, source int64, category string, to time.Time) error {
	return later()
}

// CountUnread counts by source.
func (r *River) CountUnread(ctx context.Context, reader string) (map[int64]Unread, error) {
	return nil, later()
}

// Categories lists a reader's.
func (r *River) Categories(ctx context.Context, reader string, unread bool) ([]Category, error) {
	return nil, later()
}

// PutCategory makes a category, or makes it public or private.
func (r *River) PutCategory(ctx context.Context, reader, name string, public bool) error {
	return later()
}

// RenameCategory renames or merges; "" as the new name removes it, not its sources.
func (r *River) RenameCategory(ctx context.Context, reader, from, to string) error { return later() }

// Imported is what came of an import.
type Imported struct {
	Title    string
	Found    int // feeds in the document
	Added    int // that were not followed
	Had      int
	Lists    int      // reading lists that are followed now
	Skipped  int      // with no usable address
	Problems []string // for people, at most 100
}

// ImportOptions of an OPML import.
type ImportOptions struct {
	Category string                // put everything into it besides
	URL      string                // where the document comes from; "": a file
	Follow   bool                  // follow the URL as a reading list, instead of taking it over once
	Progress func(done, total int) // now and then; nil: not told
}

// Import follows the feeds of an OPML document. With Options.URL and no document (nil) it
// is read from there. Nothing is read of the feeds before it returns: they are due. All
// of it is on disk, or nothing. Errors: fault.Invalid (no OPML, with what it looks like),
// TooMany, Unreadable, Unavailable.
func (r *River) Import(ctx context.Context, reader string, doc io.Reader, o ImportOptions) (Imported, error) {
	return Imported{}, later()
}

// Export is a reader's list, or that of one category.
func (r *River) Export(ctx context.Context, reader, category string) (*opml.Document, error) {
	return nil, later()
}

// ReadingLists lists a reader's.
func (r *River) ReadingLists(ctx context.Context, reader string) ([]ReadingList, error) {
	return nil, later()
}

// DropReadingList ends following one. Its feeds stay, or go where remove is set.
func (r *River) DropReadingList(ctx context.Context, reader string, id int64, remove bool) error {
	return later()
}

// PutNotice makes or changes a notice. fault.Invalid, NotFound, TooMany.
func (r *River) PutNotice(ctx context.Context, n Notice) (Notice, error) { return Notice{}, later() }

// Notices lists a reader's.
func (r *River) Notices(ctx context.Context, reader string) ([]Notice, error) { return nil, later() }

// DropNotice ends one.
func (r *River) DropNotice(ctx context.Context, reader string, id int64) error { return later() }

// TryNotice sends the newest item of its river at once, and returns what went wrong.
func (r *River) TryNotice(ctx context.Context, reader string, id int64) error { return later() }
