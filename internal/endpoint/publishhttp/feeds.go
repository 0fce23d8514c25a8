// Package publishhttp contains the endpoints for publishing, and for reading what was published:
// hosted feeds in every format, saveRss and PUT, MetaWeblog, Micropub, IndieAuth, files of posts,
// and the ping targets of hosted feeds.
package publishhttp

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/feed/render"
	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/serve"
	"cloudburst/internal/syndicate"
	"cloudburst/internal/text"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/wsse"
)

// Accounts authenticates users. [*account.Accounts] implements it.
type Accounts interface {
	Check(ctx context.Context, name, password string, from account.Caller) (account.User, error)
	Token(ctx context.Context, plain, scope string, from account.Caller) (account.Token, error)
	OpenByURL(ctx context.Context, user, feed, selector, secret string, from account.Caller) (account.Secret, error)
	OpenByBasic(ctx context.Context, user, feed, name, password string, from account.Caller) (account.Secret, error)
	OpenByWSSE(ctx context.Context, user, feed string, t wsse.Token, from account.Caller) (account.Secret, error)
}

// ReaderTopics names the topics of the readers of private feeds. [account.Topics] implements it.
type ReaderTopics interface {
	Topic(s account.Secret) string
	OpenByTopic(ctx context.Context, topic string, from account.Caller) (account.Secret, error)
}

// Authors stores hosted feeds. [*author.Feeds] implements it.
type Authors interface {
	Put(ctx context.Context, d author.Document) (author.Feed, error)
	Feed(ctx context.Context, user, name string) (author.Feed, error)
	Document(ctx context.Context, user, name string) (author.Feed, []byte, error)
	End(ctx context.Context, user, name string) (author.Feed, error)
}

// Feeds serves the hosted feeds under /<user>/ in every format, and accepts new versions of them.
// Paths that do not belong to a user are passed to Next.
//
// Accounts, Authors, Layer and Public must be set. Do not copy a Feeds.
type Feeds struct {
	Accounts Accounts
	Authors  Authors
	Layer    *syndicate.Layer
	Views    Views                               // feeds that are generated from posts; nil: there are none
	Public   func() string                       // public origin of this server
	Locate   func(path string) string            // URL of a path of this server; nil: the path at Public
	Hit      func(r *http.Request, a ServedFeed) // called for each served feed; nil: not called
	Trusted  []netip.Prefix                      // see [endpoint.CallerAddr]
	HTML     http.Handler                        // page of a user at /<user>/; nil: Next serves it
	// Cloud returns the <cloud> element of this server for a public URL; nil: rsscloud.CloudAt.
	Cloud func(public string) rsscloud.Cloud
	// RSD serves /<user>/rsd.xml, which names the endpoints for blog editors. Nil: Next serves it.
	RSD func(w http.ResponseWriter, r *http.Request, user string) error
	// All returns all public feeds, for the list of all feeds. Nil: the list does not exist.
	All func(ctx context.Context) ([]author.Feed, error)
	// FeedsOf returns the list of a user's public feeds. Nil: the list does not exist.
	FeedsOf func(ctx context.Context, user string) (*opml.Document, error)
	// Hidden reports whether nothing of a user may be served; nil: no user is hidden.
	Hidden func(ctx context.Context, user string) (bool, error)
	// Comments returns the replies to posts; nil: none.
	Comments Comments
	// Group returns a group of a user, or fault.NotFound if there is no such group or it is
	// deleted. Nil: only the default group exists.
	Group func(ctx context.Context, user, slug string) (author.Group, error)
	// Topics are the topics of private feeds; nil: private feeds have no notifications.
	Topics ReaderTopics
	// SignedIn returns the user of a session, who may see the files of their own private posts.
	// Nil: no request has a session.
	SignedIn func(r *http.Request) string
	// Media serves the files of posts at /<user>/media/. Nil: Next serves the path.
	Media Media
	Next  http.Handler // nil: a plain 404
	Log   *slog.Logger // nil: no log

	once     sync.Once
	formats  map[string]render.Format // key: file extension
	reserved map[string]bool

	mu   sync.RWMutex
	kept map[hostedKey]*hosted
	list feedList

	clean func(html string) string // sanitizes the HTML of the format html
}

// ServedFeed describes one response with a feed.
type ServedFeed struct {
	Feed     string // for example "alice/rss"
	Format   string // format of the response; "": the document as saved
	Selector string // selector of the secret that gave access; "" for a public feed
	Status   int
}

// Names of the documents of a feed: as saved, in the format that the client prefers, and the RSD
// document.
const (
	pathSaved = "rss.xml"
	pathAny   = "feed"
	pathRSD   = "rsd.xml"
	extPrefix = "feed."
)

func (f *Feeds) start() {
	f.once.Do(func() {
		f.formats, f.reserved = map[string]render.Format{}, map[string]bool{}
		for _, format := range render.Formats() {
			if format.Ext != "" {
				f.formats[format.Ext] = format
			}
		}
		for _, name := range account.Reserved() {
			f.reserved[name] = true
		}
		f.kept = map[hostedKey]*hosted{}
		f.clean = strictHTML()
	})
}

// ServeHTTP serves the paths under /<user>.
//
// spec:cloudburst#hosted-addresses
func (f *Feeds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.start()
	user, rest, below := f.split(r.URL)
	if r.Method == http.MethodGet || r.Method == http.MethodHead { // methods that write check the login themselves
		if err := f.checkVisible(r.Context(), user); err != nil {
			f.refuse(w, r, err)
			return
		}
	}
	if v, document, ok := f.viewAt(user, rest); ok {
		f.view(w, r, v, document)
		return
	}
	if post, ok := f.commentsAt(user, rest); ok {
		f.comments(w, r, post)
		return
	}
	switch {
	case user == "":
		f.next(w, r)
	case !below:
		f.toSlash(w, r)
	case user == author.Everyone && rest == pathOPML && f.All != nil:
		f.subscriptions(w, r)
	case user == author.Everyone && rest != "" && !isPage(rest): // the pseudo-user everyone has no such path
		f.next(w, r)
	case (rest == pathOPML || rest == pathFeedsOPML) && user != author.Everyone && f.FeedsOf != nil:
		f.feedsOf(w, r, user)
	case rest == "", f.Views != nil && isPage(rest):
		f.page(w, r)
	case rest == pathSaved, rest == pathAny, strings.HasPrefix(rest, extPrefix):
		f.public(w, r, user, rest)
	case rest == pathRSD && f.RSD != nil:
		f.discovery(w, r, user)
	case strings.HasPrefix(rest, pathMedia):
		f.media(w, r, user, rest)
	default:
		inner, ok := strings.CutPrefix(rest, "private/")
		if !ok {
			f.next(w, r)
			return
		}
		f.private(w, r, user, inner)
	}
}

// checkVisible returns an error for a disabled user. The error is not Gone: after Gone, readers
// unsubscribe permanently, but the user can be enabled again.
//
// spec:cloudburst#disabled-users
func (f *Feeds) checkVisible(ctx context.Context, user string) error {
	if user == "" || user == author.Everyone || f.Hidden == nil {
		return nil
	}
	hidden, err := f.Hidden(ctx, user)
	if err == nil && hidden {
		err = fault.New(fault.NotFound, "The account %s is disabled on this server, and nothing of it is shown.", user)
	}
	return err
}

// split splits /<user>/<rest>. user is "" if the path does not belong to a user.
func (f *Feeds) split(u *url.URL) (user, rest string, below bool) {
	if len(u.Path) < 2 || u.RawPath != "" && (f.Views == nil || strings.Contains(strings.ToLower(u.RawPath), "%2f")) {
		return "", "", false
	}
	user, rest, below = strings.Cut(u.Path[1:], "/")
	switch {
	case u.RawPath != "" && !isPage(rest): // other paths of this server contain no escapes
		return "", "", false
	case user == author.Everyone && f.Views != nil:
		return user, rest, below
	}
	if !isName(user) || f.reserved[user] || len(user) == 4 && strings.Trim(user, "0123456789") == "" { // four digits are the year of an archive
		return "", "", false
	}
	return user, rest, below
}

// isName reports whether s has the form of a user name.
func isName(s string) bool {
	if s == "" || len(s) > 32 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func (f *Feeds) next(w http.ResponseWriter, r *http.Request) {
	if f.Next == nil {
		http.NotFound(w, r)
		return
	}
	f.Next.ServeHTTP(w, r)
}

// toSlash redirects /<user> to the user's page.
func (f *Feeds) toSlash(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		f.next(w, r)
		return
	}
	to := r.URL.Path + "/"
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, to, http.StatusPermanentRedirect)
}

func (f *Feeds) page(w http.ResponseWriter, r *http.Request) {
	if f.HTML == nil {
		f.next(w, r)
		return
	}
	f.HTML.ServeHTTP(w, r)
}

// public serves a public feed.
func (f *Feeds) public(w http.ResponseWriter, r *http.Request, user, document string) {
	saves := document == pathSaved
	if saves && f.write(w, r, user, author.Public) {
		return
	}
	if !allowRead(w, r, saves) {
		return
	}
	if n := pageOf(r.URL.RawQuery); n > 0 && f.viewed(w, r, author.View{User: user, Page: n}, document) {
		return
	}
	f.answer(w, r, user, author.Public, document, account.Secret{})
}

// answer serves the public or a private feed of a user. The caller has checked the access. reader
// is the secret that gave access.
func (f *Feeds) answer(w http.ResponseWriter, r *http.Request, user, name, document string, reader account.Secret) {
	format, choose, err := f.format(r, document)
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	now, err := f.Authors.Feed(r.Context(), user, name)
	if err != nil && name == author.Private && fault.CodeOf(err) == fault.NotFound {
		// Until a private feed is saved, its readers get the public feed.
		now, err = f.Authors.Feed(r.Context(), user, author.Public)
	}
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	if serveMoved(w, r, now) {
		return
	}
	if choose {
		if format, err = negotiated(w, r, now); err != nil {
			f.refuse(w, r, err)
			return
		}
	}
	s := f.hosted(user, now.Name).source(now)
	switch {
	case name != author.Public:
		s = f.privateSource(now, reader)
	case choose:
		w.Header().Set("Content-Location", formPath(user, format))
	}
	status, err := f.serve(w, r, s, format)
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	f.hit(r, ServedFeed{Feed: f.hosted(user, name).key, Format: format, Selector: reader.Selector, Status: status})
}

// serve writes a feed in a format.
func (f *Feeds) serve(w http.ResponseWriter, r *http.Request, s syndicate.Source, format string) (status int, err error) {
	callback, err := callbackOf(format, r.URL.RawQuery)
	if err != nil {
		return 0, err
	}
	if callback == "" {
		return f.Layer.Serve(w, r, s, format)
	}
	d, _, err := f.Layer.Document(r.Context(), s, format)
	if err != nil {
		return 0, err
	}
	cache := "public, max-age=60"
	if s.Private {
		cache = "private, no-store"
	}
	withCallback(d, callback, s.Modified, cache).ServeHTTP(w, r)
	return http.StatusOK, nil
}

// hit reports that a feed, or the information that it has not changed, was sent.
func (f *Feeds) hit(r *http.Request, a ServedFeed) {
	if f.Hit != nil && (a.Status == http.StatusOK || a.Status == http.StatusNotModified || a.Status == http.StatusIMUsed) {
		f.Hit(r, a)
	}
}

// negotiated returns the format that the client prefers, for a URL that offers all formats.
func negotiated(w http.ResponseWriter, r *http.Request, now author.Feed) (string, error) {
	w.Header()["Vary"] = []string{"Accept"}
	return negotiate(r, now)
}

// format returns the format that a URL selects; "" is the document as saved.
func (f *Feeds) format(r *http.Request, document string) (name string, choose bool, err error) {
	if r.URL.RawQuery != "" {
		if name = r.URL.Query().Get("format"); name != "" {
			known, err := render.Lookup(name)
			return known.Name, false, unknownFormat(err) // return known.Name, a constant, because name would keep the memory of the request
		}
	}
	if document == pathSaved || document == pathAny {
		return "", document == pathAny, nil
	}
	ext := document[len(extPrefix):]
	known, ok := f.formats[ext]
	if !ok {
		return "", false, fault.New(fault.NotFound, "There is no format with the ending %q; there are %s. ?format= selects one of all formats: %s.", text.Clip(ext, 40), f.endings(), names())
	}
	return known.Name, false, nil
}

func unknownFormat(err error) error {
	if err == nil {
		return nil
	}
	text := strings.TrimPrefix(err.Error(), "render: ")
	return fault.Wrap(fault.NotFound, err, "%s.", strings.ToUpper(text[:1])+text[1:])
}

// endings lists the file extensions, in the order of the formats.
func (f *Feeds) endings() string {
	var all []string
	for _, format := range render.Formats() {
		if format.Ext != "" {
			all = append(all, format.Ext)
		}
	}
	return strings.Join(all, ", ")
}

func names() string {
	var all []string
	for _, format := range render.Formats() {
		all = append(all, format.Name)
	}
	return strings.Join(all, ", ")
}

// OwnDocument returns the document at the URL of a public hosted feed, without the network. ok is
// false if the URL is not that of a hosted feed. Errors: fault.NotFound, Gone, Refused (the feed is
// private), Unreadable (the feed has moved).
func (f *Feeds) OwnDocument(ctx context.Context, path, query string) (body []byte, contentType, etag string, modified time.Time, ok bool, err error) {
	d, modified, ok, err := f.ownDocument(ctx, path, query)
	if !ok || err != nil {
		return nil, "", "", time.Time{}, ok, err
	}
	return d.Bytes(), d.Type(), `"` + d.Tag() + `"`, modified, true, nil
}

func (f *Feeds) ownDocument(ctx context.Context, path, query string) (d *serve.Document, modified time.Time, ok bool, err error) {
	f.start()
	if d, now, ok, err := (topics{f}).own(ctx, path, query); ok {
		return d, now.SavedAt, true, err
	}
	user, rest, _ := f.split(&url.URL{Path: path})
	if err := f.checkVisible(ctx, user); err != nil {
		return nil, modified, true, err
	}
	if v, document, ok := f.viewIn(user, rest, query); ok {
		ok = true
		d, modified, err = f.ownView(ctx, v, document, query)
		if rest != document || fault.CodeOf(err) != fault.NotFound || err == nil { // otherwise it is a saved document, which has no pages
			return d, modified, ok, err
		}
	}
	if post, ok := f.commentsAt(user, rest); ok && query == "" {
		d, modified, err = f.commentsDocument(ctx, post)
		return d, modified, true, err
	}
	private := strings.HasPrefix(rest, "private/")
	if user == "" || rest != pathSaved && rest != pathAny && !strings.HasPrefix(rest, extPrefix) && !private {
		return nil, modified, false, nil
	}
	if private {
		return nil, modified, true, fault.New(fault.Refused, "This is the URL of a private feed, which has no notifications.")
	}
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path, RawQuery: query}}
	format, _, err := f.format(r, rest)
	if err != nil {
		return nil, modified, true, err
	}
	now, err := f.Authors.Feed(ctx, user, author.Public)
	switch {
	case err != nil:
		return nil, modified, true, err
	case now.MovedTo != "":
		return nil, modified, true, fault.New(fault.Unreadable, "The feed has moved to %s.", endpoint.DisplayURL(now.MovedTo))
	case now.Gone:
		return nil, modified, true, fault.New(fault.Gone, "The feed has ended.")
	}
	d, _, err = f.Layer.Document(ctx, f.hosted(user, author.Public).source(now), format)
	return d, now.SavedAt, true, err
}

// Addresses returns the paths of all formats of a user's public feed, the saved document first.
func (f *Feeds) Addresses(user string) []string {
	base := "/" + user + "/"
	all := []string{base + pathSaved, base + pathAny}
	for _, format := range render.Formats() {
		if format.Ext != "" {
			all = append(all, base+extPrefix+format.Ext)
		} else {
			all = append(all, base+pathAny+"?format="+format.Name)
		}
		all = append(all, base+pathSaved+"?format="+format.Name)
	}
	return all
}
