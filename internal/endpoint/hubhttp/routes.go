package hubhttp

import (
	"net/http"
	"strings"

	"cloudburst/internal/route"
	"cloudburst/protocol/cnws"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/websub"
)

// pathWordPress is the XML-RPC path of WordPress. Many clients append this path to the URL of the
// site, which is this server or the page of a user.
const pathWordPress = "/xmlrpc.php"

// pathHub is a second URL of the WebSub endpoint, where people expect the page of the hub.
const pathHub = "/hub"

// pathArchive is the pattern of the archive of recent changes: YYYY/MM/DD/HH.xml.
const pathArchive = "/{year}/{month}/{day}/{hour}"

// cloudBody is the maximum size of an rssCloud notification in bytes.
const cloudBody = 16 << 10

// soapBody is the maximum size of a SOAP call in bytes.
const soapBody = 256 << 10

// Routes lists all endpoints of the hub. Each endpoint has a second route with a trailing slash: some
// programs are configured with the slash, and a redirect would lose the body of their POST.
//
// spec:cloudburst#endpoint-slash
func (g *Endpoints) Routes() []route.Route {
	var all []route.Route
	for _, r := range g.routes() {
		h := g.outcomes(r.Handler)
		r.Handler = h
		if r.Path == pathHub && g.HubPage != nil {
			r.Handler = pageForBrowsers(g.HubPage, h)
		}
		all = append(all, r)
		switch {
		case strings.HasSuffix(r.Path, "/{$}"): // the root
		case r.Path == pathArchive: // all other paths of this form are pages, so the handler gets the path as it is
			r.Path += "/{$}"
			all = append(all, r)
		default:
			r.Path, r.Handler = r.Path+"/{$}", withoutSlash(h)
			all = append(all, r)
		}
	}
	return all
}

// routes lists each endpoint once.
func (g *Endpoints) routes() []route.Route {
	cloud := &RSSCloud{Hub: g.Hub, Trusted: g.Trusted, Log: g.Log}
	rest := &rsscloud.Handler{Backend: cloud, Log: g.Log, OnInvalid: cloud.logInvalid, Page: g.cloudPage()}
	rpc := withCORS("POST, OPTIONS", rpcHandler(cloud, append(g.weblogsMethods(), g.Methods...), g.LargeMethods))
	root := withCORS("GET, HEAD, POST, OPTIONS", rpcAtRoot(rpc))
	soap := withSOAPCORS(soapHandler(cloud, g.sites(), g.PublicURL))
	rpcBody := g.rpcBody()
	var routes []route.Route
	for _, path := range rsscloud.Endpoints() {
		routes = append(routes, route.Route{Path: path, Handler: rest, MaxBody: rsscloud.MaxForm, Purpose: cloudPurpose(path)})
	}
	routes = append(routes, g.websubRoutes()...)
	routes = append(routes, g.cnwsRoutes()...)
	routes = append(routes, g.weblogsRoutes(rpc, rest)...)
	return append(routes,
		// spec:rsscloud-2009#endpoint-rpc2
		route.Route{Path: "/RPC2", Handler: rpc, MaxBody: rpcBody, Purpose: "Accepts XML-RPC calls of rssCloud, weblogs.com and blog editors."},
		route.Route{Method: "POST", Path: "/{$}", Handler: root, MaxBody: rpcBody, Purpose: "Accepts XML-RPC calls that old programs send to the root."},
		route.Route{Method: "OPTIONS", Path: "/{$}", Handler: root, Purpose: "Lets pages of other sites send XML-RPC calls to the root."},
		// spec:cloudburst#endpoint-wordpress
		route.Route{Path: pathWordPress, Handler: rpc, MaxBody: rpcBody, Purpose: "Accepts XML-RPC calls of programs for WordPress."},
		route.Route{Method: "POST", Path: "/{user}" + pathWordPress, Handler: rpc, MaxBody: rpcBody, Purpose: "Accepts XML-RPC calls of programs for the blog of a user."},
		route.Route{Method: "OPTIONS", Path: "/{user}" + pathWordPress, Handler: rpc, Purpose: "Lets pages of other sites send XML-RPC calls for the blog of a user."},
		// spec:cloudburst#endpoint-soap
		route.Route{Path: "/soap", Handler: soap, MaxBody: soapBody, Purpose: "Accepts SOAP calls of rssCloud; ?wsdl describes the service."},
		route.Route{Path: "/rsscloud/soap", Handler: soap, MaxBody: soapBody, Purpose: "Accepts SOAP calls of rssCloud, next to its other endpoints."},
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
	return "Accepts rssCloud pings that report a changed feed."
}

// rpcBody returns the maximum size of an XML-RPC call in bytes.
func (g *Endpoints) rpcBody() int64 {
	limit := int64(smallCall)
	for _, n := range g.LargeMethods {
		limit = max(limit, n)
	}
	return limit
}

// websubRoutes lists the endpoints of WebSub.
//
// spec:websub-2018#publish-form
func (g *Endpoints) websubRoutes() []route.Route {
	handler := withCORS("GET, HEAD, POST, OPTIONS", &websub.Handler{
		Backend: &WebSub{Hub: g.Hub, Trusted: g.Trusted, Log: g.Log}, Log: g.Log,
	})
	return []route.Route{
		{Path: "/websub", Handler: handler, MaxBody: websub.MaxForm, Purpose: "Accepts WebSub subscriptions and publications."},
		{Path: pathHub, Handler: handler, MaxBody: websub.MaxForm, Purpose: "Shows the hub to browsers, and is the WebSub endpoint for programs."},
	}
}

// cnwsRoutes lists the endpoint of CNWS, for both of its messages.
//
// spec:cloudburst#endpoint-cnws
func (g *Endpoints) cnwsRoutes() []route.Route {
	c := &CNWS{Hub: g.Hub, Upstream: g.Upstream, Trusted: g.Trusted, Log: g.Log}
	h := &cnws.Handler{Publisher: c, Subscriber: c, Log: g.Log}
	return []route.Route{{Path: "/cnws", Handler: withCORS("POST, OPTIONS", h), MaxBody: cnws.MaxBytes, Purpose: "Accepts CNWS subscriptions and notifications."}}
}

// weblogsRoutes lists the endpoints for pings of weblogs.com and the recent changes. rpc is the
// XML-RPC endpoint, rest the REST endpoint of rssCloud.
func (g *Endpoints) weblogsRoutes(rpc, rest http.Handler) []route.Route {
	sites := g.sites()
	form := &weblogs.FormHandler{Backend: sites, Page: g.PingPage, Log: g.Log}
	rpcBody := g.rpcBody()
	// spec:cloudburst#endpoint-weblogs
	routes := []route.Route{
		{Path: "/weblogUpdates", Handler: withSOAPCORS(rpcOr(rpc, sites.soapHandler(g.PublicURL))), MaxBody: rpcBody, Purpose: "Accepts pings of weblogs.com by XML-RPC and SOAP."},
		{Path: "/pingSiteForm", Handler: withCORS("GET, HEAD, POST, OPTIONS", form), MaxBody: weblogs.MaxForm, Purpose: "Accepts pings of weblogs.com from forms and query strings."},
		{Method: "GET", Path: "/ping", Handler: rest, Purpose: "Accepts a ping with the feed in the query string."},
		{Method: "POST", Path: "/ping", Handler: rpcOr(rpc, rest), MaxBody: rpcBody, Purpose: "Accepts pings as forms or as XML-RPC calls."},
	}
	if g.Changes == nil {
		return routes
	}
	return append(routes, g.changesRoutes()...)
}

// Routes lists the endpoints at which other hubs notify this server.
//
// spec:cloudburst#endpoint-notify
func (d *NotifyEndpoints) Routes() []route.Route {
	cloud := plainBody(http.HandlerFunc(d.cloud))
	return []route.Route{
		{Path: pathNotifyCloud, Handler: cloud, MaxBody: cloudBody, Purpose: "Accepts rssCloud notifications from other hubs."},
		{Path: pathNotifyRPC, Handler: cloud, MaxBody: cloudBody, Purpose: "Accepts rssCloud notifications by XML-RPC from other hubs."},
		{Path: pathNotifySOAP, Handler: cloud, MaxBody: cloudBody, Purpose: "Accepts rssCloud notifications by SOAP from other hubs."},
		{Path: pathNotifyCNWS, Handler: &cnws.Handler{Subscriber: &CNWS{Upstream: d.Engine, Trusted: d.Trusted, Log: d.Log}, Log: d.Log}, MaxBody: cnws.MaxBytes, Purpose: "Accepts CNWS notifications from other hubs."},
		{Path: pathNotifyWebSub + "{token}", Handler: http.HandlerFunc(d.websub), MaxBody: websub.MaxContent, Purpose: "Accepts WebSub deliveries and verification requests from other hubs."},
	}
}

// withoutSlash removes the trailing slash from the path for next.
func withoutSlash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r2, u := *r, *r.URL
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), ""
		r2.URL = &u
		next.ServeHTTP(w, &r2)
	})
}

// pageForBrowsers serves page to browsers at the URL of an endpoint.
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
