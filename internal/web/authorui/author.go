package authorui

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/author"
	"cloudburst/internal/cache"
	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

// Limits of an author's page.
const (
	feedPostsPerPage = 50        // number of posts of a hosted feed on a page; older posts are on the next page
	maxNestedPosts   = 200       // maximum number of nested posts on a page in total
	MaxPostDepth     = 4         // maximum number of levels of nested posts
	maxPostHTML      = 256 << 10 // maximum size of a post's HTML in bytes; a longer post is shown without markup
	MaxPageText      = 1 << 20   // maximum size of the HTML of all posts on a page in bytes
	maxPostText      = 2000      // maximum length in characters of a long post that is shown without markup
	maxCachedPages   = 64        // maximum number of pages in the cache
	maxCachedBytes   = 8 << 20   // maximum size of the cache in bytes
)

// entry is a feed item, shown as a post on the page of its author.
type entry struct {
	ID      string // ID of the post's HTML element
	Title   string
	Href    string // URL of the post; "": the post is on this page only
	At      time.Time
	Authors []string
	Tags    []string
	HTML    template.HTML // sanitized text; "": Words has the text
	Words   []string      // paragraphs of the text without markup
	Cut     bool          // the text was shortened
	Files   []content.File
	Inside  []entry
}

// authorPage is the content of a page in the cache.
type authorPage struct {
	Title, About string
	Home         string // URL of the website that the feed declares
	Language     string // value of the lang attribute
	Posts        []entry
	Number       int // number of the page, from 1
	More         bool
	size         int
}

type authorView struct {
	shell.View
	Page     *authorPage // nil: the page has no posts to show
	Name     string      // name of the user
	Path     string      // path of the page
	Self     string      // URL of the page
	Hub      string
	Links    []shell.FormatLink // feed links for <head>: the saved document first, then other common formats
	Formats  []shell.FormatLink
	State    string // state of the feed: "" (normal), "moved", "gone" or "empty"
	MovedTo  string
	MovedRef string // MovedTo as the target of a link; "": it is not a web URL
	Saved    shell.Moment
}

// Newer returns the URL of the page with newer posts, or "" if there is none.
func (v authorView) Newer() string {
	switch {
	case v.Page.Number == 2:
		return v.Path
	case v.Page.Number > 2:
		return v.Path + "?page=" + strconv.Itoa(v.Page.Number-1)
	}
	return ""
}

// Older returns the URL of the page with older posts; see Newer.
func (v authorView) Older() string {
	if !v.Page.More {
		return ""
	}
	return v.Path + "?page=" + strconv.Itoa(v.Page.Number+1)
}

// ServeUser serves the page of a user.
func (s *Pages) ServeUser(rw http.ResponseWriter, r *http.Request, user string) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.MethodNotAllowed(rw, r, "GET, HEAD", "Open it in a browser instead.")
		return
	}
	if _, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); rest != "" || user == author.Everyone {
		if r, served := s.serveReady(rw, r); !served {
			s.Handle(func(rw http.ResponseWriter, r *http.Request) error { return s.authored(rw, r, user, rest) })(rw, r)
		}
		return
	}
	if s.Feeds == nil {
		s.SetLinkHeader(rw, r)
		s.NotFound(rw, r)
		return
	}
	f, err := s.Feeds.Feed(r.Context(), user, author.Public)
	if err == nil && f.Version == 0 {
		err = fault.New(fault.NotFound, "nothing was saved")
	}
	if err == nil && !f.Gone && f.MovedTo == "" {
		var served bool
		if r, served = s.serveReady(rw, r); served {
			return
		}
	}
	s.SetLinkHeader(rw, r)
	s.Handle(func(rw http.ResponseWriter, r *http.Request) error { return s.serveFeed(rw, r, user, f, err) })(rw, r)
}

// serveFeed serves the page of a user from the state of their feed. err is the error of reading it.
func (s *Pages) serveFeed(rw http.ResponseWriter, r *http.Request, user string, f author.Feed, err error) error {
	v := authorView{View: s.NewView(r, ""), Name: user, Path: "/" + user + "/", Hub: s.BaseURL(r) + "/websub", Saved: shell.NewMoment(s.CurrentTime(), f.SavedAt)}
	v.Self, v.Bare = s.BaseURL(r)+v.Path, true
	switch {
	case fault.CodeOf(err) == fault.NotFound && v.User == user && user != "":
		v.State = "empty"
		return s.Render(rw, r, http.StatusOK, "author", v)
	case fault.CodeOf(err) == fault.NotFound:
		return s.NotFound(rw, r)
	case err != nil:
		return err
	case f.Gone:
		v.State, v.Title, v.Heading = "gone", v.Say("Gone"), v.Say("This feed is gone")
		return s.Render(rw, r, http.StatusGone, "author", v)
	case f.MovedTo != "":
		v.State, v.Title, v.Heading, v.MovedTo = "moved", v.Say("Moved"), v.Say("This feed has moved"), shell.CleanText(f.MovedTo, 2048)
		if shell.IsWebURL(f.MovedTo) {
			v.MovedRef = f.MovedTo
		}
		return s.Render(rw, r, http.StatusOK, "author", v)
	}
	if served, err := s.postsInstead(rw, r, user); served || err != nil {
		return err
	}
	if v.Page, err = s.pageOf(r.Context(), f, s.BaseURL(r), pageNumber(r)); err != nil {
		return err
	}
	if v.Page.Title != "" {
		v.Heading, v.Title = v.Page.Title, v.Page.Title
	}
	v.Formats = shell.FeedFormats(user)
	v.Links = headLinks(user, f, v.Formats)
	return s.Render(rw, r, http.StatusOK, "author", v)
}

func pageNumber(r *http.Request) int {
	n, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil || n < 1 || n > 1000 {
		return 1
	}
	return n
}

// headLinks lists the feed for the head of the page. Feed readers use the first link, so the first
// link is the feed in its saved format. The other common formats follow.
//
// spec:cloudburst#autodiscovery
func headLinks(user string, f author.Feed, all []shell.FormatLink) []shell.FormatLink {
	kind, _, _ := strings.Cut(f.Type, ";")
	kind = strings.TrimSpace(kind)
	links := []shell.FormatLink{{Title: "as saved", Href: author.FeedPath(user), Type: kind, Hint: ""}}
	for _, hint := range []string{".xml", ".atom", ".json"} {
		i := slices.IndexFunc(all, func(l shell.FormatLink) bool { return l.Hint == hint })
		if i < 0 || all[i].Type == kind || hint == ".xml" && kind != "application/atom+xml" && kind != "application/feed+json" {
			continue // skip a format that is already in the list; each saved type other than Atom and JSON Feed is a version of RSS
		}
		links = append(links, all[i])
	}
	return links
}

// pageCache caches pages and drops the least recently used. The zero value is ready.
type pageCache struct {
	mu    sync.Mutex
	pages cache.LRU[authorKey, *authorPage]
}

type authorKey struct {
	user, base string
	version    int64
	page       int
}

func (c *pageCache) get(k authorKey) *authorPage {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, _ := c.pages.Get(k)
	return p
}

func (c *pageCache) put(k authorKey, p *authorPage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.pages.Peek(k); ok || p.size > maxCachedBytes {
		return
	}
	c.pages.Max, c.pages.MaxSize = maxCachedPages, maxCachedBytes
	c.pages.Put(k, p, int64(p.size))
}

// pageOf returns one page of a feed, from the cache or from its document.
func (s *Pages) pageOf(ctx context.Context, f author.Feed, base string, number int) (*authorPage, error) {
	k := authorKey{f.User, base, f.Version, number}
	if p := s.cache.get(k); p != nil {
		return p, nil
	}
	leave, err := s.WaitForReading(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if p := s.cache.get(k); p != nil { // another request has cached the page meanwhile
		return p, nil
	}
	f, doc, err := s.Feeds.Document(ctx, f.User, f.Name)
	if err != nil {
		return nil, err
	}
	k.version = f.Version
	parsed, err := feed.ParseBytes(doc, &feed.Options{URL: base + author.FeedPath(f.User), Header: http.Header{"Content-Type": {f.Type}}})
	if err != nil {
		return nil, fault.Wrap(fault.Unreadable, err, "The saved feed can no longer be parsed.")
	}
	p := s.readPage(parsed, base, number)
	s.cache.put(k, p)
	return p, nil
}

func (s *Pages) readPage(f *feed.Feed, base string, number int) *authorPage {
	p := &authorPage{Title: wordsOf(f.Title, 200), About: wordsOf(f.Subtitle, 1000), Number: number, size: 1 << 10}
	p.Language = shell.PlainLanguage(f.Language)
	if shell.IsWebURL(f.Link) && !strings.HasPrefix(f.Link, base+"/") {
		p.Home = f.Link
	}
	items := make([]*feed.Item, len(f.Items))
	dated := true
	for i := range f.Items {
		items[i] = &f.Items[i]
		dated = dated && !moment0(items[i]).IsZero()
	}
	if dated { // if items lack dates, the order of the document is more reliable
		slices.SortStableFunc(items, func(a, b *feed.Item) int { return moment0(b).Compare(moment0(a)) })
	}
	from := min((number-1)*feedPostsPerPage, len(items))
	to := min(from+feedPostsPerPage, len(items))
	p.More = to < len(items)
	w := postWriter{clean: s.Sanitizer(), base: base, page: p, remainingNested: maxNestedPosts, ids: map[string]int{}}
	for _, item := range items[from:to] {
		p.Posts = append(p.Posts, w.post(item, 1))
	}
	return p
}

// moment0 returns the date of an item, or the zero time if the date is unknown.
func moment0(i *feed.Item) time.Time {
	if !i.Published.UTC.IsZero() {
		return i.Published.UTC
	}
	return i.Updated.UTC
}

// postID returns the ID of the HTML element of a post. The same post always has the same ID.
func postID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "p-" + hex.EncodeToString(sum[:5])
}

// wordsOf returns a text without its markup.
func wordsOf(t feed.Text, limit int) string {
	s := t.Value
	if isMarkup(t) {
		s = sanitize.Text(s)
	}
	return shell.CleanText(strings.Join(strings.Fields(s), " "), limit)
}

func isMarkup(t feed.Text) bool { return t.Type == "text/html" || t.Type == "application/xhtml+xml" }
