// Package docsui serves the documentation of the folder docs as a site: an index with search, and the
// pages with a side bar. Start with [New] and [Pages.Routes].
package docsui

import (
	"cmp"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"cloudburst/docs"
	"cloudburst/internal/route"
	"cloudburst/internal/web/shell"
)

// Pages has the pages of the documentation.
type Pages struct {
	*shell.Shell
	site site
}

// New builds the pages.
func New(s *shell.Shell) *Pages { return &Pages{Shell: s} }

// Routes lists the pages of the documentation.
func (s *Pages) Routes() []route.Route {
	return []route.Route{
		{Method: http.MethodGet, Path: "/docs", Handler: s.Handle(s.index), Purpose: "The contents of the documentation, and search (q)."},
		{Method: http.MethodGet, Path: "/docs/{name...}", Handler: s.Handle(s.page), Purpose: "One page or image of the documentation."},
	}
}

// View is the data of the templates of the documentation.
type View struct {
	shell.View
	Shelves    []pageGroup
	Page       *page // nil: the index
	Prev, Next *page
	Query      string
	Results    []result
}

func (s *Pages) view(r *http.Request, title string, shelves []pageGroup) View {
	v := View{View: s.NewView(r, title), Shelves: shelves}
	v.Docs, v.Wide, v.Heading = true, true, title
	return v
}

// maxQuery is the maximum length of a search in bytes. The rest of a longer search is ignored.
const maxQuery = 200

// index serves the contents, or the results of a search.
func (s *Pages) index(rw http.ResponseWriter, r *http.Request) error {
	shelves, err := s.site.load()
	if err != nil {
		return err
	}
	v := s.view(r, "Documentation", shelves)
	if v.Query = strings.TrimSpace(r.FormValue("q")); len(v.Query) > maxQuery {
		v.Query = strings.ToValidUTF8(v.Query[:maxQuery], "")
	}
	if v.Query != "" {
		v.Title, v.Results = v.Query+" · Documentation", search(shelves, v.Query)
	}
	return s.Render(rw, r, http.StatusOK, "docs", v)
}

// page serves one page or image. It redirects former names of pages.
func (s *Pages) page(rw http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if to := docs.Moved()[name]; to != "" {
		http.Redirect(rw, r, "/docs/"+to, http.StatusMovedPermanently)
		return nil
	}
	if strings.HasPrefix(name, "images/") {
		return s.image(rw, r, name)
	}
	shelves, err := s.site.load()
	if err != nil {
		return err
	}
	all := inOrder(shelves)
	for i, p := range all {
		if p.Name != name {
			continue
		}
		v := s.view(r, p.Title, shelves)
		own := *p
		base := s.BaseURL(r)
		own.Body = ownURL(own.Body, base, s.CloudElement(base))
		v.Page = &own
		if i > 0 {
			v.Prev = all[i-1]
		}
		if i+1 < len(all) {
			v.Next = all[i+1]
		}
		return s.Render(rw, r, http.StatusOK, "guide", v)
	}
	return s.NotFound(rw, r)
}

// image serves an image of the documentation.
func (s *Pages) image(rw http.ResponseWriter, r *http.Request, name string) error {
	b, err := fs.ReadFile(docs.Files, path.Clean(name))
	kind := map[string]string{".svg": "image/svg+xml", ".png": "image/png"}[path.Ext(name)]
	if err != nil || kind == "" {
		return s.NotFound(rw, r)
	}
	h := rw.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "public, max-age=3600")
	if kind == "image/svg+xml" { // the drawings have a style element for light and dark
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	}
	_, _ = rw.Write(b) // an error means that the client is gone
	return nil
}

// Current reports whether p is the shown page.
func (v View) Current(p *page) bool { return v.Page != nil && v.Page.Name == p.Name }

// Crumb returns the title of the group that contains the shown page.
func (v View) Crumb() string {
	for _, sh := range v.Shelves {
		if slices.ContainsFunc(sh.Pages, v.Current) {
			return sh.Title
		}
	}
	return ""
}

func inOrder(shelves []pageGroup) (all []*page) {
	for _, sh := range shelves {
		all = append(all, sh.Pages...)
	}
	return all
}

// order compares results: the higher score comes first, then the order of the site.
func order(a, b result) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at)) }
