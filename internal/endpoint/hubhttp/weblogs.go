package hubhttp

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/soap"
	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/xmlrpc"
)

// Names of the interfaces for pings of sites in the log.
const (
	viaWeblogs  = "weblogs"
	viaExtended = "weblogs-extended"
	viaPingSite = "pingsite"
)

// weblogsNamespace is the namespace of the SOAP procedure. Calls in other namespaces are accepted
// too.
const weblogsNamespace = "http://www.weblogs.com/"

// Weblogs connects the pings of weblogs.com to the hub, for all interfaces. It implements
// weblogs.Backend.
type Weblogs struct {
	Hub     Hub
	Trusted []netip.Prefix // see [endpoint.CallerAddr]
	Log     *slog.Logger   // nil: no log
}

func (g *Endpoints) sites() *Weblogs {
	return &Weblogs{Hub: g.Hub, Trusted: g.Trusted, Log: g.Log}
}

// weblogsMethods returns weblogUpdates.* for XML-RPC.
func (g *Endpoints) weblogsMethods() []xmlrpc.Method { return weblogs.Methods(g.sites()) }

// Ping processes a ping by XML-RPC or from the form.
func (s *Weblogs) Ping(ctx context.Context, iface weblogs.Interface, p weblogs.Ping) error {
	name := viaPingSite
	switch iface {
	case weblogs.InterfacePing:
		name = viaWeblogs
	case weblogs.InterfaceExtended:
		name = viaExtended
	}
	return s.announce(ctx, name, weblogs.RequestFrom(ctx), p)
}

// announce passes a ping to the hub. Its errors contain only what the client may see, and a status
// for the HTML form.
//
// spec:cloudburst#limits-429
func (s *Weblogs) announce(ctx context.Context, via string, r *http.Request, p weblogs.Ping) error {
	a := hub.Announcement{
		Name: p.Name, URL: withoutFragment(p.URL), Page: withoutFragment(p.ChangesURL), Feed: withoutFragment(p.FeedURL),
		Tags: p.Tags, Via: via,
	}
	if r != nil {
		a.Source, a.Hops = endpoint.CallerAddr(r, s.Trusted), rsscloud.Hops(r.Header)
	}
	done, err := s.Hub.Announce(ctx, a)
	switch {
	case err == nil && len(done.Checking) > 0:
		noteOutcome(ctx, done.Checking[0], rsscloud.OutcomeChecking, -1)
		return nil
	case err == nil:
		noteOutcome(ctx, a.URL, rsscloud.OutcomeListed, 0)
		return nil
	}
	e := &weblogs.Error{Status: http.StatusBadRequest, Msg: fault.Message(err), RetryAfter: fault.RetryAfter(err), Err: err}
	switch fault.CodeOf(err) {
	case fault.TooMany:
		e.Status = http.StatusTooManyRequests
		e.RetryAfter = max(e.RetryAfter, time.Second)
	case fault.Unavailable:
		e.Status = http.StatusServiceUnavailable
		e.RetryAfter = max(e.RetryAfter, 10*time.Second)
		s.log().WarnContext(ctx, "weblogs.com ping could not be processed", "err", err)
	case fault.Internal:
		e.Status = http.StatusInternalServerError
		s.log().ErrorContext(ctx, "weblogs.com ping failed", "err", err)
	}
	return e
}

func (s *Weblogs) log() *slog.Logger {
	return cmp.Or(s.Log, slog.New(slog.DiscardHandler))
}

// withoutFragment returns url without its fragment, because pings often contain a position on a
// page.
func withoutFragment(url string) string {
	url, _, _ = strings.Cut(url, "#")
	return url
}

// soapHandler returns the SOAP endpoint for pings of sites, with its description at ?wsdl.
func (s *Weblogs) soapHandler(publicURL string) http.Handler {
	service := soap.Service{
		Name: "weblogUpdates", Namespace: weblogsNamespace,
		Help: "Notifies a server that a site changed.",
		Methods: []soap.Method{{
			Name: "ping", Help: "Reports that the site with this name and URL changed. flerror is true if the server refused the ping; message is the reason.",
			Params: []soap.Def{{Name: "weblogname", Type: "string"}, {Name: "weblogurl", Type: "string"}},
			Result: soap.Def{Name: "result", Fields: []soap.Def{{Name: "flerror", Type: "boolean"}, {Name: "message", Type: "string"}}},
			Do:     func(ctx context.Context, _ []any) (any, error) { return s.soapPing(ctx), nil },
		}},
	}
	if publicURL != "" {
		service.Location = strings.TrimRight(publicURL, "/") + "/weblogUpdates"
	}
	return &soap.Handler{Service: service, Log: s.Log}
}

// isSitePing distinguishes the two procedures named ping: the procedure of rssCloud has the URL of
// a feed only, and this one has the name and URL of a site.
//
// spec:cloudburst#soap-ping
func isSitePing(c soap.Call) bool {
	for _, p := range c.Params {
		if strings.EqualFold(p.Name, "weblogname") || strings.EqualFold(p.Name, "weblogurl") {
			return true
		}
	}
	return len(c.Params) > 1
}

// soapPing processes the ping in the SOAP call that ctx contains.
func (s *Weblogs) soapPing(ctx context.Context) map[string]any {
	call := soap.CallFrom(ctx)
	params := call.Bind("weblogname", "weblogurl")
	if len(params) == len(call.Params) && !isNamed(call, "weblogname") && isNamed(call, "name") && isNamed(call, "url") {
		params = call.Bind("name", "url")
	}
	p, err := weblogs.ParsePing(params)
	if err == nil {
		err = s.announce(ctx, viaWeblogs, soap.RequestFrom(ctx), p)
	}
	return weblogs.ResultOf(err).Value()
}

func isNamed(c soap.Call, name string) bool {
	for _, p := range c.Params {
		if strings.EqualFold(p.Name, name) {
			return true
		}
	}
	return false
}
