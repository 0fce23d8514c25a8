package shell

import (
	"net/http"
	"net/url"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/route"
)

// Routes lists the files that pages load.
func (s *Shell) Routes() []route.Route {
	get := func(path, purpose string, do http.HandlerFunc) route.Route {
		return route.Route{Method: http.MethodGet, Path: path, Handler: do, Purpose: purpose}
	}
	return append(s.installRoutes(), []route.Route{
		get("/static/{file}", "A stylesheet, script or image of the pages, named after its content.", s.asset),
		get("/static/tint/{file}", "The style sheet of an author's colours.", s.serveTint),
		get("/favicon.svg", "The icon of the site.", s.favicon),
		get("/favicon.ico", "The icon of the site, where old browsers ask for it.", s.favicon),
		get("/robots.txt", "What search engines may read.", s.robots),
	}...)
}

// Protect maps each protection of a route to its wrapper.
func (s *Shell) Protect() map[route.Protection]func(http.Handler) http.Handler {
	return map[route.Protection]func(http.Handler) http.Handler{route.Session: s.requireSession}
}

// SelfGuarded is the handler of a session route that checks the session itself, because it has its
// own reply for signed-out users.
type SelfGuarded http.HandlerFunc

// ServeHTTP implements http.Handler.
func (h SelfGuarded) ServeHTTP(rw http.ResponseWriter, r *http.Request) { h(rw, r) }

// requireSession protects a page that needs a session: it sends signed-out users to sign in and
// back to the page afterwards. Caches do not store the page.
func (s *Shell) requireSession(page http.Handler) http.Handler {
	if guarded, ok := page.(SelfGuarded); ok {
		return guarded
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Cache-Control", "no-store")
		session, err := s.FindVisitor(r)
		switch {
		case err != nil:
			s.Fail(rw, r, err)
		case session.User == "":
			next := r.URL.RequestURI()
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				next = "/account"
			}
			http.Redirect(rw, r, "/login?next="+url.QueryEscape(next), http.StatusSeeOther)
		default:
			page.ServeHTTP(rw, r)
		}
	})
}

// Page is a page or a form. If it returns an error, the visitor sees the error page.
type Page func(rw http.ResponseWriter, r *http.Request) error

// UserPage is a page or a form of a signed-in user.
type UserPage func(rw http.ResponseWriter, r *http.Request, session account.Session) error

// Handle serves a page.
func (s *Shell) Handle(page Page) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if err := page(rw, r); err != nil {
			s.Fail(rw, r, err)
		}
	}
}

// UserRoute returns the route of a page of a signed-in user.
func (s *Shell) UserRoute(path, purpose string, page UserPage) route.Route {
	return route.Route{Method: http.MethodGet, Path: path, Handler: s.WithSession(page), Protection: route.Session, Purpose: purpose}
}

// FormRoute returns the route of a form of a signed-in user, with at most limit bytes.
func (s *Shell) FormRoute(path string, limit int64, purpose string, do UserPage) route.Route {
	return route.Route{Method: http.MethodPost, Path: path, Handler: s.WithSession(do), Protection: route.Session, MaxBody: limit, Purpose: purpose}
}

// WithSession passes the session of the request to the page of a session route.
func (s *Shell) WithSession(page UserPage) http.Handler {
	return s.Handle(func(rw http.ResponseWriter, r *http.Request) error {
		session := s.Visitor(r)
		if session.User == "" { // the route lacks the protection that its handler needs
			return fault.New(fault.Refused, "Sign in to see this page.")
		}
		return page(rw, r, session)
	})
}

// Redirect leads the browser to a page after a form. It always returns nil.
func Redirect(rw http.ResponseWriter, r *http.Request, to string) error {
	http.Redirect(rw, r, to, http.StatusSeeOther)
	return nil
}

func (s *Shell) robots(rw http.ResponseWriter, _ *http.Request) {
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = rw.Write([]byte("User-agent: *\nDisallow: /log\nDisallow: /changes$\nDisallow: /changes?\nDisallow: /changes/\nDisallow: /do/\nDisallow: /topics\nDisallow: /account\nDisallow: /admin\nDisallow: /login\nDisallow: /setup\nDisallow: /signup\nDisallow: /river$\nDisallow: /river?\nDisallow: /river/\nDisallow: /feeds\nDisallow: /write\n"))
}
