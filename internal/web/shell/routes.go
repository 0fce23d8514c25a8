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

// WithSession passes the session of the request to the page of a session route.
func (s *Shell) WithSession(page func(http.ResponseWriter, *http.Request, account.Session)) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		session := s.Visitor(r)
		if session.User == "" { // the route lacks the protection that its handler needs
			s.Fail(rw, r, fault.New(fault.Refused, "Sign in to see this page."))
			return
		}
		page(rw, r, session)
	})
}

func (s *Shell) robots(rw http.ResponseWriter, _ *http.Request) {
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = rw.Write([]byte("User-agent: *\nDisallow: /log\nDisallow: /changes$\nDisallow: /changes?\nDisallow: /changes/\nDisallow: /do/\nDisallow: /topics\nDisallow: /account\nDisallow: /admin\nDisallow: /login\nDisallow: /setup\nDisallow: /signup\nDisallow: /river$\nDisallow: /river?\nDisallow: /river/\nDisallow: /feeds\nDisallow: /write\n"))
}
