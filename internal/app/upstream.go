package app

import (
	"net/netip"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/fetch"
	"cloudburst/internal/upstream"
)

// newUpstream makes the engine that follows feeds at other hubs. What becomes of its news
// is said in push.Join.
func (a *App) newUpstream(st upstream.Store) {
	a.doer = fetch.NewDoer(fetch.DoerOptions{
		Guard:     &fetch.Guard{Allow: a.cfg.Egress.AllowCallback, Setting: allowCallback, Own: a.ownAddrs, Callback: true},
		UserAgent: endpoint.UserAgent(Version, a.cfg.PublicURL),
	})
	a.upstream = &upstream.Engine{
		Store: st, Bus: a.hub.Bus, Log: a.log, Now: a.clock.Now, PublicURL: a.publicURL,
		Ask: &hubhttp.UpstreamClient{
			Feeds: a.client, HTTP: a.doer, UserAgent: endpoint.UserAgent(Version, a.cfg.PublicURL), PublicURL: a.publicURL,
		},
		Options: upstream.Options{Own: a.ownCallback},
	}
	a.upstream.Init()
}

// ownAddrs are the addresses that this program listens on, for the guards.
func (a *App) ownAddrs() []netip.AddrPort {
	if p := a.own.Load(); p != nil {
		return *p
	}
	return nil
}

// publicURL is where others reach this server.
func (a *App) publicURL() string {
	if o := a.ownOrigins(); len(o) > 0 {
		return o[0]
	}
	return a.cfg.Public(a.cfg.Listen)
}
