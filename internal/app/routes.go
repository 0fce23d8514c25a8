package app

import (
	"context"
	"io"
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

// group is the routes of one part of the program, with the heading that the documentation gives
// them.
type group struct {
	title  string
	routes []route.Route
}

// routing puts the routes of both listeners together.
type routing struct{ *App }

// groups lists everything that the program serves, on both of its listeners. site is the pages.
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

// publicRoutes is the public listener.
func (a routing) publicRoutes(public string) http.Handler {
	pages := a.pages(public)
	canonical := func(next http.Handler) http.Handler { return a.names.AtCanonical(public, next) }
	if a.cfg.PublicURL != "" || a.cfg.TLS.On() { // this machine may not reach that URL: every name keeps working as it is
		canonical = func(next http.Handler) http.Handler { return next }
	}
	site := canonical(pages.Routes())
	a.feeds.HTML = canonical(pages.AuthorPage())
	all := a.health()
	for _, g := range a.groups(public, pages, site) {
		if g.title != "Operator" {
			all = append(all, g.routes...)
		}
	}
	h := join(all, a.feeds, site)
	a.site.Store(&h)
	for _, wrap := range []func(http.Handler) http.Handler{a.traced, within(writeTimeout)} { // from the inside out
		h = wrap(h)
	}
	return h
}

// join serves routes. Those with a fixed first segment come first; addresses with any other are
// offered to the feeds of users, then to the routes that begin with any text, such as the
// archive of a day, and then to site. The two kinds need a mux each: GET /{year}/{month}/{day}/{hour}
// and /v1/ would conflict in one.
func join(routes []route.Route, users *publishhttp.Feeds, site http.Handler) http.Handler {
	fixed, variable := http.NewServeMux(), http.NewServeMux()
	protect := endpoint.Protect()
	protect[route.Session] = protect[route.Token] // site looks at sessions
	names := map[string]bool{"": true}
	for _, r := range routes {
		if r.Handler == users { // it finds out itself which address is meant
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

// hubRoutes are the endpoints of the hub, and those at which other hubs notify this server.
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

// publishRoutes are the endpoints at which people publish, and what they published.
func (a routing) publishRoutes() []route.Route {
	convert := &publishhttp.Convert{Library: library{a.App}, Layer: a.layer, Now: a.clock.Now, Log: a.log}
	return slices.Concat(a.feeds.UserRoutes(), a.feeds.Routes(), convert.Routes(), a.micropub().Routes(), a.indieAuth().Routes())
}

// readRoutes are the endpoints for apps in which people read.
func (a routing) readRoutes() []route.Route {
	return (&readhttp.Apps{
		River: a.river, Accounts: a.accounts, ReaderOf: a.owners.readerOf, Public: a.names.Public, Trusted: a.cfg.TrustedProxies, Now: a.clock.Now, Log: a.log,
	}).Routes()
}

// apiRoutes are the JSON API for programs that have a token of a user.
func (a routing) apiRoutes() []route.Route {
	return api.RiverRoutes(a.writing(api.Options{
		Hub: a.hub, Bus: a.hub.Bus, Version: Version, Log: a.log, Now: a.clock.Now, Done: a.done,
		River: a.river, Tokens: a.accounts, ReaderOf: a.owners.readerOf, ClientAddr: a.clientAddr,
	}))
}

// pageRoutes are the pages and the test feed. site serves all pages: it adds their headers, and
// protects their forms and sessions.
func (a routing) pageRoutes(public string, pages *web.Web, site http.Handler) []route.Route {
	var all []route.Route
	for _, r := range pages.RouteList() {
		if r.Path != "/hub" { // which the endpoint of the hub gives to browsers
			r.Handler = site
			all = append(all, r)
		}
	}
	return append(all, route.Route{Method: "GET", Path: testfeed.Path, Handler: a.testFeed.Handler(public), Purpose: "Serves a feed that changes every 15 minutes, for tests."})
}

// pages makes the pages.
func (a routing) pages(public string) *web.Web {
	pages := &web.Web{
		Hub: a.hub, Store: a.store, Bus: a.hub.Bus, PublicURL: public, TestFeed: public + testfeed.Path, Cloud: a.cloudAt, Expiry: a.cfg.Hub.Expiry, Version: Version, Warnings: a.warnings,
		Now: a.clock.Now, Log: a.log, Done: a.done, Changed: hosting(a).ownChanged,
		Accounts: a.accounts, Authors: a.authors, Audience: a.audience, Registration: a.cfg.Accounts.Registration == "open",
		ClientAddr: a.clientAddr,
	}
	a.riverPages(pages)
	pages.Tick = a.testFeed.Tick // its page has a button
	hosting(a).writePages(pages)
	a.signInToApps(pages)
	return pages
}

// clientAddr is the address of a client, behind the proxies that the operator trusts.
func (a *App) clientAddr(r *http.Request) netip.Addr {
	return endpoint.CallerAddr(r, a.cfg.TrustedProxies)
}

// adminRoutes is the operator's listener. Everything but the state of the process is behind the
// guard of the API.
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

// health lists the addresses at which watchers ask whether the process is alive, and able to work.
func (a routing) health() []route.Route {
	return []route.Route{
		{Method: "GET", Path: "/healthz", Handler: http.HandlerFunc(a.alive), Purpose: "Says that the process is alive; on both listeners."},
		{Method: "GET", Path: "/readyz", Handler: http.HandlerFunc(a.ready), Purpose: "Says whether the server can work; on both listeners."},
	}
}

func (a routing) alive(w http.ResponseWriter, r *http.Request) {
	if token := r.URL.Query().Get(probeParam); token != "" {
		if !a.probes.arrive(token) { // behind a balancer, another machine may have sent it
			w.Header().Set(probeHeader, examination(a).proof(token))
		}
	}
	respond(w, http.StatusOK, "alive\n")
}

func (a routing) ready(w http.ResponseWriter, r *http.Request) {
	if a.draining.Load() {
		respond(w, http.StatusServiceUnavailable, "stopping\n")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if err := a.store.Ping(ctx); err != nil {
		a.log.Warn("readiness", "err", err)
		respond(w, http.StatusServiceUnavailable, "the store cannot be reached\n")
		return
	}
	if a.freeSpace().low {
		respond(w, http.StatusServiceUnavailable, "the disk of the data folder is nearly full\n")
		return
	}
	respond(w, http.StatusOK, "ready\n")
}

func respond(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // whoever asked may have gone
}

// within bounds the time of an answer. Live streams set their own deadline for
// each piece they write.
func within(d time.Duration) func(next http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// The error says that this writer knows no deadlines: then a proxy in front bounds it.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d))
			next.ServeHTTP(w, r)
		})
	}
}
