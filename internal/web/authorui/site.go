package authorui

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
	documents "cloudburst/internal/serve"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

// Limits of the search and of the archive.
const (
	maxFound       = 30  // maximum number of results of a search
	maxTitles      = 200 // maximum number of posts that the archive lists by title
	maxSearchBytes = 200 // maximum length of a search query in bytes
)

// siteView is the common part of all pages of an author.
type siteView struct {
	Header   string // URL of the header image; "": none
	Design   string // path of the stylesheet of the theme; "": the default theme
	Style    string // path of the author's own stylesheet; "": none
	Links    []author.Link
	Menu     []menuItem
	Searches bool
	Preview  bool // only the author sees this look
}

type menuItem struct {
	Title, Href string
	Current     bool
}

// previewKey is the context key of requests that preview a look.
type previewKey struct{}

// addSite adds the look, the links and the navigation of the author of a page.
func (s *Pages) addSite(r *http.Request, v *postsView, w author.Writer, path string) error {
	look := w.Look()
	if r.Context().Value(previewKey{}) != nil {
		v.Site.Preview = true
		if w.Page.Draft != nil {
			look = *w.Page.Draft
		}
	}
	v.Style, v.Site.Design = shell.StyleSheetOf(look), shell.DesignPath(look.Design)
	if look.Style != "" {
		v.Site.Style = stylePath(w.User, look.Style)
	}
	if look != (author.Look{}) {
		v.Theme = "" // the colours that the visitor chose apply to all pages except those of authors
	}
	v.Site.Header = s.OwnImage(w.Page.Header)
	for _, l := range w.Page.Links {
		if shell.IsWebURL(l.URL) {
			v.Site.Links = append(v.Site.Links, author.Link{Title: cmp.Or(shell.CleanText(l.Title, 100), shell.ShortURL(l.URL)), URL: l.URL})
		}
	}
	base := author.View{User: w.User}.Base()
	add := func(title, href string) {
		v.Site.Menu = append(v.Site.Menu, menuItem{title, href, href == path})
	}
	add(v.Say("Home"), base)
	if s.Site != nil {
		v.Site.Searches = true
		pages, err := s.Site.Pages(r.Context(), w.User)
		if err != nil {
			return err
		}
		for _, p := range pages {
			if p.InMenu {
				add(shell.CleanText(p.Title, 100), base+p.Slug)
			}
		}
	}
	add(v.Say("Archive"), base+"archive/")
	add(v.Say("Subscribe"), base+"#subscribe")
	if v.Site.Searches {
		add(v.Say("Search"), base+"search")
	}
	return nil
}

// IsHome reports whether the page is the first page of the author.
func (v postsView) IsHome() bool { return !v.All && v.List.Words == "" && v.List.Path == v.Writer.Path }

func stylePath(user, hash string) string { return "/static/author/" + user + "/" + hash + ".css" }

// styleFile serves the stylesheet of an author. The file name contains a hash of the content.
//
// spec:cloudburst#author-style
func (s *Pages) styleFile(rw http.ResponseWriter, r *http.Request) error {
	hash, ok := strings.CutSuffix(r.PathValue("file"), ".css")
	if !ok || s.Site == nil {
		return s.NotFound(rw, r)
	}
	style, err := s.Site.Style(r.Context(), r.PathValue("user"), hash)
	if err != nil {
		return err
	}
	rw.Header().Set("Content-Type", "text/css; charset=utf-8")
	rw.Header().Set(documents.CacheTag, documents.AuthorTag(r.PathValue("user")))
	rw.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = rw.Write([]byte(style.CSS)) // an error means that the client is gone
	return nil
}

// sitePage serves a page of an author that is not a post.
func (s *Pages) sitePage(rw http.ResponseWriter, r *http.Request, user, rest string) error {
	slug := strings.TrimSuffix(rest, "/")
	if s.Site == nil || !author.IsPageSlug(slug) {
		return s.NotFound(rw, r)
	}
	p, err := s.Site.Page(r.Context(), user, slug)
	if err != nil {
		return err
	}
	base := author.View{User: user}.Base()
	if rest != slug {
		http.Redirect(rw, r, base+slug, http.StatusMovedPermanently)
		return nil
	}
	return s.showPage(rw, r, p, base+slug)
}

// showPage writes one of the author's own pages, such as an about page.
func (s *Pages) showPage(rw http.ResponseWriter, r *http.Request, p author.Page, path string) error {
	w, err := s.Posts.Writer(r.Context(), p.User)
	if err != nil {
		return err
	}
	v, err := s.listView(r, w, postList{User: p.User, Path: path, Words: shell.CleanText(p.Title, 300)})
	if err != nil {
		return err
	}
	v.Type, v.About = "article", firstLine(sanitize.Text(p.HTML), 200)
	v.Text = s.NewBodyRenderer(true).Render(p.HTML, true).HTML
	s.sendWritten(rw, r, "authorpage", &v, p.UpdatedAt)
	return nil
}

// formatsPage lists all formats of the feed of an author.
func (s *Pages) formatsPage(rw http.ResponseWriter, r *http.Request, user string) error {
	w, err := s.writer(r.Context(), user)
	if err == nil && w.Version == 0 {
		_, err = s.Feeds.Feed(r.Context(), user, author.Public)
	}
	if err != nil {
		return err
	}
	w.User = user
	v, err := s.listView(r, w, postList{User: user, Path: author.View{User: user}.Base() + "formats", Words: s.Locale(r).Words("Formats")})
	if err != nil {
		return err
	}
	s.sendWritten(rw, r, "authorformats", &v, time.Time{})
	return nil
}

// searchPage searches the posts of an author.
func (s *Pages) searchPage(rw http.ResponseWriter, r *http.Request, user string) error {
	w, err := s.writer(r.Context(), user)
	if err == nil && (s.Site == nil || w.Version == 0) {
		err = fault.New(fault.NotFound, "There is no search here.")
	}
	if err != nil {
		return err
	}
	v, err := s.listView(r, w, postList{User: user, Path: author.View{User: user}.Base() + "search", Words: s.Locale(r).Words("Search")})
	if err != nil {
		return err
	}
	v.Query = shell.CleanText(strings.TrimSpace(r.URL.Query().Get("q")), maxSearchBytes)
	if v.Query != "" {
		found, err := s.Site.Search(r.Context(), user, v.Query, maxFound)
		if err != nil {
			return err
		}
		v.Found, v.FoundAll = s.titles(found), len(found) < maxFound
		for i := range v.Found {
			v.Found[i].Day = v.Lang.Date(found[i].PublishedAt.UTC(), "2 January 2006")
		}
	}
	v.NoIndex = true
	s.sendWritten(rw, r, "authorsearch", &v, time.Time{})
	return nil
}

// titleView is a post in a list of titles.
type titleView struct {
	Title, Href, Snippet string
	Day                  string
}

// titles lists posts by their titles, or by their first words.
func (s *Pages) titles(posts []author.Post) (all []titleView) {
	for _, p := range posts {
		text := sanitize.Text(p.HTML)
		t := titleView{Title: shell.CleanText(p.Title, 300), Href: s.Posts.Path(p)}
		if t.Title == "" {
			t.Title = cmp.Or(firstLine(text, 80), content.DateMoment(p.PublishedAt).Text)
		} else {
			t.Snippet = firstLine(text, 140)
		}
		all = append(all, t)
	}
	return all
}

// pinned returns the post at the top of the first page; nil: none.
func (s *Pages) pinned(ctx context.Context, w author.Writer) (*author.Post, error) {
	if w.Page.Pinned == 0 {
		return nil, nil
	}
	p, err := s.Posts.Get(ctx, w.User, w.Page.Pinned)
	switch {
	case fault.CodeOf(err) == fault.NotFound && err != nil:
		return nil, nil
	case err != nil:
		return nil, err
	case p.State != author.Published:
		return nil, nil
	}
	return &p, nil
}
