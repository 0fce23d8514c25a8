// Package hubhttp connects network protocols to the hub. It translates between the messages of each
// protocol and the types of the hub, one file per protocol.
//
// [Endpoints] lists the routes at which other programs call the hub. The hub calls other programs
// through a [Fetcher], which reads feeds, a [Notifier], which notifies subscribers, and a
// [Verifier], which verifies callbacks. They connect only through clients of package fetch, which
// refuses forbidden addresses.
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

// Hub is the part of the hub that the endpoints use. [*hub.Hub] implements it.
type Hub interface {
	Ping(ctx context.Context, p hub.Ping) (hub.PingResult, error)
	Register(ctx context.Context, r hub.Registration) (hub.Registered, error)
	Cancel(ctx context.Context, r hub.Registration) (hub.Registered, error)
	Request(ctx context.Context, in hub.Intent, source netip.Addr) error
	Announce(ctx context.Context, a hub.Announcement) (hub.Announced, error)
	LogRejected(ctx context.Context, t hub.Rejection)
}

// Endpoints serves the hub's endpoints for other programs.
type Endpoints struct {
	Hub          Hub
	Trusted      []netip.Prefix   // proxies whose forwarding headers are trusted
	PublicURL    string           // URL of this server for other programs, in the WSDL; "": the Host of the request
	Methods      []xmlrpc.Method  // XML-RPC methods of other packages
	LargeMethods map[string]int64 // for Methods that may exceed 256 KiB: maximum bytes of a call
	Changes      ChangeList       // source of changes.xml; nil: the file is not served
	Upstream     Follows          // receives CNWS notifications; nil: none are wanted
	Log          *slog.Logger     // nil: no log

	When        string           // unit of ages in recent changes: "minutes" or "seconds" ["minutes"]
	KeepChanges time.Duration    // how long the archive is kept [720 h]
	Now         func() time.Time // the hub's clock; nil: time.Now
	HubPage     http.Handler     // response to browsers at /hub; nil: none
	NotFound    http.Handler     // response to invalid archive paths; nil: a plain 404
	// PingPage responds to /pingSiteForm, and to browsers at /ping, with a page of the program; see
	// weblogs.FormHandler.
	PingPage func(w http.ResponseWriter, r *http.Request, status int, title, text string, form url.Values)
}

// IsOwnEndpoint reports whether callback is an endpoint of this server at one of the given origins
// ("http://hub.example.com:5337"). A notification to such a callback would arrive as a ping and
// cause another notification, without end.
//
// spec:cloudburst#callback-own-endpoint
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

// IsEndpoint reports whether other programs call this path: the endpoints of the protocols, and
// those at which other hubs notify this server. The home page is not included, although some
// programs call it.
func IsEndpoint(path string) bool {
	path = strings.TrimRight(path, "/")
	return strings.HasPrefix(strings.ToLower(path), pathNotifyWebSub) || strings.HasSuffix(strings.ToLower(path), pathWordPress) ||
		path != "" && slices.ContainsFunc(ownEndpoints(), func(own string) bool { return strings.EqualFold(path, own) })
}

// ownEndpoints lists the paths at which this server accepts requests of other programs.
func ownEndpoints() []string {
	paths := append(rsscloud.Endpoints(), "", "/RPC2", "/soap", "/rsscloud/soap",
		"/websub", "/hub", "/cnws", "/weblogUpdates", "/pingSiteForm")
	return append(paths, notifyPaths()...)
}
