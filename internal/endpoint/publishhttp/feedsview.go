package publishhttp

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/serve"
	"cloudburst/internal/syndicate"
)

// Views generates feeds from posts on request. [*author.Posts] implements it.
type Views interface {
	View(ctx context.Context, v author.View) (author.Viewed, error)
	ViewDocument(ctx context.Context, v author.View, o render.Options) (doc []byte, contentType string, err error)
}

// isPage reports whether rest, the path after the user name, can be a page of the user or a feed of
// some of the user's posts.
func isPage(rest string) bool {
	first, _, _ := strings.Cut(rest, "/")
	switch {
	case first == "category", first == "archive", len(first) == 4 && strings.Trim(first, "0123456789") == "":
		return true
	case strings.TrimSuffix(rest, "/") != first:
		return false
	}
	return first == "formats" || first == "search" || author.IsPageSlug(first)
}

// viewAt parses the path of a view. document is the last part of the path.
//
// spec:cloudburst#hosted-views
func (f *Feeds) viewAt(user, rest string) (v author.View, document string, ok bool) {
	if f.Views == nil || user == "" {
		return v, "", false
	}
	all := user == author.Everyone
	if !all {
		v.User = user
	}
	first, behind, found := strings.Cut(rest, "/")
	switch {
	case all && !found:
		return v, rest, isDocument(rest)
	case found && first == "category":
		v.Category, document, found = strings.Cut(behind, "/")
		return v, document, found && v.Category != "" && isDocument(document)
	case found && first == "archive" && !all:
		var number string
		number, document, found = strings.Cut(behind, "/")
		n, err := strconv.ParseInt(number, 10, 64)
		v.Archive = n
		return v, document, found && err == nil && n > 0 && strconv.FormatInt(n, 10) == number && isDocument(document)
	}
	return v, "", false
}

// viewIn is like viewAt, and reads the page number from the query.
func (f *Feeds) viewIn(user, rest, query string) (v author.View, document string, ok bool) {
	v, document, ok = f.viewAt(user, rest)
	n := pageOf(query)
	switch {
	case ok && v.Archive == 0 && n > 1:
		v.Page = n
	case !ok && n > 0 && f.Views != nil && user != "" && user != author.Everyone && isDocument(rest):
		return author.View{User: user, Page: n}, rest, true
	}
	return v, document, ok
}

// ViewAt returns the view whose document is at a path of this server.
func (f *Feeds) ViewAt(path, query string) (v author.View, ok bool) {
	f.start()
	user, rest, _ := f.split(&url.URL{Path: path})
	v, _, ok = f.viewIn(user, rest, query)
	return v, ok
}

func isDocument(s string) bool {
	return s == pathSaved || s == pathAny || strings.HasPrefix(s, extPrefix)
}

// pageOf returns the page number in a query, or 0 if there is none.
func pageOf(query string) int {
	if !strings.Contains(query, "page=") {
		return 0
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(values.Get("page"))
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// paged adds a page number to a path.
func paged(path string, n int) string {
	switch {
	case n == 0:
		return path
	case strings.Contains(path, "?"):
		return path + "&page=" + strconv.Itoa(n)
	}
	return path + "?page=" + strconv.Itoa(n)
}

// referred returns the URL that a link has in a document of another format. A link to a saved
// document of this server becomes a link to the document in that format.
func referred(public, format, href string) string {
	rest, own := strings.CutPrefix(href, public+"/")
	if !own || format == "" {
		return href
	}
	path, query, _ := strings.Cut(rest, "?")
	base, saved := strings.CutSuffix("/"+path, "/"+pathSaved)
	if n := pageOf(query); saved && (query == "" || query == "page="+strconv.Itoa(n)) {
		return public + paged(formUnder(base+"/", format), n)
	}
	return href
}

// view serves the feed of a view.
func (f *Feeds) view(w http.ResponseWriter, r *http.Request, v author.View, document string) {
	if !allowRead(w, r, false) {
		return
	}
	if name := author.CategoryName(v.Category); name != v.Category && name != "" { // redirect to the name of the category as people write it
		v.Category = name
		to := v.Base() + document
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		http.Redirect(w, r, to, http.StatusMovedPermanently)
		return
	}
	if n := pageOf(r.URL.RawQuery); n > 1 && v.Archive == 0 {
		v.Page = n
	}
	if !f.viewed(w, r, v, document) {
		f.refuse(w, r, fault.New(fault.NotFound, "There is no such feed here."))
	}
}

// viewed serves the feed of a view. It returns false if the view does not exist.
func (f *Feeds) viewed(w http.ResponseWriter, r *http.Request, v author.View, document string) bool {
	if f.Views == nil {
		return false
	}
	format, choose, err := f.format(r, document)
	if err != nil {
		f.refuse(w, r, err)
		return true
	}
	state, main, err := f.stateOf(r.Context(), v)
	switch {
	case fault.CodeOf(err) == fault.NotFound && err != nil:
		return false
	case err != nil:
		f.refuse(w, r, err)
		return true
	case main.Gone && serveMoved(w, r, author.Feed{Gone: true}):
		return true
	}
	if choose {
		if format, err = negotiated(w, r, author.Feed{Type: "application/rss+xml"}); err != nil {
			f.refuse(w, r, err)
			return true
		}
		w.Header().Set("Content-Location", paged(formUnder(v.Base(), format), v.Page))
	}
	if _, err = f.serve(w, r, f.viewSource(v, state), format); err != nil {
		f.refuse(w, r, err)
	}
	return true
}

// stateOf returns the state of a view and the main feed of its user.
func (f *Feeds) stateOf(ctx context.Context, v author.View) (state author.Viewed, main author.Feed, err error) {
	if state, err = f.Views.View(ctx, v); err != nil || v.User == "" {
		return state, main, err
	}
	main, err = f.Authors.Feed(ctx, v.User, author.Public)
	if fault.CodeOf(err) == fault.NotFound {
		err = nil
	}
	return state, main, err
}

// viewSource returns the current public version of a view.
func (f *Feeds) viewSource(v author.View, state author.Viewed) syndicate.Source {
	base := v.Base()
	k := hostedKey{v.User, paged(base, v.Page)}
	public := f.Public()
	f.mu.RLock()
	h := f.kept[k]
	f.mu.RUnlock()
	if h == nil || h.public != public {
		h = &hosted{user: v.User, name: k.name, key: k.name, base: base, page: v.Page, unannounced: !v.IsAnnounced(), public: public, feeds: f, infos: map[string]*docInfo{}}
		h.at = locate(f, base)
		h.template = syndicate.Source{
			Key: h.cacheKey(),
			Load: func(ctx context.Context) ([]byte, string, error) {
				return f.Views.ViewDocument(ctx, v, h.about("").options)
			},
			URL:    locate(f, paged(base+pathSaved, v.Page)),
			Render: func(format string) render.Options { return h.about(format).options },
			Link:   func(format string) []string { return h.about(format).link },
			Refer:  h.refer,
			Tags:   serve.FeedTags(cmp.Or(v.User, author.Everyone)),
		}
		f.mu.Lock()
		if len(f.kept) >= maxHosted {
			clear(f.kept)
		}
		f.kept[k] = h
		f.mu.Unlock()
	}
	s := h.template
	s.Version, s.Modified = state.Version, state.Modified
	return s
}

// ownView is like OwnDocument for a view.
func (f *Feeds) ownView(ctx context.Context, v author.View, document, query string) (d *serve.Document, modified time.Time, err error) {
	format, _, err := f.format(&http.Request{URL: &url.URL{RawQuery: query}}, document)
	if err != nil {
		return nil, modified, err
	}
	state, main, err := f.stateOf(ctx, v)
	switch {
	case err != nil:
		return nil, modified, err
	case main.Gone:
		return nil, modified, fault.New(fault.Gone, "The feed has ended.")
	}
	d, _, err = f.Layer.Document(ctx, f.viewSource(v, state), format)
	return d, state.Modified, err
}
