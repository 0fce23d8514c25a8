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

// Policy lets a page load its own styles, scripts and images, and nothing else.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Wrap adds the headers of pages to the replies and a visit to the requests.
func (s *Shell) Wrap(next http.Handler) http.Handler { return s.withVisit(headers(next)) }

// GuardForms refuses forms that other sites send, except to the paths in open.
func (s *Shell) GuardForms(next http.Handler, open ...string) http.Handler {
	guard := http.NewCrossOriginProtection()
	if u, err := url.Parse(s.PublicURL); err == nil && u.Host != "" {
		// Behind a proxy that rewrites Host, the browser's Origin is still the public URL. An
		// invalid origin does not prevent the start.
		_ = guard.AddTrustedOrigin(u.Scheme + "://" + u.Host)
	}
	for _, path := range open {
		guard.AddInsecureBypassPattern("POST " + path)
	}
	guard.SetDenyHandler(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		s.Fail(rw, r, fault.New(fault.Refused, "This form was sent from another site, so nothing was done. Open the form here and send it again."))
	}))
	return guard.Handler(next)
}

func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h := rw.Header()
		h.Set("Content-Security-Policy", Policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		next.ServeHTTP(rw, r)
	})
}

func (s *Shell) robots(rw http.ResponseWriter, _ *http.Request) {
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = rw.Write([]byte("User-agent: *\nDisallow: /log\nDisallow: /changes$\nDisallow: /changes?\nDisallow: /changes/\nDisallow: /do/\nDisallow: /topics\nDisallow: /account\nDisallow: /admin\nDisallow: /login\nDisallow: /setup\nDisallow: /signup\nDisallow: /river$\nDisallow: /river?\nDisallow: /river/\nDisallow: /feeds\nDisallow: /write\n"))
}
