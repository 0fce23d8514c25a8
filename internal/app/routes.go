package app

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"time"

	"cloudburst/internal/api"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/endpoint/publishhttp"
	"cloudburst/internal/endpoint/readhttp"
	"cloudburst/internal/route"
	"cloudburst/internal/web"
)

// publicRoutes says which URL goes where on the public listener: the doors first,
// then the pages.
func (a *App) publicRoutes(public string) http.Handler {
	mux := http.NewServeMux()
	a.health(mux)
	pages := &web.Web{
		Hub: a.hub, Store: a.store, Bus: a.hub.Bus, PublicURL: public, TestFeed: public + testFeedPath, Cloud: a.cloudAt, Expiry: a.cfg.Hub.Expiry, Version: Version, Warnings: a.warnings,
		Now: a.clock.Now, Log: a.log, Done: a.done, Changed: a.ownChanged,
		Accounts: a.accounts, Authors: a.authors, Audience: a.audience, Registration: a.cfg.Accounts.Registration == "open",
		ClientAddr: func(r *http.Request) netip.Addr { return endpoint.CallerAddr(r, a.cfg.TrustedProxies) },
	}
	a.riverPages(pages)
	a.testFeedPages(pages)
	a.writePages(pages)
	a.signInToApps(pages)
	site := a.atCanonical(public, pages.Routes())
	gate := &hubhttp.Endpoints{Hub: a.hub, Changes: a.store, Trusted: a.cfg.TrustedProxies, PublicURL: public, Upstream: a.upstream, Log: a.log}
	gate.PingPage, gate.NotFound = pages.PingSitePage(), site
	gate.Methods = a.feeds.Methods()
	a.editors(gate)
	gate.When, gate.KeepChanges, gate.Now = a.cfg.Changes.When, a.cfg.Changes.Keep, a.clock.Now
	gate.HubPage = site
	notified := &hubhttp.Notified{Engine: a.upstream, Trusted: a.cfg.TrustedProxies, Log: a.log}
	route.Mount(mux, append(gate.Routes(), notified.Routes()...), endpoint.Protect())
	mux.Handle("GET "+testFeedPath, a.serveTestFeed(public))
	convert := &publishhttp.Convert{Library: library{a}, Layer: a.layer, Now: a.clock.Now, Log: a.log}
	route.Mount(mux, append(convert.Routes(), a.feeds.Routes()...), endpoint.Protect())
	mux.Handle("/", site)
	a.feeds.HTML, a.feeds.Next = a.atCanonical(public, pages.AuthorPage()), a.programRoutes(mux)
	var whole http.Handler = a.feeds
	a.site.Store(&whole)
	return within(writeTimeout, a.traced(a.feeds))
}

// programRoutes are the doors for programs of readers: our own API, and those of others.
// They stand before all else, because what is below them could be taken for the archive
// of a day.
func (a *App) programRoutes(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	route.Mount(mux, api.RiverRoutes(a.writing(api.Options{
		Hub: a.hub, Bus: a.hub.Bus, Version: Version, Log: a.log, Now: a.clock.Now, Done: a.done,
		River: a.river, Tokens: a.accounts, ReaderOf: a.readerOf,
		ClientAddr: func(r *http.Request) netip.Addr { return endpoint.CallerAddr(r, a.cfg.TrustedProxies) },
	})), api.Protect())
	route.Mount(mux, append(a.micropub().Routes(), a.indieAuth().Routes()...), endpoint.Protect())
	apps := &readhttp.Apps{River: a.river, Accounts: a.accounts, ReaderOf: a.readerOf, Public: a.publicURL, Trusted: a.cfg.TrustedProxies, Now: a.clock.Now, Log: a.log}
	route.Mount(mux, apps.Routes(), endpoint.Protect())
	mux.Handle("/", next)
	return mux
}

// adminRoutes is the operator's listener.
func (a *App) adminRoutes() http.Handler {
	mux := http.NewServeMux()
	a.health(mux)
	mux.Handle("/", a.admin)
	return mux
}

// health answers those who watch over the process: alive, and able to work.
func (a *App) health(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		if token := r.URL.Query().Get(probeParam); token != "" {
			if !a.probes.arrive(token) { // behind a balancer, another machine may have sent it
				w.Header().Set(probeHeader, a.proof(token))
			}
		}
		say(w, http.StatusOK, "alive\n")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if a.draining.Load() {
			say(w, http.StatusServiceUnavailable, "stopping\n")
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		if err := a.store.Ping(ctx); err != nil {
			a.log.Warn("readiness", "err", err)
			say(w, http.StatusServiceUnavailable, "the store cannot be reached\n")
			return
		}
		if a.freeSpace().low {
			say(w, http.StatusServiceUnavailable, "the disk of the data folder is nearly full\n")
			return
		}
		say(w, http.StatusOK, "ready\n")
	})
}

func say(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // whoever asked may have gone
}

// within bounds the time of an answer. Live streams set their own deadline for
// each piece they write.
func within(d time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The error says that this writer knows no deadlines: then a proxy in front bounds it.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d))
		next.ServeHTTP(w, r)
	})
}
