package hubhttp

import (
	"net/http"
	"slices"
	"strings"

	"cloudburst/internal/route"
	"cloudburst/protocol/cnws"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/websub"
)

// pathWordPress is where programs for WordPress look for XML-RPC: many have the last part of the URL
// built in, after that of the site, which is this server or the page of a user.
const pathWordPress = "/xmlrpc.php"

// pathHub is a second address of the WebSub endpoint, where people expect the page of the hub.
const pathHub = "/hub"

// cloudBody is how many bytes a notification of rssCloud has at most.
const cloudBody = 16 << 10

// soapBody is how many bytes a SOAP call has at most.
const soapBody = 256 << 10

// Routes lists all endpoints of the hub. Each that other programs call has a second route with a
// slash at its end: programs have it in their settings, and a redirect would lose what they post.
//
// spec:cloudburst#door-slash
func (g *Endpoints) Routes() []route.Route {
	doors := ownDoors()
	var all []route.Route
	for _, r := range g.routes() {
		h := g.outcomes(r.Handler)
		r.Handler = h
		if r.Path == pathHub && g.HubPage != nil {
			r.Handler = pageForBrowsers(g.HubPage, h)
		}
		all = append(all, r)
		if slices.Contains(doors, r.Path) {
			r.Path, r.Handler = r.Path+"/{$}", withoutSlash(h)
			all = append(all, r)
		}
	}
	return all
}

// routes lists the endpoints, each once.
func (g *Endpoints) routes() []route.Route {
	cloud := &RSSCloud{Hub: g.Hub, Trusted: g.Trusted, Log: g.Log}
	rest := &rsscloud.Handler{Backend: cloud, Log: g.Log, OnInvalid: cloud.unread}
	rpc := openDoor("POST, OPTIONS", rpcHandler(cloud, append(g.weblogsMethods(), g.Methods...), g.LargeMethods))
	soap := openDoor("GET, POST, OPTIONS", soapHandler(cloud, g.sites(), g.PublicURL))
	rpcBody := g.rpcBody()
	var routes []route.Route
	for _, path := range rsscloud.Endpoints() {
		routes = append(routes, route.Route{Path: path, Handler: rest, MaxBody: rsscloud.MaxForm, Purpose: cloudPurpose(path)})
	}
	routes = append(routes, g.websubRoutes()...)
	routes = append(routes, g.cnwsRoutes()...)
	routes = append(routes, g.weblogsRoutes(rpc, rest)...)
	return append(routes,
		// spec:rsscloud-2009#door-rpc2
		route.Route{Path: "/RPC2", Handler: rpc, MaxBody: rpcBody, Purpose: "Takes XML-RPC calls of rssCloud, weblogs.com and editors of weblogs."},
		route.Route{Method: "POST", Path: "/{$}", Handler: rpcAtRoot(rpc), MaxBody: rpcBody, Purpose: "Takes XML-RPC calls that old programs send to the root."},
		// spec:cloudburst#door-wordpress
		route.Route{Path: pathWordPress, Handler: rpc, MaxBody: rpcBody, Purpose: "Takes XML-RPC calls of programs for WordPress."},
		route.Route{Method: "POST", Path: "/{user}" + pathWordPress, Handler: rpc, MaxBody: rpcBody, Purpose: "Takes XML-RPC calls of programs for the weblog of a user."},
		// spec:cloudburst#door-soap
		route.Route{Path: "/soap", Handler: soap, MaxBody: soapBody, Purpose: "Takes SOAP calls of rssCloud; ?wsdl describes the service."},
		route.Route{Path: "/rsscloud/soap", Handler: soap, MaxBody: soapBody, Purpose: "Takes SOAP calls of rssCloud, beside its other endpoints."},
	)
}

// cloudPurpose describes an endpoint of rssCloud's REST interface.
func cloudPurpose(path string) string {
	switch {
	case strings.HasSuffix(path, "/pleaseNotify"):
		return "Registers a callback for notifications of feeds by rssCloud."
	case strings.HasSuffix(path, "/cancel"):
		return "Cancels a registration for notifications by rssCloud."
	}
	return "Takes pings of rssCloud: a feed has changed."
}

// rpcBody is how many bytes the largest XML-RPC call has.
func (g *Endpoints) rpcBody() int64 {
	most := int64(saveSmall)
	for _, n := range g.LargeMethods {
		most = max(most, n)
	}
	return most
}

// websubRoutes lists the endpoints of WebSub.
//
// spec:websub-2018#publish-form
func (g *Endpoints) websubRoutes() []route.Route {
	door := openDoor("GET, HEAD, POST, OPTIONS", &websub.Handler{
		Backend: &WebSub{Hub: g.Hub, Trusted: g.Trusted, Log: g.Log}, Log: g.Log,
	})
	return []route.Route{
		{Path: "/websub", Handler: door, MaxBody: websub.MaxForm, Purpose: "Takes subscriptions and publications by WebSub."},
		{Path: pathHub, Handler: door, MaxBody: websub.MaxForm, Purpose: "Shows browsers the hub, and is WebSub's endpoint for programs."},
	}
}

// cnwsRoutes lists the endpoint of CNWS, for both of its messages.
//
// spec:cloudburst#door-cnws
func (g *Endpoints) cnwsRoutes() []route.Route {
	c := &CNWS{Hub: g.Hub, Upstream: g.Upstream, Trusted: g.Trusted, Log: g.Log}
	h := &cnws.Handler{Publisher: c, Subscriber: c, Log: g.Log}
	return []route.Route{{Path: "/cnws", Handler: openDoor("POST, OPTIONS", h), MaxBody: cnws.MaxBytes, Purpose: "Takes subscriptions and notifications of CNWS."}}
}

// weblogsRoutes lists the endpoints of weblogs.com's pings, and its lists. rpc is the
// XML-RPC endpoint, rest rssCloud's.
func (g *Endpoints) weblogsRoutes(rpc, rest http.Handler) []route.Route {
	sites := g.sites()
	form := &weblogs.FormHandler{Backend: sites, Page: g.PingPage, Log: g.Log}
	rpcBody := g.rpcBody()
	// spec:cloudburst#door-weblogs
	routes := []route.Route{
		{Path: "/weblogUpdates", Handler: openDoor("GET, POST, OPTIONS", rpcOr(rpc, sites.soapHandler(g.PublicURL))), MaxBody: rpcBody, Purpose: "Takes pings of weblogs.com by XML-RPC and SOAP."},
		{Path: "/pingSiteForm", Handler: openDoor("GET, HEAD, POST, OPTIONS", form), MaxBody: weblogs.MaxForm, Purpose: "Takes pings of weblogs.com from forms and addresses."},
		{Method: "GET", Path: "/ping", Handler: pingByQuery(rest), Purpose: "Takes a ping whose feed stands in the address."},
		{Method: "POST", Path: "/ping", Handler: rpcOr(rpc, pingByQuery(rest)), MaxBody: rpcBody, Purpose: "Takes pings as forms or as XML-RPC calls."},
	}
	if g.Changes == nil {
		return routes
	}
	return append(routes, g.changesRoutes()...)
}

// Routes lists the endpoints at which other hubs notify this server.
//
// spec:cloudburst#door-notify
func (d *NotifyEndpoints) Routes() []route.Route {
	cloud := plainBody(http.HandlerFunc(d.cloud))
	return []route.Route{
		{Path: pathNotifyCloud, Handler: cloud, MaxBody: cloudBody, Purpose: "Takes notifications of rssCloud from other hubs."},
		{Path: pathNotifyRPC, Handler: cloud, MaxBody: cloudBody, Purpose: "Takes notifications of rssCloud by XML-RPC from other hubs."},
		{Path: pathNotifySOAP, Handler: cloud, MaxBody: cloudBody, Purpose: "Takes notifications of rssCloud by SOAP from other hubs."},
		{Path: pathNotifyCNWS, Handler: &cnws.Handler{Subscriber: &CNWS{Upstream: d.Engine, Trusted: d.Trusted, Log: d.Log}, Log: d.Log}, MaxBody: cnws.MaxBytes, Purpose: "Takes notifications of CNWS from other hubs."},
		{Path: pathNotifyWebSub + "{token}", Handler: http.HandlerFunc(d.websub), MaxBody: websub.MaxContent, Purpose: "Takes deliveries and questions of WebSub from other hubs."},
	}
}

// withoutSlash hides the slash at the end of the path from next.
func withoutSlash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r2, u := *r, *r.URL
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), ""
		r2.URL = &u
		next.ServeHTTP(w, &r2)
	})
}

// pageForBrowsers gives browsers a page at the address where programs find an endpoint.
func pageForBrowsers(page, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Add("Vary", "Accept")
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			page.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
