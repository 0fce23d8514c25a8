package app

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/api"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/endpoint/publishhttp"
	"cloudburst/internal/endpoint/readhttp"
	"cloudburst/internal/route"
	"cloudburst/internal/testfeed"
	"cloudburst/internal/web"
)

// group contains the routes of one part of the program. title is its heading in the
// documentation.
type group struct {
	title  string
	routes []route.Route
}

// routing builds the routes of both listeners.
type routing struct{ *App }

// groups lists all routes of both listeners. site is the handler that serves the pages.
func (a routing) groups(public string, pages *web.Web, site http.Handler) []group {
	return []group{
		{"Hub", a.hubRoutes(public, pages, site)},
		{"Publish", a.publishRoutes()},
		{"Read", a.readRoutes()},
		{"Pages", a.pageRoutes(public, pages, site)},
		{"API", a.apiRoutes()},
		{"Operator", append(a.health(), a.operator.Routes()...)},
	}
}

// publicRoutes returns the handler of the public listener.
func (a routing) publicRoutes(public string) http.Handler {
	pages := a.pages(public)
	canonical := func(next http.Handler) http.Handler { return a.names.AtCanonical(public, next) }
	if a.cfg.PublicURL != "" || a.cfg.TLS.On() { // the canonical URL may be unreachable from this machine, so do not redirect to it
		canonical = func(next http.Handler) http.Handler { return next }
	}
	site := canonical(pages.Routes())
	a.feeds.HTML = canonical(pages.AuthorPage())
	a.feeds.SignedIn = pages.SignedIn()
	all := a.health()
	for _, g := range a.groups(public, pages, site) {
		if g.title != "Operator" {
			all = append(all, g.routes...)
		}
	}
	h := join(all, a.feeds, site)
	a.site.Store(&h)
	h = a.domains(h)
	for _, wrap := range []func(http.Handler) http.Handler{a.traced, within(writeTimeout)} { // the list starts with the innermost handler
		h = wrap(h)
	}
	return h
}

// join returns a handler that matches routes in this order: routes with a fixed first segment,
// feeds of users, other patterns such as the archive of a day, and site. The patterns need two
// muxes, because GET /{year}/{month}/{day}/{hour} and /v1/ would conflict in one mux.
func join(routes []route.Route, users *publishhttp.Feeds, site http.Handler) http.Handler {
	fixed, variable := http.NewServeMux(), http.NewServeMux()
	protect := endpoint.Protect()
	protect[route.Session] = protect[route.Token] // the site handler checks the session itself
	names := map[string]bool{"": true}
	for _, r := range routes {
		if r.Handler == users { // the handler of users' feeds checks the protection itself
			continue
		}
		mux := fixed
		if name, any := r.First(); any {
			mux = variable
		} else {
			names[name] = true
		}
		route.Mount(mux, []route.Route{r}, protect)
	}
	variable.Handle("/", site)
	fixed.Handle("/", variable)
	users.Next = variable
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); names[name] {
			fixed.ServeHTTP(w, r)
			return
		}
		users.ServeHTTP(w, r)
	})
}

// hubRoutes returns the endpoints of the hub, and the endpoints that receive notifications from
// other hubs.
func (a routing) hubRoutes(public string, pages *web.Web, site http.Handler) []route.Route {
	hub := &hubhttp.Endpoints{
		Hub: a.hub, Changes: a.store, Trusted: a.cfg.TrustedProxies, PublicURL: public, Upstream: a.upstream, Log: a.log,
		PingPage: pages.PingSitePage(), HubPage: site, NotFound: site, Methods: a.feeds.Methods(),
		When: a.cfg.Changes.When, KeepChanges: a.cfg.Changes.Keep, Now: a.clock.Now,
	}
	a.editors(hub)
	notified := &hubhttp.NotifyEndpoints{Engine: a.upstream, Trusted: a.cfg.TrustedProxies, Log: a.log}
	return append(hub.Routes(), notified.Routes()...)
}

// publishRoutes returns the endpoints for publishing, and the endpoints that serve the published
// documents.
func (a routing) publishRoutes() []route.Route {
	convert := &publishhttp.Convert{Library: library{a.App}, Layer: a.layer, Now: a.clock.Now, Log: a.log}
	return slices.Concat(a.feeds.UserRoutes(), a.feeds.Routes(), convert.Routes(), a.micropub().Routes(), a.domains(nil).Routes(), a.indieAuth().Routes(), a.webmention().Routes(), a.webFinger().Routes())
}

// readRoutes returns the endpoints for feed reader apps.
func (a routing) readRoutes() []route.Route {
	return (&readhttp.Apps{
		River: a.river, Accounts: a.accounts, ReaderOf: a.owners.readerOf, Public: a.names.Public, Trusted: a.cfg.TrustedProxies, Now: a.clock.Now, Log: a.log,
	}).Routes()
}

// apiRoutes returns the routes of the JSON API. Programs call the API with the token of a user.
func (a routing) apiRoutes() []route.Route {
	return api.RiverRoutes(a.writing(api.Options{
		Hub: a.hub, Bus: a.hub.Bus, Version: Version, Log: a.log, Now: a.clock.Now, Done: a.done,
		River: a.river, Tokens: a.accounts, ReaderOf: a.owners.readerOf, ClientAddr: a.clientAddr,
	}))
}

// pageRoutes returns the routes of the pages and of the test feed. site adds headers to all
// pages, and protects their forms and sessions.
func (a routing) pageRoutes(public string, pages *web.Web, site http.Handler) []route.Route {
	var all []route.Route
	for _, r := range pages.RouteList() {
		if r.Path != "/hub" { // skip this page: the hub's endpoint serves it to browsers
			r.Handler = site
			all = append(all, r)
		}
	}
	return append(all, route.Route{Path: testfeed.Path, Handler: a.testFeed.Handler(public), Purpose: "Serves a feed that changes every 15 minutes, for tests."})
}

// pages creates the component that renders the pages.
func (a routing) pages(public string) *web.Web {
	pages := &web.Web{
		Hub: a.hub, Store: a.store, Bus: a.hub.Bus, PublicURL: public, TestFeed: public + testfeed.Path, Cloud: a.cloudAt, Expiry: a.cfg.Hub.Expiry, Version: Version, Warnings: a.warnings,
		Now: a.clock.Now, Log: a.log, Done: a.done, Changed: hosting(a).ownChanged, Titles: hosting(a).feedTitles,
		Accounts: a.accounts, Authors: a.authors, Audience: a.audience, Registration: administering(a).registrationIsOpen, Administration: administering(a).administration(),
		ClientAddr: a.clientAddr,
	}
	a.riverPages(pages)
	pages.Tick = a.testFeed.Tick // the page of the test feed has a button that calls Tick
	hosting(a).writePages(pages)
	a.signInToApps(pages)
	return pages
}

// clientAddr returns the address of the client that sent the request, also if a trusted proxy
// forwarded it.
func (a *App) clientAddr(r *http.Request) netip.Addr {
	return endpoint.CallerAddr(r, a.cfg.TrustedProxies)
}

// adminRoutes returns the handler of the operator's listener. The guard of the API protects all
// routes except the health endpoints.
func (a routing) adminRoutes() http.Handler {
	mux := http.NewServeMux()
	health := a.health()
	route.Mount(mux, append(health, a.operator.Routes()...), api.Protect())
	guarded := a.operator.Guard(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		if slices.ContainsFunc(health, func(h route.Route) bool { return h.Pattern() == pattern }) {
			mux.ServeHTTP(w, r)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// health returns the routes that report whether the process is alive and whether the server is
// ready.
func (a routing) health() []route.Route {
	return []route.Route{
		{Method: "GET", Path: "/healthz", Handler: http.HandlerFunc(a.alive), Purpose: "Says that the process is alive; on both listeners."},
		{Method: "GET", Path: "/readyz", Handler: http.HandlerFunc(a.ready), Purpose: "Says whether the server can work; on both listeners."},
	}
}

// within returns a wrapper that limits the time for writing a response. Live streams set a new
// deadline before each write.
func within(d time.Duration) func(next http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// An error means that the writer does not support deadlines. Then only a proxy in
			// front can limit the response.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d))
			next.ServeHTTP(w, r)
		})
	}
}
