package web

import (
	"compress/gzip"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"

	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
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
	authors   authorPages
	turns     chan struct{} // a place for each who reads a saved document now
	guides    guides
	imports   *imports // lists that are taken in
	moving    moves    // files that authors bring along
	contents  contentCache
	packers   sync.Pool // of *gzip.Writer
	pictures  pictures
	sizes     pictureSizes
	live      riverTail
	clean     func() *sanitize.Sanitizer // made when it is first needed
}

// newSite makes ready what all pages share.
func newSite(w *Web) *site {
	s := &site{Web: w, assets: loadAssets(), pages: parsePages(), turns: make(chan struct{}, readingAtOnce), imports: newImports()}
	s.packers.New = func() any {
		z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil {
			return nil // the level exists
		}
		return z
	}
	s.clean = sync.OnceValue(func() *sanitize.Sanitizer {
		return sanitize.New(sanitize.Options{LinkRel: "nofollow noopener noreferrer ugc", NoClasses: true, NoStyles: true})
	})
	return s
}

// section is one entry of the bar. What the program learns later gets its line
// in sections and its icon in templates/icons.html.
type section struct {
	Path, Label, Icon string
	Place             placing
}

// placing says where the bar has a section: the bar of a phone has room for few.
type placing int

const (
	inBar  placing = iota // always
	ifWide                // in its menu on a phone
	inMenu                // always in its menu
)

func (s *site) sections() []section {
	all := []section{
		{"/hub", "Hub", "hub", inMenu},
		{"/log", "Log", "log", inBar},
		{"/changes", "Changes", "changes", inMenu},
		{"/topics", "Topics", "topics", inMenu},
		{"/status", "Status", "status", ifWide},
		{"/docs", "Docs", "docs", ifWide},
	}
	writes := s.Posts != nil && s.Accounts != nil
	if s.River == nil && !writes {
		for i := range all {
			all[i].Place = inBar
		}
		return all
	}
	var first []section
	if s.River != nil {
		first = append(first, section{"/river", "River", "river", inBar}, section{"/feeds", "Feeds", "feeds", inBar})
	}
	if writes {
		first = append(first, section{"/write", "Write", "write", inBar})
		all[1].Place = ifWide // the log
	}
	return append(first, all...)
}

// Routes is every page, with its headers and the protection of its forms. It
// answers any path: what is not a page is the 404 page.
func (w *Web) Routes() http.Handler {
	s := newSite(w)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.front)
	mux.HandleFunc("GET /hub", s.hubPage)
	mux.HandleFunc("POST /do/ping", s.doPing)
	mux.HandleFunc("POST /do/register", s.doRegister)
	mux.HandleFunc("GET /log", s.logPage)
	mux.HandleFunc("GET /log/stream", s.stream)
	mux.HandleFunc("GET /changes", s.changesPage)
	mux.HandleFunc("GET /changes/stream", s.changesStream)
	mux.HandleFunc("GET /topics", s.topics)
	mux.HandleFunc("GET /topics/{id}", s.topic)
	mux.HandleFunc("GET /status", s.status)
	// The pages of rsscloud-server, by which people know a hub.
	mux.Handle("GET /pingForm", http.RedirectHandler("/hub#s-ping", http.StatusMovedPermanently))
	mux.Handle("GET /pleaseNotifyForm", http.RedirectHandler("/hub#s-register", http.StatusMovedPermanently))
	mux.Handle("GET /viewLog", http.RedirectHandler("/log", http.StatusMovedPermanently))
	mux.HandleFunc("GET /docs", s.docs)
	mux.HandleFunc("GET /docs/{name}", s.guide)
	if s.TestFeed != "" {
		mux.HandleFunc("GET /test/{$}", s.testFeedPage)
		mux.HandleFunc("POST /test/tick", s.private(s.doTick))
	}
	s.accountRoutes(mux)
	s.writeRoutes(mux)
	if s.River != nil {
		s.riverRoutes(mux)
		s.feedsPagesRoutes(mux)
	}
	mux.HandleFunc("GET /static/{file}", s.asset)
	mux.HandleFunc("GET /static/tint/{file}", s.tintSheet)
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
	guard.AddInsecureBypassPattern("POST " + endNotice)
	guard.SetDenyHandler(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		s.fail(rw, r, fault.New(fault.Refused, "This form was sent from another site, so nothing was done. Open the form here and send it again."))
	}))
	return s.visited(headers(guard.Handler(mux)))
}

// accountRoutes are the pages for people who sign in here, if they do.
func (s *site) accountRoutes(mux *http.ServeMux) {
	if s.Accounts == nil {
		return
	}
	mux.HandleFunc("GET /setup", s.setup)
	mux.HandleFunc("POST /setup", s.doSetup)
	mux.HandleFunc("GET /login", s.login)
	mux.HandleFunc("POST /login", s.doLogin)
	mux.HandleFunc("POST /logout", s.logout)
	mux.HandleFunc("GET /signup", s.signup)
	mux.HandleFunc("POST /signup", s.doSignup)
	mux.HandleFunc("GET /account", s.private(s.accountPage))
	mux.HandleFunc("POST /account/password", s.private(s.doPassword))
	mux.HandleFunc("POST /account/sessions/end", s.private(s.doEndSession))
	mux.HandleFunc("POST /account/tokens", s.private(s.doNewToken))
	mux.HandleFunc("POST /account/tokens/revoke", s.private(s.doRevokeToken))
	if s.Apps != nil {
		mux.HandleFunc("GET /auth", s.private(s.authorizePage))
		mux.HandleFunc("POST /auth/decide", s.private(s.doAuthorize))
	}
	if s.Moves != nil {
		mux.HandleFunc("GET /account/export", s.private(s.exportPage))
		mux.HandleFunc("POST /account/import", s.private(s.doMove))
		mux.HandleFunc("GET /account/import/{id}", s.private(s.movedPage))
	}
	mux.HandleFunc("GET /account/private", s.private(s.privatePage))
	mux.HandleFunc("POST /account/private", s.private(s.doNewSecret))
	mux.HandleFunc("POST /account/private/revoke", s.private(s.doRevokeSecret))
	if s.Authors == nil {
		return
	}
	if s.Audience != nil {
		mux.HandleFunc("GET /account/readers", s.private(s.readersPage))
	}
	mux.HandleFunc("GET /account/feed", s.private(s.feedsPage))
	mux.HandleFunc("POST /account/feed", s.private(s.doSave))
	if s.Posts != nil {
		mux.HandleFunc("POST /account/feed/hints", s.private(s.doHints))
	}
	mux.HandleFunc("POST /account/feed/move", s.private(s.doPlace))
	mux.HandleFunc("POST /account/feed/for-now", s.private(s.doPlace))
	mux.HandleFunc("POST /account/feed/end", s.private(s.doPlace))
	mux.HandleFunc("POST /account/feed/restore", s.private(s.doPlace))
	mux.HandleFunc("POST /account/feed/cloud", s.private(s.doCloud))
}

// policy lets a page load its own style, script and pictures, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

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
			allow, hint = "POST", "It takes a form that is sent to it, from a page that has the form."
		}
		s.notAsked(rw, r, allow, hint)
		return
	}
	// What an author would type is led to his own numbers; nobody else learns of it.
	if user := s.visitor(r).User; s.Audience != nil && user != "" && r.URL.Path == "/"+user+"/stats" {
		http.Redirect(rw, r, "/account/readers", http.StatusSeeOther)
		return
	}
	s.nothing(rw, r)
}

// notAsked answers a method that a page has not.
func (s *site) notAsked(rw http.ResponseWriter, r *http.Request, allow, hint string) {
	rw.Header().Set("Allow", allow)
	s.problem(rw, r, http.StatusMethodNotAllowed, "This page is not asked that way", hint)
}

func (s *site) robots(rw http.ResponseWriter, _ *http.Request) {
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = rw.Write([]byte("User-agent: *\nDisallow: /log\nDisallow: /changes$\nDisallow: /changes?\nDisallow: /changes/\nDisallow: /do/\nDisallow: /topics\nDisallow: /account\nDisallow: /login\nDisallow: /setup\nDisallow: /signup\nDisallow: /river$\nDisallow: /river?\nDisallow: /river/\nDisallow: /feeds\nDisallow: /write\n"))
}
