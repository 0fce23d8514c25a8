package app

import (
	"cloudburst/internal/endpoint"
	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/fetch"
	"cloudburst/internal/upstream"
)

// newUpstream creates the engine that subscribes to feeds at other hubs. push.Join documents how
// the program handles the notifications of these hubs.
func (a *App) newUpstream(st upstream.Store) {
	a.doer = fetch.NewDoer(fetch.DoerOptions{
		Guard:     a.callbackGuard(),
		UserAgent: endpoint.UserAgent(Version, a.cfg.PublicURL),
	})
	a.upstream = &upstream.Engine{
		Store: st, Bus: a.hub.Bus, Log: a.log, Now: a.clock.Now, PublicURL: a.names.Public,
		Ask: &hubhttp.UpstreamClient{
			Feeds: a.client, HTTP: a.doer, UserAgent: endpoint.UserAgent(Version, a.cfg.PublicURL), PublicURL: a.names.Public,
		},
		Options: upstream.Options{Own: a.ownCallback},
	}
	a.upstream.Init()
}
