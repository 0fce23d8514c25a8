package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/route"
	"cloudburst/internal/web/accountui"
	"cloudburst/internal/web/adminui"
	"cloudburst/internal/web/authorui"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/docsui"
	"cloudburst/internal/web/filterui"
	"cloudburst/internal/web/forwardui"
	"cloudburst/internal/web/hubui"
	"cloudburst/internal/web/peopleui"
	"cloudburst/internal/web/readerui"
	"cloudburst/internal/web/shell"
	"cloudburst/internal/web/writerui"
)

// site holds the pages of a Web.
type site struct {
	shell   *shell.Shell
	texts   *content.Renderer
	hub     *hubui.Pages
	docs    *docsui.Pages
	reader  *readerui.Pages  // nil: no feed reader
	filters *filterui.Pages  // nil: no feed reader
	forward *forwardui.Pages // nil: no feed reader
	writer  *writerui.Pages  // nil: users cannot write posts
	author  *authorui.Pages  // pages of authors
	account *accountui.Pages // nil: no accounts
	admin   *adminui.Pages   // nil: no administration
	people  *peopleui.Pages  // nil: no list of authors
}

// newSite builds the pages.
func newSite(w *Web) *site {
	sh := shell.New(w.shellOptions())
	texts := content.New(sh, w.textOptions())
	s := &site{shell: sh, texts: texts, docs: docsui.New(sh), hub: hubui.New(sh, w.hubOptions()), author: authorui.New(texts, w.authorOptions())}
	if w.River != nil {
		s.reader = readerui.New(texts, w.readerOptions())
		s.filters = filterui.New(sh, filterui.Options{River: w.River, ReaderRoutes: s.reader.ReaderRoutes()})
		s.forward = forwardui.New(sh, forwardui.Options{River: w.River, ReaderRoutes: s.reader.ReaderRoutes()})
	}
	if w.Accounts == nil {
		return s
	}
	if w.People != nil && w.Authors != nil {
		s.people = peopleui.New(texts, w.peopleOptions())
	}
	s.account = accountui.New(texts, w.accountOptions())
	if w.Administration != nil {
		s.admin = adminui.New(sh, *w.Administration)
	}
	if w.Posts != nil {
		o := writerui.Options{Posts: w.Posts, Versions: w.Versions, Rules: w.Rules, Files: w.Files, Accounts: w.Accounts, Card: w.Card, Look: s.author.ShowUnsaved}
		if w.Replies != nil {
			o.Replies, o.Sent, o.Mentions, o.MentionsOff = w.Replies, w.Sent, w.Mentions, w.MentionsOff
		}
		if w.Threads != nil {
			o.ReplyToURL = func(ctx context.Context, url string) author.Reply {
				to := author.Reply{URL: url}
				if known, ok := w.Threads.Known(ctx, url); ok {
					to.Title = shell.CleanText(known.Name+": "+known.Line, 250)
				}
				return to
			}
		}
		if s.reader != nil {
			o.ReplyTo = s.reader.ReplyTo
		}
		s.writer = writerui.New(texts, o)
	}
	return s
}

// RouteList lists every page as data, in no particular order.
func (w *Web) RouteList() []route.Route { return newSite(w).routes() }

func (s *site) routes() []route.Route {
	all := append(s.shell.Routes(), s.hub.Routes()...)
	all = append(all, s.docs.Routes()...)
	all = append(all, s.author.Routes()...)
	if s.account != nil {
		all = append(all, s.account.Routes()...)
	}
	if s.admin != nil {
		all = append(all, s.admin.Routes()...)
	}
	if s.people != nil {
		all = append(all, s.people.Routes()...)
	}
	if s.writer != nil {
		all = append(all, s.writer.Routes()...)
	}
	if s.reader != nil {
		all = append(all, s.reader.Routes()...)
		all = append(all, s.filters.Routes()...)
		all = append(all, s.forward.Routes()...)
	}
	return all
}

// Routes serves every page, with its headers and the protection of its forms. An unknown path gets
// the 404 page.
func (w *Web) Routes() http.Handler {
	s := newSite(w)
	mux := http.NewServeMux()
	route.Mount(mux, s.routes(), s.shell.Protect())
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) { s.missing(mux, rw, r) })
	return s.shell.Wrap(s.shell.GuardForms(mux, forwardui.EndPath))
}

// AuthorPage writes the page of a user. As an http.Handler it takes the user's name from the path.
type AuthorPage func(rw http.ResponseWriter, r *http.Request, user string)

func (p AuthorPage) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	user, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	p(rw, r, user)
}

// AuthorPage serves the page of a user, /<user>/: the public feed for people. The reply for a user
// without a page is the same as for an unknown user, and it has the headers of all pages.
func (w *Web) AuthorPage() AuthorPage {
	s := newSite(w)
	return func(rw http.ResponseWriter, r *http.Request, user string) {
		s.shell.Wrap(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { s.author.ServeUser(rw, r, user) })).ServeHTTP(rw, r)
	}
}

// SignedIn returns the user of a request's session; "": signed out.
func (w *Web) SignedIn() func(r *http.Request) string {
	s := newSite(w).shell
	return func(r *http.Request) string { return s.Visitor(shell.RenewVisit(r)).User }
}

// PingSitePage writes the page that answers /pingSiteForm: a title, a sentence, and the form with
// its values. Its fields are name, url, changesURL and rssUrl. It has the headers of all pages.
func (w *Web) PingSitePage() func(rw http.ResponseWriter, r *http.Request, status int, title, text string, form url.Values) {
	s := newSite(w)
	return func(rw http.ResponseWriter, r *http.Request, status int, title, text string, form url.Values) {
		s.shell.Wrap(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			s.hub.ServePingSite(rw, r, status, title, text, form)
		})).ServeHTTP(rw, r)
	}
}

// missing answers a request without a route: with status 405 if the path has a route for another
// method, else with 404.
func (s *site) missing(mux *http.ServeMux, rw http.ResponseWriter, r *http.Request) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if method == r.Method {
			continue
		}
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern == "/" || pattern == "" {
			continue
		}
		allow, hint := "GET, HEAD", "Open it in a browser instead."
		if method == http.MethodPost {
			allow, hint = "POST", "Send the form from the page that has it."
		}
		s.shell.MethodNotAllowed(rw, r, allow, hint)
		return
	}
	// /<user>/stats is a shortcut to a user's own numbers; other users get a 404.
	if user := s.shell.Visitor(r).User; s.shell.CountsReaders && user != "" && r.URL.Path == "/"+user+"/stats" {
		http.Redirect(rw, r, "/account/readers", http.StatusSeeOther)
		return
	}
	s.shell.NotFound(rw, r)
}
