package hubhttp

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	feedformat "cloudburst/feed"
	"cloudburst/feed/discover"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/href"
	"cloudburst/internal/upstream"
	"cloudburst/internal/wirehttp"
	"cloudburst/protocol/cnws"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// Paths at which other hubs notify this server.
const (
	pathNotifyCloud  = "/notify/rsscloud"
	pathNotifyRPC    = "/notify/RPC2"
	pathNotifySOAP   = "/notify/soap"
	pathNotifyWebSub = "/notify/websub/" // followed by the token
	pathNotifyCNWS   = "/notify/cnws"
)

const maxHubs = 10 // maximum number of endpoints that are read from one feed

// UpstreamClient subscribes at other hubs. It implements upstream.Subscriber.
type UpstreamClient struct {
	Feeds     endpoint.Getter     // reads feeds to find their hubs
	HTTP      rsscloud.HTTPClient // sends requests to hubs; must refuse forbidden addresses, because feeds name the hubs
	UserAgent string
	PublicURL func() string // URL of this server for hubs, without a trailing slash
	Lease     time.Duration // lease to request from WebSub hubs; 0: the hub decides
}

// Discover reads the feed and returns its hub endpoints, WebSub first.
func (u *UpstreamClient) Discover(ctx context.Context, address string) (upstream.Found, error) {
	got, err := u.Feeds.Get(ctx, fetch.Request{URL: address, Accept: acceptFeed})
	if err != nil {
		return upstream.Found{}, unreadable(address, err)
	}
	if !got.OK() {
		return upstream.Found{}, fault.New(fault.Unreadable, "The feed %s could not be read: its server answered %s.", endpoint.DisplayURL(address), wirehttp.StatusText(got.Status))
	}
	return found(got.Body, got.URL, got.Header), nil
}

// found returns the hubs that a document declares. Link headers take precedence over the document.
//
// spec:websub-2018#discovery-order
func found(body []byte, address string, header http.Header) upstream.Found {
	head := discover.Header(header, address)
	hubs, self := head.Hubs, head.Self
	kind := http.Header{"Content-Type": header.Values("Content-Type")}
	var clouds []string
	if doc, err := feedformat.ParseBytes(body, &feedformat.Options{URL: address, Header: kind}); err == nil {
		self = cmp.Or(self, doc.Self)
		var named []string
		for _, h := range doc.Hubs {
			switch {
			case strings.EqualFold(h.Type, "rssCloud"):
				clouds = append(clouds, h.URL)
			case strings.EqualFold(h.Type, "WebSub"):
				named = append(named, h.URL)
			}
		}
		if len(hubs) == 0 {
			hubs = named
		}
	} else {
		page := discover.HTML(body, address, kind)
		if self = cmp.Or(self, page.Self); len(hubs) == 0 {
			hubs = page.Hubs
		}
	}
	out := upstream.Found{Topic: cmp.Or(self, address)}
	for _, h := range hubs[:min(len(hubs), maxHubs)] {
		if websub.CheckURL("The hub", h) == nil {
			out.Endpoints = append(out.Endpoints, upstream.Endpoint{Protocol: upstream.WebSub, Hub: h})
		}
	}
	if c, err := rsscloud.FindCloud(body, address); err == nil {
		if d, err := cloudEndpoint(c); err == nil {
			out.Endpoints = append(out.Endpoints, d)
		}
	}
	for _, c := range clouds[:min(len(clouds), maxHubs)] {
		d, err := namedCloud(c)
		if err == nil && !slices.ContainsFunc(out.Endpoints, func(o upstream.Endpoint) bool { return o.Hub == d.Hub }) {
			out.Endpoints = append(out.Endpoints, d)
		}
	}
	return out
}

// Endpoint returns the endpoint with the URL that a user entered.
func (u *UpstreamClient) Endpoint(protocol, hub string) (upstream.Endpoint, error) {
	if protocol == upstream.RSSCloud {
		return namedCloud(hub)
	}
	if err := websub.CheckURL("The hub", hub); err != nil {
		return upstream.Endpoint{}, toFault(err)
	}
	return upstream.Endpoint{Protocol: protocol, Hub: hub}, nil
}

// namedCloud returns the endpoint of a cloud whose URL a user entered. It is called by HTTP POST.
// If the URL has no path, the usual path is used.
func namedCloud(hub string) (upstream.Endpoint, error) {
	protocol, host, port, path, err := rsscloud.SplitCallback(rsscloud.HTTPPost, hub)
	if err != nil {
		return upstream.Endpoint{}, fault.New(fault.Invalid, "The hub %s cannot be called: its URL must be like https://hub.example.com or http://hub.example.com:5337/pleaseNotify.", endpoint.DisplayURL(hub))
	}
	if path == "" || path == "/" {
		path = "/rsscloud/pleaseNotify"
	}
	return cloudEndpoint(rsscloud.Cloud{Domain: host, Port: port, Path: path, Protocol: protocol})
}

func cloudEndpoint(c rsscloud.Cloud) (upstream.Endpoint, error) {
	registerURL, err := c.RegisterURL()
	return upstream.Endpoint{Protocol: upstream.RSSCloud, Hub: registerURL, Wire: c.Protocol, Procedure: c.RegisterProcedure}, err
}

// Ask sends a subscription request to the hub of f.
func (u *UpstreamClient) Ask(ctx context.Context, f upstream.Follow) (upstream.Answer, error) {
	switch f.Protocol {
	case upstream.WebSub:
		c := &websub.Client{HTTP: u.HTTP, UserAgent: u.UserAgent}
		err := c.Subscribe(ctx, f.Hub, websub.Subscription{Callback: u.websubCallback(f), Topic: f.Topic, Lease: u.Lease, Secret: f.Secret})
		return upstream.Answer{}, toFault(err)
	case upstream.CNWS:
		c := &cnws.Client{HTTP: u.HTTP, UserAgent: u.UserAgent}
		r, err := c.Subscribe(ctx, f.Hub, cnws.Subscribe{ResourceID: f.Topic, NotificationURL: u.PublicURL() + "/cnws"})
		return answerOf(r.Status, cmp.Or(r.Description, r.Title), err)
	}
	return u.askCloud(ctx, f)
}

func answerOf(ok bool, text string, err error) (upstream.Answer, error) {
	switch {
	case err != nil:
		return upstream.Answer{}, toFault(err)
	case !ok:
		return upstream.Answer{}, fault.New(fault.Refused, "The hub refused. %s", endpoint.OneLine(text))
	}
	return upstream.Answer{Confirmed: true, Text: endpoint.OneLine(text)}, nil
}

// End asks the hub of f to stop its notifications.
func (u *UpstreamClient) End(ctx context.Context, f upstream.Follow) error {
	switch f.Protocol {
	case upstream.WebSub:
		c := &websub.Client{HTTP: u.HTTP, UserAgent: u.UserAgent}
		return toFault(c.Unsubscribe(ctx, f.Hub, websub.Subscription{Callback: u.websubCallback(f), Topic: f.Topic}))
	case upstream.CNWS:
		// spec:cnws-2003#unsubscribe-by-false
		return fault.New(fault.Unsupported, "CNWS ends a subscription with its next notification.")
	}
	cloud, err := cloudOf(f)
	if err != nil {
		return toFault(err)
	}
	if _, err := cloud.CancelURL(); err != nil {
		return fault.New(fault.Unsupported, "This cloud does not support cancellation; the response to its next notification ends the registration.")
	}
	g, err := u.registration(f, u.notifyModes(f)[0])
	if err != nil {
		return toFault(err)
	}
	c := &rsscloud.Client{HTTP: u.HTTP, UserAgent: u.UserAgent}
	r, err := c.Cancel(ctx, cloud, g)
	_, err = answerOf(r.Success, r.Msg, err)
	return err
}

// websubCallback returns the callback of a subscription. To end a subscription, it uses the public
// URL under which the subscription was made, because hubs identify the subscription by this URL.
func (u *UpstreamClient) websubCallback(f upstream.Follow) string {
	return cmp.Or(f.Base, u.PublicURL()) + pathNotifyWebSub + f.Token
}

// knownByName reports whether other servers can use the public URL: it uses https or has a host
// name.
func knownByName(public string) bool {
	_, err := netip.ParseAddr(strings.Trim(href.Host(public), "[]"))
	return !isLocal(public) && (err != nil || strings.HasPrefix(public, "https:"))
}

// isLocal reports whether only this machine can use the public URL.
func isLocal(public string) bool {
	host := href.Host(public)
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}

// toFault converts an error of a protocol client for the engine.
func toFault(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*rsscloud.Error](err); ok {
		return statusFault(e.Status, e.RetryAfter, e.Msg, false)
	}
	if e, ok := errors.AsType[*websub.Error](err); ok {
		return statusFault(e.Status, e.RetryAfter, e.Msg, true)
	}
	if e, ok := errors.AsType[*cnws.Error](err); ok {
		return statusFault(e.Status, e.RetryAfter, e.Msg, false)
	}
	if e, ok := errors.AsType[*rsscloud.FieldError](err); ok {
		return fault.Wrap(fault.Invalid, err, "%s", e.Msg)
	}
	if e, ok := errors.AsType[*cnws.FieldError](err); ok {
		return fault.Wrap(fault.Invalid, err, "%s", e.Msg)
	}
	if errors.Is(err, rsscloud.ErrInvalidResponse) || errors.Is(err, cnws.ErrInvalidResponse) {
		return fault.Wrap(fault.Unreadable, err, "The server at this URL is not a hub of this protocol.")
	}
	if errors.Is(err, context.Canceled) {
		return fault.Wrap(fault.Unavailable, err, "The hub was not called: this server is stopping.")
	}
	if e, ok := errors.AsType[*fetch.Error](err); ok && (e.Kind == fetch.Refused || e.Kind == fetch.BadURL) {
		return fault.Wrap(fault.Refused, fetch.Cause(err), "This server must not or cannot call the hub's URL.")
	}
	return fault.Wrap(fault.Unreadable, err, "The hub sent no valid response.")
}

// statusFault converts a response without a success status to an error. If plainLine is true, a 4xx
// status is a refusal; otherwise it can also mean that the URL is not an endpoint.
func statusFault(status int, retry time.Duration, msg string, plainLine bool) error {
	code := fault.Unreadable
	switch {
	case status == http.StatusGone:
		code = fault.Gone
	case status == http.StatusTooManyRequests:
		code = fault.TooMany
	case status == http.StatusServiceUnavailable:
		code = fault.Unavailable
	case plainLine && status >= 400 && status <= 499 && status != http.StatusNotFound && status != http.StatusRequestTimeout:
		code = fault.Refused
	}
	return &fault.Error{Code: code, Msg: endpoint.OneLine(msg), RetryAfter: retry}
}
