package web

import (
	"net/http"
	"net/url"
	"sync/atomic"

	"cloudburst/internal/fault"
)

// site is a Web at work: what Routes makes once.
type site struct {
	*Web
	pages     pages
	assets    assets
	listening atomic.Int64
	rows      rowCache // lines of the log
	lines     rowCache // lines of the list of changes
	tail      changeTail
}

// newSite makes ready what all pages share.
func newSite(w *Web) *site {
	s := &site{Web: w, assets: loadAssets()}
	s.pages = parsePages(s.assets)
	return s
}

// section is one entry of the bar. What the program learns later gets its line
// in sections and its icon in templates/icons.html.
type section struct{ Path, Label, Icon string }

func sections() []section {
	return []section{
		{"/log", "Log", "log"},
		{"/changes", "Changes", "changes"},
		{"/topics", "Topics", "topics"},
		{"/status", "Status", "status"},
		{"/docs", "Docs", "docs"},
	}
}

// Routes is every page, with its headers and the protection of its forms. It
// answers any path: what is not a page is the 404 page.
func (w *Web) Routes() http.Handler {
	s := newSite(w)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.front)
	mux.HandleFunc("POST /do/ping", s.doPing)
	mux.HandleFunc("POST /do/register", s.doRegister)
	mux.HandleFunc("GET /log", s.logPage)
	mux.HandleFunc("GET /log/stream", s.stream)
	mux.HandleFunc("GET /changes", s.changesPage)
	mux.HandleFunc("GET /changes/stream", s.changesStream)
	mux.HandleFunc("GET /topics", s.topics)
	mux.HandleFunc("GET /topics/{id}", s.topic)
	mux.HandleFunc("GET /status", s.status)
	mux.HandleFunc("GET /docs", s.docs)
	mux.HandleFunc("GET /static/{file}", s.asset)
	mux.HandleFunc("GET /favicon.svg", s.favicon)
	mux.HandleFunc("GET /favicon.ico", s.favicon)
	mux.HandleFunc("GET /robots.txt", s.robots)
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) { s.missing(mux, rw, r) })

	guard := http.NewCrossOriginProtection()
	if u, err := url.Parse(w.PublicURL); err == nil && u.Host != "" {
		// Behind a proxy that rewrites Host, the browser's Origin is still ours.
		// An origin that cannot be one is no reason not to start.
		_ = guard.AddTrustedOrigin(u.Scheme + "://" + u.Host)
	}
	guard.SetDenyHandler(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		s.fail(rw, r, fault.New(fault.Refused, "This form was sent from another site, so nothing was done. Open the form here and send it again."))
	}))
	return headers(guard.Handler(mux))
}

// policy lets a page load its own style, script and pictures, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h := rw.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		next.ServeHTTP(rw, r)
	})
}

// missing answers what no route matched: 405 where another method has a page, else 404.
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
			allow, hint = "POST", "It takes a form that is sent to it; both forms are on the front page."
		}
		rw.Header().Set("Allow", allow)
		s.problem(rw, r, http.StatusMethodNotAllowed, "This page is not asked that way", hint)
		return
	}
	s.problem(rw, r, http.StatusNotFound, "There is nothing here",
		"The address may be misspelt, or what stood here is gone.")
}

func (s *site) robots(rw http.ResponseWriter, _ *http.Request) {
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = rw.Write([]byte("User-agent: *\nDisallow: /log\nDisallow: /changes$\nDisallow: /changes?\nDisallow: /changes/\nDisallow: /do/\nDisallow: /topics\n"))
}
