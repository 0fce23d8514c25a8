// Package readhttp connects the river to reading apps, by the protocols of Google Reader and Fever,
// and to the webhooks and mailboxes that new items are forwarded to.
package readhttp

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/feed/render"
	"cloudburst/internal/account"
	"cloudburst/internal/date"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/serve"
)

// AppRiver is the part of the river that reading apps use. [*river.River] implements it.
type AppRiver interface {
	AppSubscriptions
	AppItems
	AppCategories
}

// AppSubscriptions finds and changes the feeds that a user follows.
type AppSubscriptions interface {
	Add(ctx context.Context, q river.Request) (river.Added, error)
	Remove(ctx context.Context, reader string, sources ...int64) error
	Change(ctx context.Context, reader string, source int64, change func(*river.Subscription) error) (river.Followed, error)
	Subscriptions(ctx context.Context, q river.SubscriptionQuery) ([]river.Followed, error)
	Find(ctx context.Context, reader, what string) (river.Followed, error)
	Following(ctx context.Context, reader string) (map[int64]bool, error)
	Import(ctx context.Context, reader string, doc io.Reader, o river.ImportOptions) (river.Imported, error)
	Export(ctx context.Context, reader, category string) (*opml.Document, error)
}

// AppItems finds items and marks them.
type AppItems interface {
	Items(ctx context.Context, q river.ItemQuery) ([]river.Entry, error)
	Mark(ctx context.Context, reader string, ids []int64, read, starred *bool) (int, error)
	MarkAllRead(ctx context.Context, reader string, source int64, category string, to time.Time) error
	CountUnread(ctx context.Context, reader string) (map[int64]river.Unread, error)
}

// AppCategories lists and renames categories.
type AppCategories interface {
	Categories(ctx context.Context, reader string, unread bool) ([]river.Category, error)
	RenameCategory(ctx context.Context, reader, from, to string) error
}

// Apps serves the endpoints for reading apps: the APIs of Google Reader and Fever. River and
// Accounts must be set. Do not copy an Apps.
type Apps struct {
	River    AppRiver
	Accounts *account.Accounts
	Public   func() string            // origin of this server's pages; nil: unknown
	ReaderOf func(user string) string // name by which the river knows a user; nil: the name of the user
	Trusted  []netip.Prefix           // see [endpoint.CallerAddr]
	Now      func() time.Time         // nil: time.Now
	Log      *slog.Logger             // nil: no log

	mu    sync.Mutex
	known map[string]*numbers // key: reader
}

func (a *Apps) reader(user string) string {
	if a.ReaderOf == nil {
		return user
	}
	return a.ReaderOf(user)
}

func (a *Apps) now() time.Time {
	return date.Now(a.Now)
}

// settleDelay is how long a new item is withheld from apps that page by arrival. Items that arrive
// at the same time may be stored out of order; if an app received the item with the larger number
// first, it would never request the other one.
const settleDelay = 5 * time.Second

// settledBefore returns the First below which items may be served. The result is at most before; a
// before of 0 means no limit.
//
// spec:cloudburst#app-settled
func (a *Apps) settledBefore(before int64) int64 {
	end := a.now().Add(-settleDelay).UnixMicro()
	if before > 0 {
		end = min(end, before)
	}
	return end
}

// caller describes the client, for the limits of login attempts.
func (a *Apps) caller(r *http.Request, via string) account.Caller {
	from := account.Caller{Via: via}
	if r != nil {
		from.Addr = endpoint.CallerAddr(r, a.Trusted)
	}
	return from
}

// appStatus returns the status and public message of an error for apps. If unknown is true, the
// error must not be shown.
func appStatus(err error) (status int, msg string, after time.Duration, unknown bool) {
	switch {
	case errors.Is(err, account.ErrScope):
		status = http.StatusForbidden
	case fault.CodeOf(err) == fault.Internal:
		return 0, "", 0, true
	case fault.CodeOf(err) == fault.Invalid:
		status = http.StatusBadRequest
	case fault.CodeOf(err) == fault.Unreadable: // the URL is wrong; this server is not at fault
		status = http.StatusUnprocessableEntity
	default:
		status = endpoint.StatusOf(err)
	}
	return status, fault.Message(err), fault.RetryAfter(err), false
}

// appText returns a plain text that is safe for apps that treat it as HTML. Markup characters
// become similar characters that are not markup.
//
// spec:cloudburst#app-titles
func appText(s string) string {
	if !strings.ContainsAny(s, "<>&") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '<':
			b.WriteString("＜")
		case c == '>':
			b.WriteString("＞")
		case c == '&' && entity(s[i+1:]):
			b.WriteString("＆")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// entity reports whether s, after an ampersand, forms an entity.
func entity(s string) bool {
	name, _, ok := strings.Cut(s[:min(len(s), 40)], ";")
	return ok && name != "" && strings.Trim(strings.ToLower(name), "#0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// shortTitle is the maximum length in characters of a title taken from the text.
const shortTitle = 80

// appTitle returns the title of an item. For an item without a title it returns the start of the
// text, the name of the first file or the title of the feed, because apps show arbitrary text in
// place of an empty title.
//
// spec:cloudburst#app-untitled
func appTitle(e *river.Entry) string {
	if strings.TrimSpace(e.Title) != "" {
		return e.Title
	}
	files := e.Image
	if len(e.Enclosures) > 0 {
		files = cmp.Or(e.Enclosures[0].Title, e.Enclosures[0].URL)
	}
	if u, err := url.Parse(files); err == nil && u.Host != "" {
		files = path.Base(u.Path)
	}
	for _, text := range []string{e.Text, files, e.Source.Title} {
		if text = render.FirstWords(text, shortTitle); text != "" && text != "/" && text != "." {
			return text
		}
	}
	return e.Source.URL
}

// link returns the URL of an item, because apps require one. For an item without a URL it returns
// the item's page on this server.
func (a *Apps) link(e *river.Entry) string {
	for _, link := range []string{e.Link, e.Comments} {
		if link != "" {
			return link
		}
	}
	for _, enc := range e.Enclosures {
		return enc.URL
	}
	if a.Public != nil {
		return a.Public() + "/river/item/" + strconv.FormatInt(e.ID, 10)
	}
	if e.Source.Home != "" {
		return e.Source.Home
	}
	return e.Source.URL
}

// appHTML returns the full text of an item, with its image and nested items.
func appHTML(c *river.Content) string {
	if c.Image == "" && len(c.Nested) == 0 {
		return c.HTML
	}
	var b strings.Builder
	if c.Image != "" {
		b.WriteString(`<p><img src="` + html.EscapeString(c.Image) + `" alt=""></p>`)
	}
	b.WriteString(c.HTML)
	for i := range c.Nested {
		inner := &c.Nested[i]
		b.WriteString("<blockquote>")
		if inner.Title != "" {
			b.WriteString("<p><strong>" + html.EscapeString(inner.Title) + "</strong></p>")
		}
		b.WriteString(appHTML(inner))
		b.WriteString("</blockquote>")
	}
	return b.String()
}

// published returns when an item was published. If that is unknown, it returns when the item
// arrived.
func published(e *river.Entry) int64 {
	if e.Published.Unix() > 0 {
		return e.Published.Unix()
	}
	return e.At.Unix()
}

// appTimeout is the time limit of a response to an app. It allows a first sync over a slow
// connection.
const appTimeout = 3 * time.Minute

// compress sends large responses of h with gzip if the client accepts it.
func compress(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Ignore the error: a writer that supports no deadlines is behind a proxy that limits the
		// time.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(appTimeout))
		w.Header().Set("Vary", "Accept-Encoding")
		if serve.Weight(r.Header.Values("Accept-Encoding"), "gzip") == 0 {
			h.ServeHTTP(w, r)
			return
		}
		p := &compressor{ResponseWriter: w, status: http.StatusOK}
		h.ServeHTTP(p, r) // end is not deferred, so that a panic leaves the response incomplete
		p.end()
	})
}

// minCompress is the minimum size in bytes for compression.
const minCompress = 1 << 10

// compressor is a ResponseWriter that starts to compress when minCompress bytes were written.
type compressor struct {
	http.ResponseWriter
	status   int
	buffered []byte
	zip      *gzip.Writer
}

// Unwrap lets http.ResponseController set deadlines.
func (p *compressor) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader delays the header until the encoding is known.
func (p *compressor) WriteHeader(status int) { p.status = status }

func (p *compressor) Write(b []byte) (int, error) {
	if p.zip != nil {
		return p.zip.Write(b)
	}
	if p.buffered = append(p.buffered, b...); len(p.buffered) < minCompress {
		return len(b), nil
	}
	p.Header().Set("Content-Encoding", "gzip")
	p.ResponseWriter.WriteHeader(p.status)
	p.zip, _ = gzip.NewWriterLevel(p.ResponseWriter, gzip.BestSpeed) // there is no error, because the level is valid
	_, err := p.zip.Write(p.buffered)
	return len(b), err
}

// end sends the remaining bytes.
func (p *compressor) end() {
	if p.zip != nil {
		_ = p.zip.Close() // ignore the error: the client has disconnected
		return
	}
	p.ResponseWriter.WriteHeader(p.status)
	_, _ = p.ResponseWriter.Write(p.buffered)
}
