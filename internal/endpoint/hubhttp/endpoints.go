// Package hubhttp joins the wire to the hub: what a protocol says becomes the
// hub's own words here, and the other way round, one file for each protocol.
//
// [Endpoints] lists the routes at which other programs call the hub. The hub calls others
// through a [Fetcher], which reads feeds, a [Notifier], which notifies subscribers, and a
// [Verifier], which asks callbacks for their consent; they connect only through clients of
// internal/fetch, which guard the network.
package hubhttp

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/href"
	"cloudburst/internal/hub"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/xmlrpc"
)

// Hub is what the endpoints need of the hub; *hub.Hub is one.
type Hub interface {
	Ping(ctx context.Context, p hub.Ping) (hub.PingResult, error)
	Register(ctx context.Context, r hub.Registration) (hub.Registered, error)
	Cancel(ctx context.Context, r hub.Registration) (hub.Registered, error)
	Request(ctx context.Context, in hub.Intent, source netip.Addr) error
	Announce(ctx context.Context, a hub.Announcement) (hub.Announced, error)
	LogRejected(ctx context.Context, t hub.Rejection)
}

// Endpoints are the endpoints of the hub.
type Endpoints struct {
	Hub          Hub
	Trusted      []netip.Prefix   // proxies whose word about the caller's address counts
	PublicURL    string           // where strangers reach this server, for the WSDL; "": as the request names it
	Methods      []xmlrpc.Method  // XML-RPC methods of further families
	LargeMethods map[string]int64 // those of them whose calls may have more than 256 KiB, and how many bytes
	Changes      ChangeList       // what changes.xml is made of; nil: it is not served
	Upstream     Follows          // who hears of CNWS notifications; nil: none is wanted
	Log          *slog.Logger     // nil is silent

	When        string           // what the lists of changes count: "minutes" ["minutes"] or "seconds"
	KeepChanges time.Duration    // how long the hours of the archive are kept [720 h]
	Now         func() time.Time // the hub's clock; nil: time.Now
	HubPage     http.Handler     // answers browsers at /hub; nil: none does
	NotFound    http.Handler     // answers what looks like the archive and is not; nil: a plain 404
	// PingPage answers /pingSiteForm with a page of the program; see weblogs.FormHandler.
	PingPage func(w http.ResponseWriter, r *http.Request, status int, title, text string, form url.Values)
}

// Own reports whether callback is one of this server's doors when it is reached
// at any of the given origins ("http://hub.example.com:5337"): notifications that
// came back as pings would go round for ever.
//
// spec:cloudburst#callback-own-door
func IsOwnEndpoint(callback string, origins ...string) bool {
	_, rest, _ := strings.Cut(callback, "://")
	path := ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		path, _, _ = strings.Cut(rest[i:], "?")
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	path = strings.TrimRight(path, "/")
	if path != "" && !IsEndpoint(path) {
		return false
	}
	origin := href.Origin(callback)
	return origin != "" && slices.ContainsFunc(origins, func(o string) bool { return href.Origin(o) == origin })
}

// Door reports whether other programs call at this path: the doors of the protocols, and
// those at which other hubs notify this server. The home page, where some call too, is none.
func IsEndpoint(path string) bool {
	path = strings.TrimRight(path, "/")
	return strings.HasPrefix(strings.ToLower(path), pathNotifyWebSub) || strings.HasSuffix(strings.ToLower(path), pathWordPress) ||
		path != "" && slices.ContainsFunc(ownDoors(), func(own string) bool { return strings.EqualFold(path, own) })
}

// ownDoors are the paths at which this server takes requests of other programs.
func ownDoors() []string {
	doors := append(rsscloud.Endpoints(), "", "/RPC2", "/soap", "/rsscloud/soap",
		"/websub", "/hub", "/cnws", "/weblogUpdates", "/pingSiteForm")
	return append(doors, notifyDoors()...)
}

// openDoor lets any web page call h, which never looks at a cookie.
//
// spec:cloudburst#cors
func openDoor(methods string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Access-Control-Allow-Origin", "*")
		head.Set("Cache-Control", "no-store")
		head.Set("X-Content-Type-Options", "nosniff")
		if r.Method == http.MethodOptions {
			head.Set("Allow", methods)
			head.Set("Access-Control-Allow-Methods", methods)
			head.Set("Access-Control-Allow-Headers", "Accept, Content-Type, SOAPAction, "+rsscloud.HopsHeader)
			head.Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.ServeHTTP(w, r)
	})
}
