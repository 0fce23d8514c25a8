package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cloudburst/feed"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/xmlrpc"
)

// cloudAt is a <cloud> element with a usable endpoint.
type cloudAt struct {
	rsscloud.Cloud
	endpoint string // URL for registrations
}

// rssCloud checks the <cloud> elements of the feed and the hubs that they name.
func (x *exam) rssCloud(ctx context.Context) bool {
	x.sourceCloud()
	if len(x.doc.Clouds) == 0 {
		x.noCloud()
		return true
	}
	if n := len(x.doc.Clouds); n > 1 {
		x.add(SubjectRSSCloud, "cloud-several", Note, fmt.Sprintf("There are %d <cloud> elements. Most readers use only the first.", n), "")
	}
	for i := range x.doc.Clouds[:min(len(x.doc.Clouds), maxClouds)] {
		if c, ok := x.element(x.doc.Clouds[i]); ok {
			x.clouds = append(x.clouds, c)
			x.cloudEndpoint(ctx, c)
		}
	}
	x.ownElement()
	return true
}

// noCloud reports that the feed has no <cloud>. It is a problem if the feed names no other hub.
func (x *exam) noCloud() {
	if x.doc.Format != feed.RSS {
		return // only RSS has <cloud>
	}
	fix := "Put this into the channel:\n" + x.ownCloud().String()
	if x.d.Hub == "" {
		fix = "Put this into the channel, with the host and port of your hub (--hub URL names yours):\n" + x.ownCloud().String()
	}
	if len(x.links.hubs()) > 0 || slices.ContainsFunc(x.doc.Hubs, func(h feed.Hub) bool { return h.Type == "rssCloud" }) {
		x.add(SubjectRSSCloud, "cloud", Note, "The feed has no <cloud> element, so rssCloud readers are not notified.", fix)
		return
	}
	x.add(SubjectRSSCloud, "cloud", Problem, "The feed names neither a <cloud> nor a WebSub hub, so nobody can subscribe to its changes.", fix)
}

// ownCloud returns the suggested <cloud> element.
func (x *exam) ownCloud() rsscloud.Cloud { return rsscloud.CloudAt(x.hubBase()) }

// hubBase returns the URL of the hub that the feed should name, or a placeholder.
func (x *exam) hubBase() string {
	if u, err := url.Parse(x.d.Hub); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return "http://hub.example.org:5337"
}

// ownElement checks that a <cloud> names the hub that the caller expects.
func (x *exam) ownElement() {
	switch {
	case x.d.Hub == "":
	case x.named():
		x.add(SubjectRSSCloud, "cloud-hub", OK, "The <cloud> names the hub "+x.d.Hub+".", "")
	default:
		x.add(SubjectRSSCloud, "cloud-hub", Problem, fmt.Sprintf("No <cloud> names the hub %s, so subscribers register elsewhere.", x.d.Hub),
			"Replace the element by this one:\n"+x.ownCloud().String())
	}
}

// named reports whether a <cloud> names the hub that the caller expects.
func (x *exam) named() bool {
	own := x.ownCloud()
	return slices.ContainsFunc(x.clouds, func(c cloudAt) bool {
		// A hub with an https URL can have a separate port without TLS for rssCloud.
		return strings.EqualFold(c.Domain, own.Domain) && (c.Port == own.Port || own.Protocol == rsscloud.HTTPSPost && c.Protocol == rsscloud.HTTPPost)
	})
}

// element checks the attributes of a <cloud> element as written in the feed.
//
// spec:rsscloud-2003#cloud-attributes
func (x *exam) element(c feed.Cloud) (cloudAt, bool) {
	written := fmt.Sprintf("<cloud domain=%s port=%s path=%s registerProcedure=%s protocol=%s/>",
		attribute(c.Domain), attribute(c.Port), attribute(c.Path), attribute(c.RegisterProcedure), attribute(c.Protocol))
	// FindCloud would return the first <cloud> of the feed, so it gets this element alone.
	cloud, err := rsscloud.FindCloud([]byte("<rss><channel>"+written+"</channel></rss>"), x.first.url)
	out := cloudAt{Cloud: cloud}
	if err == nil {
		out.endpoint, err = cloud.RegisterURL()
	}
	right := cloud
	if right.Protocol = strings.ToLower(strings.TrimSpace(c.Protocol)); !rsscloud.ValidProtocol(right.Protocol) {
		right.Protocol = rsscloud.HTTPPost
	}
	if right.Domain == "" {
		right = x.ownCloud()
	}
	if err != nil {
		x.add(SubjectRSSCloud, "cloud", Problem, fmt.Sprintf("The element %s is unusable: %s", short(written, 400), sentence(lastReason(err))), "Write all five attributes, such as:\n"+right.String())
		return out, false
	}
	x.add(SubjectRSSCloud, "cloud", OK, fmt.Sprintf("The <cloud> directs registrations by %s to %s.", cloud.Protocol, out.endpoint), "")
	x.attributes(c, cloud)
	return out, true
}

// lastReason extracts the innermost message of an rsscloud error. The outer message is only about
// finding an element.
func lastReason(err error) error {
	if e, ok := errors.AsType[*rsscloud.FieldError](err); ok {
		return errors.New(e.Msg)
	}
	return err
}

func attribute(s string) string { return `"` + escape(short(s, 300)) + `"` }

// attributes reports missing and wrong attributes, and hosts that other networks cannot
// reach.
func (x *exam) attributes(c feed.Cloud, cloud rsscloud.Cloud) {
	var odd []string
	if c.Domain == "" {
		odd = append(odd, "domain is empty, which means the feed's own host, "+cloud.Domain)
	} else if !strings.EqualFold(strings.Trim(c.Domain, "[]"), cloud.Domain) {
		odd = append(odd, "domain is "+quote(c.Domain)+", but must be a host name")
	}
	if c.Port == "" {
		odd = append(odd, "port is missing")
	}
	if c.Path == "" {
		odd = append(odd, "path is missing")
	} else if !strings.HasPrefix(c.Path, "/") {
		odd = append(odd, "path does not begin with a slash")
	}
	rpc := cloud.Protocol == rsscloud.XMLRPC || cloud.Protocol == rsscloud.SOAP
	if rpc && c.RegisterProcedure == "" {
		odd = append(odd, "registerProcedure is missing, which "+cloud.Protocol+" needs")
	}
	if len(odd) > 0 {
		right := cloud
		if rpc && right.RegisterProcedure == "" {
			right.RegisterProcedure = rsscloud.MethodPleaseNotify
		}
		x.add(SubjectRSSCloud, "cloud-attributes", Warning, "Some readers cannot use the element: "+strings.Join(odd, "; ")+".", "Write:\n"+right.String())
	}
	if isLocal(cloud.Domain) && !isLocal(hostOf(x.first.url)) {
		x.add(SubjectRSSCloud, "cloud-local", Problem, fmt.Sprintf("Its domain, %s, is known only on your machine or network, so readers elsewhere cannot register.", cloud.Domain), "Use the public name of the hub.")
	}
}

// sourceCloud checks the URL in the element source:cloud.
func (x *exam) sourceCloud() {
	for _, h := range x.doc.Hubs {
		if h.Type != "rssCloud" {
			continue
		}
		if err := rsscloud.CheckFeedURL(h.URL); err != nil {
			x.add(SubjectRSSCloud, "source-cloud", Warning, fmt.Sprintf("The element source:cloud contains %s, which is not the URL of a hub.", quote(h.URL)), "Write the URL of the hub's endpoint pleaseNotify.")
			continue
		}
		x.add(SubjectRSSCloud, "source-cloud", OK, fmt.Sprintf("The element source:cloud names %s.", short(h.URL, 300)), "")
	}
}

// cloudEndpoint checks that a hub responds. With http-post it sends a registration without any
// field, which a hub can only reject. With xml-rpc and soap it calls a method without effect.
func (x *exam) cloudEndpoint(ctx context.Context, c cloudAt) {
	if c.Protocol == rsscloud.XMLRPC {
		x.rpcEndpoint(ctx, c)
		return
	}
	if c.Protocol == rsscloud.SOAP {
		x.soapEndpoint(ctx, c)
		return
	}
	got := x.post(ctx, c.endpoint, url.Values{})
	result, err := rsscloud.ParseResult(got.body)
	if got.failure == "" && err == nil && !result.Success && got.status < 500 && got.status != http.StatusNotFound {
		x.add(SubjectRSSCloud, "cloud-door", OK, "A hub responds at this endpoint.", "")
		return
	}
	x.noHub(c.endpoint, got, "an rssCloud hub")
}

func (x *exam) rpcEndpoint(ctx context.Context, c cloudAt) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	client := xmlrpc.Client{URL: c.endpoint, HTTP: x, UserAgent: x.d.UserAgent, MaxBytes: maxAnswer}
	_, err := client.Call(ctx, rsscloud.MethodHello)
	_, fault := errors.AsType[*xmlrpc.Fault](err)
	if err == nil || fault {
		// A fault response also proves that a server runs, because few hubs know this method.
		x.add(SubjectRSSCloud, "cloud-door", OK, "A hub responds at this endpoint.", "")
		return
	}
	got := answer{url: c.endpoint}
	if e, ok := errors.AsType[*xmlrpc.HTTPError](err); ok {
		got.status = e.Status
	} else if _, ok := errors.AsType[*xmlrpc.SyntaxError](err); ok {
		got.status = http.StatusOK
	} else {
		got.failure = x.d.words(err)
	}
	x.noHub(c.endpoint, got, "an XML-RPC server")
}

// soapEndpoint checks that a SOAP server responds. It sends an empty request, which causes a fault.
func (x *exam) soapEndpoint(ctx context.Context, c cloudAt) {
	got := x.post(ctx, c.endpoint, url.Values{})
	if got.failure == "" && (bytes.Contains(got.body, []byte("Envelope")) || got.status == http.StatusUnsupportedMediaType) {
		x.add(SubjectRSSCloud, "cloud-door", OK, "A hub responds at this endpoint.", "")
		return
	}
	x.noHub(c.endpoint, got, "a SOAP server")
}

// noHub reports that an endpoint does not belong to a hub.
func (x *exam) noHub(endpoint string, got answer, what string) {
	const id = "cloud-door"
	switch fix := "Start the hub, or name a running one. Its operator knows the right <cloud> element."; {
	case got.failure != "":
		x.add(SubjectRSSCloud, id, Problem, fmt.Sprintf("Connecting to the hub at %s failed: %s.", endpoint, got.failure), fix)
	case got.status == http.StatusNotFound, got.status == http.StatusGone, got.status == http.StatusMethodNotAllowed:
		x.add(SubjectRSSCloud, id, Problem, fmt.Sprintf("The server at %s has no hub at this path: its response is %s.", endpoint, statusText(got.status)), fix)
	case got.status >= 500:
		x.add(SubjectRSSCloud, id, Problem, fmt.Sprintf("The hub at %s fails with %s.", endpoint, statusText(got.status)), "Report this to its operator.")
	case got.status == http.StatusTooManyRequests:
		x.add(SubjectRSSCloud, id, Note, fmt.Sprintf("The hub at %s has received too many requests from here, so it was not examined further.", endpoint), "")
	case got.status >= 300 && got.status <= 399:
		x.add(SubjectRSSCloud, id, Problem, fmt.Sprintf("%s redirects (%s). Most readers do not follow redirects of registrations.", endpoint, statusText(got.status)), "Use the current URL of the hub.")
	case got.page():
		x.add(SubjectRSSCloud, id, Problem, fmt.Sprintf("%s returns a page (%s), not the response of a hub.", endpoint, statusText(got.status)), fix)
	default:
		x.add(SubjectRSSCloud, id, Warning, fmt.Sprintf("%s (%s) does not respond like %s.", endpoint, statusText(got.status), what), fix)
	}
}
