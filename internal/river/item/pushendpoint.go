package item

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cloudburst/feed"
	"cloudburst/feed/discover"
	"cloudburst/internal/text"
)

// PushEndpointsOf returns the endpoints that push the changes of a feed, and the URL that the
// feed declares as its own (topic). Link headers of the response take precedence over the
// document.
//
// spec:websub-2018#discovery-order
func PushEndpointsOf(f *feed.Feed, header http.Header, address string) (endpoints []PushEndpoint, topic string) {
	head := discover.Header(header, address)
	topic = WebURL(cmp.Or(head.Self, f.Self))
	add := func(d PushEndpoint) {
		if d.Hub != "" && len(endpoints) < maxPushEndpoints && !slices.ContainsFunc(endpoints, func(o PushEndpoint) bool { return o.Protocol == d.Protocol && o.Hub == d.Hub }) {
			endpoints = append(endpoints, d)
		}
	}
	hubs := head.Hubs
	if len(hubs) == 0 {
		for _, h := range f.Hubs {
			if strings.EqualFold(h.Type, "WebSub") {
				hubs = append(hubs, h.URL)
			}
		}
	}
	for _, h := range hubs {
		add(PushEndpoint{Protocol: "websub", Hub: WebURL(h)})
	}
	for i := range f.Clouds {
		add(cloudEndpoint(&f.Clouds[i], address))
	}
	for _, h := range f.Hubs {
		if strings.EqualFold(h.Type, "rssCloud") {
			add(namedCloud(h.URL))
		}
	}
	return endpoints, topic
}

// cloudEndpoint returns the endpoint of a <cloud>, or the zero PushEndpoint if the <cloud> is
// unusable. An empty domain means the host of the feed.
//
// spec:rsscloud-2003#cloud-empty-domain
func cloudEndpoint(c *feed.Cloud, address string) PushEndpoint {
	scheme, host, port := "http", strings.TrimSpace(c.Domain), strings.TrimSpace(c.Port)
	if before, after, ok := strings.Cut(host, "://"); ok {
		host = after
		if strings.EqualFold(before, "https") {
			scheme = "https"
		}
	}
	host, _, _ = strings.Cut(host, "/")
	if h, p, err := net.SplitHostPort(host); err == nil {
		host, port = h, cmp.Or(port, p)
	}
	if host == "" {
		u, err := url.Parse(address)
		if err != nil {
			return PushEndpoint{}
		}
		host = u.Hostname()
	}
	wire := cmp.Or(strings.TrimSpace(c.Protocol), "http-post")
	if !isWire(wire) {
		return PushEndpoint{}
	}
	if wire == "https-post" || port == "443" || port == "" && scheme == "https" {
		scheme, port = "https", cmp.Or(port, "443")
	} else {
		scheme = "http"
	}
	if n, err := strconv.Atoi(cmp.Or(port, "80")); err != nil || n < 1 || n > 65535 {
		return PushEndpoint{}
	}
	path := strings.TrimSpace(c.Path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	host = strings.Trim(host, "[]")
	if (scheme == "http" && cmp.Or(port, "80") == "80") || (scheme == "https" && port == "443") {
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
	} else {
		host = net.JoinHostPort(host, port)
	}
	return PushEndpoint{Protocol: "rsscloud", Hub: WebURL(scheme + "://" + host + path), Wire: wire, Procedure: text.ClipRunes(text.PlainLine(c.RegisterProcedure), 128)}
}

// isWire reports whether Cloudburst supports the protocol of a <cloud>. Protocol names are
// case-sensitive.
//
// spec:rsscloud-2003#protocol-case
func isWire(protocol string) bool {
	switch protocol {
	case "http-post", "https-post", "xml-rpc", "soap":
		return true
	}
	return false
}

// cloudProblem describes a <cloud> with an unsupported protocol. It returns "" if all protocols
// are supported.
func cloudProblem(f *feed.Feed) string {
	for _, c := range f.Clouds {
		p := strings.TrimSpace(c.Protocol)
		switch low := strings.ToLower(p); {
		case p == "" || isWire(p):
		case isWire(low):
			return text.ClipRunes(text.PlainLine("The <cloud> is not used: its protocol is "+strconv.Quote(p)+", and the name is "+low+", in lowercase."), maxProblem)
		default:
			return text.ClipRunes(text.PlainLine("The <cloud> is not used: its protocol is "+strconv.Quote(p)+", which must be http-post, https-post, xml-rpc or soap."), maxProblem)
		}
	}
	return ""
}

// namedCloud returns the endpoint of a cloud of which only the URL is known. The endpoint accepts
// a form by HTTP POST. If the URL has no path, the endpoint gets the usual path.
func namedCloud(hub string) PushEndpoint {
	u, err := url.Parse(strings.TrimSpace(hub))
	if err != nil || u.Host == "" {
		return PushEndpoint{}
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/rsscloud/pleaseNotify"
	}
	wire := "http-post"
	if u.Scheme == "https" && u.Port() != "" && u.Port() != "443" {
		wire = "https-post"
	}
	return PushEndpoint{Protocol: "rsscloud", Hub: WebURL(u.String()), Wire: wire}
}

// PushEndpoint contains the URL and the protocol for subscribing to a feed; see
// upstream.Endpoint.
type PushEndpoint struct {
	Protocol  string `json:"protocol"` // protocol of the hub: rsscloud, websub or cnws
	Hub       string `json:"hub"`
	Wire      string `json:"wire,omitempty"`
	Procedure string `json:"procedure,omitempty"`
}
