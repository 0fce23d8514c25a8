// Package readhttp joins the river to the apps in which people read, by the protocols of
// Google Reader and Fever, and to the webhooks and mailboxes that get notices of new items.
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
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/serve"
)

// AppRiver is what reading apps use of the river; *river.River is one.
type AppRiver interface {
	AppSubscriptions
	AppItems
	AppCategories
}

// AppSubscriptions finds and changes the feeds that a reader follows.
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

// AppAccounts lets apps in; *account.Accounts does.
type AppAccounts interface {
	Check(ctx context.Context, name, password string, from account.Caller) (account.User, error)
	Token(ctx context.Context, plain, scope string, from account.Caller) (account.Token, error)
	AppKey(u account.User) (string, error)
	AppUser(ctx context.Context, key string, from account.Caller) (account.User, error)
	AppToken(ctx context.Context, key string, from account.Caller) (account.Token, error)
}

// Apps are the doors for reading apps: the APIs of Google Reader and of Fever. River and
// Accounts must be set. Do not copy it.
type Apps struct {
	River    AppRiver
	Accounts AppAccounts
	Public   func() string            // origin of this server's pages; nil: they are not known
	ReaderOf func(user string) string // whose river a user has; nil: the user's
	Trusted  []netip.Prefix           // see [endpoint.CallerAddr]
	Now      func() time.Time         // nil: time.Now
	Log      *slog.Logger             // nil is silent

	mu    sync.Mutex
	known map[string]*numbers // by reader
}

func (a *Apps) reader(user string) string {
	if a.ReaderOf == nil {
		return user
	}
	return a.ReaderOf(user)
}

func (a *Apps) now() time.Time {
	if a.Now != nil {
		return a.Now()
	}
	return time.Now()
}

// settling is how long an item is too new for apps that page by arrival: what arrives at
// the same moment may be written a little later with a smaller number, and an app that
// had the greater one would never ask for it.
const settling = 5 * time.Second

// settled is the First before which items are handed out, and no greater than before
// (0: any).
//
// spec:cloudburst#app-settled
func (a *Apps) settled(before int64) int64 {
	end := a.now().Add(-settling).UnixMicro()
	if before > 0 {
		end = min(end, before)
	}
	return end
}

// caller is who asks, for the limits of tries.
func (a *Apps) caller(r *http.Request, door string) account.Caller {
	from := account.Caller{Via: door}
	if r != nil {
		from.Addr = endpoint.CallerAddr(r, a.Trusted)
	}
	return from
}

// appStatus is an error's status at the doors of apps, and what may be said of it.
// unknown: nobody may hear of it.
func appStatus(err error) (status int, msg string, after time.Duration, unknown bool) {
	switch {
	case errors.Is(err, account.ErrScope):
		status = http.StatusForbidden
	case fault.CodeOf(err) == fault.Internal:
		return 0, "", 0, true
	case fault.CodeOf(err) == fault.Invalid:
		status = http.StatusBadRequest
	case fault.CodeOf(err) == fault.Unreadable: // the address is wrong, not this server
		status = http.StatusUnprocessableEntity
	default:
		status = endpoint.StatusOf(err)
	}
	return status, fault.Message(err), fault.RetryAfter(err), false
}

// appText is a plain text for apps, of which some take it for HTML and some do not: what
// would be markup is written with characters that only look like it.
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

// entity reports what makes a character of the ampersand before it.
func entity(s string) bool {
	name, _, ok := strings.Cut(s[:min(len(s), 40)], ";")
	return ok && name != "" && strings.Trim(strings.ToLower(name), "#0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// shortTitle is how many characters of a text make the title of an item that has none.
const shortTitle = 80

// appTitle is the title of an item, or else the beginning of its text, or else the name of
// its first file or of its feed: apps show something else where they get none.
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

// link is where an item leads: apps need some address. An item without one leads to its page
// on this server.
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

// appHTML is the whole text of an item: with its picture, and with what is nested in it.
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

// published is when an item was published, or else came.
func published(e *river.Entry) int64 {
	if e.Published.Unix() > 0 {
		return e.Published.Unix()
	}
	return e.At.Unix()
}

// appsWithin is how long an answer to an app may take: a first sync on a slow line.
const appsWithin = 3 * time.Minute

// packed sends what h answers in gzip to who understands it, if there is enough of it.
func packed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The error says that this writer knows no deadlines: then a proxy in front bounds it.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(appsWithin))
		w.Header().Set("Vary", "Accept-Encoding")
		if serve.Weight(r.Header.Values("Accept-Encoding"), "gzip") == 0 {
			h.ServeHTTP(w, r)
			return
		}
		p := &packer{ResponseWriter: w, status: http.StatusOK}
		h.ServeHTTP(p, r) // a panic leaves what was sent broken, as it has to be
		p.end()
	})
}

// packFrom is the size in bytes from which packing pays.
const packFrom = 1 << 10

// packer packs once it has seen packFrom bytes.
type packer struct {
	http.ResponseWriter
	status int
	held   []byte
	zip    *gzip.Writer
}

// Unwrap is for http.ResponseController.
func (p *packer) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader waits until it is known how the answer is sent.
func (p *packer) WriteHeader(status int) { p.status = status }

func (p *packer) Write(b []byte) (int, error) {
	if p.zip != nil {
		return p.zip.Write(b)
	}
	if p.held = append(p.held, b...); len(p.held) < packFrom {
		return len(b), nil
	}
	p.Header().Set("Content-Encoding", "gzip")
	p.ResponseWriter.WriteHeader(p.status)
	p.zip, _ = gzip.NewWriterLevel(p.ResponseWriter, gzip.BestSpeed) // the level is one
	_, err := p.zip.Write(p.held)
	return len(b), err
}

// end sends what is left.
func (p *packer) end() {
	if p.zip != nil {
		_ = p.zip.Close() // nobody is left to tell when the caller has gone
		return
	}
	p.ResponseWriter.WriteHeader(p.status)
	_, _ = p.ResponseWriter.Write(p.held)
}
